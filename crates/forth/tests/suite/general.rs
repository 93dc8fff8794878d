//! The law of the tiers for programs of any kind, driven in every way: words, recursion, exits, cases, loops
//! of all kinds, printing, pauses at which the host looks, pushes, pops, steps or calls, errors that are
//! cleared, and small limits.
//!
//! `PROPTEST_CASES=1000000 cargo test --release general` is the long run.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use forthwith_forth::{Compiled, Limits, Machine, RunError, Status, W32, W64, Width};
use proptest::prelude::*;

use super::support::{TIERS, assert_same};

const DTYPES: [&str; 11] =
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"];
const PARSERS: [&str; 22] = [
    "?",
    "b",
    "h",
    "i",
    "q",
    "n",
    "B",
    "H",
    "I",
    "Q",
    "N",
    "f",
    "d",
    "varint",
    "zigzag",
    "1bit",
    "3bit",
    "12bit",
    "64bit",
    "5msb",
    "textint",
    "textfloat",
];
const UNARY: [&str; 6] = ["negate", "1+", "1-", "abs", "invert", "0="];
const BINARY: [&str; 19] = [
    "+", "-", "*", "/", "mod", "min", "max", "=", "<>", "<", "<=", ">", ">=", "and", "or", "xor", "lshift",
    "rshift", "nip",
];
/// Decrements what every loop that might not end looks at; true when it is used up.
const FUEL: &str = "fuel @ 1- dup fuel ! 0 < ";

struct Choices<'a>(std::slice::Iter<'a, u16>);

impl Choices<'_> {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % end
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn of<'b>(&mut self, words: &[&'b str]) -> &'b str {
        words[self.below(words.len())]
    }
}

/// What a word takes and leaves.
#[derive(Clone, Copy)]
struct Effect {
    need: usize,
    leaves: usize,
}

struct Writer<'a, 'b> {
    choices: &'b mut Choices<'a>,
    to: String,
    /// Items on the stack, if nothing went wrong.
    height: usize,
    /// What words there are.
    words: Vec<Effect>,
    /// The height at which the present word has to end.
    result: Option<usize>,
    loops: usize,
    room: usize,
    outputs: usize,
    /// Whether any loop may get a wild count, so that all look at the fuel.
    wild: bool,
}

impl Writer<'_, '_> {
    fn say(&mut self, words: &str) {
        self.to.push_str(words);
        self.to.push(' ');
    }

    fn number(&mut self) {
        let number = match self.choices.below(12) {
            0 => 2_147_483_647,
            1 => -2_147_483_648,
            2 => 64,
            _ => self.choices.below(20) as i64 - 5,
        };
        self.say(&number.to_string());
        self.height += 1;
    }

    /// Drops or pushes until the height is `height`.
    fn reach(&mut self, height: usize) {
        while self.height > height {
            self.say("drop");
            self.height -= 1;
        }
        while self.height < height {
            self.number();
        }
    }

    /// Makes sure that the height is at least `items`.
    fn want(&mut self, items: usize) {
        while self.height < items && !self.choices.one_in(40) {
            self.number();
        }
        self.height = self.height.max(items);
    }

    fn block(&mut self, depth: usize, height: usize) {
        for _ in 0..1 + self.choices.below(if depth == 0 { 10 } else { 4 }) {
            if self.room == 0 {
                break;
            }
            self.room -= 1;
            self.statement(depth);
        }
        self.reach(height);
    }

    fn output(&mut self) -> usize {
        self.choices.below(self.outputs)
    }

