//! Parser of types in Awkward Array's notation.
//!
//! The parser accepts the types that Awkward Array prints, and some extensions:
//!
//! ```text
//! type    = "?" type                          or null
//!         | "var" "*" type                    lists
//!         | number "*" type                   lists of one length
//!         | "{" (name ":" type),* "}"         records
//!         | "(" type,* ")"                    tuples
//!         | name "[" (name ":" type),* "]"    records with a name
//!         | name "[" type,* "]"               tuples with a name
//!         | "union[" type,* "]" | "option[" type "]" | "struct[{" … "}]" | "tuple[[" type,* "]]"
//!         | "categorical[type=" type "]"
//!         | "string" | "bytes" | "char" | "byte" | "string[" number "]" | "bytes[" number "]"
//!         | "unknown" | "bool" | "int8" … "uint64" | "float16" … "float64" | "complex64" | "complex128"
//!         | "datetime64[" unit "]" | "timedelta64[" unit "]"
//! ```
//!
//! Names that are not words are quoted, as in JSON. `parameters={…}`, also in JSON, may be the last item in
//! every pair of square brackets: `int64[parameters={"unit": "cm"}]`, `[var * int64, parameters={…}]`.

use super::{Form, FormError, Index, Kind, Parameters, Primitive, Text};
use forthwith_forth::similar_names;
use serde_json::Value as Json;

impl Form {
    /// Parses a type in Awkward Array's notation: the type of one entry, without the number of entries. A
    /// nullable union becomes a union of nullable alternatives, as in Awkward Array.
    ///
    /// # Errors
    /// Returns [`FormError::Type`] with the position of the fault, or [`FormError::Deep`].
    pub fn from_type(text: &str) -> Result<Self, FormError> {
        let mut parser = Parser { text, at: 0 };
        let form = parser.ty(0)?;
        if parser.peek().is_some() { parser.fail("the end") } else { Ok(form) }
    }
}

impl Form {
    /// Returns the type with options moved from unions into their alternatives, as in Awkward Array.
    pub(crate) fn simplified(mut self) -> Self {
        for content in self.contents_mut() {
            *content = std::mem::replace(content, Self::new(Kind::Empty)).simplified();
        }
        match self.kind {
            Kind::IndexedOption { content, .. } if matches!(content.kind, Kind::Union { .. }) => {
                optional(*content)
            }
            _ => self,
        }
    }
}

/// Keywords of the notation other than number types.
pub(super) const WORDS: [&str; 11] = [
    "string",
    "bytes",
    "var",
    "option",
    "union",
    "struct",
    "tuple",
    "categorical",
    "datetime64",
    "timedelta64",
    "unknown",
];

