//! Type inference: the narrowest type that represents all values of a path exactly.

use crate::{
    lexer::{Lexer, Number, Quoted, Result, TOO_DEEP, Token},
    moments::Moments,
    number::{Exact, exact},
};
use forthwith_columns::{DType, Form};
use std::collections::HashMap;

/// Kinds of values that were found at a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    nulls: bool,
    bools: bool,
    texts: bool,
    moments: Moments,
    numbers: Numbers,
    list: Option<Box<Self>>,
    record: Option<Box<Fields>>,
}

/// Kinds of numbers that were found at a path.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// Integers in the range of `i64` or `u64`.
    whole: bool,
    negative: bool,
    /// Integers above `i64::MAX`.
    large: bool,
    /// 64-bit integers that no float represents exactly.
    wide: bool,
    /// Other numbers, and integers beyond 64 bits that a float represents exactly.
    floats: bool,
    /// Integers that neither 64 bits nor a float represent exactly.
    huge: bool,
}

/// Members of the objects at a path, in order of first appearance.
#[derive(Clone, Debug, Default)]
struct Fields {
    /// Number of complete objects.
    count: u64,
    places: HashMap<String, usize>,
    fields: Vec<Member>,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    /// Spelling with quotes; `None` if the key must be escaped.
    quoted: Option<Quoted>,
    /// Number of the last object that had the member, counted from 1.
    last: u64,
    /// Whether an object lacked the member.
    is_lacking: bool,
    seen: Seen,
}

/// Options of type inference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Whether values of different kinds form a union.
    pub unions: bool,
    /// Whether strings may become dates and timestamps.
    pub dates: bool,
}

/// Reason why no type could be inferred for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mixed {
    /// Path within an entry.
    pub path: String,
    pub reason: String,
}

impl Numbers {
    #[inline]
    fn add(&mut self, number: &Number<'_>) -> Result<()> {
        // A float represents any 15 digits.
        if number.count <= 15 && number.exponent.unsigned_abs() < 256 {
            self.whole |= number.is_whole;
            self.floats |= !number.is_whole;
            self.negative |= number.is_negative;
            return Ok(());
        }
        match exact(number)? {
            Exact::Signed(whole) => {
                self.whole = true;
                self.negative |= whole < 0;
                self.wide |= whole as f64 as i128 != i128::from(whole);
            }
            Exact::Unsigned(whole) => {
                (self.whole, self.large) = (true, true);
                self.wide |= whole as f64 as u128 != u128::from(whole);
            }
            Exact::Float(_) => self.floats = true,
            Exact::Huge => self.huge = true,
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        self.whole |= other.whole;
        self.negative |= other.negative;
        self.large |= other.large;
        self.wide |= other.wide;
        self.floats |= other.floats;
        self.huge |= other.huge;
    }

    const fn any(self) -> bool {
        self.whole || self.floats || self.huge
    }

    fn dtype(self) -> Result<DType, &'static str> {
        match self {
            Self { huge: true, .. } => Err("a whole number that neither 64 bits nor a float hold"),
            Self { floats: true, wide: true, .. } => {
                Err("whole numbers beside others, of which a float does not hold all")
            }
            Self { floats: true, .. } => Ok(DType::Float64),
            Self { large: true, negative: true, .. } => {
                Err("whole numbers below zero beside some above 2^63")
            }
            Self { large: true, .. } => Ok(DType::UInt64),
            _ => Ok(DType::Int64),
        }
    }
}

impl Seen {
    /// Parses the value at the position of the lexer and records its kind. After an error, the same value may
    /// be recorded again from its beginning.
    #[inline]
    pub(crate) fn value(&mut self, lexer: &mut Lexer<'_>, depth: usize) -> Result<()> {
        if let Some(b'-' | b'0'..=b'9') = lexer.peek() {
            return self.numbers.add(&lexer.number()?);
        }
        match lexer.token()? {
            Token::Null => self.nulls = true,
            Token::Bool(_) => self.bools = true,
            Token::Text(text) => {
                self.texts = true;
                self.moments.add(&text);
            }
            Token::Number(number) => self.numbers.add(&number)?,
            Token::List => {
                let depth = depth.checked_sub(1).ok_or(TOO_DEEP)?;
                let items = self.list.get_or_insert_default();
                let mut is_first = true;
                while lexer.next_item(is_first)? {
                    items.value(lexer, depth)?;
                    is_first = false;
                }
            }
            Token::Object => {
                let depth = depth.checked_sub(1).ok_or(TOO_DEEP)?;
                self.record.get_or_insert_default().object(lexer, depth)?;
            }
        }
        Ok(())
    }

