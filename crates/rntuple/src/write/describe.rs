//! Maps Forms to fields and columns, and to the nodes that fill these.

use super::options::{FieldOptions, Floats, NtupleOptions};
use super::record::{Descriptions, FieldRecord};
use crate::form::number_name;
use crate::schema::{COLLECTION, DEEPEST, PLAIN, RECORD, VARIANT};
use forthwith_columns::{DType, Form, LogicalType};
use forthwith_plan::Number;
use forthwith_root::write::Compression;
use std::collections::{BTreeMap, HashSet};

/// Columns that the rows of a Form are appended to.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Numbers, `each` of them in a row.
    Numbers { column: usize, size: usize, each: usize },
    /// Text or binary strings.
    Text { ends: usize, bytes: usize },
    /// Text, as categories.
    Categories { ends: usize, bytes: usize },
    /// Lists.
    Lists { ends: usize, content: Box<Self> },
    /// Lists of fixed size.
    Fixed { size: usize, content: Box<Self> },
    /// Lists of size 0.
    Empty { ends: usize },
    /// Fields of a record.
    Fields(Vec<Self>),
    /// Optional values.
    Options { ends: usize, content: Box<Self> },
    /// Values, with the bytes of a sentinel, or no items, in place of nulls.
    Filled { filling: Vec<u8>, content: Box<Self> },
    /// Values of one of several types, or null.
    Variants { switch: usize, contents: Vec<Self> },
    /// No rows.
    Nothing,
}

/// Context of a field.
#[derive(Clone, Copy)]
struct Around {
    parent: Option<u32>,
    /// Whether records may lack a class: at the top level, and below fields that lack a type name, too.
    untyped: bool,
    /// For a field that is added later, the number of elements that its first column lacks.
    first: Option<u64>,
    /// Whether it is the item of a list, which has no name of its own.
    item: bool,
    depth: u32,
}

/// Reason why a field cannot be made.
pub(super) type Refusal = String;

/// A field on the path to the one that is described.
pub(super) struct Step {
    pub(super) name: String,
    pub(super) item: bool,
    pub(super) compression: Compression,
    pub(super) floats: Floats,
    pub(super) nulls: Option<Number>,
    /// Path for which these floats were requested.
    pub(super) asked: Option<String>,
}

pub(crate) struct Describer<'d> {
    pub(super) all: &'d mut Descriptions,
    pub(super) options: &'d NtupleOptions,
    /// Options of single fields, and the paths of those that were applied: to existing fields, and to fields
    /// with floats.
    pub(super) choices: &'d BTreeMap<String, FieldOptions>,
    pub(super) used: HashSet<String>,
    pub(super) used_floats: HashSet<String>,
    /// Generated names of classes.
    classes: &'d mut HashSet<String>,
    pub(super) path: Vec<Step>,
}

impl<'d> Describer<'d> {
    pub(crate) fn new(
        all: &'d mut Descriptions,
        options: &'d NtupleOptions,
        choices: &'d BTreeMap<String, FieldOptions>,
        classes: &'d mut HashSet<String>,
    ) -> Self {
        let (used, used_floats) = (HashSet::new(), HashSet::new());
        Self { all, options, choices, used, used_floats, classes, path: Vec::new() }
    }

