//! Checked expressions as a list of steps over numbers.

use crate::{
    error::Span,
    scalar::Typed,
    syntax::{Binary, Reduction, Unary},
    types::accumulated,
};
use forthwith_columns::{DType, Form, LogicalType};
use std::sync::Arc;

/// The number of a step, and of the numbers it makes.
pub(crate) type Register = u32;
/// The number of a space.
pub(crate) type SpaceId = u32;

/// The space of numbers: one for each entry, or one for each item of lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// One number for all entries.
    Constant,
    /// The entries.
    Entries,
    /// Items of the lists in a column, `level` from the outside.
    Lists { parent: SpaceId, input: u32, level: u32 },
    /// Items of lists of one length, in columns.
    Regular { parent: SpaceId, size: u64 },
    /// Items of lists that a condition, which is a register of `of`, holds for.
    /// Where `lists` is given, it says which of the lists of `of` are left out as a whole.
    Kept { parent: SpaceId, of: SpaceId, condition: Register, lists: Option<Register> },
    /// The items of a space in longer lists: all that belong to a row of an outer space `within` are one list.
    Flat { parent: SpaceId, of: SpaceId, within: SpaceId },
}

impl Space {
    /// The space of the lists that its items are in.
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

/// The values in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(DType),
    Text,
    /// Dates, times or decimals: counts of a type, which are compared as such. In registers they are numbers.
    Time(DType, LogicalType),
}

impl Kind {
    /// The type that values are kept as; of text there is none.
    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::Number(dtype) | Self::Time(dtype, _) => dtype,
            Self::Text => DType::UInt8,
        }
    }
}

/// One step: what a register is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The values of a column: numbers of a type, or text.
    Load {
        input: u32,
        dtype: Option<DType>,
    },
    /// Whether the values of a column are there.
    Valid {
        input: u32,
    },
    /// Whether the lists of a level of a column are there.
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
    /// Operands are of the type.
    Binary {
        operation: Binary,
        dtype: DType,
        x: Register,
        y: Register,
    },
    /// Comparison of signed with unsigned integers of 64 bits, which no type has both of.
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
    /// Comparison of text with a text.
    TextWith {
        operation: Binary,
        x: Register,
        text: Arc<str>,
    },
    /// Whether text contains a text.
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
    /// The value of each list for each of its items.
    Expand {
        dtype: DType,
        x: Register,
        to: SpaceId,
    },
    /// One value of each list. `valid` says which items count.
    Reduce {
        by: Reduction,
        dtype: DType,
        x: Register,
        valid: Option<Register>,
        of: SpaceId,
    },
    /// Whether a reduction has a value: of lists that have an item.
    Some {
        valid: Option<Register>,
        of: SpaceId,
    },
    /// The item at a position of each list, or zero.
    Item {
        dtype: DType,
        position: i64,
        x: Register,
        of: SpaceId,
    },
    /// Whether there is an item at a position.
    Has {
        position: i64,
        of: SpaceId,
    },
    /// The position of each item among those of a row of an outer space.
    Index {
        of: SpaceId,
        within: SpaceId,
    },
    /// The items for which a condition holds, which are those of a space.
    Keep {
        dtype: DType,
        x: Register,
        condition: Register,
        into: SpaceId,
    },
    /// The lists of two spaces are equally long.
    Same {
        a: SpaceId,
        b: SpaceId,
    },
    /// The lists of items that a condition holds for, lists of one length within such items, or lists of lists in one.
    Lists {
        of: SpaceId,
    },
}

impl Step {
    /// The values that it makes.
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

/// A step with the space of what it makes and the text it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) step: Step,
    pub(crate) space: SpaceId,
    pub(crate) text: u32,
    pub(crate) at: Span,
}

/// A text that steps come from.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: Arc<str>,
    pub(crate) alias: Option<String>,
}

/// The result of one expression.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    /// A column as it is.
    Column(u32),
    /// Numbers, and whether they are there; the spaces of their lists, and whether these are there.
    Numbers {
        dtype: DType,
        values: Register,
        valid: Option<Register>,
        path: Vec<SpaceId>,
        lists: Vec<Option<Register>>,
    },
}

/// A column that is read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) form: Form,
    /// The spaces of its levels, from the entries on.
    pub(crate) path: Vec<SpaceId>,
    /// Whether anything is computed of it, rather than given as it is.
    pub(crate) used: bool,
}

/// Expressions whose types are checked, to be computed of columns together.
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
    /// The same for columns in which nothing is missing, if these are columns in which something may be. Most columns that
    /// may have missing values have none, and are computed as fast as others.
    pub(crate) plain: Option<Arc<Self>>,
}

/// The numbers of the spaces that every program has.
pub(crate) const CONSTANT: SpaceId = 0;
pub(crate) const ENTRIES: SpaceId = 1;

impl Program {
    /// The names of the columns that are needed, in the order that [`run`](Self::run) takes them.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inputs.iter().map(|input| input.name.as_str())
    }

    /// The name of the column that an expression is and nothing else: by itself or through aliases.
    #[must_use]
    pub fn column(&self, output: usize) -> Option<&str> {
        match self.outputs.get(output) {
            Some(Output::Column(input)) => self.inputs.get(*input as usize).map(|input| input.name.as_str()),
            _ => None,
        }
    }

    /// The Form of what an expression gives.
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