    fn input(&mut self) -> &'static str {
        if self.choices.one_in(4) { "other" } else { "data" }
    }

    fn statement(&mut self, depth: usize) {
        let simple = depth > 4;
        match self.choices.below(if simple { 14 } else { 27 }) {
            0 => self.number(),
            1 => {
                self.want(1);
                let word = self.choices.of(&UNARY);
                self.say(word);
            }
            2 | 3 => {
                self.want(2);
                let word = self.choices.of(&BINARY);
                self.say(word);
                self.height -= 1;
            }
            4 => {
                let (word, need, after) = [
                    ("dup", 1, 2),
                    ("swap", 2, 2),
                    ("over", 2, 3),
                    ("rot", 3, 3),
                    ("tuck", 2, 3),
                    ("/mod", 2, 2),
                    ("drop", 1, 0),
                ][self.choices.below(7)];
                self.want(need);
                self.say(word);
                self.height = self.height - need + after;
            }
            5 => match self.choices.below(4) {
                0 | 1 => {
                    self.say("v @");
                    self.height += 1;
                }
                2 => {
                    self.want(1);
                    self.say("v !");
                    self.height -= 1;
                }
                _ => {
                    self.want(1);
                    self.say("w +! w @");
                }
            },
            6 => {
                let input = self.input();
                let word = self.choices.of(&[
                    "len",
                    "pos",
                    "end",
                    "skipws",
                    "enum s\" ab\" s\" \"\n",
                    "enumonly s\" a\"\n",
                ]);
                self.say(&format!("{input} {word}"));
                self.height += usize::from(word != "skipws");
            }
            7 => {
                let input = self.input();
                let word = self.choices.of(&["seek", "skip", "peek"]);
                let by = self.choices.below(9) as i64 - 2;
                self.say(&format!("{by} {input} {word}"));
                self.height += usize::from(word == "peek");
            }
            8 | 9 => self.read(),
            10 => self.read_many(),
            11 | 12 => {
                let output = self.output();
                match self.choices.below(8) {
                    0..=2 => {
                        self.want(1);
                        self.say(&format!("o{output} <- stack"));
                        self.height -= 1;
                    }
                    3..=5 => {
                        self.want(1);
                        self.say(&format!("o{output} +<- stack"));
                        self.height -= 1;
                    }
                    6 => {
                        self.say(&format!("o{output} len"));
                        self.height += 1;
                    }
                    _ => {
                        let word = self.choices.of(&["dup", "rewind"]);
                        let times = self.choices.below(5) as i64 - 1;
                        self.say(&format!("{times} o{output} {word}"));
                    }
                }
            }
            13 => match self.choices.below(12) {
                0..=3 => self.say("pause"),
                4 => self.say("cr"),
                5 => self.say(".s"),
                6 => self.say(".\" text\""),
                7 => {
                    self.want(1);
                    self.say(".");
                    self.height -= 1;
                }
                8 => {
                    self.say("s\" hello\"");
                    self.height += 2;
                }
                9 => {
                    self.say("5 v @ = if 77 halt then");
                }
                10 => {
                    // Whatever the stack is then.
                    let word = self.choices.of(&[
                        "drop",
                        "dup",
                        "+",
                        "1",
                        "exit",
                        "halt",
                        "v !",
                        "if then",
                        "5 0 do loop",
                    ]);
                    self.say(word);
                }
                _ => {
                    let loops = self.loops;
                    let word = match loops {
                        0 => "true",
                        1 => "i",
                        2 => self.choices.of(&["i", "j"]),
                        _ => self.choices.of(&["i", "j", "k"]),
                    };
                    self.say(word);
                    self.height += 1;
                }
            },
            14 | 15 => self.branch(depth),
            16..=18 => self.do_loop(depth),
            19 => self.begin(depth),
            20 => self.case(depth),
            21 | 22 if !self.words.is_empty() => {
                let word = self.choices.below(self.words.len());
                let Effect { need, leaves } = self.words[word];
                self.want(need);
                self.say(&format!("w{word}"));
                self.height = self.height - need + leaves;
            }
            23 => {
                let Some(result) = self.result else { return self.number() };
                let height = self.height;
                self.say("v @ 3 > if");
                self.reach(result);
                self.say("exit then");
                self.height = height;
            }
            24 => {
                let (a, b) = (self.output(), self.output());
                let (count, items) = (
                    self.choices.of(&["!I", "B", "zigzag"]),
                    self.choices.of(&["!f", "B", "i", "varint", "2bit"]),
                );
                self.say(&format!("data {count}-> stack 7 and dup o{a} +<- stack data #{items}-> o{b}"));
            }
            25 => {
                let (a, b) = (self.output(), self.output());
                self.say(&format!("3 0 do data !I-> stack dup o{a} +<- stack data #!f-> o{b} loop"));
            }
            _ => {
                self.say("data f-> o0 data d-> o0 data B-> o0");
            }
        }
    }

    fn read(&mut self) {
        let input = self.input();
        let parser = self.choices.of(&PARSERS);
        let bang = if self.choices.one_in(3) && parser != "5msb" { "!" } else { "" };
        if self.choices.one_in(2) && parser != "textfloat" {
            self.say(&format!("{input} {bang}{parser}-> stack"));
            self.height += 1;
        } else {
            let output = self.output();
            self.say(&format!("{input} {bang}{parser}-> o{output}"));
        }
    }

    fn read_many(&mut self) {
        let input = self.input();
        let parser = self.choices.of(&PARSERS);
        let bang = if self.choices.one_in(3) && parser != "5msb" { "!" } else { "" };
        if self.choices.one_in(6) && parser != "textfloat" {
            let count = self.choices.below(4);
            self.say(&format!("{count} {input} #{bang}{parser}-> stack"));
            self.height += count;
            return;
        }
        if self.choices.one_in(2) {
            let count = self.choices.below(6) as i64 - 1;
            self.say(&count.to_string());
        } else {
            self.want(1);
            self.say("7 and");
            self.height -= 1;
        }
        let output = self.output();
        self.say(&format!("{input} #{bang}{parser}-> o{output}"));
    }

    fn condition(&mut self) {
        let words = ["v @ 2 mod", "data end invert", "v @ 2 >", "data pos 7 and", "v @ 0=", "data end"];
        if self.choices.one_in(2) {
            self.want(1);
            self.height -= 1;
        } else {
            let word = self.choices.of(&words);
            self.say(word);
        }
    }

    fn branch(&mut self, depth: usize) {
        self.condition();
        let height = self.height;
        self.say("if");
        // Sometimes both do more than nothing to the height.
        let both = self.choices.one_in(2);
        let end = if both { (height + self.choices.below(3)).saturating_sub(1) } else { height };
        self.block(depth + 1, end);
        if both {
            self.say("else");
            self.height = height;
            self.block(depth + 1, end);
        }
        self.say("then");
    }

    fn do_loop(&mut self, depth: usize) {
        let count = self.choices.below(5);
        if self.choices.one_in(3) {
            self.want(1);
            self.say("7 and 0 do");
            self.height -= 1;
        } else {
            let start = self.choices.below(3) as i64 - 1;
            self.say(&format!("{count} {start} do"));
        }
        if self.wild {
            self.say(FUEL);
            self.say("if 1 halt then");
        }
        self.loops += 1;
        let height = self.height;
        let step = self.choices.one_in(4);
        self.block(depth + 1, height);
        self.loops -= 1;
        if step {
            let step = 1 + self.choices.below(3);
            self.say(&format!("{step} +loop"));
        } else {
            self.say("loop");
        }
    }

    fn begin(&mut self, depth: usize) {
        let height = self.height;
        match self.choices.below(3) {
            0 => {
                self.say("begin");
                self.block(depth + 1, height);
                self.say(FUEL);
                self.say("data end or until");
            }
            1 => {
                self.say("begin");
                self.say(FUEL);
                self.say("invert while");
                self.block(depth + 1, height);
                self.say("repeat");
            }
            _ => {
                self.say("begin");
                self.say(FUEL);
                self.say("if");
                match self.result {
                    Some(result) => {
                        self.reach(result);
                        self.say("exit then");
                    }
                    None => self.say("3 halt then"),
                }
                self.height = height;
                self.block(depth + 1, height);
                self.say("again");
                // Never reached, but counted on by what follows.
            }
        }
    }

    fn case(&mut self, depth: usize) {
        self.want(1);
        self.height -= 1;
        let height = self.height;
        self.say("3 and case");
        let other = self.choices.one_in(3);
        for label in 0..1 + self.choices.below(4) {
            let label = if other { label * 3 + 1 } else { label };
            self.say(&format!("{label} of"));
            self.height = height;
            self.block(depth + 1, height);
            self.say("endof");
        }
        self.height = height + 1;
        self.block(depth + 1, height + 1);
        self.say("endcase");
        self.height = height;
    }
}

