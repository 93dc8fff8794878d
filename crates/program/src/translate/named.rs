//! Objects with a class name: arrays of one class, and pointers.

use super::{
    FAULT_BYTE_COUNT, FAULT_CLASS, FAULT_COUNT, FAULT_REFERENCE, FAULT_SHARED, FAULT_VERSION, Unsupported,
    alternatives::{alternative, union_key},
    shape::{OBJECTS, readable},
    text::{Made, Place, Text, differ},
};
use crate::{contract::ASKED_OUTPUTS, layout::Layout};
use forthwith_columns::{Form, OBJECT_BITS};

/// Maximum total size of objects that several pointers share, as a multiple of the size of the data.
const MOST_SHARED: u32 = 8;

impl Text<'_> {
    /// Writes the words that step over a pointer, with its object if that is not a reference to an earlier
    /// one.
    pub(super) fn pass_pointer(&mut self, place: Place<'_>) {
        let input = self.input();
        let unknown = self.halt(FAULT_CLASS);
        let count = format!("dup 1073741824 >= if 1073741824 - {input} skip else");
        let other = format!("0 < if {unknown} then then");
        self.line(place, format!("{input} !i-> stack {count} {other}"));
    }

    /// Writes the words of an array that names the class of its items.
    pub(super) fn clones(
        &mut self,
        alternatives: &[Layout],
        classes: &[(String, u32, Layout)],
        key: &str,
        content: &Form,
        place: Place<'_>,
    ) -> Made {
        let member = place.member;
        let input = self.input();
        let end = self.open_frame(place);
        let (bypass, count) = (self.variable("bypass"), self.variable("count_"));
        let (bad, unknown) = (self.halt(FAULT_VERSION), self.halt(FAULT_CLASS));
        let versions = format!("dup 16383 > swap 3 < or if {bad} then");
        // In version 3, another bit told that the items are stored member-wise.
        let mask = format!("dup 3 = if 16384 else 4096 then {bypass} !");
        self.line(place, format!("{input} !H-> stack {mask} {versions}"));
        let bits = format!("{input} !I-> stack dup 16 and if 2 {input} skip then {bypass} @ and {bypass} !");
        self.line(
            place,
            format!("{input} !H-> stack 16384 and if 4 {input} skip then 4 {input} skip {bits}"),
        );
        let length = self.length();
        self.line(place, format!("{length} {input} skip"));
        // Longer names are first, as a name may be a prefix of another.
        let mut classes: Vec<&(String, u32, Layout)> = classes.iter().collect();
        classes.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len()));
        let names = names(classes.iter().map(|(name, ..)| &**name), member)?;
        self.line(place, format!("{length} {input} pos + {count} !"));
        match classes.is_empty() {
            true => self.line(place, format!("{count} @ {input} seek")),
            false => {
                let found = format!("{input} pos {count} @ <> if drop -1 then {count} @ {input} seek");
                self.line(place, format!("{input} enum{names} {found}"));
            }
        }
        let negative = self.halt(FAULT_COUNT);
        let read = format!("{input} !i-> stack dup 0 < if negate then dup {input} len > if {negative} then");
        self.line(place, format!("{read} dup {key}-offsets +<- stack {count} ! 4 {input} skip"));
        let inner = format!("{member}[]");
        if let ([], [alternative]) = (&classes[..], alternatives) {
            self.line(place, format!("{count} @ if"));
            self.value(alternative, content, place.within(1).of(&inner))?;
            let nothing = self.no_items(&end);
            self.line(place, format!("then {nothing}"));
            return Ok(());
        }
        let key = union_key(content).filter(|_| alternatives.len() > 1);
        self.line(place, "case".into());
        for (at, (_, to, item)) in classes.iter().enumerate() {
            self.line(place.within(1), format!("{at} of"));
            if let Some(key) = key {
                self.line(place.within(2), format!("{count} @ 0 do {to} {key}-tags <- stack loop"));
            }
            let content = alternative(alternatives, *to, content).ok_or_else(|| differ(member))?;
            self.line(place.within(1), format!("{bypass} @ if"));
            let least = item.record().map_or(1, Layout::least_together);
            let check = format!("{count} @ {}", self.weigh_together(least, member)?);
            // An empty array may have frames, which are around all items.
            self.line(place.within(2), format!("{check} {count} @ {input} pos {end} @ < or if"));
            self.shared += 1;
            match item.record() {
                Some(record) => self.each(record, content, &count, place.within(3).of(&inner))?,
                None => return Err(differ(member)),
            }
            self.line(place.within(2), "then".into());
            self.line(place.within(1), "else".into());
            self.line(place.within(2), format!("{count} @ 0 do {input} B-> stack 0= if {unknown} then"));
            self.value(item, content, place.within(3).of(&inner))?;
            self.line(place.within(2), "loop".into());
            self.shared -= 1;
            self.line(place.within(1), "then endof".into());
        }
        // An array of an unknown class must be empty.
        let nothing = self.no_items(&end);
        self.line(place, format!("{count} @ if {unknown} then {nothing} endcase"));
        self.close_frame(&end, place);
        Ok(())
    }

    /// Returns the words that end an empty array, which may have frames nevertheless.
    fn no_items(&mut self, end: &str) -> String {
        let (input, bad) = (self.input(), self.halt(FAULT_BYTE_COUNT));
        format!("{input} pos {end} @ > if {bad} then {end} @ {input} seek")
    }

    /// Writes the words of a pointer: null, or an object after its class name.
    pub(super) fn pointer(&mut self, classes: &[(String, Layout)], form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let objects = format!("{}-{OBJECTS}", union_key(form).ok_or_else(|| differ(member))?);
        let input = self.input();
        let end = self.variable("end");
        let unknown = self.halt(FAULT_CLASS);
        let reference = self.halt(FAULT_REFERENCE);
        let bad = self.halt(FAULT_BYTE_COUNT);
        self.origin = true;
        let known = readable(classes);
        // Longer names are first, as a name may be a prefix of another. Refused classes whose name cannot be
        // spelled are left out.
        let spelled = |at: &usize| *at < known.len() || is_name(&classes[*at].0);
        let mut order: Vec<usize> = (0..classes.len()).filter(spelled).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(classes[at].0.len()));
        let names = names(order.iter().map(|&at| &*classes[at].0), member)?;
        let find = match &order[..] {
            [] => unknown.clone(),
            _ => format!("{input} enum{names} {input} B-> stack if {unknown} then"),
        };
        let word = self.variable_word(&find);
        let back = self.variable("back");
        let position = self.variable("position");
        let begin = format!("0 {end} ! 0 {back} ! {input} pos {position} !");
        self.line(place, format!("{begin} {input} !i-> stack"));
        // A reference to an earlier object gets that object's row, or reads the object again.
        let elsewhere = format!("origin @ - 2 - dup 0 < over {input} pos 4 - >= or if {reference} then");
        self.line(place, format!("dup 0 > over 1073741824 < and if {elsewhere}"));
        let output = self.objects.iter().find(|(name, _)| *name == objects);
        let number = output.map(|(_, number)| *number).ok_or_else(|| differ(member))?;
        let ask = format!("dup {position} ! {ASKED_OUTPUTS} * {number} + pause");
        let there = format!("{input} pos {back} ! {position} @ {input} seek {input} !i-> stack");
        self.line(place.within(1), format!("{ask} dup 0= if drop {there}"));
        self.line(place.within(2), format!("dup 1073741824 < if {reference} then"));
        self.again = true;
        let shared = self.halt(FAULT_SHARED);
        let weigh =
            format!("dup 1073741824 - reread +! reread @ {input} len {MOST_SHARED} * > if {shared} then");
        self.line(place.within(1), format!("{weigh} then"));
        self.line(place, "then".into());
        let count = format!("1073741824 - {input} pos + {end} ! {input} !i-> stack");
        self.line(place, format!("dup 1073741824 >= if {count} then"));
        // Null, or the answer for an object that has a row.
        self.line(place, "dup 0= over -2147483648 < or if".into());
        self.line(place.within(1), format!("{objects} <- stack"));
        self.line(place, "else".into());
        self.line(place.within(1), format!("dup -1 = if drop {word} else"));
        self.line(place.within(1), format!("dup 0 >= if {reference} then"));
        // Position at which the class was first named.
        let here = self.declare("here");
        let there = format!("{input} pos {here} ! 2147483647 and origin @ - 2 - {input} seek");
        let tag = format!("{input} !i-> stack -1 <> if {unknown} then");
        self.line(place.within(1), format!("{there} {tag} {word} {here} @ {input} seek then"));
        self.line(place.within(1), "case".into());
        let values: Vec<Layout> =
            std::iter::once(Layout::Null).chain(known.iter().map(|(_, class)| class.clone())).collect();
        for (number, &at) in order.iter().enumerate() {
            if at >= known.len() {
                self.line(place.within(2), format!("{number} of"));
                self.unknown(&classes[at].1, place.within(3));
                self.line(place.within(2), "endof".into());
                continue;
            }
            let tag = format!("{position} @ {} * {} + {objects} <- stack", 1 << OBJECT_BITS, at + 1);
            self.line(place.within(2), format!("{number} of {tag}"));
            let form = alternative(&values, at as u32 + 1, form).ok_or_else(|| differ(member))?;
            self.value(&classes[at].1, form, place.within(3))?;
            self.line(place.within(2), "endof".into());
        }
        self.line(place.within(1), format!("{unknown} endcase"));
        self.line(place, "then".into());
        self.line(place, format!("{end} @ if {input} pos {end} @ <> if {bad} then then"));
        self.line(place, format!("{back} @ if {back} @ {input} seek then"));
        Ok(())
    }
}

/// Returns class names as the strings of an `enum`.
fn names<'n>(of: impl Iterator<Item = &'n str>, member: &str) -> Result<String, Unsupported> {
    let mut names = String::new();
    for name in of {
        if !is_name(name) {
            return Err(Unsupported(format!("{member}: a class of the name {name:?}")));
        }
        names.push_str(&format!(" s\" {name}\""));
    }
    Ok(names)
}

/// Returns whether a class name can be spelled in a program.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_plain)
}

/// Returns whether a letter of a class name can be in a string of a program, which it must not end.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_:<>, *&[]-.~;".contains(letter)
}
