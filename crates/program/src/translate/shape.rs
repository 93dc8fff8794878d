//! Output of a layout: its Form, the outputs to fill, and their finishers.

use super::{MAX_OUTPUTS, Unsupported, too_deep};
use crate::{
    contract::OutputBinding,
    layout::{Layout, Union},
};
use forthwith_columns::{DType, Encoding, Finisher, Form, OBJECT_BITS, qualified_names};

/// Suffix of the outputs of packed numbers, which a finisher unpacks.
pub(super) const PACKED: &str = "packed";
/// Suffix of the outputs of numbers in several encodings.
pub(super) const MIXED: &str = "mixed";
/// Suffix of the outputs with the targets of pointers.
pub(super) const OBJECTS: &str = "objects";

#[derive(Default)]
pub(super) struct Shape {
    pub(super) outputs: Vec<OutputBinding>,
    pub(super) finish: Vec<Finisher>,
    /// Whether bytes that have to be 0 or 1 are checked where they are read.
    checking: bool,
    nodes: u32,
    /// Number of lists and pointers around the value. If it is 0, every entry has the value.
    pub(super) around: u32,
}

impl Shape {
    pub(super) fn new(checking: bool) -> Self {
        Self { checking, ..Self::default() }
    }

    pub(super) fn node(&mut self) -> String {
        self.nodes += 1;
        format!("node{}", self.nodes - 1)
    }

    pub(super) fn output(
        &mut self,
        key: &str,
        part: &str,
        dtype: DType,
        offsets: bool,
        member: &str,
    ) -> Result<(), Unsupported> {
        if self.outputs.len() >= MAX_OUTPUTS {
            return Err(Unsupported(format!("{member}: more than {MAX_OUTPUTS} columns")));
        }
        let key = format!("{key}-{part}");
        self.outputs.push(OutputBinding { key, dtype, offsets, member: member.into() });
        Ok(())
    }

