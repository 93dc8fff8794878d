//! Schema of a file: types of its columns, and how these are decoded.

use crate::field::{Kind, Logical, Repetition, Type};
use crate::footer::Footer;
use crate::hints::Hint;
use crate::leaf::{Kept, Leaf, Node, Physical};
use forthwith_columns::{DType, Form, LogicalType, MAP, TimeUnit, Zone};
use forthwith_plan::ColumnSpec;

/// A column of the table: a top-level field of the schema, or a field within a record, by itself.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Path of the field: names of the records around it, and its own name.
    pub(crate) path: Vec<String>,
    /// Index of the column that it is a part of.
    pub(crate) parent: Option<u32>,
    pub(crate) has_parts: bool,
    pub(crate) type_name: String,
    /// The Form, with all lists as lists of variable length, and the parts that it is assembled from; or a
    /// description of the unsupported type.
    pub(crate) reading: Result<(Form, Vec<Part>), String>,
    /// Columns of the file that the column consists of.
    pub(crate) leaves: std::ops::Range<usize>,
    /// Keys and lengths of lists of fixed length, by Arrow's schema. The Forms of the parts have them as
    /// lists of variable length.
    pub(crate) fixed: Vec<(String, u64)>,
}

/// A column of the file, and its part of the Form.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) path: String,
    /// Index of the file's column.
    pub(crate) number: usize,
    pub(crate) leaf: Leaf,
    /// Keys and types of its buffers, and whether they are offsets.
    pub(crate) buffers: Vec<(String, DType, bool)>,
}

impl Part {
    /// Returns the part of a column's Form that has this part's buffers. `named` tells whether the Form [has
    /// the names](has_names) by which parts are assembled; otherwise each part has all fields of records.
    pub(crate) fn form(&self, whole: &Form, named: bool) -> Form {
        let own: Vec<&str> =
            self.buffers.iter().filter_map(|(key, ..)| key.rsplit_once('-').map(|k| k.0)).collect();
        restrict(whole, &own, named).unwrap_or(Form::Empty)
    }

    /// Whether the values can be views: byte strings without a logical type.
    pub(crate) fn has_views(&self, form: &Form) -> bool {
        let is_plain = |node: &Form| !matches!(node, Form::Logical { content, .. } if matches!(content.kept(), Form::String { .. }));
        self.leaf.kept == Kept::Bytes && form.nodes().all(is_plain)
    }

    /// Returns the columns of the group, for `values` values in `bytes` bytes.
    pub(crate) fn specs(&self, values: u64, bytes: u64) -> Vec<ColumnSpec> {
        let spec = |(at, (key, dtype, offsets)): (usize, &(String, DType, bool))| {
            let needed = values.saturating_add(1).saturating_mul(dtype.size() as u64);
            let each = needed.div_ceil(bytes.max(1)).clamp(1, 1 << 16);
            let each = if self.is_per_entry(at) { 0 } else { u32::try_from(each).unwrap_or(1) };
            ColumnSpec {
                key: key.clone(),
                dtype: *dtype,
                offsets: *offsets,
                member: self.path.clone(),
                bytes_per_payload_byte: each,
            }
        };
        self.buffers.iter().enumerate().map(spec).collect()
    }

    /// Whether buffer `at` has at most one item for each entry.
    fn is_per_entry(&self, at: usize) -> bool {
        match self.leaf.nodes.get(at) {
            Some(node) => node.rep == 0,
            // Buffers of the values: numbers, or offsets and bytes.
            None => self.leaf.max_rep == 0 && (self.leaf.kept != Kept::Bytes || at == self.leaf.nodes.len()),
        }
    }
}

/// Upper bound on the number of listed parts, each of which is compared with all others.
const MOST_PARTS: usize = 1 << 12;
/// Upper bounds on the parts of a column times the nodes of its Form, if each part has all fields, and if
/// parts are assembled by names.
const MOST_NODES: usize = 1 << 25;
const MOST_NODES_BY_NAME: usize = 1 << 29;

