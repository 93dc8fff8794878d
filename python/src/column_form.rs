//! Types of columns, their comparison, and their common type in several tables.

use forthwith::columns::{Form, LogicalType};
use pyo3::prelude::*;

/// The type of the values of a column.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct ColumnForm(pub(crate) Form);

#[pymethods]
impl ColumnForm {
    fn __str__(&self) -> String {
        self.0.type_string()
    }

    #[getter]
    fn is_structured(&self) -> bool {
        !self.0.nodes().all(|node| {
            matches!(
                node,
                Form::Numpy { .. }
                    | Form::String { .. }
                    | Form::Logical { meaning: LogicalType::Date, .. }
                    | Form::List { .. }
                    | Form::Regular { .. }
                    | Form::Option { .. }
            )
        })
    }

    fn is_like(&self, other: &Self) -> bool {
        let bare = |form: &Form| form.clone().without_options().type_string();
        bare(&self.0) == bare(&other.0)
    }

    /// Returns the common type of columns; `None` if there is none.
    #[staticmethod]
    fn unite(forms: Vec<Bound<'_, Self>>) -> Option<Self> {
        let forms: Vec<&Form> = forms.iter().map(|form| &form.get().0).collect();
        Form::unite(&forms).ok().map(Self)
    }
}