    pub(super) fn form(&mut self, layout: &Layout, depth: usize, member: &str) -> Result<Form, Unsupported> {
        too_deep(depth, member)?;
        Ok(match layout {
            Layout::Number(wire) => self.wire(*wire, member)?,
            Layout::Mixed(_, dtype) => self.mixed(*dtype, member)?,
            Layout::Varint(dtype)
            | Layout::Leb128 { dtype, .. }
            | Layout::Converted(_, dtype)
            | Layout::Computed(dtype, _) => self.number(*dtype, member)?,
            Layout::Symbol { names, delivered } => self.symbol(names, *delivered, member)?,
            Layout::Tagged(tagged) => self.tagged(tagged, depth, member)?,
            Layout::Text | Layout::LongText => self.text(false, member)?,
            Layout::Framed { of, .. } | Layout::Counter(_, of) | Layout::Base(of) => {
                self.form(of, depth, member)?
            }
            Layout::Absent(of) | Layout::Between(_, of, _) | Layout::OrNothing(of) | Layout::Flagged(of) => {
                self.form(of, depth, member)?
            }
            Layout::Versioned(arms) => match arms.first() {
                Some((_, first)) => self.form(first, depth, member)?,
                None => return Err(Unsupported(format!("{member}: a class without versions"))),
            },
            Layout::Tuple(items) => {
                let items = items.iter().enumerate();
                let form =
                    |(at, item): (usize, &Layout)| self.form(item, depth + 1, &join(member, &at.to_string()));
                let contents = items.map(form).collect::<Result<_, _>>()?;
                Form::Record { fields: None, contents, name: None }
            }
            Layout::Pointer(classes) => self.pointer(classes, depth, member)?,
            Layout::OneClass { alternatives, .. } => {
                let inner = format!("{member}[]");
                self.list(&inner, |shape| shape.union(alternatives, depth, &inner))?
            }
            Layout::Triangle(_, wire) => {
                let inner = format!("{member}[]");
                self.list(&inner, |shape| shape.number(wire.dtype(), &inner))?
            }
            Layout::Unknown(_) | Layout::Refused(_) if self.around > 0 => Form::Empty,
            Layout::Unknown(class) => return Err(undescribed(class)),
            Layout::Refused(what) => return Err(Unsupported(what.clone())),
            Layout::Bytes | Layout::Opaque(_) => self.text(true, member)?,
            Layout::List(content)
            | Layout::Counted { of: content, .. }
            | Layout::Columns(content)
            | Layout::Rest(content) => {
                let inner = format!("{member}[]");
                self.list(&inner, |shape| shape.form(content, depth + 1, &inner))?
            }
            Layout::Map(value) => {
                let key = self.node();
                self.output(&key, "offsets", DType::Int64, true, &format!("{member}{{}}"))?;
                let name = self.text(false, &format!("{member}{{}}.key"))?;
                let value = self.form(value, depth + 1, &format!("{member}{{}}.value"))?;
                let pair = Form::Record { fields: None, contents: vec![name, value], name: None };
                Form::List { key, content: Box::new(pair) }
            }
            Layout::Fixed(size, content) => {
                // One word reads all numbers, so that the member in errors is the whole array.
                let inner = match &**content {
                    Layout::Number(_) => member.to_owned(),
                    _ => format!("{member}[]"),
                };
                let content = self.form(content, depth + 1, &inner)?;
                Form::Regular { size: *size, content: Box::new(content) }
            }
            Layout::Record { name, fields } => {
                let kept = (0u32..).zip(fields).filter(|(_, (_, field))| !field.is_skipped());
                let order: Vec<u32> = kept.map(|(at, _)| at).collect();
                self.record(name.as_ref(), fields, &order, depth, member)?
            }
            Layout::Arranged { name, fields, order } => {
                self.record(name.as_ref(), fields, order, depth, member)?
            }
            Layout::Null => self.null(member)?,
            Layout::Enum { symbols, .. } => {
                let key = self.node();
                self.output(&key, "index", DType::Int32, false, member)?;
                self.finish.push(Finisher::Categories { key: key.clone(), symbols: symbols.to_vec() });
                Form::Categorical { key, categories: symbols.to_vec() }
            }
            Layout::Union(Union { tagged: false, alternatives, .. }) => match alternatives.first() {
                Some(only) => self.form(only, depth + 1, member)?,
                None => return Err(Unsupported(format!("{member}: a union of nothing"))),
            },
            Layout::Union(Union { alternatives, .. }) | Layout::Chosen { alternatives, .. } => {
                self.union(alternatives, depth, member)?
            }
            Layout::Logical(meaning, of) => {
                Form::Logical { meaning: *meaning, content: Box::new(self.form(of, depth, member)?) }
            }
            Layout::Constant(_, of) => self.form(of, depth + 1, member)?,
            Layout::Skipped(_)
            | Layout::Recursive(_)
            | Layout::Recurse
            | Layout::Given(..)
            | Layout::Passed(_)
            | Layout::Blank => {
                return Err(Unsupported(format!("{member}: a value that is both skipped and wanted")));
            }
        })
    }

    /// Returns the Form of a list, whose content may have no rows.
    pub(super) fn list(
        &mut self,
        inner: &str,
        content: impl FnOnce(&mut Self) -> Result<Form, Unsupported>,
    ) -> Result<Form, Unsupported> {
        let key = self.node();
        self.output(&key, "offsets", DType::Int64, true, inner)?;
        self.around += 1;
        let content = content(self)?;
        self.around -= 1;
        Ok(Form::List { key, content: Box::new(content) })
    }

    /// Returns the Form of a stored number. Packed numbers and booleans stay bytes until a finisher converts
    /// them.
    fn wire(&mut self, wire: Encoding, member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        let (part, finisher) = match wire {
            Encoding::Scaled { .. } | Encoding::Truncated { .. } => {
                (PACKED, Finisher::Unpack { key: key.clone(), wire })
            }
            Encoding::StrictBool if !self.checking => (PACKED, Finisher::ValidateBool { key: key.clone() }),
            _ => {
                self.output(&key, "data", wire.dtype(), false, member)?;
                return Ok(Form::Numpy { key, dtype: wire.dtype(), shape: vec![] });
            }
        };
        self.output(&key, part, DType::UInt8, false, member)?;
        self.finish.push(finisher);
        Ok(Form::Numpy { key, dtype: wire.dtype(), shape: vec![] })
    }

