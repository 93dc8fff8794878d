//! Values in frames: byte counts, versions, items stored field by field, pointers.

use super::{
    FAULT_BYTE_COUNT, FAULT_CLASS, FAULT_CLASS_VERSION, FAULT_COUNT, FAULT_NEGATIVE, FAULT_REFERENCE,
    FAULT_SHARED, FAULT_VERSION, Unsupported, literal, parser,
    shape::{PACKED, join},
    text::{Text, alternative, differ, union_key},
};
use crate::schema::{Schema, When};
use forthwith_columns::{Form, Wire};
use std::borrow::Cow;

/// What has been written as a word of its own: for which node, for which schema, and the word's name.
pub(super) type Word = (String, Schema, String);

impl Text<'_> {
    /// The value of a schema that frames or points.
    pub(super) fn framed(
        &mut self,
        schema: &Schema,
        form: &Form,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        match (schema, form) {
            (Schema::Framed { of, .. }, form) => {
                let end = self.open_frame(depth, member);
                self.value(of, form, depth, member)?;
                self.close_frame(&end, depth, member);
            }
            (Schema::Versioned(arms), form) => {
                self.versioned(arms, depth, member, &mut |text, arm, depth| {
                    text.value(arm, form, depth, member)
                })?;
            }
            (Schema::Base(of), form) => self.value(of, form, depth, member)?,
            (Schema::Between(before, of, behind), form) => {
                for other in before {
                    self.skip(other, depth, member)?;
                }
                self.value(of, form, depth, member)?;
                for other in behind {
                    self.skip(other, depth, member)?;
                }
            }
            (Schema::Tuple(items), Form::Record { contents, .. }) if items.len() == contents.len() => {
                for (at, (item, form)) in items.iter().zip(contents).enumerate() {
                    self.value(item, form, depth, &join(member, &at.to_string()))?;
                }
            }
            (Schema::LongText, Form::String { key, .. }) => {
                let length = format!("{input} !I-> stack dup {key}-offsets +<- stack");
                self.line(depth, member, format!("{length} {input} #B-> {key}-data"));
            }
            (Schema::Columns(item), Form::List { key, content }) => {
                self.columns(item, key, content, depth, member)?;
            }
            (Schema::Counter(slot, of), Form::Numpy { key, .. }) => {
                let word = self.counter(*slot, of, member)?;
                self.line(depth, member, format!("{word} dup count{slot} ! {key}-data <- stack"));
            }
            (Schema::Clones { alternatives, classes }, Form::List { key, content }) => {
                self.clones(alternatives, classes, key, content, depth, member)?;
            }
            (Schema::Triangle(slot, wire), Form::List { key, content }) => match &**content {
                Form::Numpy { key: numbers, .. } => {
                    let (rows, size, begin) =
                        (self.rows(*slot, *wire), self.variable("rows"), self.variable("begin"));
                    let (width, code) = (wire.width(), parser(*wire, member)?);
                    let all = format!("{rows} dup {size} ! dup * {key}-offsets +<- stack");
                    self.line(depth, member, format!("{all} {input} pos {begin} !"));
                    self.line(depth, member, format!("{size} @ 0 do {size} @ 0 do"));
                    // Behind the rows before, as short as they are.
                    let row = format!("i j min dup {size} @ * over dup 1- * 2 / - swap - i j max +");
                    let place = format!("{row} {width} * {begin} @ + {input} seek");
                    self.line(depth + 1, member, format!("{place} {input} {code}-> {numbers}-data"));
                    self.line(depth, member, "loop loop".into());
                    let end = format!("{size} @ dup 1+ * 2 / {width} * {begin} @ + {input} seek");
                    self.line(depth, member, end);
                }
                _ => return Err(differ(member)),
            },
            (Schema::Flagged(of), form) => {
                self.line(depth, member, format!("{input} B-> stack if"));
                self.value(of, form, depth + 1, member)?;
                self.line(depth, member, "else".into());
                self.absent(of, form, depth + 1, member)?;
                self.line(depth, member, "then".into());
            }
            (Schema::Counted { slot, flag, of }, Form::List { key, content }) => {
                let count = self.counted(*slot, *flag);
                self.line(depth, member, format!("{count} dup {key}-offsets +<- stack"));
                let inner = format!("{member}[]");
                match (&**of, &**content) {
                    (Schema::Number(wire), Form::Numpy { key, .. }) => {
                        let (width, words) = self.bulk(*wire, key, &inner)?;
                        self.line(depth, &inner, format!("{width}{words}"));
                    }
                    _ => {
                        let check = self.weigh(of.least_bytes());
                        self.line(depth, member, format!("{check}0 do"));
                        self.value(of, content, depth + 1, &inner)?;
                        self.line(depth, member, "loop".into());
                    }
                }
            }
            (Schema::OrNothing(of), form) => {
                self.line(depth, member, format!("{input} pos stop @ < if"));
                self.value(of, form, depth + 1, member)?;
                self.line(depth, member, "else".into());
                self.absent(of, form, depth + 1, member)?;
                self.line(depth, member, "then".into());
            }
            (Schema::Pointer(classes), form) => self.pointer(classes, form, depth, member)?,
            (Schema::Absent(of), form) => self.absent(of, form, depth, member)?,
            (Schema::Computed(_, words), Form::Numpy { key, .. }) => {
                self.line(depth, member, format!("{words} {key}-data <- stack"));
            }
            (Schema::Passed(words), _) => self.line(depth, member, (*words).into()),
            (Schema::Unknown(class), _) => self.unknown(class, depth, member),
            _ => return Err(differ(member)),
        }
        Ok(())
    }

    /// The words that read numbers with their count on the stack: what the count is to be multiplied with, and the reading itself.
    pub(super) fn bulk(
        &mut self,
        wire: Wire,
        key: &str,
        member: &str,
    ) -> Result<(String, String), Unsupported> {
        let input = self.input();
        Ok(match wire {
            Wire::Scaled { .. } | Wire::Truncated { .. } => {
                (format!("{} * ", wire.width()), format!("{input} #B-> {key}-{PACKED}"))
            }
            _ => (String::new(), format!("{input} #{}-> {key}-data", parser(wire, member)?)),
        })
    }

    /// Opens a frame, and names the variable that has its end.
    fn open_frame(&mut self, depth: usize, member: &str) -> String {
        let input = self.input();
        let end = self.variable("end");
        self.line(depth, member, format!("{input} !I-> stack 1073741824 - {input} pos + {end} !"));
        end
    }

    fn close_frame(&mut self, end: &str, depth: usize, member: &str) {
        let input = self.input();
        let bad = self.halt(FAULT_BYTE_COUNT);
        self.line(depth, member, format!("{input} pos {end} @ <> if {bad} then"));
    }

    /// Steps over a whole frame.
    pub(super) fn pass_frame(&mut self, depth: usize, member: &str) {
        let input = self.input();
        let bad = self.halt(FAULT_BYTE_COUNT);
        let length = format!("{input} !I-> stack 1073741824 -");
        self.line(depth, member, format!("{length} dup 0 < if {bad} then {input} skip"));
    }

    /// Reads a version, and what it says.
    fn versioned(
        &mut self,
        arms: &[(When, Schema)],
        depth: usize,
        member: &str,
        emit: &mut dyn FnMut(&mut Self, &Schema, usize) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        let bad = self.halt(FAULT_VERSION);
        match arms {
            [(When::Any, only)] => {
                self.line(depth, member, format!("{input} !H-> stack 16383 > if {bad} then"));
                return emit(self, only, depth);
            }
            [(When::AnyClass, only)] => {
                let sum = format!("0= if 4 {input} skip then");
                self.line(depth, member, format!("{input} !H-> stack dup 16383 > if {bad} then {sum}"));
                return emit(self, only, depth);
            }
            [(When::Any, apart), (When::Together, together)] => {
                // What both have in common is written once.
                self.shared += 1;
                self.line(depth, member, format!("{input} !H-> stack 16384 and if"));
                emit(self, together, depth + 1)?;
                self.line(depth, member, "else".into());
                emit(self, apart, depth + 1)?;
                self.line(depth, member, "then".into());
                self.shared -= 1;
                return Ok(());
            }
            _ => {}
        }
        let bad = self.halt(FAULT_CLASS_VERSION);
        let mut kinds: Vec<&Schema> = Vec::new();
        let (mut versions, mut sums) = (Vec::new(), Vec::new());
        for (when, schema) in arms {
            let kind = kinds.iter().position(|known| *known == schema).unwrap_or_else(|| {
                kinds.push(schema);
                kinds.len() - 1
            });
            match when {
                When::Version(version) => versions.push((i64::from(*version), kind)),
                When::Checksum(sum) => sums.push((i64::from(*sum as i32), kind)),
                When::Class(version, sum) => {
                    versions.push((i64::from(*version), kind));
                    sums.push((i64::from(*sum as i32), kind));
                }
                _ => return Err(Unsupported(format!("{member}: versions that are told apart in no way"))),
            }
        }
        let several = kinds.len() > 1;
        let tell = |of: &[(i64, usize)]| {
            if let ([(only, _)], false) = (of, several) {
                return format!("{only} <> if {bad} then");
            }
            let arms = of.iter().map(|(number, kind)| match several {
                true => format!("{number} of {kind} endof "),
                false => format!("{number} of endof "),
            });
            format!("case {}{bad} endcase", arms.collect::<String>())
        };
        let zero = versions.iter().any(|(version, _)| *version == 0);
        let line = match (zero, sums.is_empty()) {
            (false, false) => format!(
                "{input} !H-> stack dup 0= if drop {input} !i-> stack {} else {} then",
                tell(&sums),
                tell(&versions)
            ),
            _ => format!("{input} !H-> stack {}", tell(&versions)),
        };
        self.line(depth, member, line);
        match kinds.as_slice() {
            [] => return Err(Unsupported(format!("{member}: a class without versions"))),
            [only] => emit(self, only, depth)?,
            several => {
                self.line(depth, member, "case".into());
                for (at, kind) in several.iter().enumerate() {
                    self.line(depth + 1, member, format!("{at} of"));
                    emit(self, kind, depth + 2)?;
                    self.line(depth + 1, member, "endof".into());
                }
                self.line(depth, member, format!("{bad} endcase"));
            }
        }
        Ok(())
    }

    /// Items stored field by field.
    fn columns(
        &mut self,
        item: &Schema,
        key: &str,
        content: &Form,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        let count = self.variable("count_");
        let begin = format!("{input} !I-> stack dup {key}-offsets +<- stack dup {count} !");
        let check = match item.least_together() {
            0 => format!("{}drop", self.weigh(0)),
            least => {
                let bad = self.halt(FAULT_COUNT);
                let least = literal(least.min(1 << 20), member)?;
                format!("{least} * {input} len {input} pos - > if {bad} then")
            }
        };
        self.line(depth, member, format!("{begin} {check}"));
        // Of no items, nothing is stored, not even frames.
        self.line(depth, member, format!("{count} @ if"));
        self.each(item, content, &count, depth + 1, &format!("{member}[]"))?;
        self.line(depth, member, "then".into());
        Ok(())
    }

    /// A value of each of many items, as many as the variable says.
    fn each(
        &mut self,
        schema: &Schema,
        form: &Form,
        count: &str,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        match (schema, form) {
            (Schema::Framed { shared: true, of }, form) => {
                let end = self.open_frame(depth, member);
                self.each(of, form, count, depth, member)?;
                self.close_frame(&end, depth, member);
            }
            (Schema::Versioned(arms), form) => {
                self.versioned(arms, depth, member, &mut |text, arm, depth| {
                    text.each(arm, form, count, depth, member)
                })?;
            }
            // A base has no frame of its own there.
            (Schema::Base(of), form) => {
                let record = of.record().ok_or_else(|| differ(member))?;
                self.each(record, form, count, depth, member)?;
            }
            (Schema::Record { fields, .. }, Form::Record { contents, .. }) => {
                for ((name, field), form) in fields.iter().zip(forms(fields, None, contents)) {
                    self.each_field(name, field, form, count, depth, member)?;
                }
            }
            (Schema::Arranged { fields, order, .. }, Form::Record { contents, .. }) => {
                for ((name, field), form) in fields.iter().zip(forms(fields, Some(order), contents)) {
                    self.each_field(name, field, form, count, depth, member)?;
                }
            }
            (Schema::Tuple(items), Form::Record { contents, .. }) => {
                for (at, (item, form)) in items.iter().zip(contents).enumerate() {
                    self.each(item, form, count, depth, &join(member, &at.to_string()))?;
                }
            }
            (Schema::Counter(slot, of), Form::Numpy { key, .. }) => {
                let Schema::Number(wire) = &**of else { return Err(differ(member)) };
                let (width, words) = self.bulk(*wire, key, member)?;
                self.counter(*slot, of, member)?;
                let begins = self.declare(&format!("counts{slot}"));
                self.line(depth, member, format!("{input} pos {begins} ! {count} @ {width}{words}"));
            }
            (schema, form) if let Some(slot) = slot(schema) => {
                self.line(depth, member, format!("{count} @ 0 do"));
                self.each_count(slot, depth + 1, member)?;
                self.value(schema, form, depth + 1, member)?;
                self.line(depth, member, "loop".into());
            }
            (Schema::Absent(_), _) if form == &Form::Empty => {}
            _ => {
                if let Some((size, wire, key)) = numbers(schema, form) {
                    let (width, words) = self.bulk(wire, key, member)?;
                    let size = match size {
                        1 => String::new(),
                        size => format!("{} * ", literal(size, member)?),
                    };
                    self.line(depth, member, format!("{count} @ {size}{width}{words}"));
                    return Ok(());
                }
                self.line(depth, member, format!("{count} @ 0 do"));
                self.value(schema, form, depth + 1, member)?;
                self.line(depth, member, "loop".into());
            }
        }
        Ok(())
    }

    /// Values up to the entry's end, counted on the stack.
    pub(super) fn until_end(
        &mut self,
        schema: &Schema,
        form: &Form,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        match schema {
            Schema::Framed { shared: true, of } => {
                // Up to ROOT 5.30, an empty collection has not even the frame.
                self.line(depth, member, format!("{input} pos stop @ < if"));
                let end = self.open_frame(depth + 1, member);
                let stop = self.halt(FAULT_BYTE_COUNT);
                self.line(depth + 1, member, format!("{end} @ stop @ <> if {stop} then"));
                self.until_end(of, form, depth + 1, member)?;
                self.line(depth, member, "then".into());
            }
            Schema::Versioned(arms) => {
                self.versioned(arms, depth, member, &mut |text, arm, depth| {
                    text.until_end(arm, form, depth, member)
                })?;
            }
            item => {
                if item.least_bytes() == 0 {
                    return Err(Unsupported(format!("{member}: items without bytes up to the entry's end")));
                }
                self.line(depth, member, format!("begin {input} pos stop @ < while 1+"));
                self.value(item, form, depth + 1, member)?;
                self.line(depth, member, "repeat".into());
            }
        }
        Ok(())
    }

    fn each_field(
        &mut self,
        name: &str,
        field: &Schema,
        form: Option<Cow<'_, Form>>,
        count: &str,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let inner = if matches!(field, Schema::Base(_)) { member.to_owned() } else { join(member, name) };
        match form {
            Some(form) => self.each(field, &form, count, depth, &inner),
            None => self.skip_each(field, count, depth, &inner),
        }
    }

    /// Steps over a value of each of many items.
    fn skip_each(
        &mut self,
        schema: &Schema,
        count: &str,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        match schema {
            Schema::Skipped(of) => return self.skip_each(of, count, depth, member),
            Schema::Framed { shared: true, .. } => {
                self.pass_frame(depth, member);
                return Ok(());
            }
            Schema::Base(of)
                if let Some(Schema::Record { fields, .. } | Schema::Arranged { fields, .. }) =
                    of.record() =>
            {
                for (name, field) in fields {
                    self.skip_each(field, count, depth, &join(member, name))?;
                }
                return Ok(());
            }
            Schema::Counter(slot, of) => {
                let Schema::Number(wire) = &**of else { return Err(differ(member)) };
                self.counter(*slot, of, member)?;
                let begins = self.declare(&format!("counts{slot}"));
                let width = wire.width();
                self.line(depth, member, format!("{input} pos {begins} ! {count} @ {width} * {input} skip"));
                return Ok(());
            }
            _ => {}
        }
        self.line(depth, member, format!("{count} @ 0 do"));
        if let Some(slot) = slot(schema) {
            self.each_count(slot, depth + 1, member)?;
        }
        self.skip(schema, depth + 1, member)?;
        self.flush();
        self.line(depth, member, "loop".into());
        Ok(())
    }

    /// Looks up the count of the next item: the counts of all items stand together further up.
    fn each_count(&mut self, slot: u32, depth: usize, member: &str) -> Result<(), Unsupported> {
        let input = self.input();
        let Some((_, wire)) = self.counters.iter().find(|(known, _)| *known == slot) else {
            return Err(differ(member));
        };
        let (width, code) = (wire.width(), parser(*wire, member)?);
        let counts = self.declare(&format!("counts{slot}"));
        let here = self.declare("here");
        let there = format!("{input} pos {here} ! {counts} @ {input} seek");
        let back = format!("{width} {counts} +! {here} @ {input} seek");
        self.line(depth, member, format!("{there} {input} {code}-> stack count{slot} ! {back}"));
        Ok(())
    }

    /// The words that read a counter and leave it on the stack.
    pub(super) fn counter(&mut self, slot: u32, of: &Schema, member: &str) -> Result<String, Unsupported> {
        let Schema::Number(wire) = of else { return Err(differ(member)) };
        self.declare(&format!("count{slot}"));
        if !self.counters.iter().any(|(known, _)| *known == slot) {
            self.counters.push((slot, *wire));
        }
        Ok(format!("{} {}-> stack", self.input(), parser(*wire, member)?))
    }

    /// The words that leave on the stack how many items there are.
    pub(super) fn counted(&mut self, slot: u32, flag: bool) -> String {
        let count = self.declare(&format!("count{slot}"));
        let bad = self.halt(FAULT_NEGATIVE);
        let input = self.input();
        let count = format!("{count} @ dup 0 < if {bad} then");
        if flag { format!("{input} B-> stack if {count} else 0 then") } else { count }
    }

    /// The words that leave the number of rows of a matrix on the stack, whose half is there.
    pub(super) fn rows(&mut self, slot: u32, wire: Wire) -> String {
        let count = self.counted(slot, false);
        let bad = self.halt(FAULT_COUNT);
        let (input, width) = (self.input(), wire.width());
        let few = format!("dup {MOST_ROWS} > if {bad} then");
        format!("{count} {few} dup dup 1+ * 2 / {width} * {input} len {input} pos - > if {bad} then")
    }

    /// Steps over a pointer and what it leads to, unless that is elsewhere.
    pub(super) fn pass_pointer(&mut self, depth: usize, member: &str) {
        let input = self.input();
        let unknown = self.halt(FAULT_CLASS);
        let count = format!("dup 1073741824 >= if 1073741824 - {input} skip else");
        let other = format!("0 < if {unknown} then then");
        self.line(depth, member, format!("{input} !i-> stack {count} {other}"));
    }

    /// An array that names the class of its items.
    fn clones(
        &mut self,
        alternatives: &[Schema],
        classes: &[(String, u32, Schema)],
        key: &str,
        content: &Form,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let input = self.input();
        let end = self.open_frame(depth, member);
        let (bypass, count) = (self.variable("bypass"), self.variable("count_"));
        let (bad, unknown) = (self.halt(FAULT_VERSION), self.halt(FAULT_CLASS));
        let versions = format!("dup 16383 > swap 3 < or if {bad} then");
        // Which bit says that members stand together was another one in version 3.
        let mask = format!("dup 3 = if 16384 else 4096 then {bypass} !");
        self.line(depth, member, format!("{input} !H-> stack {mask} {versions}"));
        let bits = format!("{input} !I-> stack dup 16 and if 2 {input} skip then {bypass} @ and {bypass} !");
        self.line(
            depth,
            member,
            format!("{input} !H-> stack 16384 and if 4 {input} skip then 4 {input} skip {bits}"),
        );
        let length = self.length();
        self.line(depth, member, format!("{length} {input} skip"));
        // Longer names first, since a name may begin with another.
        let mut classes: Vec<&(String, u32, Schema)> = classes.iter().collect();
        classes.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len()));
        let names = names(classes.iter().map(|(name, ..)| &**name), member)?;
        self.line(depth, member, format!("{length} {input} pos + {count} !"));
        match classes.is_empty() {
            true => self.line(depth, member, format!("{count} @ {input} seek")),
            false => {
                let found = format!("dup 0 < {input} pos {count} @ <> or if {unknown} then");
                self.line(depth, member, format!("{input} enum{names} {found}"));
            }
        }
        let negative = self.halt(FAULT_COUNT);
        let read = format!("{input} !i-> stack dup 0 < if negate then dup {input} len > if {negative} then");
        self.line(depth, member, format!("{read} dup {key}-offsets +<- stack {count} ! 4 {input} skip"));
        let inner = format!("{member}[]");
        if let ([], [alternative]) = (&classes[..], alternatives) {
            self.line(depth, member, format!("{count} @ if"));
            self.value(alternative, content, depth + 1, &inner)?;
            self.line(depth, member, "then".into());
            self.close_frame(&end, depth, member);
            return Ok(());
        }
        let key = union_key(content).filter(|_| alternatives.len() > 1);
        self.line(depth, member, "case".into());
        for (at, (_, to, item)) in classes.iter().enumerate() {
            self.line(depth + 1, member, format!("{at} of"));
            if let Some(key) = key {
                self.line(depth + 2, member, format!("{count} @ 0 do {to} {key}-tags <- stack loop"));
            }
            let content = alternative(alternatives, *to, content).ok_or_else(|| differ(member))?;
            self.line(depth + 1, member, format!("{bypass} @ if"));
            let least = item.record().map_or(1, Schema::least_together);
            let check = match least {
                0 => format!("{count} @ {}drop", self.weigh(0)),
                least => {
                    let bad = self.halt(FAULT_COUNT);
                    let least = literal(least.min(1 << 20), member)?;
                    format!("{count} @ {least} * {input} len {input} pos - > if {bad} then")
                }
            };
            // Of no items there may be frames, which are there for all items together.
            self.line(depth + 2, member, format!("{check} {count} @ {input} pos {end} @ < or if"));
            self.shared += 1;
            match item.record() {
                Some(record) => self.each(record, content, &count, depth + 3, &inner)?,
                None => return Err(differ(member)),
            }
            self.line(depth + 2, member, "then".into());
            self.line(depth + 1, member, "else".into());
            self.line(depth + 2, member, format!("{count} @ 0 do {input} B-> stack 0= if {unknown} then"));
            self.value(item, content, depth + 3, &inner)?;
            self.line(depth + 2, member, "loop".into());
            self.shared -= 1;
            self.line(depth + 1, member, "then endof".into());
        }
        self.line(depth, member, format!("{unknown} endcase"));
        self.close_frame(&end, depth, member);
        Ok(())
    }

    /// A pointer: null, or an object with its class.
    fn pointer(
        &mut self,
        classes: &[(String, Schema)],
        form: &Form,
        depth: usize,
        member: &str,
    ) -> Result<(), Unsupported> {
        let key = union_key(form).ok_or_else(|| differ(member))?.to_owned();
        let input = self.input();
        let end = self.variable("end");
        let unknown = self.halt(FAULT_CLASS);
        let reference = self.halt(FAULT_REFERENCE);
        let bad = self.halt(FAULT_BYTE_COUNT);
        self.origin = true;
        // Longer names first, since a name may begin with another.
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(classes[at].0.len()));
        let names = names(order.iter().map(|&at| &*classes[at].0), member)?;
        let find = match classes {
            [] => unknown.clone(),
            _ => format!("{input} enum{names} {input} B-> stack if {unknown} then"),
        };
        let word = self.variable_word(&find);
        let back = self.variable("back");
        self.line(depth, member, format!("0 {end} ! 0 {back} ! {input} !i-> stack"));
        // An object that stands further up is read there once more.
        let elsewhere = format!("origin @ - 2 - dup 0 < over {input} pos 4 - >= or if {reference} then");
        let there = format!("{input} pos {back} ! {input} seek {input} !i-> stack");
        self.line(depth, member, format!("dup 0 > over 1073741824 < and if {elsewhere}"));
        self.line(depth + 1, member, format!("{there} dup 1073741824 < if {reference} then"));
        self.again = true;
        let shared = self.halt(FAULT_SHARED);
        let weigh =
            format!("dup 1073741824 - reread +! reread @ {input} len {MOST_SHARED} * > if {shared} then");
        self.line(depth, member, format!("{weigh} then"));
        let count = format!("1073741824 - {input} pos + {end} ! {input} !i-> stack");
        self.line(depth, member, format!("dup 1073741824 >= if {count} then"));
        self.line(depth, member, "dup 0= if".into());
        self.line(depth + 1, member, format!("{key}-tags <- stack"));
        self.line(depth, member, "else".into());
        self.line(depth + 1, member, format!("dup -1 = if drop {word} else"));
        self.line(depth + 1, member, format!("dup 0 >= if {reference} then"));
        // Where the class was named first.
        let here = self.declare("here");
        let there = format!("{input} pos {here} ! 2147483647 and origin @ - 2 - {input} seek");
        let tag = format!("{input} !i-> stack -1 <> if {unknown} then");
        self.line(depth + 1, member, format!("{there} {tag} {word} {here} @ {input} seek then"));
        self.line(depth + 1, member, "case".into());
        let values: Vec<Schema> =
            std::iter::once(Schema::Null).chain(classes.iter().map(|(_, class)| class.clone())).collect();
        for (number, &at) in order.iter().enumerate() {
            self.line(depth + 2, member, format!("{number} of {} {key}-tags <- stack", at + 1));
            let form = alternative(&values, at as u32 + 1, form).ok_or_else(|| differ(member))?;
            self.value(&classes[at].1, form, depth + 3, member)?;
            self.line(depth + 2, member, "endof".into());
        }
        self.line(depth + 1, member, format!("{unknown} endcase"));
        self.line(depth, member, "then".into());
        self.line(depth, member, format!("{end} @ if {input} pos {end} @ <> if {bad} then then"));
        self.line(depth, member, format!("{back} @ if {back} @ {input} seek then"));
        Ok(())
    }
}

