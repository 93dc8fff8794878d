//! Fields behind keys: a loop over the fields of each record, and what completes a row when all were met.
//!
//! Each record has a word that reads its fields up to its end, and one that completes the row: it appends
//! defaults, marks of what is present, and ends of lists. A record within a record is completed with the latter,
//! so that several pieces of it are merged. Variables say what was met since the row began; they are 0 between rows.

use super::{
    FAULT_EXTENT, FAULT_KEY, FAULT_NEGATIVE, FAULT_NESTED, FAULT_REQUIRED, MAX_LINES, Unsupported,
    shape::{Shape, join},
    tagged_slot::{RecordWords, Slot, around, key_text, met, symbols_output, take_back, values},
    text::{Made, Place, Text, differ},
    too_deep,
};
use crate::layout::{Delivered, Extent, Layout, Presence, Rival, Symbols, Tagged, TaggedField};
use forthwith_columns::{DType, Finisher, Form};
use std::{collections::HashSet, sync::Arc};

/// Keys that are compared one after the other, at most: a choice among more is halved first.
const MOST_IN_ROW: usize = 6;
/// Groups of unknown fields within one another, at most.
const MAX_GROUPS: u32 = 100;
/// The word that steps over a value, with its key on the stack.
const PASS: &str = "pass_field";

impl Shape {
    /// The record that fields behind keys are delivered as.
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

    /// A number that stands for a name.
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

/// What is done behind a key.
enum Arm<'s, 'f> {
    /// These words.
    Words(&'s str),
    /// Values of a field are read.
    Values(&'s Slot<'f>, Extent),
}

impl Text<'_> {
    /// Fields up to the entry's end.
    pub(super) fn entry_of_fields(&mut self, tagged: &Tagged, form: &Form, place: Place<'_>) -> Made {
        let record = self.record(tagged, form, place, None)?;
        self.line(place, format!("stop @ {} {}", record.read, record.finish));
        Ok(())
    }

    /// The words of a record that ends with a key, or at a position on the stack.
    fn record(
        &mut self,
        tagged: &Tagged,
        form: &Form,
        place: Place<'_>,
        end: Option<u32>,
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
        let mut slots = Vec::with_capacity(contents.len());
        for (field, form) in tagged.fields.iter().zip(contents) {
            slots.push(self.slot(field, form, place)?);
        }
        self.choices(&mut slots)?;
        let mut others = self.rivals(tagged, &slots);
        let nested = self.halt(FAULT_NESTED);
        others.extend(tagged.refused.iter().map(|key| (*key, nested.clone())));
        let ignored = tagged.ignores_item.then(|| self.variable("ignored"));
        let root = Place { depth: 1, member: place.member };
        let number = self.words.len();
        let read = self.word(format!("read_fields{number}"), |text| {
            text.read_fields(&slots, &others, ignored.as_deref(), root, end)
        })?;
        let finish = self.word(format!("finish_row{number}"), |text| text.finish_row(&slots, root))?;
        let mut variables: Vec<String> = slots.iter().map(|slot| slot.state.clone()).collect();
        let mut columns = Vec::new();
        for slot in &slots {
            columns.extend(around(slot).into_iter().chain(values(slot)?));
            // Those of items are 0 again behind each item.
            let record = slot.record.as_ref().filter(|_| slot.field.presence != Presence::Repeated);
            variables.extend(record.iter().flat_map(|record| record.variables.clone()));
        }
        let mut once = HashSet::new();
        variables.retain(|variable| once.insert(variable.clone()));
        Ok(RecordWords { read, finish, variables, columns, ignored })
    }

