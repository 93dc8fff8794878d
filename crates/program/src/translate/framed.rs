//! Values in frames: byte counts, versions, and the bytes between them.

use super::{
    FAULT_BYTE_COUNT, FAULT_COUNTS, FAULT_VERSION, Unsupported,
    forms::{numbers, times},
    literal, parser,
    shape::{PACKED, join},
    text::{Made, Place, Text, differ, text_of, version},
};
use crate::layout::{Layout, When};
use forthwith_columns::{Encoding, Form};
use forthwith_forth::idioms::Idiom;

impl Text<'_> {
    /// Writes the words of a value that is framed, counted or a pointer.
    pub(super) fn framed(&mut self, layout: &Layout, form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let input = self.input();
        match (layout, form) {
            (Layout::Framed { of, .. }, form) => {
                let end = self.open_frame(place);
                self.value(of, form, place)?;
                self.close_frame(&end, place);
            }
            (Layout::Versioned(arms), form) => {
                self.versioned(arms, place, &mut |text, arm, place| text.value(arm, form, place))?;
            }
            (Layout::Base(of), form) => self.value(of, form, place)?,
            (Layout::Between(before, of, behind), form) => {
                for other in before {
                    self.skip(other, place)?;
                }
                self.value(of, form, place)?;
                for other in behind {
                    self.skip(other, place)?;
                }
            }
            (Layout::Tuple(items), Form::Record { contents, .. }) if items.len() == contents.len() => {
                for (at, (item, form)) in items.iter().zip(contents).enumerate() {
                    self.value(item, form, place.of(&join(member, &at.to_string())))?;
                }
            }
            (Layout::LongText, Form::String { key, .. }) => {
                let (count, many) = (format!("{input} !I-> stack"), format!("{input} #B-> {key}-data"));
                self.line(place, text_of(&count, &format!("{key}-offsets"), &many));
            }
            (Layout::Columns(item), Form::List { key, content }) => {
                let number = format!("{input} !I-> stack");
                self.columns(item, (key, &number), content, place)?;
            }
            (Layout::Counter(slot, of), Form::Numpy { key, .. }) => {
                let word = self.counter(*slot, of, member)?;
                self.line(place, format!("{word} dup count{slot} ! {key}-data <- stack"));
            }
            (Layout::OneClass { alternatives, classes }, Form::List { key, content }) => {
                self.clones(alternatives, classes, key, content, place)?;
            }
            (Layout::Triangle(slot, wire), Form::List { key, content }) => match &**content {
                Form::Numpy { key: numbers, .. } => {
                    let (rows, size, begin) =
                        (self.rows(*slot, *wire), self.variable("rows"), self.variable("begin"));
                    let (width, code) = (wire.width(), parser(*wire, member)?);
                    let all = format!("{rows} dup {size} ! dup * {key}-offsets +<- stack");
                    self.line(place, format!("{all} {input} pos {begin} !"));
                    self.line(place, format!("{size} @ 0 do {size} @ 0 do"));
                    // The stored rows get shorter: row `i` begins after the sum of the lengths of those
                    // before it.
                    let row = format!("i j min dup {size} @ * over dup 1- * 2 / - swap - i j max +");
                    let from = format!("{row} {width} * {begin} @ + {input} seek");
                    self.line(place.within(1), format!("{from} {input} {code}-> {numbers}-data"));
                    self.line(place, "loop loop".into());
                    let end = format!("{size} @ dup 1+ * 2 / {width} * {begin} @ + {input} seek");
                    self.line(place, end);
                }
                _ => return Err(differ(member)),
            },
            (Layout::Flagged(of), form) => {
                let lines = Idiom::IfElse.lines(&[("READ", &format!("{input} B-> stack"))]);
                self.or_absent(of, form, lines, place)?;
            }
            (Layout::Counted { slot, flag, of }, Form::List { key, content }) => {
                let count = self.counted(*slot, *flag);
                self.line(place, format!("{count} dup {key}-offsets +<- stack"));
                let inner = format!("{member}[]");
                match numbers(of, content) {
                    Some((each, wire, key)) => {
                        let (width, words) = self.bulk(wire, key, &inner)?;
                        self.line(place.of(&inner), format!("{}{width}{words}", times(each, member)?));
                    }
                    None => {
                        let check = self.weigh(of.least_bytes());
                        self.line(place, format!("{check}0 do"));
                        self.value(of, content, place.within(1).of(&inner))?;
                        self.line(place, "loop".into());
                    }
                }
            }
            (Layout::Rest(of), Form::List { key, content }) => {
                let inner = format!("{member}[]");
                let (each, wire, numbers) = numbers(of, content).ok_or_else(|| differ(member))?;
                let bytes = each.saturating_mul(wire.width() as u64);
                let (size, each) = (literal(bytes, member)?.to_string(), literal(each, member)?.to_string());
                let (offsets, many) = (format!("{key}-offsets"), self.bulk(wire, numbers, &inner)?.1);
                let given = [("STOP", "stop"), ("DATA", input), ("N", &*size), ("OFFSETS", &*offsets)];
                let [a, b, c, d] = given;
                let [count, items] = Idiom::Rest.lines(&[a, b, c, d, ("M", &each), ("MANY", &many)]);
                self.line(place, count);
                self.line(place.of(&inner), items);
                self.to_end = true;
            }
            // An empty text at the end of an entry may take no bytes, not even a length.
            (Layout::OrNothing(of), Form::String { key, .. }) if **of == Layout::Text => {
                let (offsets, many) = (format!("{key}-offsets"), format!("{input} #B-> {key}-data"));
                let given = [("DATA", input), ("STOP", "stop"), ("OFFSETS", &*offsets), ("MANY", &*many)];
                let lines: [String; 2] = Idiom::TextIfAny.lines(&given);
                lines.into_iter().for_each(|line| self.line(place, line));
                self.to_end = true;
            }
            (Layout::OrNothing(of), form) => {
                let lines = Idiom::IfAnyElse.lines(&[("DATA", input), ("STOP", "stop")]);
                self.or_absent(of, form, lines, place)?;
            }
            (Layout::Pointer(classes), form) => self.pointer(classes, form, place)?,
            (Layout::Absent(of), form) => self.absent(of, form, place)?,
            (Layout::Computed(_, words), Form::Numpy { key, .. }) => {
                self.line(place, format!("{} {key}-data <- stack", words.text));
            }
            (Layout::Passed(words), _) => self.line(place, words.text.to_string()),
            (Layout::Unknown(_) | Layout::Refused(_), _) => self.unknown(layout, place),
            _ => return Err(differ(member)),
        }
        Ok(())
    }

    /// Writes the words of a value or of its default, with the lines before, between and after them.
    fn or_absent(
        &mut self,
        of: &Layout,
        form: &Form,
        [begin, otherwise, end]: [String; 3],
        place: Place<'_>,
    ) -> Made {
        self.line(place, begin);
        self.value(of, form, place.within(1))?;
        self.line(place, otherwise);
        self.absent(of, form, place.within(1))?;
        self.line(place, end);
        Ok(())
    }

    /// Returns the words that read as many numbers as the count on the stack: the factor of that count, and
    /// the words for reading.
    pub(super) fn bulk(
        &mut self,
        wire: Encoding,
        key: &str,
        member: &str,
    ) -> Result<(String, String), Unsupported> {
        let input = self.input();
        Ok(match wire {
            Encoding::Scaled { .. } | Encoding::Truncated { .. } => {
                (format!("{} * ", wire.width()), format!("{input} #B-> {key}-{PACKED}"))
            }
            Encoding::StrictBool => (String::new(), format!("{input} #B-> {key}-{PACKED}")),
            _ => (String::new(), format!("{input} #{}-> {key}-data", parser(wire, member)?)),
        })
    }

    /// Writes the words that open a frame. Returns the variable with the position of its end.
    pub(super) fn open_frame(&mut self, place: Place<'_>) -> String {
        let input = self.input();
        let end = self.variable("end");
        self.line(place, format!("{input} !I-> stack 1073741824 - {input} pos + {end} !"));
        end
    }

    pub(super) fn close_frame(&mut self, end: &str, place: Place<'_>) {
        let input = self.input();
        let bad = self.halt(FAULT_BYTE_COUNT);
        self.line(place, format!("{input} pos {end} @ <> if {bad} then"));
    }

    /// Writes the words that step over a whole frame.
    pub(super) fn pass_frame(&mut self, place: Place<'_>) {
        let input = self.input();
        let bad = self.halt(FAULT_BYTE_COUNT);
        let length = format!("{input} !I-> stack 1073741824 -");
        self.line(place, format!("{length} dup 0 < if {bad} then {input} skip"));
    }

    /// Writes the words that read a version, and a branch for each of its layouts.
    pub(super) fn versioned(
        &mut self,
        arms: &[(When, Layout)],
        place: Place<'_>,
        emit: &mut dyn FnMut(&mut Self, &Layout, Place<'_>) -> Made,
    ) -> Made {
        let member = place.member;
        let input = self.input();
        let bad = self.halt(FAULT_VERSION);
        match arms {
            [(When::Any, only)] => {
                let code = self.code(FAULT_VERSION);
                self.line(place, version(input, &code));
                return emit(self, only, place);
            }
            [(When::AnyClass, only)] => {
                let sum = format!("0= if 4 {input} skip then");
                self.line(place, format!("{input} !H-> stack dup 16383 > if {bad} then {sum}"));
                return emit(self, only, place);
            }
            [(When::Any, apart), (When::Together, together)] => {
                // The parts that both layouts have in common are words of their own.
                self.shared += 1;
                self.line(place, format!("{input} !H-> stack 16384 and if"));
                emit(self, together, place.within(1))?;
                self.line(place, "else".into());
                emit(self, apart, place.within(1))?;
                self.line(place, "then".into());
                self.shared -= 1;
                return Ok(());
            }
            _ => {}
        }
        // An unexpected version is not damage: the class may have a streamer of its own, or be written by
        // another version of the program.
        let class = arms.iter().find_map(|(_, arm)| arm.class());
        let bad = self.halt_at(&Layout::Refused(format!(
            "{} in a version that the file does not describe, or written by a streamer of its own",
            class.unwrap_or("an object")
        )));
        let mut kinds: Vec<&Layout> = Vec::new();
        let (mut versions, mut sums) = (Vec::new(), Vec::new());
        for (when, layout) in arms {
            let kind = kinds.iter().position(|known| *known == layout).unwrap_or_else(|| {
                kinds.push(layout);
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
        self.line(place, line);
        match kinds.as_slice() {
            [] => return Err(Unsupported(format!("{member}: a class without versions"))),
            [only] => emit(self, only, place)?,
            several => {
                self.line(place, "case".into());
                for (at, kind) in several.iter().enumerate() {
                    self.line(place.within(1), format!("{at} of"));
                    emit(self, kind, place.within(2))?;
                    self.line(place.within(1), "endof".into());
                }
                self.line(place, format!("{bad} endcase"));
            }
        }
        Ok(())
    }

    /// Writes the words that read as many values as the variable `count` has.
    pub(super) fn times(&mut self, layout: &Layout, form: &Form, count: &str, place: Place<'_>) -> Made {
        let input = self.input();
        match layout {
            Layout::Framed { shared: true, of } => {
                // An empty collection may lack even its frame.
                self.line(place, format!("{input} pos stop @ < if"));
                let end = self.open_frame(place.within(1));
                self.times(of, form, count, place.within(1))?;
                self.close_frame(&end, place.within(1));
                let bad = self.halt(FAULT_COUNTS);
                self.line(place, format!("else {count} @ if {bad} then then"));
            }
            Layout::Versioned(arms) => {
                self.versioned(arms, place, &mut |text, arm, place| text.times(arm, form, count, place))?;
            }
            item => {
                self.line(place, format!("{count} @ 0 do"));
                self.value(item, form, place.within(1))?;
                self.line(place, "loop".into());
            }
        }
        Ok(())
    }

    /// Writes the words that read values up to the end of the entry and count them on the stack.
    pub(super) fn until_end(&mut self, layout: &Layout, form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let input = self.input();
        match layout {
            Layout::Framed { shared: true, of } => {
                // Up to ROOT 5.30, an empty collection has not even the frame.
                self.line(place, format!("{input} pos stop @ < if"));
                let end = self.open_frame(place.within(1));
                let stop = self.halt(FAULT_BYTE_COUNT);
                self.line(place.within(1), format!("{end} @ stop @ <> if {stop} then"));
                self.until_end(of, form, place.within(1))?;
                self.line(place, "then".into());
            }
            Layout::Versioned(arms) => {
                self.versioned(arms, place, &mut |text, arm, place| text.until_end(arm, form, place))?;
            }
            item => {
                if item.least_bytes() == 0 {
                    return Err(Unsupported(format!("{member}: items without bytes up to the entry's end")));
                }
                self.line(place, format!("begin {input} pos stop @ < while 1+"));
                self.value(item, form, place.within(1))?;
                self.line(place, "repeat".into());
            }
        }
        Ok(())
    }
}
