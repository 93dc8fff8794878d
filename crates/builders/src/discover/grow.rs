//! Promotion of the type of a node for a value of any kind.

use crate::form::{Form, Kind, Primitive, Text};
use crate::growth::{collect, push};
use crate::table::{Columns, Field, Found, Lists, Nodes, Record};
use crate::{BuildError, Fault, MOST_SLOTS};

impl Nodes {
    /// Promotes a node such that it accepts a value, and returns the node that stores it.
    pub(crate) fn grow(&mut self, at: u32, found: Found<'_>) -> Result<u32, BuildError> {
        if let Found::Unsigned(_) | Found::Huge = found {
            return Err(Fault::TooLarge("int64").into());
        }
        match self.at(at) {
            Columns::Nothing { nulls: 0 } => {
                *self.at_mut(at) = self.fresh(found)?;
                Ok(at)
            }
            Columns::Nothing { nulls } => {
                let index = collect(std::iter::repeat_n(-1, *nulls))?;
                let fresh = self.fresh(found)?;
                let content = self.add(fresh)?;
                *self.at_mut(at) = Columns::option(index, content);
                Ok(content)
            }
            Columns::Indexed { content, .. } => self.grow(*content, found),
            Columns::Union { .. } => self.alternative(at, found),
            columns if suits_alone(columns, found, self.texts_apart) => {
                widen(self.at_mut(at), found)?;
                Ok(at)
            }
            _ => {
                let length = self.len(at);
                let tags = collect(std::iter::repeat_n(0, length))?;
                let index = rows(length)?;
                let contents = vec![self.shift(at)?];
                *self.at_mut(at) = Columns::Union { width: Lists::PLAIN.width, tags, index, contents };
                self.alternative(at, found)
            }
        }
    }

    /// Appends a null.
    #[inline]
    pub(crate) fn grow_null(&mut self, at: u32) -> Result<(), BuildError> {
        match self.at_mut(at) {
            Columns::Nothing { nulls } => *nulls += 1,
            Columns::Indexed { index, .. } => push(index, -1)?,
            _ => {
                let mut index = rows(self.len(at))?;
                push(&mut index, -1)?;
                let content = self.shift(at)?;
                *self.at_mut(at) = Columns::option(index, content);
            }
        }
        Ok(())
    }

    /// Adds a field to a record; existing rows are null.
    pub(crate) fn grow_field(&mut self, node: u32, name: &str, token: usize) -> Result<u32, BuildError> {
        self.room(2)?;
        let mut content = self.add(Columns::UNKNOWN)?;
        let length = self.len(node);
        if length > 0 {
            let index = collect(std::iter::repeat_n(-1, length))?;
            content = self.add(Columns::option(index, content))?;
        }
        if let Columns::Record(record) = self.at_mut(node) {
            record.add(name, token, content)?;
        }
        Ok(content)
    }

    /// Returns the alternative of a union that accepts a value, and adds one if necessary.
    fn alternative(&mut self, at: u32, found: Found<'_>) -> Result<u32, BuildError> {
        let Columns::Union { contents, .. } = self.at(at) else { return Ok(at) }; // never: the caller has looked
        if let Some(node) = contents.iter().find(|content| suits(self.at(**content), found)) {
            return Ok(*node);
        }
        let of = |primitive| contents.iter().find(|at| self.at(**at).primitive() == Some(primitive));
        let known = match found {
            // Numbers are widened in the widest alternative below the type of the value.
            Found::Real => of(Primitive::Int64),
            Found::Complex => of(Primitive::Float64).or_else(|| of(Primitive::Int64)),
            _ => None,
        };
        if let Some(node) = known.copied() {
            widen(self.at_mut(node), found)?;
            return Ok(node);
        }
        i8::try_from(contents.len()).map_err(|_| Fault::Alternatives)?;
        let fresh = self.fresh(found)?;
        let node = self.add(fresh)?;
        if let Columns::Union { contents, .. } = self.at_mut(at) {
            contents.push(node);
        }
        Ok(node)
    }

    /// Returns an empty column for a value, with new nodes for its contents.
    fn fresh(&mut self, found: Found<'_>) -> Result<Columns, BuildError> {
        Ok(match found {
            Found::Text { binary, .. } => Columns::text(binary, Lists::PLAIN),
            Found::List => Columns::list(self.add(Columns::UNKNOWN)?),
            Found::Tuple(size) if size > MOST_SLOTS => {
                return Err(Fault::TupleSize(size as i64).into());
            }
            Found::Tuple(size) => {
                self.room(size)?;
                let contents = (0..size).map(|_| self.add(Columns::UNKNOWN));
                Columns::Record(Box::new(Record::tuple(contents.collect::<Result<_, _>>()?)))
            }
            Found::Record(name) => {
                Columns::Record(Box::new(Record::named(name.unwrap_or_default(), Vec::new())))
            }
            other => number(other).map_or(Columns::UNKNOWN, Columns::numbers), // nulls do not come here
        })
    }