    /// Checks that all options were applied to a field.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        for (path, choice) in self.choices {
            if !self.used.contains(path) {
                return Err(format!("there is no field {path:?}, for which options are given"));
            }
            if choice.floats.is_some() && !self.used_floats.contains(path) {
                return Err(format!(
                    "field {path:?} has no floating-point numbers, so the option floats does not apply to it"
                ));
            }
        }
        Ok(())
    }

    /// Adds a top-level field. `first` is the number of existing entries, if there are any.
    pub(crate) fn top(&mut self, name: &str, form: &Form, first: Option<u64>) -> Result<Node, Refusal> {
        let around = Around { parent: None, untyped: true, first, item: false, depth: 0 };
        let described = self.field(name, form, around).map(|(node, _)| node);
        described.map_err(|what| format!("{what} in an RNTuple (column {:?})", self.path_text()))
    }

    /// Adds a field and its children. Returns its node, and the name of its type.
    fn field(&mut self, name: &str, form: &Form, around: Around) -> Result<(Node, String), Refusal> {
        self.enter(name, around.item);
        if around.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} fields within each other"));
        }
        let id = self.open(name, around.parent);
        self.choose(id)?;
        let below = Around { parent: Some(id), depth: around.depth + 1, item: false, ..around };
        let items = Around { item: true, first: None, ..below };
        let nulls = self.path.last().and_then(|step| step.nulls);
        let (form, filling) = match (form, nulls) {
            (Form::Option { content, .. }, Some(number)) => (&**content, Some(filling(content, number)?)),
            (form, _) => (form, None),
        };
        let (node, ty) = match form {
            Form::Numpy { dtype, shape, .. } => self.numbers(id, *dtype, shape, below)?,
            Form::String { binary, .. } => {
                let ends = self.ends(id, around.first);
                match binary {
                    false => {
                        (Node::Text { ends, bytes: self.column(id, "Char", None) }, "std::string".into())
                    }
                    true => {
                        let item = self.open("_0", Some(id));
                        let bytes = self.column(item, "Byte", None);
                        self.close(item, PLAIN, "std::byte");
                        self.close(id, COLLECTION, "");
                        (Node::Text { ends, bytes }, "std::vector<std::byte>".into())
                    }
                }
            }
            Form::Categorical { .. } => {
                let ends = self.ends(id, around.first);
                let bytes = self.column(id, "Char", None);
                (Node::Categories { ends, bytes }, "std::string".into())
            }
            // ROOT has no arrays of size 0.
            Form::List { content, .. } | Form::Regular { size: 0, content } => {
                let ends = self.ends(id, around.first);
                let (content, item) = self.field("_0", content, items)?;
                self.close(id, COLLECTION, "");
                let ty = if item.is_empty() { item } else { format!("std::vector<{item}>") };
                match form {
                    Form::List { .. } => (Node::Lists { ends, content: Box::new(content) }, ty),
                    _ => (Node::Empty { ends }, ty),
                }
            }
            Form::Regular { size, content } if self.options.bitsets && is_truth(content) => {
                let first = around.first.and_then(|first| first.checked_mul(*size));
                let column = self.column(id, "Bit", first);
                self.repeat(id, *size);
                let size = usize::try_from(*size).map_err(|_| format!("arrays of {size} items"))?;
                let content = Box::new(Node::Numbers { column, size: 1, each: 1 });
                (Node::Fixed { size, content }, format!("std::bitset<{size}>"))
            }
            Form::Regular { size, content } => {
                let (content, item) = self.array(id, *size, below, |this, below| {
                    this.field("_0", content, Around { item: true, ..below })
                })?;
                let size = usize::try_from(*size).map_err(|_| format!("arrays of {size} items"))?;
                (Node::Fixed { size, content: Box::new(content) }, item)
            }
            Form::Record { fields: Some(names), contents, name: class } => {
                self.record(id, names, contents, class.as_deref(), below)?
            }
            Form::Record { fields: None, contents, .. } => self.tuple(id, contents, below)?,
            Form::Option { content, .. } => match &**content {
                Form::Union { contents, .. } => self.variant(id, contents, below)?,
                content => {
                    let ends = self.ends(id, around.first);
                    let inner = Around { untyped: false, ..items };
                    let (content, item) = self.field("_0", content, inner)?;
                    self.close(id, COLLECTION, "");
                    (Node::Options { ends, content: Box::new(content) }, format!("std::optional<{item}>"))
                }
            },
            Form::Union { contents, .. } => self.variant(id, contents, below)?,
            Form::Logical { meaning: LogicalType::Half, .. } => {
                let column = self.column(id, "Real16", around.first);
                (Node::Numbers { column, size: 2, each: 1 }, "float".into())
            }
            Form::Logical { meaning, content } => {
                if !self.options.times_as_integers || !matches!(**content, Form::Numpy { .. }) {
                    return Err(meaning.to_string());
                }
                let Some(title) = meaning.time_title() else { return Err(meaning.to_string()) };
                self.note_times(id, &title, *meaning);
                let Form::Numpy { dtype, shape, .. } = &**content else { return Err(meaning.to_string()) };
                self.numbers(id, *dtype, shape, below)?
            }
            // Any type fits, since there are no values; NumPy's default is float64.
            Form::Empty => {
                self.number(id, DType::Float64, around.first);
                (Node::Nothing, "double".into())
            }
            other => return Err(other.type_string()),
        };
        let node = match filling {
            Some(filling) => Node::Filled { filling, content: Box::new(node) },
            None => node,
        };
        if let Some(field) = self.all.fields.get_mut(id as usize) {
            field.type_name.clone_from(&ty);
        }
        self.path.pop();
        Ok((node, ty))
    }

    fn numbers(
        &mut self,
        id: u32,
        dtype: DType,
        shape: &[u64],
        around: Around,
    ) -> Result<(Node, String), Refusal> {
        let Some((&size, rest)) = shape.split_first() else {
            let column = self.number(id, dtype, around.first);
            return Ok((Node::Numbers { column, size: dtype.size(), each: 1 }, number_name(dtype).into()));
        };
        if size == 0 {
            let ends = self.ends(id, around.first);
            let item = self.open("_0", Some(id));
            let below = Around { parent: Some(item), first: None, ..around };
            let (_, ty) = self.numbers(item, dtype, rest, below)?;
            self.close(item, PLAIN, &ty);
            self.close(id, COLLECTION, "");
            return Ok((Node::Empty { ends }, format!("std::vector<{ty}>")));
        }
        if self.options.bitsets && dtype == DType::Bool && rest.is_empty() {
            let first = around.first.and_then(|first| first.checked_mul(size));
            let column = self.column(id, "Bit", first);
            self.repeat(id, size);
            let each = usize::try_from(size).map_err(|_| format!("arrays of {size} items"))?;
            return Ok((Node::Numbers { column, size: 1, each }, format!("std::bitset<{size}>")));
        }
        let (node, ty) = self.array(id, size, around, |this, below| {
            let item = this.open("_0", Some(id));
            let described = this.numbers(item, dtype, rest, Around { parent: Some(item), ..below })?;
            this.close(item, this.role(item), &described.1);
            Ok(described)
        })?;
        let size = usize::try_from(size).map_err(|_| format!("arrays of {size} items"))?;
        Ok(match node {
            Node::Numbers { column, size: width, each } => {
                let each = each.checked_mul(size).ok_or_else(|| format!("arrays of {size} items"))?;
                (Node::Numbers { column, size: width, each }, ty)
            }
            node => (Node::Fixed { size, content: Box::new(node) }, ty),
        })
    }

    /// Adds a field that is an array of another.
    fn array(
        &mut self,
        id: u32,
        size: u64,
        around: Around,
        content: impl FnOnce(&mut Self, Around) -> Result<(Node, String), Refusal>,
    ) -> Result<(Node, String), Refusal> {
        if size > u64::from(u32::MAX) {
            return Err(format!("arrays of {size} items"));
        }
        let first = around.first.and_then(|first| first.checked_mul(size));
        let (node, item) = content(self, Around { untyped: false, first, ..around })?;
        self.repeat(id, size);
        Ok((node, format!("std::array<{item},{size}>")))
    }

    fn record(
        &mut self,
        id: u32,
        names: &[String],
        contents: &[Form],
        class: Option<&str>,
        around: Around,
    ) -> Result<(Node, String), Refusal> {
        if contents.is_empty() {
            return Err("a record without fields".into());
        }
        let ty = if around.untyped { String::new() } else { self.class(class) };
        let mut nodes = Vec::new();
        for (name, form) in field_names(names).iter().zip(contents) {
            nodes.push(self.field(name, form, around)?.0);
        }
        self.close(id, RECORD, "");
        Ok((Node::Fields(nodes), ty))
    }

    fn tuple(&mut self, id: u32, contents: &[Form], around: Around) -> Result<(Node, String), Refusal> {
        if contents.is_empty() {
            return Err("a tuple without slots".into());
        }
        // ROOT derives the memory layout of a tuple from its type, which is unknown if it contains a class
        // that does not exist.
        if contents.iter().any(has_record) {
            let names: Vec<String> = (0..contents.len()).map(|at| format!("_{at}")).collect();
            return self.record(id, &names, contents, None, around);
        }
        let (mut nodes, mut types) = (Vec::new(), Vec::new());
        for (at, form) in contents.iter().enumerate() {
            let (node, ty) = self.field(&format!("_{at}"), form, Around { untyped: false, ..around })?;
            nodes.push(node);
            types.push(ty);
        }
        self.close(id, RECORD, "");
        let name = if contents.len() == 2 { "pair" } else { "tuple" };
        Ok((Node::Fields(nodes), format!("std::{name}<{}>", types.join(","))))
    }

    fn variant(&mut self, id: u32, contents: &[Form], around: Around) -> Result<(Node, String), Refusal> {
        const MOST: usize = 125;
        if !(1..=MOST).contains(&contents.len()) {
            return Err(format!("a union of {} types", contents.len()));
        }
        let switch = self.column(id, "Switch", around.first);
        let (mut nodes, mut types) = (Vec::new(), Vec::new());
        for (at, form) in contents.iter().enumerate() {
            // Null is a variant without a value.
            let form = match form {
                Form::Option { content, .. } => content,
                other => other,
            };
            if matches!(form, Form::Union { .. } | Form::Option { .. }) {
                return Err("a union in a union".into());
            }
            let inner = Around { untyped: false, first: None, ..around };
            let (node, ty) = self.field(&format!("_{at}"), form, inner)?;
            nodes.push(node);
            types.push(ty);
        }
        self.close(id, VARIANT, "");
        Ok((Node::Variants { switch, contents: nodes }, format!("std::variant<{}>", types.join(","))))
    }

    /// Returns a unique name for the class of a record, which need not exist.
    fn class(&mut self, given: Option<&str>) -> String {
        let given = given.filter(|_| self.options.class_names).filter(|name| is_class(name));
        let name = match given {
            Some(name) => name.to_owned(),
            None => word(&format!("Record_{}", self.names("_"))),
        };
        let numbered = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name}_{n}")));
        let free = numbered.into_iter().find(|name| !self.classes.contains(name)).unwrap_or(name);
        self.classes.insert(free.clone());
        free
    }

    pub(super) fn open(&mut self, name: &str, parent: Option<u32>) -> u32 {
        let id = self.all.fields.len() as u32;
        self.all.fields.push(FieldRecord {
            parent: parent.unwrap_or(id),
            role: PLAIN,
            name: name.to_owned(),
            type_name: String::new(),
            description: String::new(),
            repeats: None,
            source: None,
        });
        id
    }

    pub(super) fn close(&mut self, id: u32, role: u16, type_name: &str) {
        if let Some(field) = self.all.fields.get_mut(id as usize) {
            field.role = role;
            field.type_name = type_name.to_owned();
        }
    }

    /// Adds the unit of times to the description of a field.
    fn note_times(&mut self, id: u32, title: &str, times: LogicalType) {
        if let Some(field) = self.all.fields.get_mut(id as usize) {
            field.description = match field.description.as_str() {
                "" => title.to_owned(),
                chosen => format!("{chosen} {}", times.title_note()),
            };
        }
    }

    pub(super) fn role(&self, id: u32) -> u16 {
        self.all.fields.get(id as usize).map_or(PLAIN, |field| field.role)
    }

    fn repeat(&mut self, id: u32, size: u64) {
        if let Some(field) = self.all.fields.get_mut(id as usize) {
            field.repeats = Some(size);
        }
    }
}