    fn slot<'f>(
        &mut self,
        field: &'f TaggedField,
        form: &'f Form,
        place: Place<'_>,
    ) -> Result<Slot<'f>, Unsupported> {
        let member = join(place.member, &field.name);
        let (form, key) = match (&field.presence, form) {
            (Presence::Default(_) | Presence::Required, form) => (form, None),
            (Presence::Optional | Presence::Choice(_), Form::Option { key, content })
            | (Presence::Repeated, Form::List { key, content }) => (&**content, Some(key.as_str())),
            _ => return Err(differ(&member)),
        };
        let member = if field.presence == Presence::Repeated { format!("{member}[]") } else { member };
        let record = match &field.of {
            Layout::Tagged(tagged) => {
                let until = field.keys.iter().find_map(|(_, extent)| match extent {
                    Extent::Until(key) => Some(*key),
                    _ => None,
                });
                Some(self.record(tagged, form, place.within(1).of(&member), until)?)
            }
            _ => None,
        };
        let ignored = record.as_ref().filter(|record| record.ignored.is_some());
        let marks = ignored.map(|record| self.marks(&record.columns)).unwrap_or_default();
        let symbol = match &field.of {
            Layout::Symbol { names, delivered } if *delivered != Symbols::Text => {
                Some(self.symbol_word(names))
            }
            _ => None,
        };
        let is_text = matches!(field.of, Layout::Text | Layout::Bytes);
        let length = (is_text && field.presence != Presence::Repeated).then(|| self.variable("length"));
        let state = match field.presence {
            // Given by its choice.
            Presence::Choice(_) => String::new(),
            _ => self.variable("met"),
        };
        Ok(Slot { field, form, key, member, state, choice: None, length, record, marks, symbol })
    }

    /// Variables for the lengths of outputs.
    fn marks(&mut self, columns: &[String]) -> Vec<(String, String)> {
        columns.iter().map(|column| (column.clone(), self.variable("mark"))).collect()
    }

    /// Gives the fields of each choice their variable and their numbers, and defines the words that take a value back.
    fn choices(&mut self, slots: &mut [Slot<'_>]) -> Made {
        let mut groups: Vec<u32> = Vec::new();
        for slot in slots.iter() {
            match slot.field.presence {
                Presence::Choice(group) if !groups.contains(&group) => groups.push(group),
                _ => {}
            }
        }
        for group in groups {
            let state = self.variable("choice");
            let name = format!("take_back{}", self.words.len());
            let members = slots.iter_mut().filter(|slot| slot.field.presence == Presence::Choice(group));
            let mut arms = Vec::new();
            for (number, slot) in (1..).zip(members) {
                slot.state.clone_from(&state);
                slot.choice = Some((number, name.clone()));
                if let Some(record) = &slot.record {
                    slot.marks = self.marks(&record.columns);
                }
                arms.push(format!("{number} of {} endof", take_back(slot)?));
            }
            let arms = arms.join(" ");
            self.define(&name, vec![(format!("  {state} @ case 0 of endof {arms} endcase"), String::new())]);
        }
        Ok(())
    }

    /// Defines a word of the lines that are written meanwhile.
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

    /// The word that steps over a value, whatever its key is.
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

    /// Defines a word that makes of a number the position of its name, or -1.
    fn symbol_word(&mut self, names: &[(i32, String)]) -> String {
        let arms: Vec<String> =
            names.iter().enumerate().map(|(at, (number, _))| format!("{number} of {at} endof")).collect();
        let name = format!("symbol{}", self.words.len());
        // Of more than 32 bits, the low ones count.
        let body = format!("  32 lshift 32 rshift case {} -1 swap endcase", arms.join(" "));
        self.define(&name, vec![(body, String::new())]);
        name
    }

    /// The arms of fields that are not delivered but make others absent.
    fn rivals(&mut self, tagged: &Tagged, slots: &[Slot<'_>]) -> Vec<(u32, String)> {
        let mut arms = Vec::new();
        for Rival { key, choice, symbols } in &tagged.rivals {
            let member = slots.iter().find(|slot| slot.field.presence == Presence::Choice(*choice));
            let Some((slot, (_, back))) = member.and_then(|slot| Some((slot, slot.choice.as_ref()?))) else {
                continue;
            };
            let take = format!("{back} 0 {} !", slot.state);
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
        self.arms(&arms, ignored, place.within(1))?;
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

    /// Chooses by the key on the stack, of many keys by halves.
    fn arms(&mut self, arms: &[(u32, Arm<'_, '_>)], ignored: Option<&str>, place: Place<'_>) -> Made {
        if let (Some((key, _)), true) = (arms.get(arms.len() / 2), arms.len() > MOST_IN_ROW) {
            let (lower, upper) = arms.split_at(arms.len() / 2);
            self.line(place, format!("dup {} < if", key_text(*key)));
            self.arms(lower, ignored, place.within(1))?;
            self.line(place, "else".into());
            self.arms(upper, ignored, place.within(1))?;
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
                    self.values(slot, *extent, ignored, arm.within(1))?;
                    self.line(arm, "endof".into());
                }
            }
        }
        let ignore = ignored.map_or(String::new(), |variable| format!("-1 {variable} ! "));
        self.line(place.within(1), format!("{ignore}dup {PASS}"));
        self.line(place, "endcase".into());
        Ok(())
    }

    /// What stands behind a key of a field.
    fn values(&mut self, slot: &Slot<'_>, extent: Extent, ignored: Option<&str>, place: Place<'_>) -> Made {
        let input = self.input();
        let (extent_fault, negative) = (self.halt(FAULT_EXTENT), self.halt(FAULT_NEGATIVE));
        match (extent, self.in_one_go(&slot.field.of), slot.form) {
            (Extent::Packed, Some(wire), Form::Numpy { key, .. }) => {
                let width = wire.width();
                let check = format!("dup 0 < over {} and or if {extent_fault} then", width - 1);
                let count = format!("{width} / dup {} +!", slot.state);
                let read = super::parser(wire, place.member)?;
                let items = format!("{input} #{read}-> {key}-data");
                self.line(place, format!("{input} varint-> stack {check} {count} {items}"));
            }
            (Extent::Packed, ..) => {
                let length = format!("{input} varint-> stack dup 0 < if {negative} then");
                self.line(place, format!("{length} {input} pos + begin {input} pos over < while"));
                self.one(slot, Extent::One, ignored, place.within(1))?;
                self.line(place, format!("repeat {input} pos <> if {extent_fault} then"));
            }
            (extent, ..) => self.one(slot, extent, ignored, place)?,
        }
        Ok(())
    }

    fn one(&mut self, slot: &Slot<'_>, extent: Extent, ignored: Option<&str>, place: Place<'_>) -> Made {
        let input = self.input();
        if let Some(record) = &slot.record {
            return self.one_record(slot, record, extent, place);
        }
        if let Some(symbol) = &slot.symbol {
            let output = symbols_output(slot.form).ok_or_else(|| differ(place.member))?;
            let ignore = ignored.map_or(String::new(), |variable| format!(" -1 {variable} !"));
            let check = match slot.form {
                Form::Numpy { .. } => format!("dup {symbol} 0 <"),
                _ => format!("{symbol} dup 0 <"),
            };
            self.line(place, format!("{input} varint-> stack {check} if drop{ignore} else"));
            let met = met(slot)?;
            self.line(place.within(1), format!("{met} {output} <- stack"));
            self.line(place, "then".into());
            return Ok(());
        }
        let met = met(slot)?;
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
        place: Place<'_>,
    ) -> Made {
        let input = self.input();
        let read = match extent {
            Extent::Until(_) => record.read.clone(),
            _ => format!("{input} varint-> stack {input} pos + {}", record.read),
        };
        let marks: Vec<String> =
            slot.marks.iter().map(|(column, mark)| format!("{column} len {mark} !")).collect();
        let (state, marks) = (&slot.state, marks.join(" "));
        match (&slot.field.presence, &slot.choice, &record.ignored) {
            (Presence::Repeated, _, Some(ignored)) => {
                self.line(place, marks);
                self.line(place, read);
                let undo = take_back(slot)?;
                self.line(place, format!("{ignored} @ if 0 {ignored} ! {undo}"));
                self.line(place, format!("else 1 {state} +! {} then", record.finish));
            }
            (Presence::Repeated, ..) => self.line(place, format!("1 {state} +! {read} {}", record.finish)),
            (_, Some((number, back)), _) => {
                let begin = format!("{back} {number} {state} ! {marks}");
                self.line(place, format!("{state} @ {number} <> if {begin} then"));
                self.line(place, read);
            }
            _ => self.line(place, format!("1 {state} ! {read}")),
        }
        Ok(())
    }

    /// Completes the row.
    fn finish_row(&mut self, slots: &[Slot<'_>], place: Place<'_>) -> Made {
        for slot in slots {
            let place = place.of(&slot.member);
            let (state, finish) = (&slot.state, slot.record.as_ref().map(|record| record.finish.as_str()));
            match (&slot.field.presence, slot.key) {
                (Presence::Repeated, Some(key)) => {
                    self.line(place, format!("{state} @ {key}-offsets +<- stack 0 {state} !"));
                }
                (Presence::Optional, Some(key)) => {
                    let finish =
                        finish.map_or(String::new(), |finish| format!("{state} @ if {finish} then "));
                    self.line(place, format!("{state} @ {key}-tags <- stack {finish}0 {state} !"));
                }
                (Presence::Choice(_), Some(key)) => {
                    let number = slot.choice.as_ref().map_or(0, |(number, _)| *number);
                    let is_it = format!("{state} @ {number} =");
                    let finish = finish.map_or(String::new(), |finish| format!(" {is_it} if {finish} then"));
                    self.line(place, format!("{is_it} negate {key}-tags <- stack{finish}"));
                }
                (Presence::Required, _) => {
                    let absent = self.halt(FAULT_REQUIRED);
                    self.line(place, format!("{state} @ 0= if {absent} then 0 {state} !"));
                    finish.iter().for_each(|finish| self.line(place, (*finish).into()));
                }
                (Presence::Default(default), _) => match (finish, default) {
                    (Some(finish), _) => self.line(place, format!("{finish} 0 {state} !")),
                    (None, default) => {
                        self.line(place, format!("{state} @ if 0 {state} ! else"));
                        let zero: Arc<[u8]> = Arc::new([0]);
                        let is_symbol = matches!(slot.field.of, Layout::Symbol { .. });
                        match default.as_ref().or(is_symbol.then_some(&zero)) {
                            Some(bytes) => {
                                let value = Layout::Constant(bytes.clone(), Box::new(slot.field.of.clone()));
                                self.value(&value, slot.form, place.within(1))?;
                            }
                            None => self.absent(&slot.field.of, slot.form, place.within(1))?,
                        }
                        self.line(place, "then".into());
                    }
                },
                _ => return Err(differ(&slot.member)),
            }
        }
        let mut choices: Vec<&str> =
            slots.iter().filter(|slot| slot.choice.is_some()).map(|slot| slot.state.as_str()).collect();
        choices.dedup();
        let mut once = HashSet::new();
        for state in choices.into_iter().filter(|state| once.insert(*state)) {
            self.line(place, format!("0 {state} !"));
        }
        Ok(())
    }

    /// A number that stands for a name.
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
        // Fields that may be ignored have words of their own, so this is a default.
        let symbol = self.symbol_word(names);
        self.line(place, format!("{input} varint-> stack {symbol} {output} <- stack"));
        Ok(())
    }
}