    /// Moves the columns of a node to a new node; the caller replaces them.
    fn shift(&mut self, at: u32) -> Result<u32, BuildError> {
        self.room(1)?;
        let columns = std::mem::replace(self.at_mut(at), Columns::UNKNOWN);
        self.add(columns)
    }

    /// Returns the Form of a node, with keys numbered from `next`.
    pub(super) fn form(&self, node: u32, next: &mut usize) -> Form {
        let key = format!("node{next}");
        *next += 1;
        let mut all = |fields: &[Field]| fields.iter().map(|field| self.form(field.content, next)).collect();
        let unknown = Form::new(Kind::Empty);
        let form = match self.at(node) {
            Columns::Nothing { nulls: 0 } => unknown,
            Columns::Nothing { .. } => unknown.option(),
            Columns::Text { binary, .. } => Form::text(if *binary { Text::Bytes } else { Text::String }),
            Columns::List { content, .. } => self.form(*content, next).list(),
            Columns::Indexed { content, .. } => self.form(*content, next).option(),
            Columns::Record(record) if record.is_tuple => {
                Form::new(Kind::Record { fields: None, contents: all(&record.fields) })
            }
            Columns::Record(record) => {
                let names = record.fields.iter().map(|field| field.name.to_string()).collect();
                let form = Form::new(Kind::Record { fields: Some(names), contents: all(&record.fields) });
                match &*record.name {
                    "" => form,
                    name => form.with_parameter("__record__", name.into()),
                }
            }
            Columns::Union { contents, .. } => {
                let contents = contents.iter().map(|content| self.form(*content, next)).collect();
                Form::new(Kind::Union { index: Lists::PLAIN.width, contents })
            }
            columns => columns.primitive().map_or(unknown, Form::number),
        };
        let mut form = Form { key: Some(key), ..form };
        // The bytes of a string, and the unknown content of nulls.
        if let ([inner], Columns::Text { .. } | Columns::Nothing { .. }) =
            (form.contents_mut(), self.at(node))
        {
            inner.key = Some(format!("node{next}"));
            *next += 1;
        }
        form
    }
}

/// Whether a column that is not a union accepts a value, possibly after widening. Strings and byte strings
/// may share a column unless they are kept apart.
fn suits_alone(columns: &Columns, found: Found<'_>, texts_apart: bool) -> bool {
    match (found, columns) {
        (Found::Integer(_) | Found::Real | Found::Complex, columns) => {
            matches!(columns, Columns::Int64(_) | Columns::Float64(_) | Columns::Complex128(_))
        }
        (Found::Text { .. }, columns) if !texts_apart => matches!(columns, Columns::Text { .. }),
        _ => suits(columns, found),
    }
}

/// Whether an alternative of a union accepts a value without widening.
#[inline]
fn suits(columns: &Columns, found: Found<'_>) -> bool {
    match (found, columns) {
        (Found::Boolean, Columns::Boolean(_))
        | (Found::Integer(_), Columns::Int64(_))
        | (Found::Real, Columns::Float64(_))
        | (Found::Complex, Columns::Complex128(_))
        | (Found::List, Columns::List { .. }) => true,
        (Found::Text { binary, .. }, columns) => columns.is_text(binary),
        (Found::Tuple(size), Columns::Record(record)) => record.is_tuple && size == record.fields.len(),
        (Found::Record(name), Columns::Record(record)) => {
            !record.is_tuple && name.is_none_or(|name| *name == *record.name)
        }
        _ => number(found).is_some_and(|wanted| columns.primitive() == Some(wanted)),
    }
}

/// Returns the primitive type of a value.
const fn number(found: Found<'_>) -> Option<Primitive> {
    Some(match found {
        Found::Boolean => Primitive::Bool,
        Found::Integer(_) => Primitive::Int64,
        Found::Real => Primitive::Float64,
        Found::Complex => Primitive::Complex128,
        Found::Time { date: true, unit } => Primitive::Datetime64(unit),
        Found::Time { date: false, unit } => Primitive::Timedelta64(unit),
        _ => return None,
    })
}

/// Widens integers to floating-point numbers, or either to complex numbers, as the value requires.
fn widen(columns: &mut Columns, found: Found<'_>) -> Result<(), BuildError> {
    *columns = match (found, &*columns) {
        (Found::Real, Columns::Int64(items)) => Columns::Float64(collect(items.iter().map(|x| *x as f64))?),
        (Found::Complex, Columns::Int64(items)) => {
            Columns::Complex128(collect(items.iter().map(|x| [*x as f64, 0.0]))?)
        }
        (Found::Complex, Columns::Float64(items)) => {
            Columns::Complex128(collect(items.iter().map(|x| [*x, 0.0]))?)
        }
        _ => return Ok(()),
    };
    Ok(())
}

/// Returns the numbers from 0 to before `count`.
fn rows(count: usize) -> Result<Vec<i64>, BuildError> {
    let mut next = -1;
    collect(std::iter::repeat_n((), count).map(|()| {
        next += 1;
        next
    }))
}
