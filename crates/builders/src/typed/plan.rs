//! From a Form to all that a builder of it can be told, and when.

use super::planner::{Place, Planner};
use super::program::{self, BLANK, FIXED, LENGTH};
use super::step::{Action, Command, OutputSpec, Step};
pub(crate) use super::step::{Out, Var};
use crate::form::{Form, FormError, Index, Primitive, Unit};
use crate::layout::half;
use forthwith_columns::DType;

/// All there is to know about building one Form.
#[derive(Debug)]
pub(crate) struct Plan {
    /// With keys.
    pub(crate) form: Form,
    pub(crate) outputs: Vec<OutputSpec>,
    /// The names of the program's variables.
    pub(crate) variables: Vec<String>,
    pub(crate) states: Vec<State>,
    pub(crate) routines: Vec<Routine>,
    pub(crate) records: Vec<Record>,
    /// Names that `begin_record` knows; their numbers, from 1, are its arguments.
    pub(crate) names: Vec<String>,
    pub(crate) root: Node,
    pub(crate) source: String,
}

/// A place in the structure at which a builder can be, and what it can be told there.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) path: String,
    /// The type expected here, or of the record that is open.
    pub(crate) expected: String,
    pub(crate) actions: Vec<(Command, Action)>,
    /// Commands that several alternatives understand.
    pub(crate) ambiguous: Vec<Command>,
    /// The record whose fields can be selected.
    pub(crate) record: Option<usize>,
    /// The list of one length that is open.
    pub(crate) list: Option<(Var, u64)>,
    /// Items that [`Command::Extend`] takes.
    pub(crate) bulk: Option<DType>,
    /// The units of the times that can be told here.
    pub(crate) datetime: Option<Unit>,
    pub(crate) timedelta: Option<Unit>,
    /// Commands whose values are categories: in the rows that this variable counts.
    pub(crate) categories: Vec<(Command, Category)>,
    /// The length of the strings that can be told here, if it is always the same.
    pub(crate) length: Option<u64>,
}

/// Single values of which a column has each once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Category {
    /// The variable that counts them.
    pub(crate) rows: Var,
    /// The type that numbers become among the alternatives, if they do.
    pub(crate) number: Option<Primitive>,
}

impl Category {
    /// The same key for values that are equal where they are kept: as a float of that width, and zero has no sign.
    pub(crate) fn key(self, command: Command, data: &[u8]) -> Vec<u8> {
        let Some(primitive) = self.number else { return data.to_vec() };
        let (words, _) = data.as_chunks::<8>();
        let mut parts: Vec<f64> = words
            .iter()
            .map(|word| match command {
                Command::Integer => i64::from_ne_bytes(*word) as f64,
                Command::Unsigned => u64::from_ne_bytes(*word) as f64,
                _ => f64::from_ne_bytes(*word),
            })
            .collect();
        if matches!(primitive, Primitive::Complex64 | Primitive::Complex128) {
            parts.resize(2, 0.0);
        }
        let parts = parts.into_iter().map(|part| match primitive {
            Primitive::Float16 if half(part) == half(-0.0) => 0,
            Primitive::Float16 => u64::from(half(part)),
            Primitive::Float32 | Primitive::Complex64 => (f64::from(part as f32) + 0.0).to_bits(),
            _ => (part + 0.0).to_bits(),
        });
        parts.flat_map(u64::to_ne_bytes).collect()
    }
}

/// A word of the program.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) name: String,
    pub(crate) action: Action,
}

impl Routine {
    /// Whether it fills places of nulls.
    pub(crate) fn is_blank(&self) -> bool {
        self.name.starts_with(BLANK)
    }
}

/// A record or tuple that can be open.
#[derive(Debug)]
pub(crate) struct Record {
    /// Names of fields, or `0`, `1`, … of slots.
    pub(crate) fields: Vec<String>,
    pub(crate) tuple: bool,
    /// Where the field's bit is, and whether there must be a value.
    pub(crate) places: Vec<(Var, u32, bool)>,
}

/// A node with the outputs it fills.
#[derive(Debug)]
pub(crate) enum Node {
    Empty,
    Number {
        key: String,
        primitive: Primitive,
        output: Out,
    },
    /// A list of bytes that is one string.
    Text {
        key: String,
        bytes_key: String,
        offsets: Out,
        index: Index,
        separate: bool,
        output: Out,
    },
    /// A string of one length.
    Fixed {
        bytes_key: String,
        size: u64,
        output: Out,
    },
    List {
        key: String,
        offsets: Out,
        index: Index,
        separate: bool,
        content: Box<Self>,
    },
    Regular {
        size: u64,
        content: Box<Self>,
    },
    Record {
        contents: Vec<Self>,
    },
    Indexed {
        key: String,
        index: Index,
        output: Out,
        rows: Var,
        content: Box<Self>,
    },
    Option {
        key: String,
        index: Index,
        output: Out,
        content: Box<Self>,
    },
    /// With bits, whether the first is the least significant.
    Masked {
        key: String,
        valid: bool,
        bits: Option<bool>,
        output: Out,
        content: Box<Self>,
    },
    Unmasked {
        content: Box<Self>,
    },
    Union {
        key: String,
        index: Index,
        tags: Out,
        output: Out,
        rows: Vec<Var>,
        contents: Vec<Self>,
    },
}

impl Plan {
    pub(crate) fn new(form: &Form) -> Result<Self, FormError> {
        let form = form.clone().with_keys()?;
        let mut planner = Planner {
            outputs: Vec::new(),
            variables: FIXED.iter().map(|name| (*name).into()).collect(),
            states: Vec::new(),
            routines: Vec::new(),
            records: Vec::new(),
            names: Vec::new(),
        };
        planner.collect_names(&form);
        let place = Place {
            path: String::new(),
            guard: Vec::new(),
            after: vec![Step::Add { variable: LENGTH, value: 1 }],
            next: 0,
            closers: Vec::new(),
            record: None,
            list: None,
            counted: Some(LENGTH),
        };
        let (_, root, _) = planner.slot(&form, place)?;
        let Planner { outputs, variables, states, routines, records, names } = planner;
        let mut plan =
            Self { form, outputs, variables, states, routines, records, names, root, source: String::new() };
        plan.source = program::write(&plan);
        Ok(plan)
    }
}