fn source(choices: &mut Choices<'_>, wild: bool) -> (String, usize) {
    let outputs = 1 + choices.below(5);
    let mut text = "input data input other variable v variable w variable fuel\n".to_owned();
    for output in 0..outputs {
        let dtype = choices.of(&DTYPES);
        let _ = writeln!(text, "output o{output} {dtype}");
    }
    let count = choices.below(4);
    let mut writer = Writer {
        choices,
        to: text,
        height: 0,
        words: Vec::new(),
        result: None,
        loops: 0,
        room: 60,
        outputs,
        wild,
    };
    for word in 0..count {
        let need = writer.choices.below(3);
        writer.height = need;
        let leaves = writer.choices.below(3);
        writer.result = Some(leaves);
        writer.say(&format!(": w{word}"));
        if writer.choices.one_in(3) {
            // Recursion, a few levels deep.
            writer.height = need + 1;
            writer.say("v @ 1- 7 and dup v ! if");
            writer.reach(need);
            writer.block(3, need);
            writer.say("recurse");
            writer.height = leaves;
            writer.block(3, leaves);
            writer.say("else");
            writer.height = need;
            writer.block(3, leaves);
            writer.say("then");
        } else {
            writer.block(1, leaves);
        }
        writer.say(";\n");
        writer.words.push(Effect { need, leaves });
    }
    writer.result = None;
    writer.height = 1;
    writer.room = 60;
    let end = writer.choices.below(4);
    if writer.choices.one_in(12) {
        // A part of the program without a static effect.
        writer.say("v @ 1 and if 1 then");
    }
    writer.block(0, end);
    (writer.to, count)
}

