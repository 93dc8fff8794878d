//! Values that are missing from the data, and values that are read by a word of their own.

use super::{
    Unsupported,
    forms::{first_key, forms},
    literal,
    shape::{MIXED, OBJECTS, PACKED},
    text::{Made, Place, Text, constant, differ},
};
use crate::layout::Layout;
use forthwith_columns::{Encoding, Form, NO_NUMBER};
use forthwith_forth::idioms::Idiom;

impl Text<'_> {
    /// Writes the default of a value that is missing from the data.
    pub(super) fn absent(&mut self, layout: &Layout, form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let form = form.kept();
        match (layout, form) {
            (Layout::Mixed(..), Form::Numpy { key, .. }) => {
                self.line(place, constant(NO_NUMBER.into(), key, MIXED));
            }
            // An offset and a factor may leave no stored number for zero.
            (Layout::Number(Encoding::Scaled { .. }), _) => return Err(differ(member)),
            // Zero, as it is stored.
            (Layout::Number(wire @ Encoding::Truncated { .. }), Form::Numpy { key, .. }) => {
                let byte = constant(0, key, PACKED);
                self.line(place, vec![byte; wire.width()].join(" "));
            }
            (Layout::Number(Encoding::StrictBool), Form::Numpy { key, .. }) => {
                let part = if self.checking.is_some() { "data" } else { PACKED };
                self.line(place, constant(0, key, part));
            }
            (
                Layout::Number(_)
                | Layout::Leb128 { .. }
                | Layout::Converted(..)
                | Layout::Computed(..)
                | Layout::Counter(..),
                Form::Numpy { key, .. },
            ) => self.line(place, constant(0, key, "data")),
            (_, Form::String { key, .. } | Form::List { key, .. }) => {
                let offsets = format!("{key}-offsets");
                self.line(place, Idiom::AddedConstant.line(&[("N", "0"), ("OUT", &offsets)]));
            }
            (layout, Form::Option { key, .. }) => {
                let part = if points(layout) { OBJECTS } else { "tags" };
                self.line(place, constant(0, key, part));
            }
            (Layout::Fixed(size, of), Form::Regular { content, .. }) => {
                let [begin, end] = Idiom::Repeat.lines(&[("N", &literal(*size, member)?.to_string())]);
                self.line(place, begin);
                self.absent(of, content, place.within(1))?;
                self.line(place, end);
            }
            (
                Layout::Framed { of, .. }
                | Layout::Base(of)
                | Layout::Absent(of)
                | Layout::Flagged(of)
                | Layout::Between(_, of, _),
                form,
            ) => {
                self.absent(of, form, place)?;
            }
            // Such a class is not expected in an absent member: reading one is a fault.
            (Layout::Unknown(_) | Layout::Refused(_), _) => self.unknown(layout, place),
            (Layout::Versioned(arms), form) => match arms.first() {
                Some((_, first)) => self.absent(first, form, place)?,
                None => return Err(differ(member)),
            },
            (Layout::Tuple(items), Form::Record { contents, .. }) => {
                for (item, form) in items.iter().zip(contents) {
                    self.absent(item, form, place)?;
                }
            }
            (
                Layout::Record { fields, .. } | Layout::Arranged { fields, .. },
                Form::Record { contents, .. },
            ) => {
                for ((_, field), form) in fields.iter().zip(forms(layout, fields, contents)) {
                    if let Some(form) = form {
                        self.absent(field, &form, place)?;
                    }
                }
            }
            _ => return Err(differ(member)),
        }
        Ok(())
    }

    /// Defines a word for a value that is read at several places, and writes a call of it. Returns `false` if
    /// the value is not worth a word.
    pub(super) fn as_word(
        &mut self,
        layout: &Layout,
        form: &Form,
        place: Place<'_>,
    ) -> Result<bool, Unsupported> {
        if self.shared == 0 || !is_heavy(layout) {
            return Ok(false);
        }
        let Some(key) = first_key(form) else { return Ok(false) };
        let known = self.written.iter().find(|(node, of, _)| node == key && of == layout);
        if let Some((_, _, word)) = known {
            let word = word.clone();
            self.line(place, word);
            return Ok(true);
        }
        self.flush();
        let outside = self.take_lines();
        let shared = std::mem::replace(&mut self.shared, 0);
        let done = self.value(layout, form, Place { depth: 1, ..place });
        self.flush();
        self.shared = shared;
        let body = std::mem::replace(&mut self.lines, outside);
        done?;
        let name = format!("read{}", self.words.len());
        self.define(&name, body);
        self.written.push((key.to_owned(), layout.clone(), name.clone()));
        self.line(place, name);
        Ok(true)
    }
}

/// Returns whether the words of a value take more than a line or two, and so are worth a definition.
fn is_heavy(layout: &Layout) -> bool {
    match layout {
        Layout::List(of) | Layout::Columns(of) => !matches!(**of, Layout::Number(_)),
        Layout::Framed { shared, .. } => !shared,
        Layout::Pointer(_) => true,
        _ => false,
    }
}

/// Returns whether a value is a pointer, apart from what is around it.
fn points(layout: &Layout) -> bool {
    match layout {
        Layout::Framed { of, .. }
        | Layout::Base(of)
        | Layout::Absent(of)
        | Layout::OrNothing(of)
        | Layout::Flagged(of)
        | Layout::Between(_, of, _) => points(of),
        Layout::Versioned(arms) => arms.first().is_some_and(|(_, first)| points(first)),
        other => matches!(other, Layout::Pointer(_)),
    }
}