    /// Merges the kinds of a later part of the file.
    pub(crate) fn merge(&mut self, other: Self) {
        self.nulls |= other.nulls;
        self.bools |= other.bools;
        self.texts |= other.texts;
        self.moments.merge(other.moments);
        self.numbers.merge(other.numbers);
        match (&mut self.list, other.list) {
            (Some(list), Some(other)) => list.merge(*other),
            (list @ None, other) => *list = other,
            (Some(_), None) => {}
        }
        match (&mut self.record, other.record) {
            (Some(record), Some(other)) => record.merge(*other),
            (record @ None, other) => *record = other,
            (Some(_), None) => {}
        }
    }

    /// Whether all values are objects.
    pub(crate) fn is_record(&self) -> bool {
        self.record.is_some() && !self.nulls && self.kinds() == 1
    }

    fn kinds(&self) -> usize {
        let kinds = [self.bools, self.texts, self.numbers.any(), self.list.is_some(), self.record.is_some()];
        kinds.into_iter().filter(|kind| *kind).count()
    }

    /// Returns the name and the kinds of values of each member, and whether an object lacked it; nothing if
    /// no object was found.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &Self, bool)> {
        let fields = self.record.as_ref().map(|record| record.fields.iter());
        fields.into_iter().flatten().map(|member| (member.name.as_str(), &member.seen, member.is_lacking))
    }

    /// Returns the inferred Form, with empty keys. It is optional if values were null or if `may_lack`, which
    /// says that objects lacked the member.
    ///
    /// # Errors
    /// Returns an error if there are values of different kinds and unions are not allowed, or if no type
    /// represents all numbers exactly.
    pub(crate) fn form(&self, may_lack: bool, how: Found) -> Result<Form, Mixed> {
        let fault = |reason: String| Mixed { path: String::new(), reason };
        let key = String::new;
        let plain = |dtype| Form::Numpy { key: key(), dtype, shape: vec![] };
        let mut kinds = Vec::new();
        if self.bools {
            kinds.push(plain(DType::Bool));
        }
        if self.numbers.any() {
            kinds.push(plain(self.numbers.dtype().map_err(|reason| fault(reason.into()))?));
        }
        if self.texts {
            let text = || Form::String { key: key(), binary: false };
            let meaning = if how.dates { self.moments.found() } else { None };
            kinds.push(meaning.map_or_else(text, |meaning| Form::Logical {
                meaning,
                content: Box::new(plain(Moments::dtype(meaning))),
            }));
        }
        if let Some(items) = &self.list {
            let content = items.form(false, how).map_err(|mixed| mixed.within("[]"))?;
            kinds.push(Form::List { key: key(), content: Box::new(content) });
        }
        if let Some(record) = &self.record {
            kinds.push(record.form(how)?);
        }
        let is_optional = self.nulls || may_lack;
        let form = match kinds.len() {
            0 => Form::Empty,
            1 => kinds.swap_remove(0),
            _ if how.unions => Form::Union { key: key(), contents: kinds },
            _ => return Err(fault(format!("values of several kinds: {}", self.listed()))),
        };
        Ok(if is_optional { Form::Option { key: key(), content: Box::new(form) } } else { form })
    }

    fn listed(&self) -> String {
        let kinds = [
            (self.bools, "truth values"),
            (self.numbers.any(), "numbers"),
            (self.texts, "texts"),
            (self.list.is_some(), "lists"),
            (self.record.is_some(), "objects"),
        ];
        kinds.iter().filter(|(is_there, _)| *is_there).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    }
}

impl Fields {
    fn object(&mut self, lexer: &mut Lexer<'_>, depth: usize) -> Result<()> {
        let own = self.count + 1;
        let (mut next, mut met) = (0, 0);
        let mut is_first = true;
        loop {
            // Members are usually in the same order.
            let quoted = self.fields.get(next).and_then(|member| member.quoted.as_ref());
            let place = if quoted.is_some_and(|quoted| lexer.take_key(is_first, quoted)) {
                next
            } else {
                let Some(key) = lexer.next_key(is_first)? else { break };
                self.place(&key)
            };
            is_first = false;
            next = place + 1;
            let member = &mut self.fields[place];
            met += usize::from(member.last != own);
            member.last = own;
            member.seen.value(lexer, depth)?;
        }
        self.count = own;
        if met < self.fields.len() {
            for member in &mut self.fields {
                member.is_lacking |= member.last != own;
            }
        }
        Ok(())
    }