/// What the host does while the machine waits.
fn host<W: Width>(
    choice: usize,
    machine: &mut Machine<W>,
    inputs: &[&[u8]],
    words: usize,
) -> Vec<Result<Status, RunError>> {
    let mut results = Vec::new();
    match choice % 12 {
        0 => {
            let _ = machine.push(choice as i64 - 30_000);
        }
        1 => {
            let _ = machine.pop();
        }
        2 => machine.clear_stack(),
        3 => machine.set_variable(0, (choice % 9) as i64),
        4 => machine.set_position(0, choice % 7),
        5 | 6 => {
            for _ in 0..choice / 12 % 9 {
                if machine.is_ready() && !machine.is_done() && machine.error().is_none() {
                    results.push(machine.step(inputs));
                }
            }
        }
        7 if words > 0 => results.push(machine.call(&format!("w{}", choice / 12 % words), inputs)),
        8 if machine.error().is_none() && machine.is_ready() => {
            results.push(machine.begin_again(choice % 24 < 12).map(|()| Status::Paused));
        }
        9 if machine.is_ready() && !machine.is_done() && machine.error().is_none() => {
            results.push(machine.settle(inputs));
        }
        _ => {}
    }
    results
}

fn check<W: Width>(program: &[u16], drive: &[u16], data: &[u8], other: &[u8]) {
    let mut choices = Choices(program.iter());
    let mut limits = Limits::default();
    let mut wild = false;
    match choices.below(10) {
        6 => limits.output_bytes = Some(choices.below(120)),
        7 => limits.recursion = 2 + choices.below(14),
        8 => {
            limits.stack = 2 + choices.below(14);
            wild = true;
        }
        _ => {}
    }
    let (source, words) = source(&mut choices, wild);
    let source = format!("\\ {limits:?}\n{source}");
    let compiled = Arc::new(Compiled::new(&source).unwrap_or_else(|error| panic!("{error}\n{source}")));
    let inputs: [&[u8]; 2] = [data, other];
    let printed = TIERS.map(|_| Arc::new(Mutex::new(String::new())));
    let mut tiers = TIERS.into_iter().zip(&printed);
    let mut machines = TIERS.map(|_| {
        let (tier, printed) = tiers.next().expect("one for each");
        let mut machine = Machine::<W>::with_width(Arc::clone(&compiled), limits);
        machine.force_tier(Some(tier));
        let printed = Arc::clone(printed);
        machine.set_printer(Some(Box::new(move |text| printed.lock().expect("not poisoned").push_str(text))));
        machine.begin();
        machine.set_variable(2, 60);
        machine.set_variable(0, 5);
        let _ = machine.push(3);
        machine
    });
    let mut drive = drive.iter().map(|&choice| usize::from(choice));
    for _ in 0..40 {
        let results = machines.each_mut().map(|machine| machine.resume(&inputs));
        agree(&results, &source, &compiled);
        compare(&machines, &printed, &source);
        let [checked, ..] = &machines;
        if checked.error().is_some() && checked.is_ready() {
            if drive.next().unwrap_or(0) % 4 == 0 {
                break;
            }
            machines.iter_mut().for_each(Machine::clear_error);
        } else if results[0] != Ok(Status::Paused) {
            break;
        }
        let Some(choice) = drive.next() else { continue };
        let results = machines.each_mut().map(|machine| host(choice, machine, &inputs, words));
        agree(&results, &source, &compiled);
        compare(&machines, &printed, &source);
        machines.iter_mut().for_each(Machine::clear_error);
        let [checked, ..] = &machines;
        if !checked.is_ready() || checked.is_done() {
            break;
        }
    }
}