    /// Returns the Form of numbers in several encodings, which the text adds to the finisher.
    fn mixed(&mut self, to: DType, member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        self.output(&key, MIXED, DType::UInt8, false, member)?;
        self.finish.push(Finisher::Mixed { key: key.clone(), wires: Vec::new(), to });
        Ok(Form::Numpy { key, dtype: to, shape: vec![] })
    }

    pub(super) fn number(&mut self, dtype: DType, member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        self.output(&key, "data", dtype, false, member)?;
        Ok(Form::Numpy { key, dtype, shape: vec![] })
    }

    fn text(&mut self, binary: bool, member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        self.output(&key, "offsets", DType::Int64, true, member)?;
        self.output(&key, "data", DType::UInt8, false, member)?;
        Ok(Form::String { key, binary })
    }

    /// Returns the Form of an enum that is read to text.
    fn symbols(&mut self, symbols: &[String], member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        self.output(&key, "index", DType::Int32, false, member)?;
        self.finish.push(Finisher::Symbols { key: key.clone(), symbols: symbols.to_vec() });
        Ok(Form::String { key, binary: false })
    }

    fn null(&mut self, member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        self.output(&key, "tags", DType::Int8, false, member)?;
        self.finish.push(Finisher::Option { key: key.clone(), null: 0 });
        Ok(Form::Option { key, content: Box::new(Form::Empty) })
    }

    /// Returns the Form of a pointer: as that of a union with null, but entries may share an object.
    fn pointer(
        &mut self,
        classes: &[(String, Layout)],
        depth: usize,
        member: &str,
    ) -> Result<Form, Unsupported> {
        let classes = readable(classes);
        if classes.len() >= 1 << OBJECT_BITS {
            return Err(Unsupported(format!("{member}: a pointer to {} classes", classes.len())));
        }
        let key = self.node();
        self.output(&key, OBJECTS, DType::Int64, false, member)?;
        let of_union = format!("{key}u");
        let union = (classes.len() > 1).then(|| of_union.clone());
        self.finish.push(Finisher::Objects { key: key.clone(), union });
        self.around += 1;
        let mut contents = Vec::with_capacity(classes.len());
        for (at, (_, class)) in (1..).zip(classes) {
            let inner = if classes.len() > 1 { format!("{member}<{at}>") } else { member.to_owned() };
            contents.push(self.form(class, depth + 1, &inner)?);
        }
        self.around -= 1;
        let content = match contents.len() {
            0 | 1 => contents.pop().unwrap_or(Form::Empty),
            _ => Form::Union { key: of_union, contents },
        };
        Ok(Form::Option { key, content: Box::new(content) })
    }

    /// Returns the outputs of pointers, by name and index.
    pub(super) fn objects(&self) -> Vec<(String, usize)> {
        let outputs = self.outputs.iter().enumerate();
        let named = outputs.filter(|(_, output)| output.key.strip_suffix(OBJECTS).is_some());
        named.map(|(at, output)| (output.key.clone(), at)).collect()
    }

