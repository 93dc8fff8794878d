//! Outputs of a machine as the buffers of a type.

use crate::Misfit;
use crate::Text;
use crate::checked::{Items, integers};
use crate::form::{Form, Index, Kind, Primitive};
use crate::layout::Layout;
use bytes::Bytes;
use forthwith_columns::{Column, DType};
use forthwith_forth::Output;

/// Description of an output.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Name in the program.
    pub name: &'a str,
    /// Type of its items.
    pub dtype: DType,
    /// Number of items.
    pub items: usize,
    /// Last item, if it is an integer: for offsets, the number of items of the lists.
    pub last: Option<i64>,
}

impl<'a> Written<'a> {
    /// Describes an output of a machine in its present state.
    #[must_use]
    pub fn of(name: &'a str, output: &Output) -> Self {
        let last = Index::from_dtype(output.dtype()).and_then(|_| integers(output).next_back());
        Self { name, dtype: output.dtype(), items: output.len(), last }
    }
}

/// Assignment of outputs to the buffers of a type.
///
/// ```
/// use forthwith_builders::{Arrangement, Form, Written};
/// use forthwith_forth::{Compiled, Limits, Machine};
/// use std::sync::Arc;
///
/// let program = "input data  output offsets int64  output content float32
///     0 offsets <- stack
///     begin data end invert while  data B-> stack dup offsets +<- stack data #f-> content  repeat";
/// let compiled = Arc::new(Compiled::new(program)?);
/// let mut machine = Machine::new(Arc::clone(&compiled), Limits::default());
/// machine.run(&[&[1, 0, 0, 0x80, 0x3f, 0]])?;
///
/// let names = compiled.outputs().iter().map(|output| output.name.as_str());
/// let written: Vec<_> = names.zip(machine.outputs()).map(|(name, output)| Written::of(name, output)).collect();
/// let found = Arrangement::new(&Form::parse("var * float32")?, &written)?;
/// assert_eq!((found.length, found.buffers[0].0.as_str()), (2, "node0-offsets"));
/// let array = found.layout(machine.outputs()).to_array()?;
/// assert_eq!(array.preview(0..2, 20).lines()?, ["[1]", "[]"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arrangement {
    /// Type with keys. Its kinds of nodes and integer types follow from the outputs.
    pub form: Form,
    /// Number of rows.
    pub length: u64,
    /// Names of the buffers in the Form, each with the index of its output.
    pub buffers: Vec<(String, usize)>,
}

impl Arrangement {
    /// Assigns outputs to the buffers of a type, both in order: of declaration, and from left to right.
    ///
    /// A number is one output of its dtype; a list is offsets (int64, int32 or uint32) followed by its items;
    /// a string is offsets and uint8; an option is an index (int64 or int32, -1 for nulls) followed by its
    /// content without nulls, or a mask (bool or int8, 1 for values that are not null) followed by its
    /// content with arbitrary values in place of nulls; a union is tags (int8) and an index (int64 or int32)
    /// followed by its alternatives; records and tuples are their fields.
    ///
    /// # Errors
    /// Returns an error with the path in the type if the outputs do not match it.
    pub fn new(form: &Form, outputs: &[Written<'_>]) -> Result<Self, Misfit> {
        Self::bind(form, outputs, false)
    }

    /// Assigns outputs of which only names and dtypes are known, to check that they match a type before
    /// anything is written. The arrangement has no rows.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new) except those about lengths.
    pub fn without_rows(form: &Form, outputs: &[(&str, DType)]) -> Result<Self, Misfit> {
        let written = |&(name, dtype)| Written { name, dtype, items: 0, last: None };
        Self::bind(form, &outputs.iter().map(written).collect::<Vec<_>>(), true)
    }

    fn bind(form: &Form, outputs: &[Written<'_>], rowless: bool) -> Result<Self, Misfit> {
        let mut binder = Binder::new(outputs, rowless, None);
        let (form, length) = binder.node(form, "")?;
        if let Some(left) = outputs.get(binder.next) {
            return Err(Misfit::Output {
                place: "the end".into(),
                ty: form.type_string(),
                wanted: "no more outputs".into(),
                found: format!("there is {} {} besides", left.name, left.dtype),
            });
        }
        let length = length.ok_or_else(|| Misfit::Length {
            place: "the type".into(),
            what: "how many rows a record without fields has is in no output".into(),
        })?;
        Ok(Self { form, length, buffers: binder.buffers })
    }

    /// Validates all offsets, indexes, tags and strings: offsets begin with 0 and do not decrease, indexes
    /// and tags are in range, strings are UTF-8. `outputs` are those of [`new`](Self::new), with their names.
    ///
    /// # Errors
    /// Returns [`Misfit::Value`] with the output, the item and its value, or [`Misfit::Length`].
    pub fn check(&self, outputs: &[(&str, &Output)]) -> Result<(), Misfit> {
        let written: Vec<_> = outputs.iter().map(|(name, output)| Written::of(name, output)).collect();
        Binder::new(&written, false, Some(Items(outputs))).node(&self.form, "").map(drop)
    }

    /// Copies the outputs into columns.
    #[must_use]
    pub fn layout(&self, outputs: &[Output]) -> Layout {
        let columns = self.buffers.iter().map(|(key, at)| {
            let output = &outputs[*at];
            (key.clone(), Column::from_bytes(output.dtype(), Bytes::copy_from_slice(output.as_bytes())))
        });
        Layout { form: self.form.clone(), length: self.length, columns: columns.collect() }
    }
}

struct Binder<'a> {
    outputs: &'a [Written<'a>],
    /// Index of the next output that is not assigned yet.
    next: usize,
    /// Number of nodes so far, which determines the keys.
    nodes: usize,
    buffers: Vec<(String, usize)>,
    /// Whether nothing has been written yet, not even the zero at the beginning of offsets.
    rowless: bool,
    /// Contents of the outputs, if they are validated.
    items: Option<Items<'a>>,
}