/// Returns the error text for a word that is not a type: all type names, with suggestions.
fn a_type(found: &str) -> String {
    let names: Vec<&str> = Primitive::names().chain(WORDS).collect();
    let meant = match found {
        "float" | "real" | "double" => vec!["float64".to_owned(), "float32".to_owned()],
        "int" | "integer" | "long" => vec!["int64".to_owned(), "int32".to_owned()],
        "str" | "text" => vec!["string".to_owned()],
        "list" | "vector" | "array" => vec!["var *".to_owned()],
        _ => similar_names(found, names.iter().copied()),
    };
    let meant =
        if meant.is_empty() { String::new() } else { format!(" (did you mean {}?)", meant.join(", ")) };
    format!("a type{meant}: one of {}", names.join(", "))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, FormError>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips white space and returns the next character.
    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn fail<T>(&self, expected: &str) -> Parsed<T> {
        let at = self.text[..self.at].chars().count();
        Err(FormError::Type { at, text: self.text.into(), expected: expected.into() })
    }

    fn take(&mut self, token: char) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    fn expect(&mut self, token: char) -> Parsed<()> {
        if self.take(token) { Ok(()) } else { self.fail(&format!("{token:?}")) }
    }

    /// Consumes a word, which is empty if the next character cannot be part of one.
    fn word(&mut self) -> &'a str {
        self.peek();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Consumes the next word if it is `word`; returns whether it was.
    fn take_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.word() == word;
        if !found {
            self.at = before;
        }
        found
    }

    fn json(&mut self) -> Parsed<Json> {
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<Json>();
        match stream.next() {
            Some(Ok(json)) => {
                self.at += stream.byte_offset();
                Ok(json)
            }
            _ => self.fail("JSON"),
        }
    }

    /// Consumes a name and a colon; consumes nothing and returns `None` if the text does not continue with
    /// them.
    fn name(&mut self) -> Parsed<Option<String>> {
        let before = self.at;
        let name = if self.peek() == Some('"') {
            match self.json()? {
                Json::String(name) => name,
                _ => return self.fail("a name"),
            }
        } else {
            self.word().to_owned()
        };
        // Only a quoted name can be empty.
        let named = self.at > before && self.take(':');
        if !named {
            self.at = before;
        }
        Ok(named.then_some(name))
    }

    /// Consumes `parameters={…}`; returns `None` if the text does not continue with it.
    fn parameters(&mut self) -> Parsed<Option<Parameters>> {
        if !self.take_word("parameters") {
            return Ok(None);
        }
        self.expect('=')?;
        self.peek();
        let before = self.at;
        let Json::Object(parameters) = self.json()? else {
            self.at = before;
            return self.fail("an object");
        };
        Ok(Some(parameters))
    }

    /// Consumes `, parameters={…}]` or `]`.
    fn close(&mut self, form: &mut Form) -> Parsed<()> {
        if self.take(',') {
            match self.parameters()? {
                Some(parameters) => form.parameters.extend(parameters),
                None => return self.fail("parameters"),
            }
        }
        self.expect(']')
    }

    fn ty(&mut self, depth: usize) -> Parsed<Form> {
        if depth > Form::DEEPEST {
            return Err(FormError::Deep);
        }
        match self.peek() {
            Some('?') => {
                self.at += 1;
                self.ty(depth + 1).map(optional)
            }
            Some('0'..='9') => self.regular(depth),
            Some('{') => {
                self.at += 1;
                self.record('}', depth)
            }
            Some('(') => {
                self.at += 1;
                self.tuple(')', depth)
            }
            Some('[') => {
                self.at += 1;
                self.closed(|this| match this.ty(depth + 1)? {
                    list if matches!(list.kind, Kind::ListOffset { .. } | Kind::Regular { .. }) => Ok(list),
                    _ => this.fail("lists before the bracket"),
                })
            }
            Some('"') => match self.json()? {
                Json::String(name) => {
                    self.expect('[')?;
                    self.named(&name, depth)
                }
                _ => self.fail("a type"),
            },
            _ => self.by_word(depth),
        }
    }

    fn regular(&mut self, depth: usize) -> Parsed<Form> {
        let before = self.at;
        let Ok(size) = self.word().parse() else {
            self.at = before;
            return self.fail("a number");
        };
        self.expect('*')?;
        let content = Box::new(self.ty(depth + 1)?);
        Ok(Form::new(Kind::Regular { size, content }))
    }

    /// Parses a type that begins with a word. Each kind of type is parsed by a short function of its own to
    /// limit the use of stack by recursion: without optimisation, a function takes stack for all of its
    /// branches.
    fn by_word(&mut self, depth: usize) -> Parsed<Form> {
        self.peek();
        let before = self.at;
        let word = self.word();
        match word {
            "var" => {
                self.expect('*')?;
                Ok(self.ty(depth + 1)?.list())
            }
            "option" => self.option(depth),
            "union" => self.union(depth),
            "struct" => {
                self.expect('[')?;
                self.expect('{')?;
                self.closed(|this| this.record('}', depth))
            }
            "tuple" => {
                self.expect('[')?;
                self.expect('[')?;
                self.closed(|this| this.tuple(']', depth))
            }
            "categorical" => self.categorical(depth),
            _ => match self.leaf(word)? {
                Some(form) => Ok(form),
                None if !word.is_empty() && self.take('[') => self.named(word, depth),
                None => {
                    self.at = before;
                    self.fail(&a_type(word))
                }
            },
        }
    }

    fn option(&mut self, depth: usize) -> Parsed<Form> {
        self.expect('[')?;
        self.closed(|this| this.ty(depth + 1).map(optional))
    }

    fn union(&mut self, depth: usize) -> Parsed<Form> {
        self.expect('[')?;
        let (_, contents, parameters) = self.members(']', false, depth)?;
        let mut form = union_of(contents);
        form.parameters.extend(parameters);
        Ok(form)
    }

    fn tuple(&mut self, close: char, depth: usize) -> Parsed<Form> {
        let (_, contents, _) = self.members(close, false, depth)?;
        Ok(Form::new(Kind::Record { fields: None, contents }))
    }

    /// Parses a type, optional parameters and a closing bracket.
    fn closed(&mut self, form: impl FnOnce(&mut Self) -> Parsed<Form>) -> Parsed<Form> {
        let mut form = form(self)?;
        self.close(&mut form)?;
        Ok(form)
    }

    fn categorical(&mut self, depth: usize) -> Parsed<Form> {
        self.expect('[')?;
        if !self.take_word("type") {
            return self.fail("type=");
        }
        self.expect('=')?;
        let form = self.ty(depth + 1)?;
        self.expect(']')?;
        Ok(categorical(form))
    }

    /// Parses a type without inner types; returns `None` if the word is not the name of one.
    fn leaf(&mut self, word: &str) -> Parsed<Option<Form>> {
        let form = match word {
            "string" => self.text(Text::String)?,
            "bytes" => self.text(Text::Bytes)?,
            "char" => Text::String.item(),
            "byte" => Text::Bytes.item(),
            "datetime64" | "timedelta64" => {
                self.expect('[')?;
                let unit = self.word();
                let Some(primitive) = Primitive::from_name(&format!("{word}[{unit}]")) else {
                    return self.fail("a unit such as us or 10ns");
                };
                let mut form = Form::number(primitive);
                self.close(&mut form)?;
                form
            }
            "unknown" => self.plain(Form::new(Kind::Empty))?,
            _ => match Primitive::from_name(word) {
                Some(primitive) => self.plain(Form::number(primitive))?,
                None => return Ok(None),
            },
        };
        Ok(Some(form))
    }

    /// Parses the rest of a string type, which may have a fixed length.
    fn text(&mut self, text: Text) -> Parsed<Form> {
        if !self.take('[') {
            return Ok(Form::text(text));
        }
        self.peek();
        let before = self.at;
        let Ok(size) = self.word().parse() else {
            self.at = before;
            return self.fail("a length");
        };
        self.expect(']')?;
        let form = Form::new(Kind::Regular { size, content: Box::new(text.item()) });
        Ok(form.with_parameter("__array__", text.list_name().into()))
    }

    /// Adds optional parameters in brackets to a type.
    fn plain(&mut self, mut form: Form) -> Parsed<Form> {
        if self.take('[') {
            match self.parameters()? {
                Some(parameters) => form.parameters.extend(parameters),
                None => return self.fail("parameters"),
            }
            self.expect(']')?;
        }
        Ok(form)
    }

    /// Parses the rest of a record or tuple with a name, after its opening bracket.
    fn named(&mut self, name: &str, depth: usize) -> Parsed<Form> {
        let before = self.at;
        let record = self.peek() == Some(']') || self.take_word("parameters") || self.name()?.is_some();
        self.at = before;
        let (fields, contents, parameters) = self.members(']', record, depth)?;
        let kind = Kind::Record { fields: record.then_some(fields), contents };
        let form = Form { kind, parameters, key: None };
        Ok(form.with_parameter("__record__", name.into()))
    }

    fn record(&mut self, close: char, depth: usize) -> Parsed<Form> {
        let (fields, contents, parameters) = self.members(close, true, depth)?;
        Ok(Form { kind: Kind::Record { fields: Some(fields), contents }, parameters, key: None })
    }

    /// Parses types up to a closing token, with a name before each if `named`, and the parameters after them.
    fn members(
        &mut self,
        close: char,
        named: bool,
        depth: usize,
    ) -> Parsed<(Vec<String>, Vec<Form>, Parameters)> {
        let (mut fields, mut contents, mut parameters) = (Vec::new(), Vec::new(), None);
        while !self.take(close) {
            if !contents.is_empty() {
                self.expect(',')?;
            }
            // Fields in braces are followed by their parameters after the closing brace.
            if if named { close == ']' } else { !contents.is_empty() } {
                parameters = self.parameters()?;
                if parameters.is_some() {
                    self.expect(close)?;
                    break;
                }
            }
            if named {
                let Some(name) = self.name()? else { return self.fail("a name and a colon") };
                fields.push(name);
            }
            contents.push(self.ty(depth + 1)?);
        }
        Ok((fields, contents, parameters.unwrap_or_default()))
    }
}

