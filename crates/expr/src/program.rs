//! Type-checked expressions as a list of steps over numbers.

use crate::{
    error::Span,
    scalar::Typed,
    syntax::{Binary, Reduction, Unary},
    types::accumulated,
};
use forthwith_columns::{DType, Form, LogicalType};
use std::sync::Arc;

/// Number of a step, and of the register that it writes.
pub(crate) type Register = u32;
/// Number of a space.
pub(crate) type SpaceId = u32;

/// Space of numbers: one for each entry, or one for each item of lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// One number for all entries.
    Constant,
    /// The entries.
    Entries,
    /// Items of the lists of a column, at `level` counted from the outermost.
    Lists { parent: SpaceId, input: u32, level: u32 },
    /// Items of fixed-size lists of columns.
    Regular { parent: SpaceId, size: u64 },
    /// Items of `of` for which a condition, a register of `of`, holds. With `lists`, a register that excludes
    /// whole lists of `of`.
    Kept { parent: SpaceId, of: SpaceId, condition: Register, lists: Option<Register> },
    /// Items of `of` in longer lists: one list for each row of the outer space `within`.
    Flat { parent: SpaceId, of: SpaceId, within: SpaceId },
}

impl Space {
    /// Returns the space of the lists that contain its items.
    pub(crate) const fn parent(&self) -> Option<SpaceId> {
        match self {
            Self::Constant | Self::Entries => None,
            Self::Lists { parent, .. }
            | Self::Regular { parent, .. }
            | Self::Kept { parent, .. }
            | Self::Flat { parent, .. } => Some(*parent),
        }
    }
}

/// Kind of the values of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(DType),
    Text,
    /// Dates, times or decimals: counts with a logical type, which are compared as such. Registers hold the
    /// numbers.
    Time(DType, LogicalType),
}

impl Kind {
    /// Returns the type that values are stored as; a placeholder for text.
    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::Number(dtype) | Self::Time(dtype, _) => dtype,
            Self::Text => DType::UInt8,
        }
    }
}

/// A step: the operation that computes a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The values of a column: numbers of a type, or text.
    Load {
        input: u32,
        dtype: Option<DType>,
    },
    /// Validity of the values of a column.
    Valid {
        input: u32,
    },
    /// Validity of the lists of a column at a level.
    ListsValid {
        input: u32,
        level: u32,
    },
    Constant(Typed),
    Unary {
        operation: Unary,
        dtype: DType,
        x: Register,
    },
    /// Operation on two operands of the type `dtype`.
    Binary {
        operation: Binary,
        dtype: DType,
        x: Register,
        y: Register,
    },
    /// Comparison of signed with unsigned 64-bit integers, which have no common type.
    Mixed {
        operation: Binary,
        signed: Register,
        unsigned: Register,
    },
    /// Comparison of the text in two registers.
    Texts {
        operation: Binary,
        x: Register,
        y: Register,
    },
    /// Comparison of text with a constant.
    TextWith {
        operation: Binary,
        x: Register,
        text: Arc<str>,
    },
    /// Whether text contains a constant.
    TextHas {
        x: Register,
        part: Arc<str>,
    },
    Where {
        dtype: DType,
        condition: Register,
        x: Register,
        y: Register,
    },
    Cast {
        from: DType,
        to: DType,
        x: Register,
    },
    /// Repeats the value of each list for each of its items.
    Expand {
        dtype: DType,
        x: Register,
        to: SpaceId,
    },
    /// Reduces each list to one value. `valid` is the validity of the items.
    Reduce {
        by: Reduction,
        dtype: DType,
        x: Register,
        valid: Option<Register>,
        of: SpaceId,
    },
    /// Whether a reduction has a value: whether each list has a valid item.
    Some {
        valid: Option<Register>,
        of: SpaceId,
    },
    /// Item at a position of each list, or zero if it does not exist.
    Item {
        dtype: DType,
        position: i64,
        x: Register,
        of: SpaceId,
    },
    /// Whether each list has an item at a position.
    Has {
        position: i64,
        of: SpaceId,
    },
    /// Position of each item among those of a row of an outer space.
    Index {
        of: SpaceId,
        within: SpaceId,
    },
    /// Items for which a condition holds, which are those of a [`Kept`](Space::Kept) space.
    Keep {
        dtype: DType,
        x: Register,
        condition: Register,
        into: SpaceId,
    },
    /// Checks that the lists of two spaces have equal lengths.
    Same {
        a: SpaceId,
        b: SpaceId,
    },
    /// Computes the lists of a space: of items for which a condition holds, of fixed-size lists within such
    /// items, or of flattened lists.
    Lists {
        of: SpaceId,
    },
}

