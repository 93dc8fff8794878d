//! Tests that every level that this CPU supports has the results of the checked tier, for every kind of leaf
//! and every depth.

use std::sync::Arc;

use crate::{Compiled, Limits, Machine, RunError, Status, Tier};
use forthwith_kernels::CpuFeatures;

/// Number of entries, and length of the longest list; smaller under Miri, which is slow.
const ENTRIES: usize = if cfg!(miri) { 6 } else { 40 };

/// Lists of 0 to 39 items with a few bytes after them, so that both the fast and the exact copy are used.
fn data(depth: usize, size: usize, big: bool) -> Vec<u8> {
    fn list(depth: usize, items: usize, size: usize, big: bool, to: &mut Vec<u8>) {
        let count = if depth == 1 { items } else { 3 } as u32;
        to.extend(if big { count.to_be_bytes() } else { count.to_le_bytes() });
        if depth == 1 {
            to.extend((0..items * size).map(|byte| (byte * 37 % 251 % (1 + items * 7)) as u8));
        } else {
            (0..3).for_each(|inner| list(depth - 1, (items + inner * 13) % ENTRIES, size, big, to));
        }
    }
    let mut data = Vec::new();
    (0..ENTRIES).for_each(|items| list(depth, items, size, big, &mut data));
    data
}

/// Runs a program on one input, on a level or on the checked tier. Returns how and where the run ended, and
/// the bytes of its outputs.
fn outcome(
    mut compiled: Compiled,
    entries: usize,
    data: &[u8],
    cpu: Option<CpuFeatures>,
) -> (Result<Status, RunError>, Option<i64>, usize, Vec<Vec<u8>>) {
    compiled.plans.cpu = cpu.unwrap_or(CpuFeatures::available()[0]);
    let mut machine = Machine::new(Arc::new(compiled), Limits::default());
    machine.force_tier(Some(if cpu.is_none() { Tier::Checked } else { Tier::Fused }));
    machine.begin();
    machine.push(entries as i64).expect("room");
    let result = machine.resume(&[data]);
    let (outer, position) = (machine.outer_index(), machine.position(0));
    (
        result,
        outer,
        position,
        machine.take_outputs().iter().map(|output| output.as_bytes().to_vec()).collect(),
    )
}

#[test]
fn all_levels_and_kinds_agree() {
    let mut fused = 0;
    for (at, (code, dtype, size)) in [
        ("!h", "int16", 2),
        ("!f", "float32", 4),
        ("!d", "float64", 8),
        ("?", "bool", 1),
        ("B", "uint8", 1),
        ("q", "int64", 8),
    ]
    .into_iter()
    .enumerate()
    {
        for (depth, offsets, count) in
            [(1, "int64", "!I"), (2, "int32", "i"), (3, "int64", "!i"), (3, "int32", "I"), (2, "int64", "!I")]
        {
            if cfg!(miri) && (at + depth) % 3 != 0 {
                continue;
            }
            let declare = |n| format!("output o{n} {offsets} ");
            let mut body = format!("data {count}-> stack dup o1 +<- stack data #{code}-> leaf");
            for level in 2..=depth {
                body = format!("data {count}-> stack dup o{level} +<- stack 0 do {body} loop");
            }
            let outputs: String = (1..=depth).map(declare).collect();
            let source = format!("input data output leaf {dtype} {outputs} 0 do {body} loop");
            let data = data(depth, size, count.starts_with('!'));
            let run = |cpu: Option<CpuFeatures>| {
                let mut compiled = Compiled::new(&source).expect("a program").without_flat();
                compiled.plans.cpu = cpu.unwrap_or(CpuFeatures::available()[0]);
                let mut machine = Machine::new(Arc::new(compiled), Limits::default());
                machine.force_tier(cpu.is_none().then_some(Tier::Checked));
                machine.begin();
                machine.push(ENTRIES as i64).expect("room");
                assert_eq!(machine.resume(&[&data]), Ok(Status::Done));
                // A fused loop counts no instructions.
                let native = machine.counters().instructions == 2;
                (native, machine.take_outputs())
            };
            let (_, expected) = run(None);
            for cpu in CpuFeatures::available() {
                let (native, outputs) = run(Some(cpu));
                assert!(native, "{source}");
                fused += 1;
                for (output, expected) in outputs.iter().zip(&expected) {
                    assert!(output.as_bytes() == expected.as_bytes(), "{} {source}", cpu.name());
                }
            }
        }
    }
    assert!(fused >= if cfg!(miri) { 10 } else { 30 });
}