/// Returns the columns of a schema of bounded depth, each followed by its parts.
///
/// `hints` has the types of the file's columns that Arrow's schema adds. INT96 is read as microseconds if
/// `micros`, otherwise as nanoseconds.
pub(crate) fn columns(footer: &Footer, hints: &[Hint], micros: bool) -> Vec<Column> {
    let mut next = 0;
    let mut columns: Vec<Column> = Vec::new();
    let mut listed = 0;
    for field in footer.schema.fields() {
        let leaves = next..next + count(field);
        let mut parts = Vec::new();
        below(field, &mut Vec::new(), &mut parts);
        listed += parts.len();
        if listed > MOST_PARTS {
            parts.clear();
        }
        let whole = u32::try_from(columns.len()).unwrap_or(u32::MAX);
        for wanted in std::iter::once(Vec::new()).chain(parts) {
            let path: Vec<String> = std::iter::once(field.name.clone()).chain(wanted.clone()).collect();
            // Parents precede their parts.
            let first = whole as usize;
            let above = |c: &Column| path.starts_with(&c.path) && c.path.len() < path.len();
            let parent = columns.get(first..).and_then(|all| all.iter().rposition(above));
            let parent = parent.and_then(|at| u32::try_from(first + at).ok());
            if let Some(above) = parent.and_then(|at| columns.get_mut(at as usize)) {
                above.has_parts = true;
            }
            let kind = if wanted.is_empty() { field.to_string() } else { String::new() };
            let top = vec![field.name.clone()];
            let mut walk = Walk {
                next,
                keys: 0,
                parts: Vec::new(),
                path: top,
                wanted,
                taken: 0,
                kind,
                hints,
                micros,
                always_compressed: footer.always_compressed(),
                fixed: Vec::new(),
                fits: true,
            };
            let form = walk.field(field, &Around::default());
            if !walk.fits {
                walk.fixed.clear();
            }
            let numbers = walk.parts.iter().map(|part| part.number);
            let own = numbers.clone().min().zip(numbers.max()).map(|(first, last)| first..last + 1);
            let reading = form.and_then(|form| match form.nodes().count().saturating_mul(walk.parts.len()) {
                0..=MOST_NODES => Ok((form, walk.parts)),
                0..=MOST_NODES_BY_NAME if has_names(&form) => Ok((form, walk.parts)),
                _ => Err(format!("{}, {} columns in one", path.join("/"), walk.parts.len())),
            });
            let leaves = own.filter(|_| path.len() > 1).unwrap_or_else(|| leaves.clone());
            columns.push(Column {
                path,
                parent,
                has_parts: false,
                type_name: walk.kind,
                reading,
                leaves,
                fixed: walk.fixed,
            });
        }
        next = leaves.end;
    }
    columns
}

/// Collects the paths of the fields of records in a field, also within lists. Keys and values of maps are not
/// read separately.
fn below(field: &Type, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match shape(field) {
        Shape::Record => {
            for field in field.fields() {
                // The limit is exceeded: comparing each part with all others would take too long.
                if found.len() > MOST_PARTS {
                    return;
                }
                path.push(field.name.clone());
                if !found.contains(path) {
                    found.push(path.clone());
                    below(field, path, found);
                }
                path.pop();
            }
        }
        Shape::List(repeated) => below(item(field, repeated).unwrap_or(repeated), path, found),
        Shape::Leaf | Shape::Map(_) => {}
    }
}

/// Structure of a field, apart from its repetition.
enum Shape<'a> {
    Leaf,
    /// The repeated field of a list.
    List(&'a Type),
    Map(&'a Type),
    Record,
}

fn shape(field: &Type) -> Shape<'_> {
    if field.is_leaf() {
        return Shape::Leaf;
    }
    let repeated = match field.fields() {
        [only] if only.repetition == Repetition::Repeated => Some(only),
        _ => None,
    };
    match (repeated, field.logical()) {
        (Some(repeated), Some(Logical::List)) => Shape::List(repeated),
        (Some(repeated), Some(Logical::Map)) if !repeated.is_leaf() && repeated.fields().len() <= 2 => {
            Shape::Map(repeated)
        }
        _ => Shape::Record,
    }
}

