//! What a schema becomes: its Form, the outputs that are filled, and what is left to do with them.

use super::{MAX_OUTPUTS, Unsupported, too_deep};
use crate::{
    contract::OutputBinding,
    schema::{Schema, Union},
};
use forthwith_columns::{DType, Finisher, Form};

#[derive(Default)]
pub(super) struct Shape {
    pub(super) outputs: Vec<OutputBinding>,
    pub(super) finish: Vec<Finisher>,
    nodes: u32,
}

impl Shape {
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

    pub(super) fn form(&mut self, schema: &Schema, depth: usize, member: &str) -> Result<Form, Unsupported> {
        too_deep(depth, member)?;
        Ok(match schema {
            Schema::Number(wire) => self.number(wire.dtype(), member)?,
            Schema::Varint(dtype) | Schema::Converted(_, dtype) => self.number(*dtype, member)?,
            Schema::Text => self.text(false, member)?,
            Schema::Bytes | Schema::Opaque(_) => self.text(true, member)?,
            Schema::List(content) => {
                let key = self.node();
                let inner = format!("{member}[]");
                self.output(&key, "offsets", DType::Int64, true, &inner)?;
                let content = self.form(content, depth + 1, &inner)?;
                Form::List { key, content: Box::new(content) }
            }
            Schema::Map(value) => {
                let key = self.node();
                self.output(&key, "offsets", DType::Int64, true, &format!("{member}{{}}"))?;
                let name = self.text(false, &format!("{member}{{}}.key"))?;
                let value = self.form(value, depth + 1, &format!("{member}{{}}.value"))?;
                let pair = Form::Record { fields: None, contents: vec![name, value], name: None };
                Form::List { key, content: Box::new(pair) }
            }
            Schema::Fixed(size, content) => {
                // Numbers are read in one go, so their member is the whole.
                let inner = match &**content {
                    Schema::Number(_) => member.to_owned(),
                    _ => format!("{member}[]"),
                };
                let content = self.form(content, depth + 1, &inner)?;
                Form::Regular { size: *size, content: Box::new(content) }
            }
            Schema::Record { name, fields } => {
                let order: Vec<u32> = (0..fields.len() as u32).collect();
                self.record(name.as_ref(), fields, &order, depth, member)?
            }
            Schema::Arranged { name, fields, order } => {
                self.record(name.as_ref(), fields, order, depth, member)?
            }
            Schema::Null => self.null(member)?,
            Schema::Enum { symbols, .. } => {
                let key = self.node();
                self.output(&key, "index", DType::Int32, false, member)?;
                self.finish.push(Finisher::Categories { key: key.clone(), symbols: symbols.to_vec() });
                Form::Categorical { key, categories: symbols.to_vec() }
            }
            Schema::Union(Union { tagged: false, alternatives, .. }) => match alternatives.first() {
                Some(only) => self.form(only, depth + 1, member)?,
                None => return Err(Unsupported(format!("{member}: a union of nothing"))),
            },
            Schema::Union(Union { alternatives, .. }) | Schema::Chosen { alternatives, .. } => {
                self.union(alternatives, depth, member)?
            }
            Schema::Meant(meaning, of) => {
                Form::Meant { meaning: *meaning, content: Box::new(self.form(of, depth, member)?) }
            }
            Schema::Constant(_, of) => self.form(of, depth + 1, member)?,
            Schema::Skipped(_) | Schema::Recursive(_) | Schema::Recurse => {
                return Err(Unsupported(format!("{member}: a value that is both skipped and wanted")));
            }
            Schema::ToEnd(_) => {
                return Err(Unsupported(format!(
                    "{member}: items up to the entry's end inside another type"
                )));
            }
        })
    }

    fn number(&mut self, dtype: DType, member: &str) -> Result<Form, Unsupported> {
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

    /// An enum, spelled out.
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

    fn record(
        &mut self,
        name: Option<&String>,
        fields: &[(String, Schema)],
        order: &[u32],
        depth: usize,
        member: &str,
    ) -> Result<Form, Unsupported> {
        // In the order of the bytes, so that outputs and text go the same way.
        let mut wanted = vec![false; fields.len()];
        for at in order {
            if let Some(wanted) = wanted.get_mut(*at as usize) {
                *wanted = true;
            }
        }
        let mut forms = Vec::with_capacity(fields.len());
        for ((field, schema), wanted) in fields.iter().zip(wanted) {
            let kept = wanted && !matches!(schema, Schema::Skipped(_));
            forms.push(if kept { Some(self.form(schema, depth + 1, &join(member, field))?) } else { None });
        }
        let mut names = Vec::with_capacity(order.len());
        let mut contents = Vec::with_capacity(order.len());
        for at in order {
            let at = *at as usize;
            let (Some((name, _)), Some(Some(form))) = (fields.get(at), forms.get(at)) else {
                return Err(Unsupported(format!("{member}: a field that is both skipped and wanted")));
            };
            names.push(name.clone());
            contents.push(form.clone());
        }
        Ok(Form::Record { fields: Some(names), contents, name: name.cloned() })
    }

    /// A lone alternative stands for itself, one beside null is an option, several are a union, with an option around it if one is null.
    fn union(&mut self, alternatives: &[Schema], depth: usize, member: &str) -> Result<Form, Unsupported> {
        if alternatives.len() > i8::MAX as usize {
            return Err(Unsupported(format!("{member}: a union of {} types", alternatives.len())));
        }
        let nulls = alternatives.iter().filter(|a| **a == Schema::Null).count();
        if nulls > 1 || alternatives.is_empty() {
            return Err(Unsupported(format!("{member}: a union of nothing, or with null twice")));
        }
        if let [only] = alternatives {
            return self.form(only, depth + 1, member);
        }
        let key = self.node();
        self.output(&key, "tags", DType::Int8, false, member)?;
        let null = alternatives.iter().position(|a| *a == Schema::Null).map(|at| at as i8);
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
        for (at, schema) in alternatives.iter().enumerate() {
            if *schema != Schema::Null {
                let inner = if several { format!("{member}<{at}>") } else { member.to_owned() };
                contents.push(match schema {
                    // Unions have texts like any others.
                    Schema::Enum { symbols, .. } if several => self.symbols(symbols, &inner)?,
                    schema => self.form(schema, depth + 1, &inner)?,
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

/// The path of a field; the outermost value has none.
pub(super) fn join(member: &str, field: &str) -> String {
    if member.is_empty() { field.to_owned() } else { format!("{member}.{field}") }
}
