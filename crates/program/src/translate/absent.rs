//! Values that the data have not, and values written as words of their own.

use super::{
    Unsupported,
    forms::{first_key, forms},
    literal,
    shape::{MIXED, OBJECTS, PACKED},
    text::{Made, Place, Text, constant, differ},
};
use crate::schema::Schema;
use forthwith_columns::{Form, NO_NUMBER, Wire};
use forthwith_forth::idioms::Idiom;

impl Text<'_> {
    /// What stands for a value that the data have not.
    pub(super) fn absent(&mut self, schema: &Schema, form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let form = form.kept();
        match (schema, form) {
            (Schema::Mixed(..), Form::Numpy { key, .. }) => {
                self.line(place, constant(NO_NUMBER.into(), key, MIXED));
            }
            // No stored number is sure to mean zero.
            (Schema::Number(Wire::Scaled { .. }), _) => return Err(differ(member)),
            // Zero, as it is stored.
            (Schema::Number(wire @ Wire::Truncated { .. }), Form::Numpy { key, .. }) => {
                let byte = constant(0, key, PACKED);
                self.line(place, vec![byte; wire.width()].join(" "));
            }
            (Schema::Number(Wire::Truth), Form::Numpy { key, .. }) => {
                let part = if self.checking.is_some() { "data" } else { PACKED };
                self.line(place, constant(0, key, part));
            }
            (
                Schema::Number(_) | Schema::Converted(..) | Schema::Computed(..) | Schema::Counter(..),
                Form::Numpy { key, .. },
            ) => self.line(place, constant(0, key, "data")),
            (_, Form::String { key, .. } | Form::List { key, .. }) => {
                let offsets = format!("{key}-offsets");
                self.line(place, Idiom::AddedConstant.line(&[("N", "0"), ("OUT", &offsets)]));
            }
            (schema, Form::Option { key, .. }) => {
                let part = if points(schema) { OBJECTS } else { "tags" };
                self.line(place, constant(0, key, part));
            }
            (Schema::Fixed(size, of), Form::Regular { content, .. }) => {
                let [begin, end] = Idiom::Repeat.lines(&[("N", &literal(*size, member)?.to_string())]);
                self.line(place, begin);
                self.absent(of, content, place.within(1))?;
                self.line(place, end);
            }
            (
                Schema::Framed { of, .. }
                | Schema::Base(of)
                | Schema::Absent(of)
                | Schema::Flagged(of)
                | Schema::Between(_, of, _),
                form,
            ) => {
                self.absent(of, form, place)?;
            }
            // No object that has it is older than it.
            (Schema::Unknown(_) | Schema::Refused(_), _) => self.unknown(schema, place),
            (Schema::Versioned(arms), form) => match arms.first() {
                Some((_, first)) => self.absent(first, form, place)?,
                None => return Err(differ(member)),
            },
            (Schema::Tuple(items), Form::Record { contents, .. }) => {
                for (item, form) in items.iter().zip(contents) {
                    self.absent(item, form, place)?;
                }
            }
            (Schema::Record { fields, .. }, Form::Record { contents, .. }) => {
                for ((_, field), form) in fields.iter().zip(forms(fields, None, contents)) {
                    if let Some(form) = form {
                        self.absent(field, &form, place)?;
                    }
                }
            }
            (Schema::Arranged { fields, order, .. }, Form::Record { contents, .. }) => {
                for ((_, field), form) in fields.iter().zip(forms(fields, Some(order), contents)) {
                    if let Some(form) = form {
                        self.absent(field, &form, place)?;
                    }
                }
            }
            _ => return Err(differ(member)),
        }
        Ok(())
    }

    /// Writes a value as a word of its own if it is going to be needed twice, and a call of that word.
    pub(super) fn as_word(
        &mut self,
        schema: &Schema,
        form: &Form,
        place: Place<'_>,
    ) -> Result<bool, Unsupported> {
        if self.shared == 0 || !is_heavy(schema) {
            return Ok(false);
        }
        let Some(key) = first_key(form) else { return Ok(false) };
        let known = self.written.iter().find(|(node, of, _)| node == key && of == schema);
        if let Some((_, _, word)) = known {
            let word = word.clone();
            self.line(place, word);
            return Ok(true);
        }
        self.flush();
        let outside = self.take_lines();
        let shared = std::mem::replace(&mut self.shared, 0);
        let done = self.value(schema, form, Place { depth: 1, ..place });
        self.flush();
        self.shared = shared;
        let body = std::mem::replace(&mut self.lines, outside);
        done?;
        let name = format!("read{}", self.words.len());
        self.define(&name, body);
        self.written.push((key.to_owned(), schema.clone(), name.clone()));
        self.line(place, name);
        Ok(true)
    }
}

/// Worth a word of its own: what has more than a line or two.
fn is_heavy(schema: &Schema) -> bool {
    match schema {
        Schema::List(of) | Schema::Columns(of) => !matches!(**of, Schema::Number(_)),
        Schema::Framed { shared, .. } => !shared,
        Schema::Pointer(_) => true,
        _ => false,
    }
}

/// Whether a value is a pointer.
fn points(schema: &Schema) -> bool {
    match schema {
        Schema::Framed { of, .. }
        | Schema::Base(of)
        | Schema::Absent(of)
        | Schema::OrNothing(of)
        | Schema::Flagged(of)
        | Schema::Between(_, of, _) => points(of),
        Schema::Versioned(arms) => arms.first().is_some_and(|(_, first)| points(first)),
        other => matches!(other, Schema::Pointer(_)),
    }
}