/// Returns the item of a list if `repeated` only wraps it; `None` if `repeated` is the item itself, as in
/// files of older writers.
fn item<'a>(list: &Type, repeated: &'a Type) -> Option<&'a Type> {
    let wraps =
        !repeated.is_leaf() && repeated.name != "array" && repeated.name != format!("{}_tuple", list.name);
    match repeated.fields() {
        [item] if wraps => Some(item),
        _ => None,
    }
}

/// Returns the number of the file's columns in a field.
fn count(field: &Type) -> usize {
    if field.is_leaf() { 1 } else { field.fields().iter().map(count).sum() }
}

/// Returns the part of a Form that has these buffers; `None` if it does not have any.
fn restrict(form: &Form, own: &[&str], named: bool) -> Option<Form> {
    let inner = |content: &Form| Box::new(restrict(content, own, named).unwrap_or(Form::Empty));
    match form {
        Form::Numpy { key, .. } | Form::String { key, .. } => {
            own.contains(&key.as_str()).then(|| form.clone())
        }
        Form::List { key, content } if own.contains(&key.as_str()) => {
            Some(Form::List { key: key.clone(), content: inner(content) })
        }
        Form::Option { key, content } if own.contains(&key.as_str()) => {
            Some(Form::Option { key: key.clone(), content: inner(content) })
        }
        Form::Logical { content, meaning } => {
            let content = Box::new(restrict(content, own, named)?);
            Some(Form::Logical { meaning: *meaning, content })
        }
        Form::Record { fields: Some(names), contents, name } if named => {
            let parts = names.iter().zip(contents);
            let parts =
                parts.filter_map(|(name, content)| Some((name.clone(), restrict(content, own, named)?)));
            let (fields, contents): (Vec<_>, Vec<_>) = parts.unzip();
            (!contents.is_empty()).then(|| Form::Record {
                fields: Some(fields),
                contents,
                name: name.clone(),
            })
        }
        Form::Record { fields, contents, name } => {
            let parts: Vec<_> = contents.iter().map(|content| restrict(content, own, named)).collect();
            parts.iter().any(Option::is_some).then(|| Form::Record {
                fields: fields.clone(),
                contents: parts.into_iter().map(|part| part.unwrap_or(Form::Empty)).collect(),
                name: name.clone(),
            })
        }
        _ => None,
    }
}

/// Whether the parts of records can be assembled by field names: each name is present and unique. The check
/// takes linear time.
pub(crate) fn has_names(form: &Form) -> bool {
    match form {
        Form::Record { fields: None, .. } | Form::Empty => false,
        Form::Record { fields: Some(names), contents, .. } => {
            let mut known = std::collections::HashSet::with_capacity(names.len());
            names.iter().all(|name| known.insert(name)) && contents.iter().all(has_names)
        }
        Form::List { content, .. } | Form::Option { content, .. } | Form::Logical { content, .. } => {
            // A missing value is in the part that has the option's buffer.
            has_names(content) || **content == Form::Empty && matches!(form, Form::Option { .. })
        }
        _ => true,
    }
}

/// Lists and options around a field.
#[derive(Clone, Default)]
struct Around {
    rep: u8,
    def: u8,
    /// Definition level of an optional record that is not read itself: its field is missing if the record is.
    missing: Option<u8>,
    nodes: Vec<(Node, String)>,
}

impl Around {
    fn list(&self, key: &str) -> Self {
        let mut inner = self.clone();
        let node = Node { is_list: true, rep: self.rep, slot: self.def, item: self.def + 1 };
        inner.nodes.push((node, key.to_owned()));
        (inner.rep, inner.def) = (self.rep + 1, self.def + 1);
        inner
    }

    fn option(&self, key: &str) -> Self {
        let mut inner = self.clone();
        inner.def = self.def + 1;
        let slot = inner.missing.take().unwrap_or(self.def);
        inner.nodes.push((Node { is_list: false, rep: self.rep, slot, item: inner.def }, key.to_owned()));
        inner
    }