fn categorical(form: Form) -> Form {
    match form.kind {
        Kind::IndexedOption { .. } => form,
        _ => Form::new(Kind::Indexed { index: Index::I64, content: Box::new(form) }),
    }
    .with_parameter("__array__", "categorical".into())
}

/// Makes a type nullable; for a union, its alternatives.
fn optional(form: Form) -> Form {
    match form.kind {
        Kind::IndexedOption { .. } => form,
        Kind::Indexed { index: Index::I64, content } => {
            Form { kind: Kind::IndexedOption { index: Index::I64, content }, ..form }
        }
        Kind::Union { index, contents } => {
            let contents = contents.into_iter().map(optional).collect();
            Form { kind: Kind::Union { index, contents }, ..form }
        }
        _ => form.option(),
    }
}

/// Returns a union without nested unions, in which either all alternatives are nullable or none.
fn union_of(contents: Vec<Form>) -> Form {
    let mut flat = Vec::new();
    for content in contents {
        match content.kind {
            Kind::Union { contents, .. } if content.parameters.is_empty() => flat.extend(contents),
            _ => flat.push(content),
        }
    }
    if flat.iter().any(|form| matches!(form.kind, Kind::IndexedOption { .. })) {
        flat = flat.into_iter().map(optional).collect();
    }
    Form::new(Kind::Union { index: Index::I64, contents: flat })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_as_they_are_printed() {
        for text in [
            "var * {x: float64, y: ?string}",
            "{x: int64, \"y z\": ?float64, \"\": int8, \"q\\\"\": bool}",
            "P[x: int64]",
            "P[int64, string]",
            "P[]",
            "()",
            "{}",
            "(int64, float64)",
            "union[int64, string]",
            "union[?int64, ?string]",
            "option[var * int64]",
            "option[3 * int64]",
            "?string[3]",
            "bytes[7]",
            "3 * 4 * uint8",
            "datetime64[us]",
            "timedelta64[10us]",
            "?categorical[type=string]",
            "categorical[type=int64]",
            "[var * int64, parameters={\"foo\": {\"a\": [1, 2]}}]",
            "int64[parameters={\"foo\": 1}]",
            "struct[{x: int64}, parameters={\"foo\": 1}]",
            "tuple[[int64], parameters={\"foo\": 1}]",
            "P[x: int64, parameters={\"foo\": 1}]",
            "option[int64, parameters={\"foo\": 1}]",
            "union[int64, string, parameters={\"foo\": 1}]",
            "char",
            "byte",
            "unknown",
            "var * unknown",
            "complex64",
            "struct[{x: bool}, parameters={\"__record__\": \"a b\"}]",
            "struct[{x: bool}, parameters={\"__record__\": \"string\"}]",
            "{\"\\u00e9\": bool}",
        ] {
            let form = Form::from_type(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(form.type_string(), text);
            assert_eq!(Form::from_json(&form.to_json()).unwrap(), form, "{text}");
        }
    }

    #[test]
    fn other_spellings_mean_the_same() {
        for (text, same) in [
            (" var*int64 ", "var * int64"),
            ("option[int64]", "?int64"),
            ("??int64", "?int64"),
            ("?union[int64, string]", "union[?int64, ?string]"),
            ("union[?int64, string]", "union[?int64, ?string]"),
            ("union[int64, union[bool, string]]", "union[int64, bool, string]"),
            ("struct[{x:int64}]", "{x: int64}"),
            ("tuple[[int64]]", "(int64)"),
            ("categorical[type=?string]", "?categorical[type=string]"),
            ("unknown[parameters={}]", "unknown"),
            ("?var * int64", "option[var * int64]"),
            ("\"a b\"[x: bool]", "struct[{x: bool}, parameters={\"__record__\": \"a b\"}]"),
        ] {
            assert_eq!(Form::from_type(text).unwrap().type_string(), same);
        }
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, at) in [
            ("", 0),
            ("var int64", 4),
            ("{x int64}", 1),
            ("{x: int64", 9),
            ("integer", 0),
            ("int64 int64", 6),
            ("datetime64[parsec]", 17),
            ("99999999999999999999 * int64", 0),
            ("[int64, parameters={}]", 6),
            ("int64[parameters=[]]", 17),
            ("var * é", 6),
        ] {
            match Form::from_type(text) {
                Err(FormError::Type { at: found, .. }) => assert_eq!(found, at, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert_eq!(Form::from_type(&"var * ".repeat(1 << 20)), Err(FormError::Deep));
        assert_eq!(Form::from_type(&"?".repeat(1 << 20)), Err(FormError::Deep));
        assert_eq!(Form::from_type(&"(".repeat(1 << 20)), Err(FormError::Deep));
    }

    #[test]
    fn types_as_deep_as_are_allowed_need_little_stack() {
        let kinds = [
            ("var * ", ""),
            ("?", ""),
            ("3 * ", ""),
            ("[var * ", "]"),
            ("option[", "]"),
            ("union[int8, var * ", "]"),
            ("{x: ", "}"),
            ("(", ")"),
            ("struct[{x: ", "}]"),
            ("tuple[[", "]]"),
            ("name[x: ", "]"),
            ("name[", "]"),
            ("\"a name\"[x: ", "]"),
            ("categorical[type=", "]"),
        ];
        for (begin, end) in kinds {
            let ty = |levels| format!("{}float32{}", begin.repeat(levels), end.repeat(levels));
            // Each repetition is at most two levels deep.
            let deep = Form::parse(&ty(Form::DEEPEST / 2 - 1));
            assert!(deep.is_ok(), "{begin}: {deep:?}");
            assert_eq!(Form::parse(&ty(4000)), Err(FormError::Deep), "{begin}");
        }
    }
}
