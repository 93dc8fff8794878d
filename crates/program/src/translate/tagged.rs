//! Tagged records: a loop over the fields of each record.
//!
//! Each record has a word that reads its fields up to its end. Absent values are appended later: see
//! `tagged_rows`.

use super::{
    FAULT_EXTENT, FAULT_KEY, FAULT_NEGATIVE, FAULT_NESTED, MAX_LINES, Unsupported,
    shape::{Shape, join},
    tagged_slot::{Choice, RecordWords, Slot, around, key_text, marked, restored, symbols_output, values},
    text::{Made, Place, Text, differ},
    too_deep,
};
use crate::layout::{Delivered, Extent, Layout, Presence, Rival, Symbols, Tagged, TaggedField};
use forthwith_columns::{DType, Finisher, Form};

/// Maximum number of keys that are compared one by one. More keys are searched by bisection.
const MOST_IN_ROW: usize = 6;
/// Maximum depth of nested groups in unknown fields.
const MAX_GROUPS: u32 = 100;
/// Word that steps over a value, whose key is on the stack.
const PASS: &str = "pass_field";

impl Shape {
    /// Returns the Form of a tagged record.
    pub(super) fn tagged(
        &mut self,
        tagged: &Tagged,
        depth: usize,
        member: &str,
    ) -> Result<Form, Unsupported> {
        if let Delivered::Sum(_, meaning) = tagged.delivered {
            let content = Box::new(self.number(DType::Int64, member)?);
            return Ok(Form::Logical { meaning, content });
        }
        let mut contents = Vec::with_capacity(tagged.fields.len());
        for field in &tagged.fields {
            let inner = join(member, &field.name);
            contents.push(match field.presence {
                Presence::Default(_) | Presence::Required => self.form(&field.of, depth + 1, &inner)?,
                Presence::Optional | Presence::Choice(_) => {
                    let key = self.node();
                    self.output(&key, "tags", DType::Int8, false, &inner)?;
                    self.finish.push(Finisher::Option { key: key.clone(), null: 0 });
                    let content = self.form(&field.of, depth + 1, &inner)?;
                    Form::Option { key, content: Box::new(content) }
                }
                Presence::Repeated => {
                    let inner = format!("{inner}[]");
                    self.list(&inner, |shape| shape.form(&field.of, depth + 1, &inner))?
                }
            });
        }
        let fields = match tagged.delivered {
            Delivered::Record => Some(tagged.fields.iter().map(|field| field.name.clone()).collect()),
            Delivered::Tuple => None,
            Delivered::Only => match contents.pop() {
                Some(only) if contents.is_empty() => return Ok(only),
                _ => return Err(differ(member)),
            },
            Delivered::Sum(..) => return Err(differ(member)),
        };
        Ok(Form::Record { fields, contents, name: tagged.name.clone() })
    }

    /// Returns the Form of a symbol.
    pub(super) fn symbol(
        &mut self,
        names: &[(i32, String)],
        delivered: Symbols,
        member: &str,
    ) -> Result<Form, Unsupported> {
        if delivered == Symbols::Number {
            return self.number(DType::Int32, member);
        }
        let key = self.node();
        self.output(&key, "index", DType::Int32, false, member)?;
        if delivered == Symbols::Text {
            self.finish.push(Finisher::NamedNumbers { key: key.clone(), names: names.to_vec() });
            return Ok(Form::String { key, binary: false });
        }
        let symbols: Vec<String> = names.iter().map(|(_, name)| name.clone()).collect();
        self.finish.push(Finisher::Categories { key: key.clone(), symbols: symbols.clone() });
        Ok(Form::Categorical { key, categories: symbols })
    }
}

/// Code for a key.
enum Arm<'s, 'f> {
    /// Words to run.
    Words(&'s str),
    /// Field whose values are read, with their extent.
    Values(&'s Slot<'f>, Extent),
}

impl Text<'_> {
    /// Writes the words of an entry that is a tagged record.
    pub(super) fn entry_of_fields(&mut self, tagged: &Tagged, form: &Form, place: Place<'_>) -> Made {
        let record = self.record(tagged, form, place, None, None)?;
        let (row, check) = (&record.row, record.check.as_deref().unwrap_or_default());
        self.line(place, format!("1 {row} +! stop @ {} {check}", record.read));
        self.epilogue = format!("{} 0 {row} !\n", record.fill);
        Ok(())
    }