    /// Adds the option of a required field in an optional record.
    fn option_of_outer(&self, slot: u8, key: &str) -> Self {
        let mut inner = Self { missing: None, ..self.clone() };
        inner.nodes.push((Node { is_list: false, rep: self.rep, slot, item: self.def }, key.to_owned()));
        inner
    }

    /// Enters an optional record that is not read itself.
    fn passing(&self) -> Self {
        Self { def: self.def + 1, missing: self.missing.or(Some(self.def)), ..self.clone() }
    }
}

struct Walk<'a> {
    /// Index of the file's next column.
    next: usize,
    keys: usize,
    parts: Vec<Part>,
    path: Vec<String>,
    /// Path of the field to read within records, and how many of its names were followed.
    wanted: Vec<String>,
    taken: usize,
    /// The file's name of the type of the field.
    kind: String,
    hints: &'a [Hint],
    /// Whether INT96 is read as microseconds.
    micros: bool,
    always_compressed: bool,
    /// Keys and lengths of lists of fixed length.
    fixed: Vec<(String, u64)>,
    /// Whether Arrow's schema has the same number of lists around all values.
    fits: bool,
}

impl Walk<'_> {
    fn key(&mut self) -> String {
        self.keys += 1;
        format!("node{}", self.keys - 1)
    }

    /// Returns the Form of a field, including its repetition.
    fn field(&mut self, field: &Type, around: &Around) -> Result<Form, String> {
        let passes = self.taken < self.wanted.len() && matches!(shape(field), Shape::Record);
        match (field.repetition, around.missing) {
            (Repetition::Required, Some(slot)) if !passes => {
                let key = self.key();
                let content = Box::new(self.content(field, &around.option_of_outer(slot, &key))?);
                Ok(Form::Option { key, content })
            }
            (Repetition::Required, _) => self.content(field, around),
            (Repetition::Optional, _) if passes => self.content(field, &around.passing()),
            (Repetition::Optional, _) => {
                let key = self.key();
                let content = Box::new(self.content(field, &around.option(&key))?);
                Ok(Form::Option { key, content })
            }
            // A repeated field is a list, even without the logical type.
            (Repetition::Repeated, Some(slot)) => {
                let (outer, key) = (self.key(), self.key());
                let around = around.option_of_outer(slot, &outer);
                let content = Box::new(self.content(field, &around.list(&key))?);
                let content = Box::new(Form::List { key, content });
                Ok(Form::Option { key: outer, content })
            }
            (Repetition::Repeated, None) => {
                let key = self.key();
                let content = Box::new(self.content(field, &around.list(&key))?);
                Ok(Form::List { key, content })
            }
        }
    }

    fn content(&mut self, field: &Type, around: &Around) -> Result<Form, String> {
        match shape(field) {
            Shape::Leaf => self.leaf(field, around),
            Shape::List(repeated) => self.list(field, repeated, around),
            Shape::Map(repeated) => self.map(repeated, around),
            Shape::Record => self.record(field, around),
        }
    }

    fn record(&mut self, field: &Type, around: &Around) -> Result<Form, String> {
        if let Some(wanted) = self.wanted.get(self.taken) {
            let fields = field.fields();
            let at = fields.iter().position(|field| field.name == *wanted);
            let Some(only) = at.and_then(|at| fields.get(at)) else {
                return Err(format!("no field {wanted}"));
            };
            self.taken += 1;
            self.next += fields.iter().take(at.unwrap_or(0)).map(count).sum::<usize>();
            if self.taken == self.wanted.len() {
                self.kind = only.to_string();
            }
            self.path.push(only.name.clone());
            let form = self.field(only, around)?;
            self.path.pop();
            return Ok(form);
        }
        let (mut names, mut contents) = (Vec::new(), Vec::new());
        for field in field.fields() {
            self.path.push(field.name.clone());
            names.push(field.name.clone());
            contents.push(self.field(field, around)?);
            self.path.pop();
        }
        if contents.is_empty() {
            return Err(format!("{}, a group without fields", self.path.join(".")));
        }
        Ok(Form::Record { fields: Some(names), contents, name: None })
    }

    /// Returns the Form of a list. `repeated` contains the item as its only field, or is the item itself, as
    /// in files of older writers.
    fn list(&mut self, list: &Type, repeated: &Type, around: &Around) -> Result<Form, String> {
        let key = self.key();
        let inner = around.list(&key);
        let said = self.hints.get(self.next).and_then(|hint| hint.lists.get(usize::from(around.rep)));
        if let Some(Some(size)) = said {
            self.fixed.push((key.clone(), *size));
        }
        let content = match item(list, repeated) {
            Some(item) => self.field(item, &inner)?,
            None => self.content(repeated, &inner)?,
        };
        Ok(Form::List { key, content: Box::new(content) })
    }

    /// Returns the Form of a map: a list of pairs of key and value. A map without values is a list of keys.
    fn map(&mut self, repeated: &Type, around: &Around) -> Result<Form, String> {
        let key = self.key();
        let inner = around.list(&key);
        let mut slots = Vec::new();
        for field in repeated.fields() {
            self.path.push(field.name.clone());
            slots.push(self.field(field, &inner)?);
            self.path.pop();
        }
        let content = match (slots.pop(), slots.pop()) {
            (Some(value), Some(name)) => {
                // Lists of pairs with text keys are always treated as maps.
                let text = matches!(name, Form::String { binary: false, .. });
                let class = (!text).then(|| MAP.to_owned());
                Form::Record { fields: None, contents: vec![name, value], name: class }
            }
            (Some(only), None) => only,
            _ => return Err(format!("{}, a map without keys", self.path.join("."))),
        };
        Ok(Form::List { key, content: Box::new(content) })
    }

    fn leaf(&mut self, field: &Type, around: &Around) -> Result<Form, String> {
        let number = self.next;
        self.next += 1;
        let path = self.path.join("/");
        let (physical, mut kept, mut meaning) = values(field).map_err(|why| format!("{path}, {why}"))?;
        if self.micros && kept == Kept::Nanoseconds {
            kept = Kept::Microseconds;
            meaning = Some(LogicalType::Timestamp { unit: TimeUnit::Micro, zone: None });
        }
        let bare = field.logical().is_none();
        let hint = self.hints.get(number);
        self.fits &= hint.is_none_or(|hint| hint.lists.len() == usize::from(around.rep));
        let (duration, zone) = hint.map(|hint| (hint.duration, hint.zone)).unwrap_or_default();
        let meaning = match (meaning, &kept, duration) {
            (None, Kept::Numbers(DType::Int64), Some(unit)) if bare => Some(LogicalType::Duration(unit)),
            (Some(LogicalType::Timestamp { unit, zone: Some(utc) }), ..) => {
                Some(LogicalType::Timestamp { unit, zone: zone.or(Some(utc)) })
            }
            (meaning, ..) => meaning,
        };
        let key = self.key();
        let mut buffers: Vec<_> = around
            .nodes
            .iter()
            .map(|(node, key)| {
                let part = if node.is_list { "offsets" } else { "index" };
                (format!("{key}-{part}"), DType::Int64, node.is_list)
            })
            .collect();
        let form = match kept {
            Kept::Numbers(dtype) => Form::Numpy { key: key.clone(), dtype, shape: vec![] },
            Kept::Nanoseconds | Kept::Microseconds => {
                Form::Numpy { key: key.clone(), dtype: DType::Int64, shape: vec![] }
            }
            Kept::Bytes => Form::String { key: key.clone(), binary: !is_text(field) },
            Kept::Nothing => Form::Empty,
        };
        match &form {
            Form::Numpy { dtype, .. } => buffers.push((format!("{key}-data"), *dtype, false)),
            Form::String { .. } => {
                buffers.push((format!("{key}-offsets"), DType::Int64, true));
                buffers.push((format!("{key}-data"), DType::UInt8, false));
            }
            _ => {}
        }
        let nodes = around.nodes.iter().map(|(node, _)| *node).collect();
        let leaf = Leaf {
            physical,
            kept,
            nodes,
            max_rep: around.rep,
            max_def: around.def,
            always_compressed: self.always_compressed,
        };
        self.parts.push(Part { path, number, leaf, buffers });
        Ok(match meaning {
            Some(meaning) => Form::Logical { meaning, content: Box::new(form) },
            None => form,
        })
    }
}

