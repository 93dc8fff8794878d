//! Binds tagged records: the fields that are present in a row, and their lengths.

use crate::{
    EncodeError,
    append::text,
    bind::{Binder, Result},
    fit::as_lists,
    node::{Around, Field, Node, Parts, Present},
    numbers::{integers, leb128, whole},
    rows::{Rows, list_of, position},
};
use forthwith_columns::{Array, DType, Form, LogicalType, TimeUnit};
use forthwith_program::{Delivered, Dialect, Extent, Layout, Presence, Symbols, Tagged, TaggedField};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

impl<'a> Binder<'a> {
    /// Binds a tagged record, or the column of its only field or of a sum of its fields.
    pub(crate) fn tagged(
        &mut self,
        tagged: &Tagged,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        match (tagged.delivered, form) {
            (_, Form::Record { fields, contents, .. }) => {
                self.record_behind_keys(tagged, fields.as_deref(), contents, rows, member)
            }
            (Delivered::Only, form) => {
                let [field] = &tagged.fields[..] else { return Err(wrong(form, member)) };
                Ok(Node::Keyed(vec![self.field(field, form, rows, member)?]))
            }
            (Delivered::Sum(by, wanted), Form::Logical { meaning, content }) => {
                let Some((unit, floor)) = time(wanted, *meaning) else { return Err(wrong(form, member)) };
                let Form::Numpy { key, dtype: DType::Int64, shape } = &**content else {
                    return Err(wrong(form, member));
                };
                let by = i64::from(by);
                let per_unit = by / unit.in_a_second() as i64;
                let keys: Vec<Vec<u8>> =
                    tagged.fields.iter().filter_map(|field| Some(varint(field.keys.first()?.0))).collect();
                let (Ok(keys), true) = (<[Vec<u8>; 2]>::try_from(keys), shape.is_empty()) else {
                    return Err(wrong(form, member));
                };
                let numbers = self.columns.integers(key, "data", rows.count())?;
                Ok(Node::Parts(Parts { keys, numbers, by: by / per_unit, scale: per_unit, floor }))
            }
            (_, form) => Err(wrong(form, member)),
        }
    }

    fn record_behind_keys(
        &mut self,
        tagged: &Tagged,
        names: Option<&[String]>,
        contents: &[Form],
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        if let Some(extra) =
            names.into_iter().flatten().find(|name| !tagged.fields.iter().any(|field| field.name == **name))
        {
            return Err(EncodeError::Extra { member: member.into(), field: extra.clone() });
        }
        let mut fields = Vec::with_capacity(contents.len());
        for (at, field) in tagged.fields.iter().enumerate() {
            let place = crate::fit::place(names, &field.name, at);
            match place.and_then(|at| contents.get(at)) {
                Some(form) => fields.push(self.field(field, form, rows, &join(member, &field.name))?),
                None => may_lack(field, member)?,
            }
        }
        exclusive(&tagged.fields, &fields, rows, member)?;
        Ok(Node::Keyed(fields))
    }

    /// Binds one field.
    pub(crate) fn field(
        &mut self,
        field: &TaggedField,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Field<'a>> {
        let lists = as_lists(form);
        let form = lists.as_ref().unwrap_or(form);
        if field.of == Layout::Text && is_binary(form) {
            return Err(wrong(form, member));
        }
        let packed = field.keys.iter().find(|(_, extent)| *extent == Extent::Packed);
        let (presence, value) = match (&field.presence, form) {
            (_, Form::Empty) => (Present::Never, Node::Nothing),
            (Presence::Repeated, form) => self.items(&field.of, form, rows, member)?,
            (Presence::Optional | Presence::Choice(_), Form::Option { key, content }) => {
                let index = self.columns.integers(key, "index", rows.count())?;
                let value = self.bind(&field.of, content, &rows.named(&index), member);
                let value = value.map_err(|error| error.renumbered(|at| position(&index, at)))?;
                (Present::Option(index), value)
            }
            // Readers deliver this value for an absent field, so it need not be written.
            (Presence::Default(default), form)
                if default.as_ref().is_none_or(|bytes| bytes.iter().all(|byte| *byte == 0)) =>
            {
                (Present::NotZero, self.bind(&field.of, form, rows, member)?)
            }
            (_, form) => (Present::Always, self.bind(&field.of, form, rows, member)?),
        };
        let Some(&(first, extent)) = field.keys.first() else { return Err(wrong(form, member)) };
        let (key, around) = match (packed, extent, &field.of) {
            (Some((key, _)), ..) if matches!(presence, Present::List(_)) => (*key, Around::Packed),
            (_, Extent::Until(end), _) => (first, Around::End(varint(end))),
            (_, _, Layout::Tagged(_)) => (first, Around::Length),
            _ => (first, Around::Nothing),
        };
        Ok(Field { key: varint(key), around, presence, value })
    }