    /// Defines the words of a record that ends with the key `end`, or else at a position on the stack. With
    /// `row`, it shares the rows of the enclosing record, whose row variable that is.
    fn record(
        &mut self,
        tagged: &Tagged,
        form: &Form,
        place: Place<'_>,
        end: Option<u32>,
        row: Option<&str>,
    ) -> Result<RecordWords, Unsupported> {
        if let Delivered::Sum(by, _) = tagged.delivered {
            self.define_pass();
            return self.sum(tagged, by, form, place, end);
        }
        let contents = match (tagged.delivered, form) {
            (Delivered::Only, only) => std::slice::from_ref(only),
            (_, Form::Record { contents, .. }) => contents,
            _ => return Err(differ(place.member)),
        };
        too_deep(place.depth, place.member)?;
        self.define_pass();
        let own_row = row.is_none().then(|| self.variable("row"));
        let row = row.or(own_row.as_deref()).unwrap_or_default();
        let mut slots = Vec::with_capacity(contents.len());
        for (field, form) in tagged.fields.iter().zip(contents) {
            slots.push(self.slot(field, form, place, row)?);
        }
        let mut variables: Vec<String> = own_row.iter().cloned().collect();
        variables.extend(self.choices(&mut slots, row)?);
        for slot in &mut slots {
            slot.late = self.late(slot, row)?;
        }
        let mut others = self.rivals(tagged, &slots, row);
        let nested = self.halt(FAULT_NESTED);
        others.extend(tagged.refused.iter().map(|key| (*key, nested.clone())));
        let ignored = tagged.ignores_item.then(|| self.variable("ignored"));
        let root = Place { depth: 1, member: place.member };
        let number = self.words.len();
        let read = self.word(format!("read_fields{number}"), |text| {
            text.read_fields(&slots, &others, ignored.as_deref(), row, root, end)
        })?;
        let check = self.check(&slots, row, root)?;
        let fill = self.fill(&slots, row, root)?;
        let mut columns = Vec::new();
        for slot in &slots {
            columns.extend(around(slot).into_iter().chain(values(slot)?));
            variables.extend([&slot.state, &slot.count].into_iter().filter(|name| !name.is_empty()).cloned());
            variables.extend(slot.record.iter().flat_map(|record| record.variables.iter().cloned()));
        }
        Ok(RecordWords { read, check, fill, row: row.to_owned(), variables, columns, ignored })
    }

