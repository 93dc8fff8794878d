//! The commands that each place of a type takes: what errors name, what a command means, and what the program
//! is made of.

use crate::form::{Form, FormError, Kind};
use crate::table::{Columns, Nodes};
use crate::{BuildError, Command};

/// The reason why a command is refused. The numbers are those that the generated program leaves in its
/// variable `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Refusal {
    /// No such command belongs here.
    Unexpected = 1,
    /// The number does not fit its type.
    Range,
    /// The list has all its items.
    Full,
    /// The list has not all its items.
    Short,
    /// The field has its value.
    Twice,
    /// Fields have no value.
    Missing,
    /// There is no such field, slot, alternative, row; or tuples and records are not of that length or name.
    Argument,
    /// The string has another length.
    Length,
    /// More rows than 32 bits count.
    Wide,
    /// Nothing can stand in the place of a null.
    Placeless,
    /// Several alternatives of a union take it.
    Ambiguous,
}

/// The reason why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Refused(Refusal),
    OutOfMemory,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Columns refuse no command that was found to fit but for want of memory.
impl From<BuildError> for Failure {
    fn from(_: BuildError) -> Self {
        Self::OutOfMemory
    }
}

/// One way to tell the beginning of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offer {
    pub(super) command: Command,
    /// The better, the lower.
    pub(super) rank: u8,
    /// The alternative of the union that leads to it.
    pub(super) tag: Option<u8>,
    /// The node that takes it.
    pub(super) node: u32,
}

/// The rank of a command that is understood and refused all the same.
pub(super) const HOPELESS: u8 = 9;

/// The best of those offers of a command that are meant, if that is a single one.
pub(super) fn best(
    offers: &[Offer],
    command: Command,
    meant: impl Fn(&Offer) -> bool,
) -> Result<Offer, Refusal> {
    let (mut found, mut refusal) = (None::<Offer>, Refusal::Unexpected);
    for offer in offers.iter().filter(|offer| offer.command == command) {
        if !meant(offer) {
            refusal = if found.is_none() { Refusal::Argument } else { refusal };
            continue;
        }
        match found {
            Some(before) if before.rank < offer.rank => {}
            Some(before) if before.rank == offer.rank => {
                // A null is the same in all alternatives, and so is a refusal.
                let same = command == Command::Null || offer.rank == HOPELESS;
                refusal = if same { refusal } else { Refusal::Ambiguous };
            }
            _ => (found, refusal) = (Some(*offer), Refusal::Unexpected),
        }
    }
    match found {
        Some(offer) if refusal != Refusal::Ambiguous => Ok(offer),
        _ => Err(refusal),
    }
}

/// The commands among some offers, in the order in which errors name them, and whether each is clear.
pub(super) fn commands(offers: &[Offer]) -> Vec<(Command, bool)> {
    let mut commands: Vec<(Command, bool)> = Vec::new();
    for offer in offers {
        if !commands.iter().any(|(command, _)| *command == offer.command) {
            // The argument of these may make it clear.
            let clear = matches!(offer.command, Command::BeginTuple | Command::BeginRecord)
                || best(offers, offer.command, |_| true).is_ok();
            commands.push((offer.command, clear));
        }
    }
    commands.sort_by_key(|(command, clear)| (!clear, *command == Command::Null));
    commands
}

