//! Commands that are possible at each place of a type: for errors, to resolve commands, and to generate the
//! program.

use crate::form::{Form, FormError, Kind};
use crate::table::{Columns, Nodes};
use crate::{BuildError, Command};

/// Reason why a command is refused. The numbers are the values of the variable `error` of the generated
/// program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Refusal {
    /// The command is not possible at this place.
    Unexpected = 1,
    /// A number is out of range for the type.
    Range,
    /// A list has reached its fixed size.
    Full,
    /// A list has fewer items than its fixed size.
    Short,
    /// A field already has a value.
    Twice,
    /// A field without a value cannot be null.
    Missing,
    /// A field, slot, alternative or row does not exist, or a tuple has another size or a record another
    /// name.
    Argument,
    /// A string has another length than the fixed one.
    Length,
    /// The number of rows exceeds 32-bit indexes or offsets.
    Wide,
    /// A null has no possible value under its mask.
    Placeless,
    /// Several alternatives of a union are possible.
    Ambiguous,
}

/// Reason why a command failed.
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

/// Commands are checked before columns are changed, so that only memory can be the reason.
impl From<BuildError> for Failure {
    fn from(_: BuildError) -> Self {
        Self::OutOfMemory
    }
}

/// Command that can begin a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offer {
    pub(super) command: Command,
    /// Rank; lower is better.
    pub(super) rank: u8,
    /// Alternative of the union through which the node is reached.
    pub(super) tag: Option<u8>,
    /// Node that stores the value.
    pub(super) node: u32,
}

/// Rank of a command that is recognised but always refused.
pub(super) const HOPELESS: u8 = 9;

/// Returns the best offer of a command among those selected by `meant`, or an error if several are equally
/// good.
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
                // Nulls of all alternatives are equal, and so are refusals.
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

/// Returns the commands of some offers in the order of error messages, and whether each is unambiguous.
pub(super) fn commands(offers: &[Offer]) -> Vec<(Command, bool)> {
    let mut commands: Vec<(Command, bool)> = Vec::new();
    for offer in offers {
        if !commands.iter().any(|(command, _)| *command == offer.command) {
            // The argument of these commands may resolve them.
            let clear = matches!(offer.command, Command::BeginTuple | Command::BeginRecord)
                || best(offers, offer.command, |_| true).is_ok();
            commands.push((offer.command, clear));
        }
    }
    commands.sort_by_key(|(command, clear)| (!clear, *command == Command::Null));
    commands
}

impl Nodes {
    /// Returns the commands that can begin a value of a node.
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

/// Returns an error for Forms that Awkward Array rejects, and for categories of values with contents.
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
                // Categories are compared by the bytes of single values.
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