/// Rows of a symmetric matrix: their squares must not overflow.
const MOST_ROWS: u32 = 1 << 24;
/// Objects that several pointers lead to may be this many times the data, all together.
const MOST_SHARED: u32 = 8;

/// Worth a word of its own: what has more than a line or two.
pub(super) fn is_heavy(schema: &Schema) -> bool {
    match schema {
        Schema::List(of) | Schema::Columns(of) => !matches!(**of, Schema::Number(_)),
        Schema::Framed { shared, .. } => !shared,
        Schema::Pointer(_) => true,
        _ => false,
    }
}

pub(super) fn first_key(form: &Form) -> Option<&str> {
    match form {
        Form::Numpy { key, .. }
        | Form::String { key, .. }
        | Form::List { key, .. }
        | Form::Option { key, .. }
        | Form::Union { key, .. } => Some(key),
        Form::Regular { content, .. } | Form::Meant { content, .. } => first_key(content),
        Form::Record { contents, .. } => contents.iter().find_map(first_key),
        _ => None,
    }
}

/// Numbers that can be read in one go: how many, how they are stored, and the node.
fn numbers<'f>(schema: &Schema, form: &'f Form) -> Option<(u64, Wire, &'f str)> {
    match (schema, form.kept()) {
        (Schema::Number(wire), Form::Numpy { key, .. }) => Some((1, *wire, key)),
        (Schema::Fixed(size, of), Form::Regular { content, .. }) => {
            let (inner, wire, key) = numbers(of, content)?;
            Some((inner.checked_mul(*size)?, wire, key))
        }
        _ => None,
    }
}