impl Step {
    /// Returns the kind of values that it computes.
    pub(crate) fn kind(&self) -> Kind {
        let dtype = match self {
            Self::Load { dtype: None, .. } => return Kind::Text,
            Self::Load { dtype: Some(dtype), .. } | Self::Constant(Typed { dtype, .. }) => *dtype,
            Self::Unary { operation: Unary::IsNan | Unary::IsInf | Unary::IsFinite, .. } => DType::Bool,
            Self::Binary { operation, .. } if operation.is_comparison() => DType::Bool,
            Self::Reduce { by, dtype, .. } => match by {
                Reduction::Sum | Reduction::Prod => accumulated(*dtype),
                Reduction::Any | Reduction::All => DType::Bool,
                Reduction::Count | Reduction::Argmin | Reduction::Argmax => DType::Int64,
                Reduction::Mean | Reduction::Var | Reduction::Std => DType::Float64,
                Reduction::Min | Reduction::Max | Reduction::First => *dtype,
            },
            Self::Unary { dtype, .. }
            | Self::Binary { dtype, .. }
            | Self::Where { dtype, .. }
            | Self::Cast { to: dtype, .. }
            | Self::Expand { dtype, .. }
            | Self::Item { dtype, .. }
            | Self::Keep { dtype, .. } => *dtype,
            Self::Index { .. } => DType::Int64,
            Self::Valid { .. }
            | Self::ListsValid { .. }
            | Self::Mixed { .. }
            | Self::Texts { .. }
            | Self::TextWith { .. }
            | Self::TextHas { .. }
            | Self::Some { .. }
            | Self::Has { .. }
            | Self::Same { .. }
            | Self::Lists { .. } => DType::Bool,
        };
        Kind::Number(dtype)
    }
}

/// A step with its space, and the position in the text that it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) step: Step,
    pub(crate) space: SpaceId,
    pub(crate) text: u32,
    pub(crate) at: Span,
}

/// Text that steps come from.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: Arc<str>,
    pub(crate) alias: Option<String>,
}

/// Result of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    /// An unchanged column.
    Column(u32),
    /// Numbers and their validity; the spaces of their lists, and the validity of these.
    Numbers {
        dtype: DType,
        values: Register,
        valid: Option<Register>,
        path: Vec<SpaceId>,
        lists: Vec<Option<Register>>,
    },
}

/// An input column.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) form: Form,
    /// Spaces of its levels, starting with the entries.
    pub(crate) path: Vec<SpaceId>,
    /// Whether a step uses it, and not only an output.
    pub(crate) used: bool,
}

/// Type-checked expressions, which are computed from columns together.
///
/// ```
/// use forthwith_columns::{Array, Column, DType, Form};
/// use forthwith_expr::{Expression, Named, Program};
///
/// let form = Form::Numpy { key: "node0".into(), dtype: DType::Float32, shape: vec![] };
/// let pt = Array {
///     form: form.clone(),
///     length: 3,
///     columns: vec![("node0-data".into(), Column::from_slice(&[1f32, 30.0, 20.0]))],
/// };
/// let cut = Expression::parse("pt > 10 and pt < 25")?;
/// let program = Program::new(&[&cut], &mut |name| match name {
///     "pt" => Named::Column(form.clone()),
///     _ => Named::Unknown(vec![]),
/// })?;
/// assert_eq!(program.inputs().collect::<Vec<_>>(), ["pt"]);
/// let passed = &program.run(&[&pt], 3)?[0];
/// assert_eq!(passed.preview(0..3, 40).lines()?, ["False", "False", "True"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) texts: Vec<Text>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) spaces: Vec<Space>,
    pub(crate) steps: Vec<Made>,
    pub(crate) outputs: Vec<Output>,
    /// Faster program for columns without missing values, if any may have some: most optional columns have
    /// none.
    pub(crate) plain: Option<Arc<Self>>,
}

/// Numbers of the spaces that every program has.
pub(crate) const CONSTANT: SpaceId = 0;
pub(crate) const ENTRIES: SpaceId = 1;

impl Program {
    /// Iterates over the names of the input columns, in the order that [`run`](Self::run) takes them.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inputs.iter().map(|input| input.name.as_str())
    }

    /// Returns the name of the column that an expression consists of, by itself or through aliases; `None`
    /// for other expressions.
    #[must_use]
    pub fn column(&self, output: usize) -> Option<&str> {
        match self.outputs.get(output) {
            Some(Output::Column(input)) => self.inputs.get(*input as usize).map(|input| input.name.as_str()),
            _ => None,
        }
    }

    /// Returns the Form of the result of an expression.
    #[must_use]
    pub fn form(&self, output: usize) -> Option<Form> {
        Some(match self.outputs.get(output)? {
            Output::Column(input) => self.inputs.get(*input as usize)?.form.clone(),
            Output::Numbers { dtype, valid, path, lists, .. } => {
                self.numbers_form(*dtype, valid.is_some(), path, lists)
            }
        })
    }

    pub(crate) fn numbers_form(
        &self,
        dtype: DType,
        lacking: bool,
        path: &[SpaceId],
        lists: &[Option<Register>],
    ) -> Form {
        let key = |level: usize| format!("node{level}");
        let deepest = path.len();
        let mut form = Form::Numpy { key: key(deepest), dtype, shape: vec![] };
        if lacking {
            form = Form::Option { key: key(deepest + 1), content: Box::new(form) };
        }
        for (level, space) in path.iter().enumerate().rev() {
            let content = Box::new(form);
            let mut list = match self.spaces[*space as usize] {
                Space::Regular { size, .. } => Form::Regular { size, content },
                Space::Lists { .. } | Space::Kept { .. } | Space::Flat { .. } => {
                    Form::List { key: key(level), content }
                }
                Space::Constant | Space::Entries => *content,
            };
            if lists.get(level).is_some_and(Option::is_some) {
                list = Form::Option { key: key(deepest + 2 + level), content: Box::new(list) };
            }
            form = list;
        }
        form
    }
}
