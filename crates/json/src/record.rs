//! Objects to records: members in any order, of which the expected one is compared first.

use crate::{
    context::Context,
    lexer::{Lexer, Quoted, Result, Stop},
};
use std::collections::HashMap;

/// The values of a member.
pub(crate) trait Member {
    /// Reserves memory for so many values more; of lists and texts, for where they end.
    fn reserve(&mut self, rows: usize);

    /// Drops values behind the first `rows`.
    fn truncate(&mut self, rows: usize);

    /// Appends a missing value, if values may be missing.
    fn null(&mut self) -> bool;

    /// Appends the value on which a lexer stands.
    fn value(&mut self, lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<()>;
}

/// The members of a record that are read, and the names that were met so far.
#[derive(Debug)]
pub(crate) struct Record<F> {
    members: Vec<Stamped<F>>,
    /// Names of members and, behind them, of what is stepped over.
    names: Vec<Name>,
    places: HashMap<Box<str>, usize>,
    /// For the beginning of an object, and then for each name, the name that came next the last time.
    next: Vec<usize>,
    /// Objects that are complete.
    pub rows: usize,
    /// The number of the object that is being read; objects that were dropped count.
    object: u64,
}

#[derive(Debug)]
struct Stamped<F> {
    fill: F,
    /// The number of the last object that had it.
    object: u64,
}

#[derive(Debug)]
struct Name {
    text: Box<str>,
    /// As it is spelled with quotes and without escapes, if it can be.
    quoted: Option<Quoted>,
}

/// Limit on names that are remembered though they are stepped over.
const MOST_NAMES: usize = 1 << 12;

impl<F: Member> Record<F> {
    /// A record of members with these names.
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

    /// Reserves memory for so many objects more.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.members.iter_mut().for_each(|member| member.fill.reserve(rows));
    }

    /// Drops objects behind the first `rows`.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.rows = rows;
        self.members.iter_mut().for_each(|member| member.fill.truncate(rows));
    }

    /// The members.
    pub(crate) fn into_fills(self) -> impl Iterator<Item = F> {
        self.members.into_iter().map(|member| member.fill)
    }

    /// Appends an object whose brace was stepped over. Of members of one name, the last one counts.
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

    /// Makes members missing that an object lacks.
    fn absent(&mut self) -> Result<()> {
        let lacking = self.members.iter_mut().zip(&self.names).filter(|(own, _)| own.object != self.object);
        for (member, name) in lacking {
            if !member.fill.null() {
                return Err(Stop::invalid(format!("an object without the member {:?}", name.text)));
            }
        }
        Ok(())
    }

    /// The number of a name. A new one is remembered, unless there are many.
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

/// Steps over the value of a member that is not read.
fn skip(lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<()> {
    if let (Some(b'{' | b'['), Some(brackets)) = (lexer.peek(), &mut context.brackets) {
        let end = brackets.end(lexer.text(), lexer.at()).ok_or(Stop::Incomplete)?;
        lexer.go(end);
        return Ok(());
    }
    lexer.skip(depth)
}