/// Node with keys, and its number of rows; `None` if any number is possible.
type Node = (Form, Option<u64>);

impl<'a> Binder<'a> {
    fn new(outputs: &'a [Written<'a>], rowless: bool, items: Option<Items<'a>>) -> Self {
        Self { outputs, next: 0, nodes: 0, buffers: Vec::new(), rowless, items }
    }

    /// Validates outputs, if their contents are given.
    fn look(&self, look: impl FnOnce(Items<'a>) -> Result<(), Misfit>) -> Result<(), Misfit> {
        self.items.map_or(Ok(()), look)
    }

    fn node(&mut self, form: &Form, place: &str) -> Result<Node, Misfit> {
        let key = format!("node{}", self.nodes);
        self.nodes += 1;
        let (kind, length) = self.kind(form, &key, place)?;
        Ok((Form { kind, parameters: form.parameters.clone(), key: Some(key) }, length))
    }

    fn kind(&mut self, form: &Form, key: &str, place: &str) -> Result<(Kind, Option<u64>), Misfit> {
        match &form.kind {
            Kind::Empty => Ok((Kind::Empty, Some(0))),
            Kind::Numpy { primitive, shape } => self.numbers(form, *primitive, shape, key, place),
            Kind::Regular { size, content } => {
                let (content, items) = self.node(content, &format!("{place}[]"))?;
                let length = match (items, *size) {
                    (Some(_), 0) | (None, _) => None,
                    (Some(items), size) if items.is_multiple_of(size) => Some(items / size),
                    (Some(items), size) => {
                        let what = format!("{items} items are no lists of {size}");
                        return Err(Misfit::Length { place: named(place), what });
                    }
                };
                Ok((Kind::Regular { size: *size, content: Box::new(content) }, length))
            }
            Kind::ListOffset { content, .. } | Kind::List { content, .. } => {
                let what = "offsets int64, int32 or uint32";
                let at =
                    self.take(form, place, key, what, |dtype| Index::from_dtype(dtype).map(|_| "offsets"))?;
                let written = self.outputs[at];
                let (last, written_offsets) =
                    if self.rowless { (Some(0), 1) } else { (written.last, written.items) };
                let Some(last) = last else {
                    let what = format!("{} is empty; offsets begin with 0: `0 {0} <- stack`", written.name);
                    return Err(Misfit::Length { place: named(place), what });
                };
                self.look(|all| all.offsets(at))?;
                let (content, items) = self.node(content, &format!("{place}[]"))?;
                if form.as_text() == Some(Text::String) {
                    self.look(|all| all.text(at))?;
                }
                if items.is_some_and(|items| items != last as u64) {
                    let items = items.unwrap_or(0);
                    let what = format!("{} ends at {last}, and the lists have {items} items", written.name);
                    return Err(Misfit::Length { place: named(place), what });
                }
                let offsets = Index::from_dtype(written.dtype).unwrap_or(Index::I64);
                let kind = Kind::ListOffset { offsets, content: Box::new(content) };
                Ok((kind, Some(written_offsets as u64 - 1)))
            }
            Kind::Record { fields, contents } => {
                let (mut nodes, mut length) = (Vec::with_capacity(contents.len()), None);
                for (at, content) in contents.iter().enumerate() {
                    let name = fields.as_ref().map_or_else(|| at.to_string(), |fields| fields[at].clone());
                    let inside = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    let (node, rows) = self.node(content, &inside)?;
                    if let (Some(rows), Some((before, known))) = (rows, &length)
                        && rows != *known
                    {
                        let what = format!("has {rows} rows, and {before} has {known}");
                        return Err(Misfit::Length { place: named(&inside), what });
                    }
                    length = length.or(rows.map(|rows| (inside, rows)));
                    nodes.push(node);
                }
                let kind = Kind::Record { fields: fields.clone(), contents: nodes };
                Ok((kind, length.map(|(_, rows)| rows)))
            }
            Kind::IndexedOption { content, .. } | Kind::ByteMasked { content, .. } => {
                let what = "an index int64 or int32, or a mask bool or int8";
                let at = self.take(form, place, key, what, |dtype| match dtype {
                    DType::Bool | DType::Int8 => Some("mask"),
                    dtype => index(dtype).map(|_| "index"),
                })?;
                let written = self.outputs[at];
                let length = Some(written.items as u64);
                let (content, rows) = self.node(content, place)?;
                let content = Box::new(content);
                match index(written.dtype) {
                    Some(index) => {
                        self.look(|all| all.index(at, rows))?;
                        Ok((Kind::IndexedOption { index, content }, length))
                    }
                    None if rows.is_some_and(|rows| Some(rows) != length) => {
                        let what = format!(
                            "{} has {} items and the values under it {}; with an index instead of a mask, nulls need none",
                            written.name,
                            written.items,
                            rows.unwrap_or(0)
                        );
                        Err(Misfit::Length { place: named(place), what })
                    }
                    None => Ok((Kind::ByteMasked { valid_when: true, content }, length)),
                }
            }
            Kind::Union { contents, .. } => {
                let tags = |dtype| (dtype == DType::Int8).then_some("tags");
                let tags = self.take(form, place, key, "tags int8", tags)?;
                let what = "an index int64 or int32";
                let at = self.take(form, place, key, what, |dtype| index(dtype).map(|_| "index"))?;
                let (tagged, written) = (self.outputs[tags], self.outputs[at]);
                if tagged.items != written.items {
                    let what = format!(
                        "{} has {} items and {} {}",
                        tagged.name, tagged.items, written.name, written.items
                    );
                    return Err(Misfit::Length { place: named(place), what });
                }
                let nodes = contents.iter().map(|content| self.node(content, place));
                let (contents, rows): (_, Vec<_>) = nodes.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
                self.look(|all| all.tags(tags, at, &rows))?;
                let index = index(written.dtype).unwrap_or(Index::I64);
                Ok((Kind::Union { index, contents }, Some(tagged.items as u64)))
            }
            Kind::Indexed { .. } | Kind::BitMasked { .. } | Kind::Unmasked { .. } => {
                let instead = "numbers, text, lists, records, tuples, options and unions can be";
                Err(Misfit::Unsupported { place: named(place), ty: form.type_string(), instead })
            }
        }
    }

    fn numbers(
        &mut self,
        form: &Form,
        primitive: Primitive,
        shape: &[u64],
        key: &str,
        place: &str,
    ) -> Result<(Kind, Option<u64>), Misfit> {
        let (stored, parts) = primitive.stored();
        let data = |dtype| (dtype == stored).then_some("data");
        let at = self.take(form, place, key, &stored.to_string(), data)?;
        let each = shape.iter().try_fold(parts as u64, |all, size| all.checked_mul(*size)).unwrap_or(0);
        let items = self.outputs[at].items as u64;
        if each == 0 || !items.is_multiple_of(each) {
            let what = format!("{items} items of {} are no rows of {each}", self.outputs[at].name);
            return Err(Misfit::Length { place: named(place), what });
        }
        Ok((form.kind.clone(), Some(items / each)))
    }

    /// Assigns the next output, if `part` returns the part of the node that an output of its dtype is.
    fn take(
        &mut self,
        form: &Form,
        place: &str,
        key: &str,
        wanted: &str,
        part: impl Fn(DType) -> Option<&'static str>,
    ) -> Result<usize, Misfit> {
        let next = self.outputs.get(self.next);
        if let Some(part) = next.and_then(|output| part(output.dtype)) {
            self.buffers.push((format!("{key}-{part}"), self.next));
            self.next += 1;
            return Ok(self.next - 1);
        }
        let found = match next {
            Some(output) => format!("the next output is {} {}", output.name, output.dtype),
            None => "there is no other output".to_owned(),
        };
        let place = named(place);
        Err(Misfit::Output { place, ty: form.type_string(), wanted: wanted.into(), found })
    }
}

fn named(place: &str) -> String {
    if place.is_empty() { "the beginning".to_owned() } else { place.to_owned() }
}

/// Returns the integer type of an index, which is signed.
fn index(dtype: DType) -> Option<Index> {
    Index::from_dtype(dtype).filter(|index| *index != Index::U32)
}