fn is_text(field: &Type) -> bool {
    matches!(field.logical(), Some(Logical::String | Logical::Json))
}

/// Returns the physical type of values, the decoded type, and the logical type.
fn values(field: &Type) -> Result<(Physical, Kept, Option<LogicalType>), String> {
    let Kind::Leaf { physical, length } = field.kind else {
        return Err("a group, where a primitive column is expected".into());
    };
    let logical = field.logical();
    let decimal = match logical {
        Some(Logical::Decimal { precision, scale }) => {
            let both = u32::try_from(precision).ok().zip(u32::try_from(scale).ok());
            both.map(|(precision, scale)| LogicalType::Decimal { precision, scale })
        }
        _ => None,
    };
    let numbers = |dtype| (Kept::Numbers(dtype), None);
    let meant = |dtype, meaning| (Kept::Numbers(dtype), Some(meaning));
    let physical = match physical {
        0 => Physical::Bool,
        1 => Physical::Int32,
        2 => Physical::Int64,
        3 => Physical::Int96,
        4 => Physical::Float,
        5 => Physical::Double,
        6 => Physical::Bytes,
        7 => {
            // Upper bound on the length of values of fixed length.
            let width = u32::try_from(length).ok().filter(|width| *width <= 1 << 24);
            Physical::Fixed(width.ok_or_else(|| format!("values of {length} bytes"))?)
        }
        other => return Err(format!("values of type number {other}")),
    };
    if logical == Some(Logical::Null) {
        return Ok((physical, Kept::Nothing, None));
    }
    let (kept, meaning) = match (physical, logical) {
        (Physical::Bool, _) => numbers(DType::Bool),
        (Physical::Float, _) => numbers(DType::Float32),
        (Physical::Double, _) => numbers(DType::Float64),
        (Physical::Int96, _) => {
            (Kept::Nanoseconds, Some(LogicalType::Timestamp { unit: TimeUnit::Nano, zone: None }))
        }
        (Physical::Fixed(2), Some(Logical::Half)) => meant(DType::UInt16, LogicalType::Half),
        (Physical::Bytes | Physical::Fixed(_), _) => (Kept::Bytes, decimal),
        (Physical::Int32, Some(Logical::Integer { bits, signed })) => numbers(match (bits, signed) {
            (8, true) => DType::Int8,
            (16, true) => DType::Int16,
            (8, false) => DType::UInt8,
            (16, false) => DType::UInt16,
            (_, false) => DType::UInt32,
            (_, true) => DType::Int32,
        }),
        (Physical::Int32, Some(Logical::Date)) => meant(DType::Int32, LogicalType::Date),
        (Physical::Int32, Some(Logical::Time { .. })) => {
            meant(DType::Int32, LogicalType::Time(TimeUnit::Milli))
        }
        (Physical::Int32, _) => (Kept::Numbers(DType::Int32), decimal),
        (Physical::Int64, Some(Logical::Integer { signed: false, .. })) => numbers(DType::UInt64),
        (Physical::Int64, Some(Logical::Timestamp { unit, utc })) => {
            meant(DType::Int64, LogicalType::Timestamp { unit, zone: utc.then_some(Zone::UTC) })
        }
        (Physical::Int64, Some(Logical::Time { unit, .. })) => meant(DType::Int64, LogicalType::Time(unit)),
        (Physical::Int64, _) => (Kept::Numbers(DType::Int64), decimal),
    };
    Ok((physical, kept, meaning))
}