impl Nodes {
    /// The ways to tell a value of a node.
    pub(super) fn offers(&self, node: u32) -> Vec<Offer> {
        let offer = |(command, rank)| Offer { command, rank, tag: None, node };
        let all = |offers: &[(Command, u8)]| offers.iter().copied().map(offer).collect();
        match self.at(node) {
            Columns::Nothing { .. } => Vec::new(),
            Columns::Boolean(_) => all(&[(Command::Boolean, 0)]),
            Columns::UInt64(_) => all(&[(Command::Integer, 0), (Command::Unsigned, 0)]),
            Columns::Float16(_) | Columns::Float32(_) | Columns::Float64(_) => {
                all(&[(Command::Real, 0), (Command::Integer, 1), (Command::Unsigned, 1)])
            }
            Columns::Complex64(_) | Columns::Complex128(_) => all(&[
                (Command::Complex, 0),
                (Command::Real, 1),
                (Command::Integer, 2),
                (Command::Unsigned, 2),
            ]),
            Columns::Time { date: true, .. } => all(&[(Command::Datetime, 0)]),
            Columns::Time { date: false, .. } => all(&[(Command::Timedelta, 0)]),
            Columns::Text { binary: false, .. } | Columns::Fixed { binary: false, .. } => {
                all(&[(Command::String, 0)])
            }
            Columns::Text { .. } | Columns::Fixed { .. } => all(&[(Command::Bytestring, 0)]),
            Columns::List { .. } | Columns::Regular { .. } => all(&[(Command::BeginList, 0)]),
            Columns::Record(record) if record.is_tuple => all(&[(Command::BeginTuple, 0)]),
            Columns::Record(_) => all(&[(Command::BeginRecord, 0)]),
            Columns::Indexed { nulls, content, categories, .. } => {
                let mut offers = self.offers(*content);
                if !nulls || categories.is_some() {
                    offers.push(offer((Command::Index, 0)));
                }
                if *nulls {
                    offers.push(offer((Command::Null, 0)));
                }
                offers
            }
            Columns::Masked { content, .. } => {
                let mut offers = self.offers(*content);
                let rank = if self.is_fillable(*content) { 0 } else { HOPELESS };
                offers.push(offer((Command::Null, rank)));
                offers
            }
            Columns::Unmasked { content } => self.offers(*content),
            Columns::Union { contents, .. } => {
                let each = contents.iter().zip(0..).flat_map(|(content, tag)| {
                    let inner = self.offers(*content).into_iter();
                    inner.map(move |offer| Offer { tag: Some(tag), ..offer })
                });
                each.collect()
            }
            _ => all(&[(Command::Integer, 0), (Command::Unsigned, HOPELESS)]), // integers
        }
    }
}

/// Refuses Forms that Awkward Array would not take, and categories that are no single values.
pub(super) fn check(form: &Form) -> Result<(), FormError> {
    let unsupported = |what: String| Err(FormError::Unsupported(what));
    match &form.kind {
        Kind::Indexed { content, .. }
        | Kind::IndexedOption { content, .. }
        | Kind::ByteMasked { content, .. }
        | Kind::BitMasked { content, .. }
        | Kind::Unmasked { content } => {
            let what = match &content.kind {
                Kind::Union { .. } => {
                    "an option or indirection directly around a union (it belongs into the alternatives)"
                }
                kind if is_option(kind) || matches!(kind, Kind::Indexed { .. }) => {
                    "an option or indirection directly around another"
                }
                // A value that is told at once can be compared with those that are there.
                kind if form.is_categorical() && content.as_text().is_none() => match kind {
                    Kind::Empty => "",
                    Kind::Numpy { shape, .. } if shape.is_empty() => "",
                    _ => "categories that are no single values",
                },
                _ => "",
            };
            if !what.is_empty() {
                return unsupported(format!("{}: {what}", form.type_string()));
            }
        }
        Kind::Union { contents, .. } => {
            if i8::try_from(contents.len()).is_err() || contents.len() < 2 {
                return unsupported(format!("a union of {} types", contents.len()));
            }
            let options = contents.iter().filter(|content| is_option(&content.kind)).count();
            if options != 0 && options != contents.len() {
                let what = "a union has options in all alternatives or in none; this";
                return unsupported(format!("{}: {what}", form.type_string()));
            }
            if contents.iter().any(|content| matches!(content.kind, Kind::Union { .. })) {
                return unsupported(format!("{}: a union directly within a union", form.type_string()));
            }
        }
        _ => {}
    }
    form.contents().iter().try_for_each(check)
}

fn is_option(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::IndexedOption { .. } | Kind::ByteMasked { .. } | Kind::BitMasked { .. } | Kind::Unmasked { .. }
    )
}