    fn place(&mut self, key: &str) -> usize {
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        let place = self.fields.len();
        self.places.insert(key.to_owned(), place);
        let is_lacking = self.count > 0;
        self.fields.push(Member {
            name: key.to_owned(),
            quoted: Quoted::new(key),
            last: 0,
            is_lacking,
            seen: Seen::default(),
        });
        place
    }

    fn merge(&mut self, other: Self) {
        let mut lacks: Vec<bool> = vec![other.count > 0; self.fields.len()];
        for member in other.fields {
            let place = self.place(&member.name);
            let own = &mut self.fields[place];
            own.is_lacking |= member.is_lacking;
            own.seen.merge(member.seen);
            if let Some(lacks) = lacks.get_mut(place) {
                *lacks = false;
            }
        }
        self.fields.iter_mut().zip(lacks).for_each(|(member, lacks)| member.is_lacking |= lacks);
        self.count += other.count;
    }

    fn form(&self, how: Found) -> Result<Form, Mixed> {
        let contents = self.fields.iter().map(|member| {
            let form = member.seen.form(member.is_lacking, how);
            form.map_err(|mixed| mixed.within(&format!(".{}", member.name)))
        });
        let contents = contents.collect::<Result<Vec<_>, _>>()?;
        let names = self.fields.iter().map(|member| member.name.clone()).collect();
        Ok(Form::Record { fields: Some(names), contents, name: None })
    }
}

impl Mixed {
    pub(crate) fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::DEEPEST;

    fn found(texts: &[&str], unions: bool) -> Result<String, Mixed> {
        let mut seen = Seen::default();
        for text in texts {
            let mut part = Seen::default();
            part.value(&mut Lexer::new(text, true), DEEPEST).expect("JSON");
            seen.merge(part);
        }
        Ok(seen.form(false, Found { unions, dates: true })?.type_string())
    }

    #[test]
    fn the_type_keeps_every_value() {
        for (texts, wanted) in [
            (&["1", "-2"][..], "int64"),
            (&["1", "2.5"], "float64"),
            (&["18446744073709551615", "0"], "uint64"),
            (&["100000000000000000000"], "float64"),
            (&["null"], "?unknown"),
            (&["null", "true"], "?bool"),
            (&["[]", "[1, null]"], "var * ?int64"),
            (
                &[r#"{"a": 1, "b": "x"}"#, r#"{"b": "y", "c": []}"#],
                "{a: ?int64, b: string, c: ?var * unknown}",
            ),
            (&[r#"{"a": 1, "a": 2}"#], "{a: int64}"),
            (&["{}", r#"{"a": 1}"#, "{}"], "{a: ?int64}"),
            (&["\"2024-02-29\"", "\"1969-12-31\""], "date"),
            (&["\"2024-02-29T12:00:00.25Z\""], "timestamp[us, UTC]"),
            (&["\"2024-02-29\"", "\"x\""], "string"),
        ] {
            assert_eq!(found(texts, false), Ok(wanted.into()), "{texts:?}");
        }
        assert_eq!(found(&["1", "\"x\""], true), Ok("union[int64, string]".into()));
        let mixed = found(&[r#"{"a": [{"b": 1}, {"b": "x"}]}"#], false).expect_err("two kinds");
        assert_eq!(
            (mixed.path.as_str(), mixed.reason.as_str()),
            (".a[].b", "values of several kinds: numbers, texts")
        );
        for texts in
            [&["9007199254740993", "0.5"][..], &["-1", "18446744073709551615"], &["123456789012345678901"]]
        {
            assert!(found(texts, false).is_err(), "{texts:?}");
        }
    }

    #[test]
    fn values_that_came_in_part_may_come_again() {
        let mut seen = Seen::default();
        let text = r#"{"a": 1, "b": [1, 2]}"#;
        for end in 1..text.len() {
            assert!(seen.value(&mut Lexer::new(&text[..end], false), DEEPEST).is_err());
        }
        seen.value(&mut Lexer::new(text, true), DEEPEST).expect("JSON");
        let form = seen.form(false, Found::default()).expect("a type");
        assert_eq!(form.type_string(), "{a: int64, b: var * int64}");
    }
}
