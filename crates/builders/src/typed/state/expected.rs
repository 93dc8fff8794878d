//! The facts about a state that errors name: types, commands and fields that are expected, and the path.

use super::{NOWHERE, State};
use crate::Command;
use crate::form::Unit;
use crate::table::Columns;
use crate::typed::offers::commands;

impl State {
    /// The type expected here, or of the record that is open.
    pub(in crate::typed) fn expected(&self) -> &str {
        let node = match (self.here(), self.at.tag) {
            (Some(Columns::Union { contents, .. }), Some(tag)) => contents[usize::from(tag)],
            (Some(_), _) => self.at.node,
            (None, _) => self.frames.last().map_or(0, |frame| frame.node),
        };
        self.nodes.expected(node)
    }

    /// The commands that are possible here, then those of which it is not clear what they mean.
    pub(in crate::typed) fn possible_commands(&self) -> Vec<Command> {
        let (clear, unclear): (Vec<_>, Vec<_>) =
            commands(self.offers_here(), self.at.tag).into_iter().partition(|(_, clear)| *clear);
        let mut possible: Vec<Command> = clear.into_iter().map(|(command, _)| command).collect();
        if self.has_tags() {
            possible.push(Command::Tag);
        }
        let ends: &[Command] = match self.frames.last().map(|frame| self.nodes.at(frame.node)) {
            None => &[],
            Some(Columns::Record(record)) if record.is_tuple => &[Command::Index, Command::EndTuple],
            Some(Columns::Record(_)) => &[Command::Field, Command::EndRecord],
            Some(_) => &[Command::EndList],
        };
        possible.extend(ends.iter().copied().filter(|end| !possible.contains(end)).collect::<Vec<_>>());
        possible.extend(unclear.into_iter().map(|(command, _)| command));
        possible
    }

    /// The methods that are possible here.
    pub(in crate::typed) fn possible(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        // The conversions of integers are named once.
        for command in self.possible_commands().into_iter().filter(|command| *command != Command::Unsigned) {
            if !names.contains(&command.name()) {
                names.push(command.name());
            }
        }
        names
    }

    /// The names of the fields, or numbers of the slots, of the record or tuple that is open.
    pub(in crate::typed) fn field_names(&self) -> Vec<String> {
        let record = self.frames.last().and_then(|frame| self.nodes.record(frame.node));
        record.map_or_else(Vec::new, |record| (0..record.fields.len()).map(|at| record.name_of(at)).collect())
    }

    pub(in crate::typed) fn in_tuple(&self) -> bool {
        let record = self.frames.last().and_then(|frame| self.nodes.record(frame.node));
        record.is_some_and(|record| record.is_tuple)
    }

    /// The fields and slots that must have a value and have none.
    pub(in crate::typed) fn missing(&self) -> Vec<String> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let length = self.nodes.len(frame.node);
        let contents = self.nodes.below(frame.node, 0).into_iter().map(|(content, _)| content);
        let fields = contents.zip(self.field_names());
        let missing = fields.filter(|(node, _)| self.nodes.len(*node) == length && !self.may_be_null(*node));
        missing.map(|(_, name)| name).collect()
    }

    /// The length that texts have here, if it is always the same.
    pub(in crate::typed) fn text_length(&self, command: Command) -> u64 {
        match self.best(command, |_| true).map(|offer| self.nodes.at(offer.node)) {
            Ok(Columns::Fixed { size, .. }) => *size as u64,
            _ => 0,
        }
    }

    /// The unit of the times that can be told here.
    pub(in crate::typed) fn unit(&self, command: Command) -> Option<Unit> {
        match self.best(command, |_| true).map(|offer| self.nodes.at(offer.node)) {
            Ok(Columns::Time { unit, .. }) => Some(*unit),
            _ => None,
        }
    }

    /// The place in an entry: `[].x` is the field `x` of an item of a list, `|1` the alternative 1 of a
    /// union.
    pub(in crate::typed) fn path(&self) -> String {
        let mut path = String::new();
        let inside = self.frames.iter().skip(1).map(|_| true).chain([self.at.node != NOWHERE]);
        for (frame, inside) in self.frames.iter().zip(inside) {
            match self.nodes.at(frame.node) {
                Columns::Record(record) if inside => {
                    path.extend([".", &record.name_of(frame.selected as usize)]);
                }
                Columns::Record(_) => {}
                _ => path.push_str("[]"),
            }
        }
        if let Some(tag) = self.at.tag {
            path.push_str(&format!("|{tag}"));
        }
        path
    }
}
