//! Objects to records. Members may be in any order; the key that followed last time is tried first.

use crate::{
    context::Context,
    lexer::{Lexer, Quoted, Result, Stop},
};
use std::collections::HashMap;

/// Column to which the values of a member are appended.
pub(crate) trait Member {
    /// Reserves memory for `rows` more values. For lists and strings, only the offsets are reserved.
    fn reserve(&mut self, rows: usize);

    /// Drops all values after the first `rows`.
    fn truncate(&mut self, rows: usize);

    /// Appends a missing value and returns `true`; returns `false` if the type is not optional.
    fn null(&mut self) -> bool;

    /// Parses and appends the value at the position of the lexer.
    fn value(&mut self, lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<()>;
}

/// Members of a record that are read, and the keys that were found so far.
#[derive(Debug)]
pub(crate) struct Record<F> {
    members: Vec<Stamped<F>>,
    /// Keys of the members, followed by keys that are skipped.
    names: Vec<Name>,
    places: HashMap<Box<str>, usize>,
    /// Index of the key that followed last time: element 0 for the beginning of an object, element `n + 1`
    /// for key `n`.
    next: Vec<usize>,
    /// Number of complete objects.
    pub rows: usize,
    /// Number of the current object, including objects that were dropped.
    object: u64,
}

#[derive(Debug)]
struct Stamped<F> {
    fill: F,
    /// Number of the last object that had the member.
    object: u64,
}

#[derive(Debug)]
struct Name {
    text: Box<str>,
    /// Spelling with quotes; `None` if the key must be escaped.
    quoted: Option<Quoted>,
}

/// Maximum number of skipped keys that are remembered.
const MOST_NAMES: usize = 1 << 12;

impl<F: Member> Record<F> {
    /// Creates a record with one column for each name.
    pub(crate) fn new(names: &[String], fills: Vec<F>) -> Self {
        let members = fills.into_iter().map(|fill| Stamped { fill, object: 0 }).collect();
        let (mut places, mut next) = (HashMap::new(), vec![0]);
        for (at, name) in names.iter().enumerate() {
            places.entry(name.as_str().into()).or_insert(at);
            next.push(at + 1);
        }
        let names =
            names.iter().map(|name| Name { text: name.as_str().into(), quoted: Quoted::new(name) }).collect();
        Self { members, names, places, next, rows: 0, object: 0 }
    }

    /// Reserves memory for `rows` more objects.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.members.iter_mut().for_each(|member| member.fill.reserve(rows));
    }

    /// Drops all objects after the first `rows`.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.rows = rows;
        self.members.iter_mut().for_each(|member| member.fill.truncate(rows));
    }

    /// Returns the columns of the members.
    pub(crate) fn into_fills(self) -> impl Iterator<Item = F> {
        self.members.into_iter().map(|member| member.fill)
    }

    /// Appends an object; its opening brace was consumed. If a key is repeated, its last value is used.
    pub(crate) fn object(
        &mut self,
        lexer: &mut Lexer<'_>,
        depth: usize,
        context: &mut Context,
    ) -> Result<()> {
        self.object += 1;
        let (mut last, mut filled, mut is_first) = (0, 0, true);
        loop {
            let guess = self.next[last];
            let quoted = self.names.get(guess).and_then(|name| name.quoted.as_ref());
            let name = if quoted.is_some_and(|quoted| lexer.take_key(is_first, quoted)) {
                Some(guess)
            } else {
                let Some(key) = lexer.next_key(is_first)? else { break };
                let name = self.find(&key);
                if let Some(name) = name {
                    self.next[last] = name;
                }
                name
            };
            is_first = false;
            last = name.map_or(0, |name| name + 1);
            let Some(member) = name.and_then(|name| self.members.get_mut(name)) else {
                skip(lexer, depth, context)?;
                continue;
            };
            if member.object == self.object {
                member.fill.truncate(self.rows);
            } else {
                member.object = self.object;
                filled += 1;
            }
            let value = member.fill.value(lexer, depth, context);
            value.inspect_err(|_| context.within(&format!(".{}", self.names[last - 1].text)))?;
        }
        if filled < self.members.len() {
            self.absent()?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Appends missing values to the members that the object lacks, or returns an error if one is not
    /// optional.
    fn absent(&mut self) -> Result<()> {
        let lacking = self.members.iter_mut().zip(&self.names).filter(|(own, _)| own.object != self.object);
        for (member, name) in lacking {
            if !member.fill.null() {
                return Err(Stop::invalid(format!("an object without the member {:?}", name.text)));
            }
        }
        Ok(())
    }

    /// Returns the index of a key, and remembers a new one unless [`MOST_NAMES`] are remembered.
    fn find(&mut self, key: &str) -> Option<usize> {
        if let Some(place) = self.places.get(key) {
            return Some(*place);
        }
        if self.names.len() >= self.members.len() + MOST_NAMES {
            return None;
        }
        let place = self.names.len();
        self.names.push(Name { text: key.into(), quoted: Quoted::new(key) });
        self.places.insert(key.into(), place);
        self.next.push(place + 1);
        Some(place)
    }
}

/// Skips the value of a member that is not read.
fn skip(lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<()> {
    if let (Some(b'{' | b'['), Some(brackets)) = (lexer.peek(), &mut context.brackets) {
        let end = brackets.end(lexer.text(), lexer.at()).ok_or(Stop::Incomplete)?;
        lexer.go(end);
        return Ok(());
    }
    lexer.skip(depth)
}
