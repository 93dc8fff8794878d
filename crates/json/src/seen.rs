//! Types: the narrowest one that keeps all values of a place as they are.

use crate::lexer::{Lexer, Number, Result, TOO_DEEP, Token};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The values that a place has had so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    nulls: bool,
    bools: bool,
    texts: bool,
    numbers: Numbers,
    list: Option<Box<Self>>,
    record: Option<Box<Fields>>,
}

/// Numbers of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// Whole numbers that 64 bits hold.
    whole: bool,
    negative: bool,
    /// Whole numbers above the largest signed one.
    large: bool,
    /// Whole numbers that no float equals.
    wide: bool,
    /// Other numbers, and whole ones beyond 64 bits that a float equals.
    floats: bool,
    /// Whole numbers that nothing holds.
    huge: bool,
}

/// The members of the objects of a place, in the order in which they came.
#[derive(Clone, Debug, Default)]
struct Fields {
    /// Objects that are complete.
    count: u64,
    places: HashMap<String, usize>,
    fields: Vec<Member>,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    /// The number of the last object that had it, from 1.
    last: u64,
    /// Whether an object lacked it.
    is_lacking: bool,
    seen: Seen,
}

/// A number as a column holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A whole number that neither 64 bits nor a float hold.
    Huge,
}

/// A reason why a place has no type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mixed {
    /// The path of the place within an entry.
    pub path: String,
    pub reason: String,
}

/// The value of a number. Floats are rounded as the standard for them says; beyond their range is an error.
pub(crate) fn exact(number: Number<'_>) -> Result<Exact> {
    if number.is_whole {
        if let Ok(whole) = number.text.parse() {
            return Ok(Exact::Signed(whole));
        }
        if let Ok(whole) = number.text.parse() {
            return Ok(Exact::Unsigned(whole));
        }
    }
    let float: f64 = number.text.parse().map_err(|_| "a number that is none")?;
    if !float.is_finite() {
        return Err("a number beyond the range of floating-point numbers".into());
    }
    // Rust writes all digits of a float.
    if number.is_whole && format!("{float:.0}") != number.text {
        return Ok(Exact::Huge);
    }
    Ok(Exact::Float(float))
}

impl Numbers {
    fn add(&mut self, number: Number<'_>) -> Result<()> {
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

    const fn any(self) -> bool {
        self.whole || self.floats || self.huge
    }

    fn primitive(self) -> Result<&'static str, &'static str> {
        match self {
            Self { huge: true, .. } => Err("a whole number that neither 64 bits nor a float hold"),
            Self { floats: true, wide: true, .. } => {
                Err("whole numbers beside others, of which a float does not hold all")
            }
            Self { floats: true, .. } => Ok("float64"),
            Self { large: true, negative: true, .. } => {
                Err("whole numbers below zero beside some above 2^63")
            }
            Self { large: true, .. } => Ok("uint64"),
            _ => Ok("int64"),
        }
    }
}

impl Seen {
    /// Takes note of the value on which a lexer stands. After an error the same value may come again.
    pub(crate) fn value(&mut self, lexer: &mut Lexer<'_>, depth: usize) -> Result<()> {
        match lexer.token()? {
            Token::Null => self.nulls = true,
            Token::Bool(_) => self.bools = true,
            Token::Text(_) => self.texts = true,
            Token::Number(number) => self.numbers.add(number)?,
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

    /// Whether there are objects alone.
    pub(crate) fn is_record(&self) -> bool {
        self.record.is_some() && !self.nulls && self.kinds() == 1
    }

    fn kinds(&self) -> usize {
        let kinds = [self.bools, self.texts, self.numbers.any(), self.list.is_some(), self.record.is_some()];
        kinds.into_iter().filter(|kind| *kind).count()
    }

    /// The members of the objects, if there are objects alone.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &Self, bool)> {
        let fields = self.record.as_ref().map(|record| record.fields.iter());
        fields.into_iter().flatten().map(|member| (member.name.as_str(), &member.seen, member.is_lacking))
    }

    /// The Form, as Awkward Array has it in JSON. Different kinds of values are a union if `unions`.
    pub(crate) fn form(&self, may_lack: bool, unions: bool) -> Result<Value, Mixed> {
        let fault = |reason: String| Mixed { path: String::new(), reason };
        let plain = |primitive: &str| json!({"class": "NumpyArray", "primitive": primitive});
        let mut kinds = Vec::new();
        if self.bools {
            kinds.push(plain("bool"));
        }
        if self.numbers.any() {
            kinds.push(plain(self.numbers.primitive().map_err(|reason| fault(reason.into()))?));
        }
        if self.texts {
            let bytes =
                json!({"class": "NumpyArray", "primitive": "uint8", "parameters": {"__array__": "char"}});
            kinds.push(json!({"class": "ListOffsetArray", "offsets": "i64", "content": bytes, "parameters": {"__array__": "string"}}));
        }
        if let Some(items) = &self.list {
            let content = items.form(false, unions).map_err(|mixed| mixed.within("[]"))?;
            kinds.push(json!({"class": "ListOffsetArray", "offsets": "i64", "content": content}));
        }
        if let Some(record) = &self.record {
            kinds.push(record.form(unions)?);
        }
        let is_optional = self.nulls || may_lack;
        let form = match kinds.len() {
            0 => json!({"class": "EmptyArray"}),
            1 => kinds.swap_remove(0),
            _ if unions => json!({"class": "UnionArray", "tags": "i8", "index": "i64", "contents": kinds}),
            _ => return Err(fault(format!("values of several kinds: {}", self.listed()))),
        };
        Ok(match is_optional {
            true => json!({"class": "IndexedOptionArray", "index": "i64", "content": form}),
            false => form,
        })
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
        let mut next = 0;
        let mut is_first = true;
        while let Some(key) = lexer.next_key(is_first)? {
            is_first = false;
            // Members mostly come in the same order.
            let place = match self.fields.get(next).filter(|member| member.name == *key) {
                Some(_) => next,
                None => self.place(&key),
            };
            next = place + 1;
            let member = &mut self.fields[place];
            member.last = own;
            member.seen.value(lexer, depth)?;
        }
        self.count = own;
        for member in &mut self.fields {
            member.is_lacking |= member.last != own;
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
        self.fields.push(Member { name: key.to_owned(), last: 0, is_lacking, seen: Seen::default() });
        place
    }

    fn form(&self, unions: bool) -> Result<Value, Mixed> {
        let contents = self.fields.iter().map(|member| {
            let form = member.seen.form(member.is_lacking, unions);
            form.map_err(|mixed| mixed.within(&format!(".{}", member.name)))
        });
        let contents = contents.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&str> = self.fields.iter().map(|member| member.name.as_str()).collect();
        Ok(json!({"class": "RecordArray", "fields": names, "contents": contents}))
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
    use forthwith_builders::Form;

    fn found(texts: &[&str], unions: bool) -> Result<String, Mixed> {
        let mut seen = Seen::default();
        for text in texts {
            seen.value(&mut Lexer::new(text, true), DEEPEST).expect("JSON");
        }
        let form = seen.form(false, unions)?.to_string();
        Ok(Form::from_json(&form).expect("a Form").type_string())
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
                "{a: ?int64, b: string, c: option[var * unknown]}",
            ),
            (&[r#"{"a": 1, "a": 2}"#], "{a: int64}"),
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
        let form = seen.form(false, false).expect("a type").to_string();
        assert_eq!(Form::from_json(&form).expect("a Form").type_string(), "{a: int64, b: var * int64}");
    }
}
