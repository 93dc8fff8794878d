//! Details of a state for errors: the expected types, commands and fields, and the path.

use super::{Here, Place, State, ends};
use crate::Command;
use crate::form::Unit;
use crate::table::{Columns, Record};
use crate::typed::offers::commands;

impl State {
    /// Returns the expected type, or that of the open record.
    pub(in crate::typed) fn expected(&self) -> &str {
        let (Here { node, inside, .. }, tag) = (self.here, self.place().tag);
        match (self.nodes.get(node), tag) {
            (Some(Columns::Union { contents, .. }), Some(tag)) => {
                self.nodes.expected(contents[usize::from(tag)])
            }
            (Some(_), _) => self.nodes.expected(node),
            (None, _) => self.nodes.expected(inside),
        }
    }

    /// Returns the commands that are possible, with ambiguous ones last.
    pub(in crate::typed) fn possible_commands(&self) -> Vec<Command> {
        let Place { here: Here { inside, .. }, offers, tags, .. } = self.place();
        let (clear, unclear): (Vec<_>, Vec<_>) = commands(offers).into_iter().partition(|(_, clear)| *clear);
        let mut possible: Vec<Command> = clear.into_iter().map(|(command, _)| command).collect();
        if !tags.is_empty() {
            possible.push(Command::Tag);
        }
        let ends = self.nodes.get(*inside).map_or(&[][..], ends);
        possible.extend(ends.iter().copied().filter(|end| !possible.contains(end)).collect::<Vec<_>>());
        possible.extend(unclear.into_iter().map(|(command, _)| command));
        possible
    }

    /// Returns the methods that are possible.
    pub(in crate::typed) fn possible(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        // `Integer` and `Unsigned` are the same method.
        for command in self.possible_commands().into_iter().filter(|command| *command != Command::Unsigned) {
            if !names.contains(&command.name()) {
                names.push(command.name());
            }
        }
        names
    }

    /// Returns the open tuple or record.
    fn record(&self) -> Option<&Record> {
        self.nodes.record(self.here.inside)
    }

    /// Returns the names of the fields, or numbers of the slots, of the open record or tuple.
    pub(in crate::typed) fn field_names(&self) -> Vec<String> {
        let names = |record: &Record| (0..record.fields.len()).map(|at| record.name_of(at)).collect();
        self.record().map_or_else(Vec::new, names)
    }

    pub(in crate::typed) fn in_tuple(&self) -> bool {
        self.record().is_some_and(|record| record.is_tuple)
    }

    /// Returns the fields and slots without a value that cannot be null.
    pub(in crate::typed) fn missing(&self) -> Vec<String> {
        let Some(record) = self.record() else { return Vec::new() };
        let lacking = self.lacking(self.here.inside).into_iter();
        let required = lacking.filter(|(_, content)| self.null_of(*content).is_none());
        required.map(|(at, _)| record.name_of(at)).collect()
    }

    /// Returns the fixed length of strings at this place; 0 if they have none.
    pub(in crate::typed) fn text_length(&self, command: Command) -> u64 {
        match self.best(command, |_| true).map(|offer| self.nodes.at(offer.node)) {
            Ok(Columns::Fixed { size, .. }) => *size as u64,
            _ => 0,
        }
    }

    /// Returns the unit of times at this place.
    pub(in crate::typed) fn unit(&self, command: Command) -> Option<Unit> {
        match self.best(command, |_| true).map(|offer| self.nodes.at(offer.node)) {
            Ok(Columns::Time { unit, .. }) => Some(*unit),
            _ => None,
        }
    }

    /// Returns the path in an entry.
    pub(in crate::typed) fn path(&self) -> String {
        self.places.path(&self.nodes, self.at)
    }
}