    fn slot<'f>(
        &mut self,
        field: &'f TaggedField,
        form: &'f Form,
        place: Place<'_>,
        row: &str,
    ) -> Result<Slot<'f>, Unsupported> {
        let member = join(place.member, &field.name);
        let (form, key) = match (&field.presence, form) {
            (Presence::Default(_) | Presence::Required, form) => (form, None),
            (Presence::Optional | Presence::Choice(_), Form::Option { key, content })
            | (Presence::Repeated, Form::List { key, content }) => (&**content, Some(key.as_str())),
            _ => return Err(differ(&member)),
        };
        let is_repeated = field.presence == Presence::Repeated;
        let member = if is_repeated { format!("{member}[]") } else { member };
        let record = match &field.of {
            Layout::Tagged(tagged) => {
                let until = field.keys.iter().find_map(|(_, extent)| match extent {
                    Extent::Until(key) => Some(*key),
                    _ => None,
                });
                // A record that is present in every row shares the row variable of the enclosing record.
                let row = matches!(field.presence, Presence::Default(_) | Presence::Required).then_some(row);
                Some(self.record(tagged, form, place.within(1).of(&member), until, row)?)
            }
            _ => None,
        };
        let is_ignored = |record: &&RecordWords| record.ignored.is_some();
        let marks = record.as_ref().filter(is_ignored).map(|record| self.marks(record)).unwrap_or_default();
        let symbol = match &field.of {
            Layout::Symbol { names, delivered } if *delivered != Symbols::Text => {
                Some(self.symbol_word(names))
            }
            _ => None,
        };
        let is_text = matches!(field.of, Layout::Text | Layout::Bytes);
        let length = (is_text && !is_repeated).then(|| self.variable("length"));
        let count = if is_repeated { self.variable("count") } else { String::new() };
        let state = match (&field.presence, &record) {
            // It shares the rows of this record.
            (Presence::Default(_), Some(_)) => String::new(),
            _ => self.variable("met"),
        };
        let late = String::new();
        Ok(Slot { field, form, key, member, state, count, late, choice: None, length, record, marks, symbol })
    }

    /// Returns the lengths and variables to save, each with a new variable that saves it.
    fn marks(&mut self, record: &RecordWords) -> Vec<(String, String)> {
        let changed = record.columns.iter().map(|column| format!("{column} len"));
        let changed = changed.chain(record.variables.iter().map(|variable| format!("{variable} @")));
        changed.map(|value| (value, self.variable("mark"))).collect()
    }

    /// Assigns variables and numbers to the fields of each choice, and defines the words that remove a value.
    /// Returns the variables.
    fn choices(&mut self, slots: &mut [Slot<'_>], row: &str) -> Result<Vec<String>, Unsupported> {
        let mut groups: Vec<u32> = Vec::new();
        for slot in slots.iter() {
            match slot.field.presence {
                Presence::Choice(group) if !groups.contains(&group) => groups.push(group),
                _ => {}
            }
        }
        let mut variables = Vec::new();
        for group in groups {
            let (chosen, chosen_row) = (self.variable("choice"), self.variable("choice_row"));
            let back = format!("take_back{}", self.words.len());
            let members = slots.iter_mut().filter(|slot| slot.field.presence == Presence::Choice(group));
            let begin = format!("  {chosen_row} @ {row} @ = if {chosen} @ case");
            let mut lines = vec![(begin, String::new())];
            for (number, slot) in (1..).zip(members) {
                if let Some(record) = &slot.record {
                    slot.marks = self.marks(record);
                }
                lines.push((format!("    {number} of {} endof", slot.take_back()?), slot.member.clone()));
                let (chosen, chosen_row, back) = (chosen.clone(), chosen_row.clone(), back.clone());
                slot.choice = Some(Choice { number, chosen, chosen_row, back });
            }
            lines.push((format!("  endcase then {row} @ {chosen_row} !"), String::new()));
            self.define(&back, lines);
            variables.extend([chosen, chosen_row]);
        }
        Ok(variables)
    }

    /// Defines a word with the lines that `body` writes.
    pub(super) fn word(
        &mut self,
        name: String,
        body: impl FnOnce(&mut Self) -> Made,
    ) -> Result<String, Unsupported> {
        self.flush();
        let outside = self.take_lines();
        let done = body(self);
        self.flush();
        let lines = std::mem::replace(&mut self.lines, outside);
        done?;
        self.define(&name, lines);
        Ok(name)
    }

    /// Defines the word that steps over a value of any key.
    fn define_pass(&mut self) {
        let name = format!(": {PASS}");
        if self.words.iter().any(|lines| lines.first().is_some_and(|(line, _)| *line == name)) {
            return;
        }
        let (key, negative, nested) =
            (self.halt(FAULT_KEY), self.halt(FAULT_NEGATIVE), self.halt(FAULT_NESTED));
        let (input, groups) = (self.input(), self.variable("groups"));
        let (open, close) =
            (format!("1 {groups} +! {groups} @ {MAX_GROUPS} > if {nested} then"), format!("-1 {groups} +!"));
        let lines = [
            "  dup 7 and case".into(),
            format!("    0 of drop {input} varint-> stack drop endof"),
            format!("    1 of drop 8 {input} skip endof"),
            format!("    2 of drop {input} varint-> stack dup 0 < if {negative} then {input} skip endof"),
            format!("    3 of {open} 1+ begin {input} varint-> stack dup 32 rshift if {key} then"),
            format!("      over over <> while recurse repeat drop drop {close} endof"),
            format!("    4 of drop {key} endof"),
            format!("    5 of drop 4 {input} skip endof"),
            format!("    nip {key}"),
            "  endcase".into(),
        ];
        self.define("pass_value", lines.into_iter().map(|line| (line, String::new())).collect());
        let line = format!("  dup 8 < over 32 rshift or if {key} then pass_value");
        self.define(PASS, vec![(line, String::new())]);
    }

    /// Defines a word that converts the number of a symbol to its index, or to -1.
    fn symbol_word(&mut self, names: &[(i32, String)]) -> String {
        let arms: Vec<String> =
            names.iter().enumerate().map(|(at, (number, _))| format!("{number} of {at} endof")).collect();
        let name = format!("symbol{}", self.words.len());
        // Only the low 32 bits of the number count.
        let body = format!("  32 lshift 32 rshift case {} -1 swap endcase", arms.join(" "));
        self.define(&name, vec![(body, String::new())]);
        name
    }

    /// Returns the arms of fields that are not read, but make others absent.
    fn rivals(&mut self, tagged: &Tagged, slots: &[Slot<'_>], row: &str) -> Vec<(u32, String)> {
        let mut arms = Vec::new();
        for Rival { key, choice, symbols } in &tagged.rivals {
            let member = slots.iter().find(|slot| slot.field.presence == Presence::Choice(*choice));
            let Some(Choice { chosen, chosen_row, back, .. }) = member.and_then(|slot| slot.choice.as_ref())
            else {
                continue;
            };
            let take = format!("{chosen_row} @ {row} @ = if {back} then 0 {chosen} !");
            let input = self.input();
            let words = match symbols {
                None => format!("{take} {} {PASS}", key_text(*key)),
                Some(names) => {
                    let symbol = self.symbol_word(names);
                    format!("{input} varint-> stack {symbol} 0 >= if {take} then")
                }
            };
            arms.push((*key, words));
        }
        arms
    }

    pub(super) fn read_fields(
        &mut self,
        slots: &[Slot<'_>],
        others: &[(u32, String)],
        ignored: Option<&str>,
        row: &str,
        place: Place<'_>,
        end: Option<u32>,
    ) -> Made {
        let input = self.input();
        match end {
            None => self.line(place, format!("begin {input} pos over < while {input} varint-> stack")),
            Some(key) => {
                let key = key_text(key);
                self.line(place, format!("begin {input} varint-> stack dup {key} <> while"));
            }
        }
        let mut arms: Vec<(u32, Arm<'_, '_>)> =
            others.iter().map(|(key, words)| (*key, Arm::Words(words))).collect();
        for slot in slots {
            let keys = slot.field.keys.iter();
            arms.extend(keys.map(|(key, extent)| (*key, Arm::Values(slot, *extent))));
        }
        arms.sort_by_key(|(key, _)| *key);
        self.arms(&arms, ignored, row, place.within(1))?;
        self.line(place, "repeat".into());
        let extent = self.halt(FAULT_EXTENT);
        self.line(
            place,
            match end {
                None => format!("{input} pos <> if {extent} then"),
                Some(_) => "drop".into(),
            },
        );
        Ok(())
    }

    /// Writes the choice by the key on the stack, which bisects many keys.
    fn arms(
        &mut self,
        arms: &[(u32, Arm<'_, '_>)],
        ignored: Option<&str>,
        row: &str,
        place: Place<'_>,
    ) -> Made {
        if let (Some((key, _)), true) = (arms.get(arms.len() / 2), arms.len() > MOST_IN_ROW) {
            let (lower, upper) = arms.split_at(arms.len() / 2);
            self.line(place, format!("dup {} < if", key_text(*key)));
            self.arms(lower, ignored, row, place.within(1))?;
            self.line(place, "else".into());
            self.arms(upper, ignored, row, place.within(1))?;
            self.line(place, "then".into());
            return Ok(());
        }
        self.line(place, "case".into());
        for (key, arm) in arms {
            let key = key_text(*key);
            match arm {
                Arm::Words(words) => self.line(place.within(1), format!("{key} of {words} endof")),
                Arm::Values(slot, extent) => {
                    if self.written_lines > MAX_LINES {
                        let what = format!("{}: a program of more than {MAX_LINES} lines", slot.member);
                        return Err(Unsupported(what));
                    }
                    let arm = place.within(1).of(&slot.member);
                    self.line(arm, format!("{key} of"));
                    self.values(slot, *extent, ignored, row, arm.within(1))?;
                    self.line(arm, "endof".into());
                }
            }
        }
        let ignore = ignored.map_or(String::new(), |variable| format!("-1 {variable} ! "));
        self.line(place.within(1), format!("{ignore}dup {PASS}"));
        self.line(place, "endcase".into());
        Ok(())
    }

    /// Writes the words that read the values after a key of a field.
    fn values(
        &mut self,
        slot: &Slot<'_>,
        extent: Extent,
        ignored: Option<&str>,
        row: &str,
        place: Place<'_>,
    ) -> Made {
        let input = self.input();
        let (extent_fault, negative) = (self.halt(FAULT_EXTENT), self.halt(FAULT_NEGATIVE));
        match (extent, self.in_one_go(&slot.field.of), slot.form) {
            (Extent::Packed, Some(wire), Form::Numpy { key, .. }) => {
                let width = wire.width();
                let check = format!("dup 0 < over {} and or if {extent_fault} then", width - 1);
                let count = format!("{} {width} / dup {} +!", slot.begin_row(row), slot.count);
                let read = super::parser(wire, place.member)?;
                let items = format!("{input} #{read}-> {key}-data");
                self.line(place, format!("{input} varint-> stack {check} {count} {items}"));
            }
            (Extent::Packed, ..) => {
                let length = format!("{input} varint-> stack dup 0 < if {negative} then");
                self.line(place, format!("{length} {input} pos + begin {input} pos over < while"));
                self.one(slot, Extent::One, ignored, row, place.within(1))?;
                self.line(place, format!("repeat {input} pos <> if {extent_fault} then"));
            }
            (extent, ..) => self.one(slot, extent, ignored, row, place)?,
        }
        Ok(())
    }

    fn one(
        &mut self,
        slot: &Slot<'_>,
        extent: Extent,
        ignored: Option<&str>,
        row: &str,
        place: Place<'_>,
    ) -> Made {
        let input = self.input();
        if let Some(record) = &slot.record {
            self.one_record(slot, record, extent, row, place);
            return Ok(());
        }
        let met = slot.met(row);
        if let Some(symbol) = &slot.symbol {
            let output = symbols_output(slot.form).ok_or_else(|| differ(place.member))?;
            let ignore = ignored.map_or(String::new(), |variable| format!(" -1 {variable} !"));
            let check = match slot.form {
                Form::Numpy { .. } => format!("dup {symbol} 0 <"),
                _ => format!("{symbol} dup 0 <"),
            };
            self.line(place, format!("{input} varint-> stack {check} if drop{ignore} else"));
            self.line(place.within(1), format!("{met} {output} <- stack"));
            self.line(place, "then".into());
            return Ok(());
        }
        self.line(place, met);
        match (&slot.length, slot.form) {
            (Some(length), Form::String { key, .. }) => {
                let read = format!("{} dup {length} ! dup {key}-offsets +<- stack", self.length());
                self.line(place, format!("{read} {input} #B-> {key}-data"));
            }
            _ => self.value(&slot.field.of, slot.form, place)?,
        }
        Ok(())
    }

    fn one_record(
        &mut self,
        slot: &Slot<'_>,
        record: &RecordWords,
        extent: Extent,
        row: &str,
        place: Place<'_>,
    ) {
        let input = self.input();
        let read = match extent {
            Extent::Until(_) => record.read.clone(),
            _ => format!("{input} varint-> stack {input} pos + {}", record.read),
        };
        let met = slot.met(row);
        let next = record.next_row();
        let check = record.check.as_deref().unwrap_or_default();
        match (&slot.field.presence, &record.ignored) {
            (Presence::Repeated, Some(ignored)) => {
                self.line(place, format!("{} {next}", marked(&slot.marks)));
                self.line(place, read);
                let undo = restored(&slot.marks);
                self.line(place, format!("{ignored} @ if 0 {ignored} ! {undo}"));
                self.line(place, format!("else {met} {check} then"));
            }
            (Presence::Repeated, None) => self.line(place, format!("{met} {next} {read} {check}")),
            _ => self.line(place, format!("{met} {read}")),
        }
    }

    /// Writes the words that read a symbol.
    pub(super) fn symbol(
        &mut self,
        names: &[(i32, String)],
        delivered: Symbols,
        form: &Form,
        place: Place<'_>,
    ) -> Made {
        let input = self.input();
        let output = symbols_output(form).ok_or_else(|| differ(place.member))?;
        if delivered != Symbols::Category {
            self.line(place, format!("{input} varint-> {output}"));
            return Ok(());
        }
        // Fields whose values may be ignored are read by words of their own, so that this number has a name.
        let symbol = self.symbol_word(names);
        self.line(place, format!("{input} varint-> stack {symbol} {output} <- stack"));
        Ok(())
    }
}