/// Lists with a byte after each, with counts of one, two and more bytes, complete and truncated anywhere.
#[test]
fn all_levels_agree_on_ended_lists() {
    fn zigzag(count: usize, to: &mut Vec<u8>) {
        let mut rest = count * 2;
        while rest >= 0x80 {
            to.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.push(rest as u8);
    }
    fn list(depth: usize, items: usize, to: &mut Vec<u8>) {
        let count = if depth == 1 {
            items * items * items / 5 % if cfg!(miri) { 40 } else { 9000 }
        } else {
            items % 7
        };
        zigzag(count, to);
        if depth == 1 {
            to.extend((0..count * 2).map(|byte| (byte * 37 % 251) as u8));
        } else {
            (0..count).for_each(|inner| list(depth - 1, (items + inner * 13) % ENTRIES, to));
        }
        to.push(0);
    }
    for (depth, offsets) in [(1, "int64"), (2, "int32"), (3, "int64"), (3, "int32")] {
        let mut body = "data zigzag-> stack dup o1 +<- stack data #h-> leaf data b-> stack drop".to_owned();
        for level in 2..=depth {
            body = format!("data zigzag-> stack dup o{level} +<- stack 0 do {body} loop data b-> stack drop");
        }
        let outputs: String = (1..=depth).map(|n| format!("output o{n} {offsets} ")).collect();
        let source = format!("input data output leaf int16 {outputs} 0 do {body} loop");
        let mut whole = Vec::new();
        let cuts = if cfg!(miri) { 2 } else { 30 };
        (0..ENTRIES).for_each(|items| list(depth, items, &mut whole));
        for cut in 0..cuts {
            let data = &whole[..whole.len() - (cut * cut * whole.len()).div_ceil(900)];
            let run = |cpu: Option<CpuFeatures>| {
                let compiled = Compiled::new(&source).expect("a program");
                assert!(compiled.explain().contains("ended lists"), "{}", compiled.explain());
                outcome(compiled, ENTRIES, data, cpu)
            };
            let expected = run(None);
            assert_eq!(expected.0.is_ok(), cut == 0);
            for cpu in CpuFeatures::available() {
                assert!(run(Some(cpu)) == expected, "{} {source}", cpu.name());
            }
        }
    }
}

/// Entries whose ends are known, with and without frame, some of which do not end where they should.
#[test]
fn all_levels_agree_on_entries() {
    for (at, (code, dtype, size, inner)) in [
        ("!h", "int16", 2, "data !I-> stack"),
        ("!f", "float32", 4, "data !I-> stack"),
        ("!d", "float64", 8, "data !I-> stack"),
        ("?", "bool", 1, "data !I-> stack"),
        ("B", "uint8", 1, "data !I-> stack"),
        ("B", "uint8", 1, "data B-> stack dup 255 = if drop data !I-> stack then"),
    ]
    .into_iter()
    .enumerate()
    {
        for (depth, framed) in (1..=3).flat_map(|depth| [(depth, true), (depth, false)]) {
            if cfg!(miri) && (at + depth) % 3 != 0 {
                continue;
            }
            let mut body = format!("{inner} dup o1 +<- stack data #{code}-> leaf");
            for level in 2..=depth {
                // The innermost list has the highest number here.
                body = format!("data !I-> stack dup o{level} +<- stack 0 do {body} loop");
            }
            let head = if framed {
                "data !I-> stack 0x40000000 - data pos + stop @ <> if 1 halt then data !H-> stack 9 > if 2 halt then"
            } else {
                "10 data skip"
            };
            let outputs: String = (1..=depth).map(|n| format!("output o{n} int64 ")).collect();
            let source = format!(
                "input data input starts input stops variable stop output leaf {dtype} {outputs}
                0 do starts I-> stack data seek stops I-> stack stop ! {head} {body}
                data pos stop @ <> if 3 halt then loop"
            );
            let [data, starts, stops] = entries(depth, size, framed, inner.contains("B->"));
            // Unchanged, then with one byte of every entry changed in turn.
            for broken in 0..=if cfg!(miri) { 1 } else { 60 } {
                let mut data = data.clone();
                if broken > 0 {
                    let at = broken * data.len() / 61;
                    data[at] ^= 1;
                }
                let run = |cpu: Option<CpuFeatures>| {
                    let mut compiled = Compiled::new(&source).expect("a program");
                    assert!(
                        compiled
                            .plans
                            .by_segment
                            .iter()
                            .flatten()
                            .all(|plan| { plan.entry.as_ref().is_some_and(|entry| entry.known_ends) })
                    );
                    compiled.plans.cpu = cpu.unwrap_or(CpuFeatures::available()[0]);
                    let mut machine = Machine::new(Arc::new(compiled), Limits::default());
                    machine.force_tier(cpu.is_none().then_some(Tier::Checked));
                    machine.begin();
                    machine.push(ENTRIES as i64).expect("room");
                    let result = machine.resume(&[&data, &starts, &stops]);
                    let places = (machine.outer_index(), [0, 1, 2].map(|input| machine.position(input)));
                    (result, places, machine.variables().to_vec(), machine.take_outputs())
                };
                let expected = run(None);
                assert!(broken > 0 || expected.0 == Ok(Status::Done), "{source}");
                for cpu in CpuFeatures::available() {
                    let found = run(Some(cpu));
                    assert_eq!((&found.0, &found.1, &found.2), (&expected.0, &expected.1, &expected.2));
                    for (found, expected) in found.3.iter().zip(&expected.3) {
                        assert!(found.as_bytes() == expected.as_bytes(), "{} {source}", cpu.name());
                    }
                }
            }
        }
    }
}

/// Entries, with their starts and stops.
fn entries(depth: usize, size: usize, framed: bool, text: bool) -> [Vec<u8>; 3] {
    fn list(depth: usize, items: usize, size: usize, text: bool, to: &mut Vec<u8>) {
        let count = if depth == 1 { items } else { items % 4 };
        match u8::try_from(count) {
            Ok(count) if depth == 1 && text && count < 7 => to.push(count),
            _ if depth == 1 && text => {
                to.push(255);
                to.extend((count as u32).to_be_bytes());
            }
            _ => to.extend((count as u32).to_be_bytes()),
        }
        if depth == 1 {
            to.extend((0..count * size).map(|byte| (byte * 37 % 251) as u8));
        } else {
            (0..count).for_each(|inner| list(depth - 1, (items * 7 + inner * 13) % ENTRIES, size, text, to));
        }
    }
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    for items in 0..ENTRIES {
        let start = data.len();
        data.extend(if framed { &[0, 0, 0, 0, 0, 8][..] } else { &[1; 10] });
        list(depth, items, size, text, &mut data);
        if framed {
            let count = (data.len() - start - 4) as u32 | 0x4000_0000;
            data[start..start + 4].copy_from_slice(&count.to_be_bytes());
        }
        starts.extend((start as u32).to_le_bytes());
        stops.extend((data.len() as u32).to_le_bytes());
    }
    [data, starts, stops]
}

/// Skipped values of every kind, complete, truncated anywhere and with any byte changed.
#[test]
fn all_levels_agree_on_what_is_skipped() {
    let text = "data zigzag-> stack dup 0 < if 5 halt then data skip";
    let option = |there, what: &str| match there {
        0 => format!("data zigzag-> stack case 0 of {what} endof 1 of endof 4 halt endcase"),
        _ => format!("data zigzag-> stack case 0 of endof 1 of {what} endof 4 halt endcase"),
    };
    let blocks = |items: &str| {
        format!(
            "begin data zigzag-> stack dup while
            dup 0 < if drop {text} else {items} then repeat drop"
        )
    };
    let body = [
        "data varint-> stack drop",
        text,
        "3 data skip data zigzag-> long",
        &option(1, "data zigzag-> stack drop"),
        &option(0, text),
        "2 data skip",
        &option(1, "4 data skip"),
        "data b-> stack drop",
        &blocks("dup data len > if 5 halt then 4 * data skip"),
        &blocks(&format!("0 do {text} loop")),
        "data B-> byte",
    ]
    .join("\n");
    let source = format!("input data output long int64 output byte uint8\n0 do\n{body}\nloop");
    let explained = Compiled::new(&source).expect("a program").explain();
    for part in [
        "skip number;",
        "skip text and 3",
        "skip optional text and 2",
        "skip blocks by 4",
        "skip blocks [skip text]",
    ] {
        assert!(explained.contains(part), "{explained}");
    }
    let mut whole = Vec::new();
    let entries = if cfg!(miri) { 3 } else { 12 };
    for entry in 0..entries {
        let word = |count: usize, to: &mut Vec<u8>| {
            to.push(count as u8 * 2);
            to.extend((0..count).map(|byte| (byte * 31 + entry * 7) as u8));
        };
        let to = &mut whole;
        let numbers = [&[7][..], &[0x85, 9], &[0x85, 0x95, 0xa5, 3], &[0xff; 9], &[0x80; 8]];
        to.extend(numbers[entry % 5]);
        if entry % 5 > 2 {
            to.push(1); // the tenth byte, and the ninth
        }
        word(entry % 9 * 6, to);
        to.extend([1, 2, 3, 0x88, entry as u8]);
        to.extend(if entry % 2 == 0 { &[0][..] } else { &[2, 0xa0, 3] });
        if entry % 3 == 0 {
            to.push(2);
        } else {
            to.push(0);
            word(entry % 4, to);
        }
        to.extend([8, 9]);
        to.extend(if entry % 4 == 0 { &[0][..] } else { &[2, 4, 4, 4, 4] });
        to.push(250);
        for items in 1..=entry % 4 {
            to.push(2 * items as u8);
            to.extend((0..4 * items).map(|byte| byte as u8));
            to.extend([3, 6, 1, 2, 3]); // two items in three bytes
        }
        to.push(0);
        to.push(4);
        word(entry % 5, to);
        word(0, to);
        to.extend([1, 4, 0, 0, 0, 77]);
    }
    let run = |data: &[u8], cpu: Option<CpuFeatures>| {
        outcome(Compiled::new(&source).expect("a program"), entries, data, cpu)
    };
    let agree = |data: &[u8]| {
        let expected = run(data, None);
        for cpu in CpuFeatures::available() {
            assert!(run(data, Some(cpu)) == expected, "{}", cpu.name());
        }
        expected.0
    };
    assert_eq!(agree(&whole), Ok(Status::Done));
    let step = if cfg!(miri) { 97 } else { 1 };
    for at in (0..whole.len()).step_by(step) {
        let _ = agree(&whole[..at]);
        for change in [1, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= change;
            let _ = agree(&damaged);
        }
    }
}

/// Every run of two or three skipped fields, complete, truncated anywhere and with any byte changed: where
/// enough bytes are left they are skipped together, near the end one by one.
#[test]
fn all_levels_agree_on_runs_of_what_is_skipped() {
    let kinds = [
        "data zigzag-> stack drop",
        "data zigzag-> stack dup 0 < if 5 halt then data skip",
        "data zigzag-> stack case 0 of endof 1 of data zigzag-> stack drop endof 4 halt endcase",
    ];
    let entries = 9;
    for number in 0..if cfg!(miri) { 3 } else { 27 } {
        let run = [number % 3, number / 3 % 3, number / 9];
        let fields = run.map(|kind| kinds[kind]).join("\n");
        // A byte that is read, so that the end of the run is observed.
        let source = format!("input data output byte uint8\n0 do\n{fields}\n2 data skip data B-> byte\nloop");
        let mut whole = Vec::new();
        for entry in 0..entries {
            for (field, kind) in run.into_iter().enumerate() {
                let numbers = [&[7][..], &[0x85, 9], &[0xff, 0xff, 0xff, 0xff, 0x0f], &[0x80; 8], &[0xff; 9]];
                let at = (entry + field) % 5;
                let long = [numbers[at], if at > 2 { &[1][..] } else { &[] }].concat();
                match kind {
                    0 => whole.extend(long),
                    1 => {
                        let length = [0, 3, 63, 64, 70][at];
                        let code = 2 * length as u8;
                        whole.extend(if length < 64 { vec![code] } else { vec![code | 0x80, 1] });
                        whole.extend((0..length).map(|byte| (byte * 37) as u8));
                    }
                    _ if at == 0 => whole.push(0),
                    _ => {
                        whole.push(2);
                        whole.extend(long);
                    }
                }
            }
            whole.extend([1, 2, entry as u8]);
        }
        let run = |data: &[u8], cpu: Option<CpuFeatures>| {
            outcome(Compiled::new(&source).expect("a program"), entries, data, cpu)
        };
        let mut data =
            vec![whole.clone(), whole[..whole.len() - 1].to_vec(), whole[..whole.len() / 2].to_vec()];
        for at in (0..whole.len()).step_by(if cfg!(miri) { 97 } else { 7 }) {
            for change in [1, 0x80, 0xff] {
                data.push(whole.clone());
                data.last_mut().expect("one")[at] ^= change;
            }
        }
        assert_eq!(run(&whole, None).0, Ok(Status::Done), "{source}");
        for data in &data {
            let expected = run(data, None);
            for cpu in CpuFeatures::available() {
                assert_eq!(run(data, Some(cpu)), expected, "{source}");
            }
        }
    }
}