    fn record(
        &mut self,
        name: Option<&String>,
        fields: &[(String, Layout)],
        order: &[u32],
        depth: usize,
        member: &str,
    ) -> Result<Form, Unsupported> {
        // Outputs are declared in the order of the bytes, as the text fills them.
        let mut wanted = vec![false; fields.len()];
        for at in order {
            if let Some(wanted) = wanted.get_mut(*at as usize) {
                *wanted = true;
            }
        }
        let mut forms = Vec::with_capacity(fields.len());
        for ((field, layout), wanted) in fields.iter().zip(wanted) {
            let kept = wanted && !layout.is_skipped();
            let inner = path(member, field, layout);
            forms.push(if kept { Some(self.form(layout, depth + 1, &inner)?) } else { None });
        }
        // Columns of a base class are in the place of the base.
        let mut names: Vec<(Option<&str>, String)> = Vec::with_capacity(order.len());
        let mut contents = Vec::with_capacity(order.len());
        for at in order {
            let at = *at as usize;
            let (Some((name, layout)), Some(Some(form))) = (fields.get(at), forms.get(at)) else {
                return Err(Unsupported(format!("{member}: a field that is both skipped and wanted")));
            };
            match (layout, form) {
                (Layout::Base(_), Form::Record { fields: Some(inner), contents: values, .. }) => {
                    names.extend(inner.iter().map(|field| (Some(name.as_str()), field.clone())));
                    contents.extend_from_slice(values);
                }
                (Layout::Base(_), _) => {
                    return Err(Unsupported(format!("{member}: a base that is no record")));
                }
                _ => {
                    names.push((None, name.clone()));
                    contents.push(form.clone());
                }
            }
        }
        Ok(Form::Record { fields: Some(qualified_names(names)), contents, name: name.cloned() })
    }

    /// Returns the Form of a union: that of a lone alternative, an option if the other alternative is null,
    /// and otherwise a union, within an option if one alternative is null.
    fn union(&mut self, alternatives: &[Layout], depth: usize, member: &str) -> Result<Form, Unsupported> {
        if alternatives.len() > i8::MAX as usize {
            return Err(Unsupported(format!("{member}: a union of {} types", alternatives.len())));
        }
        let nulls = alternatives.iter().filter(|a| **a == Layout::Null).count();
        if nulls > 1 || alternatives.is_empty() {
            return Err(Unsupported(format!("{member}: a union of nothing, or with null twice")));
        }
        if let [only] = alternatives {
            return self.form(only, depth + 1, member);
        }
        let key = self.node();
        self.output(&key, "tags", DType::Int8, false, member)?;
        let null = alternatives.iter().position(|a| *a == Layout::Null).map(|at| at as i8);
        let of_union = format!("{key}u");
        match (null, alternatives.len()) {
            (Some(null), 2) => self.finish.push(Finisher::Option { key: key.clone(), null }),
            (Some(null), _) => {
                self.finish.push(Finisher::OptionUnion { key: key.clone(), null, union: of_union.clone() })
            }
            (None, _) => self.finish.push(Finisher::Union { key: key.clone() }),
        }
        let several = alternatives.len() - nulls > 1;
        let mut contents = Vec::new();
        for (at, layout) in alternatives.iter().enumerate() {
            if *layout != Layout::Null {
                let inner = if several { format!("{member}<{at}>") } else { member.to_owned() };
                contents.push(match layout {
                    // In a union, an enum is text.
                    Layout::Enum { symbols, .. } if several => self.symbols(symbols, &inner)?,
                    layout => self.form(layout, depth + 1, &inner)?,
                });
            }
        }
        if !several {
            let content = contents.pop().unwrap_or(Form::Empty);
            return Ok(Form::Option { key, content: Box::new(content) });
        }
        Ok(match null {
            None => Form::Union { key, contents },
            Some(_) => Form::Option { key, content: Box::new(Form::Union { key: of_union, contents }) },
        })
    }
}

/// Returns the classes of a pointer that are not refused.
pub(super) fn readable(classes: &[(String, Layout)]) -> &[(String, Layout)] {
    let refused = classes.iter().position(|(_, class)| matches!(class, Layout::Refused(_)));
    &classes[..refused.unwrap_or(classes.len())]
}

/// Returns the error for a class that the file does not describe.
fn undescribed(class: &str) -> Unsupported {
    Unsupported(format!("{class}, which the file does not describe"))
}

/// Returns the path of the members of a field. Members of a base class have the path of the enclosing record.
pub(super) fn path(member: &str, name: &str, field: &Layout) -> String {
    if matches!(field, Layout::Base(_)) { member.to_owned() } else { join(member, name) }
}

/// Returns the path of a field. The outermost value has no path.
pub(super) fn join(member: &str, field: &str) -> String {
    if member.is_empty() { field.to_owned() } else { format!("{member}.{field}") }
}
