//! Values to columns of a known type.

use crate::{
    lexer::{DEEPEST, Lexer, Result, Stop, TOO_DEEP, Token},
    seen::{Exact, exact},
};
use forthwith_builders::{BuildError, Open, Shape, Sink, Slot};

impl From<BuildError> for Stop {
    fn from(refused: BuildError) -> Self {
        Self::Invalid(refused.to_string().into())
    }
}

/// Appends the value on which a lexer stands.
pub(crate) fn value(lexer: &mut Lexer<'_>, sink: &mut Sink, at: Slot, depth: usize) -> Result<()> {
    match lexer.token()? {
        Token::Null => sink.put_null(at)?,
        Token::Bool(truth) => sink.put_boolean(at, truth)?,
        Token::Text(text) => sink.put_text(at, text.as_bytes(), false)?,
        Token::Number(number) => match exact(number)? {
            Exact::Signed(whole) => sink.put_integer(at, whole)?,
            Exact::Unsigned(whole) => sink.put_unsigned(at, whole)?,
            Exact::Float(float) => sink.put_real(at, float)?,
            Exact::Huge => sink.put_huge(at)?,
        },
        Token::List => {
            let depth = depth.checked_sub(1).ok_or(TOO_DEEP)?;
            alternatives(lexer, sink, at, Shape::List, |lexer, sink| list(lexer, sink, at, depth))?;
        }
        Token::Object => {
            let depth = depth.checked_sub(1).ok_or(TOO_DEEP)?;
            alternatives(lexer, sink, at, Shape::Record, |lexer, sink| object(lexer, sink, at, depth))?;
        }
    }
    Ok(())
}

/// Tries each type of a union that might take what begins here.
fn alternatives<'a>(
    lexer: &mut Lexer<'a>,
    sink: &mut Sink,
    at: Slot,
    shape: Shape,
    mut write: impl FnMut(&mut Lexer<'a>, &mut Sink) -> Result<()>,
) -> Result<()> {
    let (count, length, before) = (sink.candidates(at, shape), sink.len_at(at), lexer.clone());
    for nth in 0..count.saturating_sub(1) {
        sink.choose(nth);
        if write(lexer, sink).is_ok() {
            return Ok(());
        }
        sink.truncate_at(at, length);
        *lexer = before.clone();
    }
    sink.choose(count.saturating_sub(1));
    write(lexer, sink)
}

fn list(lexer: &mut Lexer<'_>, sink: &mut Sink, at: Slot, depth: usize) -> Result<()> {
    let (open, items) = sink.open_list(at)?;
    let mut is_first = true;
    while lexer.next_item(is_first)? {
        value(lexer, sink, items, depth)?;
        is_first = false;
    }
    Ok(sink.close_list(open)?)
}

fn object(lexer: &mut Lexer<'_>, sink: &mut Sink, at: Slot, depth: usize) -> Result<()> {
    let open = sink.open_record(at, None)?;
    members(lexer, sink, open, depth, |_| true)
}

/// Appends the members of an object whose names are wanted; of a name that comes twice, the last value counts.
fn members(
    lexer: &mut Lexer<'_>,
    sink: &mut Sink,
    mut open: Open,
    depth: usize,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<()> {
    let mut is_first = true;
    // All members have as many values as there are complete objects.
    let mut complete = None;
    while let Some(key) = lexer.next_key(is_first)? {
        is_first = false;
        if !is_wanted(&key) {
            lexer.skip(depth)?;
            continue;
        }
        let (slot, _) = sink.field_of(&mut open, &key, 0)?;
        let length = sink.len_at(slot);
        let complete = *complete.get_or_insert(length);
        if length > complete {
            sink.truncate_at(slot, complete);
        }
        value(lexer, sink, slot, depth)?;
    }
    Ok(sink.close_record(open)?)
}

/// Appends an entry: of an object, the members that are wanted.
pub(crate) fn entry(lexer: &mut Lexer<'_>, sink: &mut Sink, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
    if lexer.peek() != Some(b'{') {
        return value(lexer, sink, Sink::ROOT, DEEPEST);
    }
    lexer.step();
    let open = sink.open_record(Sink::ROOT, None)?;
    members(lexer, sink, open, DEEPEST - 1, is_wanted)
}