fn agree<T: PartialEq + std::fmt::Debug>(results: &[T; 3], source: &str, compiled: &Compiled) {
    let [checked, fast @ ..] = results;
    for (tier, result) in TIERS[1..].iter().zip(fast) {
        assert_eq!(checked, result, "{tier:?}\n{source}\n{}", compiled.explain());
    }
}

fn compare<W: Width>(machines: &[Machine<W>; 3], printed: &[Arc<Mutex<String>>; 3], source: &str) {
    let [checked, fast @ ..] = machines;
    for (at, machine) in fast.iter().enumerate() {
        compare_two(checked, machine, [&printed[0], &printed[at + 1]], source);
    }
}

fn compare_two<W: Width>(
    checked: &Machine<W>,
    fast: &Machine<W>,
    printed: [&Mutex<String>; 2],
    source: &str,
) {
    assert_eq!(
        (checked.is_ready(), checked.is_done(), checked.is_segment_done()),
        (fast.is_ready(), fast.is_done(), fast.is_segment_done()),
        "{source}"
    );
    assert_eq!(
        (checked.bytecode_position(), checked.recursion_depth(), checked.loops().collect::<Vec<_>>()),
        (fast.bytecode_position(), fast.recursion_depth(), fast.loops().collect::<Vec<_>>()),
        "{source}"
    );
    assert_same(checked, fast);
    let [a, b] = printed;
    assert_eq!(*a.lock().expect("not poisoned"), *b.lock().expect("not poisoned"), "{source}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(if cfg!(miri) { 4 } else { 600 }),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn tiers_agree_on_anything(
        program in prop::collection::vec(any::<u16>(), 0..160),
        drive in prop::collection::vec(any::<u16>(), 0..40),
        data in prop::collection::vec(prop_oneof![4 => 0..6_u8, 1 => any::<u8>(), 1 => Just(b'a'), 1 => b'0'..=b'9'], 0..300),
        other in prop::collection::vec(prop_oneof![3 => 0..6_u8, 1 => any::<u8>()], 0..60),
    ) {
        check::<W64>(&program, &drive, &data, &other);
        check::<W32>(&program, &drive, &data, &other);
    }
}