fn is_truth(form: &Form) -> bool {
    matches!(form, Form::Numpy { dtype: DType::Bool, shape, .. } if shape.is_empty())
}

/// Returns whether a Form contains named fields, which need a class.
fn has_record(form: &Form) -> bool {
    form.nodes().any(|node| matches!(node, Form::Record { fields: Some(_), .. }))
}

/// Returns the bytes of the sentinel for missing values of this Form; empty for lists and strings.
fn filling(form: &Form, number: Number) -> Result<Vec<u8>, Refusal> {
    let dtype = match form {
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => *dtype,
        Form::List { .. } | Form::String { .. } => return Ok(Vec::new()),
        other => {
            return Err(format!("a number in place of missing values of type {}", other.type_string()));
        }
    };
    let bytes = number.bytes(dtype);
    bytes.ok_or_else(|| format!("{number} in place of missing values of type {dtype}"))
}

/// Returns valid and unique names of fields.
pub(crate) fn field_names(names: &[String]) -> Vec<String> {
    let spelled = |name: &str| {
        let bad = |c: char| c.is_control() || matches!(c, ' ' | '.' | '/' | '\\');
        let name: String = name.chars().map(|c| if bad(c) { '_' } else { c }).collect();
        // A colon marks the name of a base class.
        if name.is_empty() || name.starts_with(':') { format!("_{name}") } else { name }
    };
    let mut taken: HashSet<String> = names.iter().filter(|name| spelled(name) == **name).cloned().collect();
    let mut seen = HashSet::new();
    let one = |name: &String| {
        let spelled = spelled(name);
        if spelled == *name && seen.insert(name.clone()) {
            return spelled;
        }
        let numbered = std::iter::once(spelled.clone()).chain((2..).map(|n| format!("{spelled}_{n}")));
        let free = numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or(spelled);
        taken.insert(free.clone());
        free
    };
    names.iter().map(one).collect()
}

fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// Returns whether a text is a valid class name.
fn is_class(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && word(part) == part && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    name.split("::").all(part) && !name.starts_with("std::")
}