    fn items(
        &mut self,
        of: &Layout,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<(Present<'a>, Node<'a>)> {
        let inner = format!("{member}[]");
        match form {
            Form::List { key, content } => {
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                let value = self.bind(of, content, &rows.inside(&offsets), &inner);
                let value = value.map_err(|error| error.renumbered(|item| list_of(&offsets, item)))?;
                Ok((Present::List(offsets), value))
            }
            Form::Regular { size, content } => {
                let below = rows.times(*size).ok_or_else(|| EncodeError::Deep { member: member.into() })?;
                let offsets = (0..=rows.count()).map(|row| row.saturating_mul(*size) as i64);
                let value = self.bind(of, content, &below, &inner);
                let value = value.map_err(|error| error.renumbered(|at| at.checked_div(*size)))?;
                Ok((Present::List(offsets.collect()), value))
            }
            form => Err(wrong(form, member)),
        }
    }

    /// Binds symbols, which the column has as names or as numbers.
    pub(crate) fn symbols(
        &mut self,
        names: &[(i32, String)],
        delivered: Symbols,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let known: HashMap<&[u8], i64> =
            names.iter().map(|(number, name)| (name.as_bytes(), i64::from(*number))).collect();
        // A number without a name may be spelled in digits.
        let number = |text: &[u8]| {
            let digits = || std::str::from_utf8(text).ok()?.parse::<i32>().ok().map(i64::from);
            known.get(text).copied().or_else(|| digits().filter(|_| delivered == Symbols::Text))
        };
        let symbols: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        let refused = |row, found: String| {
            let wanted = format!("the symbols {}", symbols.join(", "));
            EncodeError::range(member, row, found, wanted)
        };
        let mut numbers = Vec::with_capacity(rows.count() as usize);
        match form {
            Form::String { key, .. } => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                for row in 0..rows.count() as usize {
                    let text = text(&offsets, bytes, row)?;
                    numbers.push(match number(text) {
                        Some(number) => number,
                        None if !rows.sees(row) => 0,
                        None => return Err(refused(row, format!("{:?}", String::from_utf8_lossy(text)))),
                    });
                }
            }
            Form::Categorical { key, categories } => {
                let known: Vec<Option<i64>> = categories.iter().map(|name| number(name.as_bytes())).collect();
                for (row, at) in self.numbers(key, rows.count())?.into_iter().enumerate() {
                    numbers.push(match known.get(at).copied().flatten() {
                        Some(number) => number,
                        None if !rows.sees(row) => 0,
                        None => return Err(refused(row, format!("{:?}", categories.get(at)))),
                    });
                }
            }
            Form::Numpy { key, dtype, shape } if shape.is_empty() && whole(*dtype) => {
                let column = self.columns.column(key, "data", *dtype, rows.count())?;
                numbers = integers(column, rows, DType::Int32, member)?.into_owned();
                let named: HashSet<i64> = names.iter().map(|(number, _)| i64::from(*number)).collect();
                let is_bad = |at: i64| delivered != Symbols::Text && !named.contains(&at);
                if let Some(row) = rows.find(&numbers, is_bad) {
                    return Err(refused(row, numbers[row].to_string()));
                }
            }
            form => return Err(wrong(form, member)),
        }
        Ok(Node::Leb128(numbers.into()))
    }