/// The Form of each field, in the order of the bytes; `None` where a field is not delivered.
pub(super) fn forms<'f>(
    fields: &[(String, Schema)],
    order: Option<&[u32]>,
    contents: &'f [Form],
) -> Vec<Option<Cow<'f, Form>>> {
    let mut found: Vec<Option<Cow<'f, Form>>> = vec![None; fields.len()];
    let plain: Vec<u32>;
    let order = match order {
        Some(order) => order,
        None => {
            let kept = (0u32..).zip(fields).filter(|(_, (_, field))| !field.is_skipped());
            plain = kept.map(|(at, _)| at).collect();
            &plain
        }
    };
    let mut rest = contents;
    for at in order {
        let at = *at as usize;
        let Some((_, field)) = fields.get(at) else { continue };
        let width = if let Schema::Base(of) = field { width(of) } else { 1 };
        let Some((these, others)) = rest.split_at_checked(width) else { break };
        rest = others;
        found[at] = match (field, these) {
            (Schema::Base(_), these) => {
                Some(Cow::Owned(Form::Record { fields: None, contents: these.to_vec(), name: None }))
            }
            (_, [only]) => Some(Cow::Borrowed(only)),
            _ => None,
        };
    }
    found
}

/// How many fields a base has.
fn width(schema: &Schema) -> usize {
    let one = |field: &Schema| match field {
        Schema::Base(of) => width(of),
        field if field.is_skipped() => 0,
        _ => 1,
    };
    match schema {
        Schema::Framed { of, .. } | Schema::Base(of) | Schema::Absent(of) => width(of),
        Schema::Versioned(arms) => arms.first().map_or(0, |(_, first)| width(first)),
        Schema::Record { fields, .. } => fields.iter().map(|(_, field)| one(field)).sum(),
        Schema::Arranged { fields, order, .. } => {
            order.iter().filter_map(|at| fields.get(*at as usize)).map(|(_, field)| one(field)).sum()
        }
        _ => 1,
    }
}

/// The number before them that items of a value are counted by.
fn slot(schema: &Schema) -> Option<u32> {
    match schema {
        Schema::Counted { slot, .. } | Schema::Triangle(slot, _) => Some(*slot),
        Schema::Fixed(_, of) | Schema::Flagged(of) => slot(of),
        _ => None,
    }
}

/// Names as the strings of an `enum`.
fn names<'n>(of: impl Iterator<Item = &'n str>, member: &str) -> Result<String, Unsupported> {
    let mut names = String::new();
    for name in of {
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(Unsupported(format!("{member}: a class of the name {name:?}")));
        }
        names.push_str(&format!(" s\" {name}\""));
    }
    Ok(names)
}

/// Letters of class names that cannot end a string of the program.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_:<>, *&[]-.~;".contains(letter)
}