    /// Returns integers or booleans to write as LEB128 without zigzag, checked to be within the range of
    /// `wanted`.
    pub(crate) fn leb128(
        &mut self,
        wanted: DType,
        (key, dtype): (&str, DType),
        rows: &Rows,
        member: &str,
    ) -> Result<Cow<'a, [i64]>> {
        let column = self.columns.column(key, "data", dtype, rows.count())?;
        if dtype == DType::Bool {
            let bytes = column.as_bytes().get(..rows.count() as usize).ok_or(EncodeError::Changed)?;
            return Ok(bytes.iter().map(|byte| i64::from(*byte != 0)).collect());
        }
        let numbers = integers(column, rows, wanted, member)?;
        if let (DType::Bool, Some(row)) = (wanted, rows.find(&numbers, |number| number & 1 != number)) {
            return Err(EncodeError::range(member, row, numbers[row].to_string(), "bool".into()));
        }
        Ok(numbers)
    }
}

/// Returns whether the innermost values are binary strings.
fn is_binary(form: &Form) -> bool {
    match form {
        Form::Option { content, .. } | Form::List { content, .. } | Form::Regular { content, .. } => {
            is_binary(content)
        }
        form => matches!(form.kept(), Form::String { binary: true, .. }),
    }
}

/// Returns the unit of `found` and whether its numbers count from an epoch; `None` if it cannot be written as
/// `wanted`.
fn time(wanted: LogicalType, found: LogicalType) -> Option<(TimeUnit, bool)> {
    match (wanted, found) {
        (LogicalType::Timestamp { .. }, LogicalType::Timestamp { unit, .. }) => Some((unit, true)),
        (LogicalType::Duration(_), LogicalType::Duration(unit)) => Some((unit, false)),
        _ => None,
    }
}

/// Checks that no row has values of several fields of which only one may be present.
fn exclusive(described: &[TaggedField], fields: &[Field<'_>], rows: &Rows, member: &str) -> Result<()> {
    let mut seen: HashMap<u32, Vec<Option<&str>>> = HashMap::new();
    for field in described {
        let Presence::Choice(choice) = field.presence else { continue };
        let Some(key) = field.keys.first().map(|(key, _)| varint(*key)) else { continue };
        let Some(bound) = fields.iter().find(|bound| bound.key == key) else { continue };
        let present = seen.entry(choice).or_insert_with(|| vec![None; rows.count() as usize]);
        for (row, other) in present.iter_mut().enumerate().filter(|(row, _)| rows.sees(*row)) {
            let is_present = match &bound.presence {
                Present::Option(index) => index[row] >= 0,
                Present::Never => false,
                _ => true,
            };
            match other {
                Some(other) if is_present => {
                    let found = format!("present both as {other} and as {}", field.name);
                    return Err(EncodeError::range(member, row, found, "one field of a oneof".into()));
                }
                None if is_present => *other = Some(&field.name),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Binds a tagged record whose fields each have an array of their own.
pub(crate) fn columns<'a>(
    tagged: &Tagged,
    dialect: &Dialect,
    names: &[String],
    arrays: &'a [Array],
) -> Result<Node<'a>> {
    let (mut fields, mut rows) = (Vec::with_capacity(arrays.len()), Rows::all(0));
    let mut given: HashMap<&str, &'a Array> = HashMap::new();
    for (name, array) in names.iter().zip(arrays) {
        let is_known = tagged.fields.iter().any(|field| field.name == *name);
        if !is_known || given.insert(name, array).is_some() {
            return Err(EncodeError::Extra { member: String::new(), field: name.clone() });
        }
        rows = Rows::all(array.length);
    }
    for field in &tagged.fields {
        match given.get(field.name.as_str()) {
            Some(array) => {
                fields.push(Binder::new(array, dialect).field(field, &array.form, &rows, &field.name)?);
            }
            None => may_lack(field, "")?,
        }
    }
    exclusive(&tagged.fields, &fields, &rows, "")?;
    Ok(Node::Keyed(fields))
}

/// Checks that a field without a column is not required.
fn may_lack(field: &TaggedField, member: &str) -> Result<()> {
    match field.presence {
        Presence::Required => Err(EncodeError::Missing { member: member.into(), field: field.name.clone() }),
        _ => Ok(()),
    }
}

fn varint(key: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5);
    leb128(u64::from(key), &mut bytes);
    bytes
}

fn join(member: &str, field: &str) -> String {
    if member.is_empty() { field.into() } else { format!("{member}.{field}") }
}

fn wrong(form: &Form, member: &str) -> EncodeError {
    let wanted = "the field of the schema".into();
    EncodeError::Type { member: member.into(), found: form.type_string(), wanted }
}
