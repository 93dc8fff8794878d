//! Every level this CPU can run gives what the checked tier gives, for every kind of leaf and every depth.

use std::sync::Arc;

use super::levels::Cpu;
use crate::{Compiled, Limits, Machine, Status, Tier};

/// Lists with 0 to 39 items and a few bytes behind, so that both the fast and the exact copy are used.
fn data(depth: usize, size: usize, big: bool) -> Vec<u8> {
    fn list(depth: usize, items: usize, size: usize, big: bool, to: &mut Vec<u8>) {
        let count = if depth == 1 { items } else { 3 } as u32;
        to.extend(if big { count.to_be_bytes() } else { count.to_le_bytes() });
        if depth == 1 {
            to.extend((0..items * size).map(|byte| (byte * 37 % 251 % (1 + items * 7)) as u8));
        } else {
            (0..3).for_each(|inner| list(depth - 1, (items + inner * 13) % 40, size, big, to));
        }
    }
    let mut data = Vec::new();
    (0..40).for_each(|items| list(depth, items, size, big, &mut data));
    data
}

#[test]
fn all_levels_and_kinds_agree() {
    let mut fused = 0;
    for (code, dtype, size) in [
        ("!h", "int16", 2),
        ("!f", "float32", 4),
        ("!d", "float64", 8),
        ("?", "bool", 1),
        ("B", "uint8", 1),
        ("q", "int64", 8),
    ] {
        for (depth, offsets, count) in
            [(1, "int64", "!I"), (2, "int32", "i"), (3, "int64", "!i"), (3, "int32", "I"), (2, "int64", "!I")]
        {
            let declare = |n| format!("output o{n} {offsets} ");
            let mut body = format!("data {count}-> stack dup o1 +<- stack data #{code}-> leaf");
            for level in 2..=depth {
                body = format!("data {count}-> stack dup o{level} +<- stack 0 do {body} loop");
            }
            let outputs: String = (1..=depth).map(declare).collect();
            let source = format!("input data output leaf {dtype} {outputs} 0 do {body} loop");
            let data = data(depth, size, count.starts_with('!'));
            let run = |cpu: Option<Cpu>| {
                let mut compiled = Compiled::new(&source).expect("a program").without_flat();
                compiled.plans.cpu = cpu.unwrap_or(Cpu::Baseline);
                let mut machine = Machine::new(Arc::new(compiled), Limits::default());
                machine.force_tier(cpu.is_none().then_some(Tier::Checked));
                machine.begin();
                machine.push(40).expect("room");
                assert_eq!(machine.resume(&[&data]), Ok(Status::Done));
                // A fused loop counts no instructions.
                let native = machine.counters().instructions == 2;
                (native, machine.take_outputs())
            };
            let (_, expected) = run(None);
            for cpu in Cpu::available() {
                let (native, outputs) = run(Some(cpu));
                assert!(native, "{source}");
                fused += 1;
                for (output, expected) in outputs.iter().zip(&expected) {
                    assert!(output.as_bytes() == expected.as_bytes(), "{} {source}", cpu.name());
                }
            }
        }
    }
    assert!(fused >= 30);
}

/// Lists with a byte behind each, with counts of one, two and more bytes, whole and cut off anywhere.
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
        let count = if depth == 1 { items * items * items / 5 % 9000 } else { items % 7 };
        zigzag(count, to);
        if depth == 1 {
            to.extend((0..count * 2).map(|byte| (byte * 37 % 251) as u8));
        } else {
            (0..count).for_each(|inner| list(depth - 1, (items + inner * 13) % 40, to));
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
        // Miri takes its time.
        let (entries, cuts) = if cfg!(miri) { (9, 3) } else { (40, 30) };
        (0..entries).for_each(|items| list(depth, items, &mut whole));
        for cut in 0..cuts {
            let data = &whole[..whole.len() - (cut * cut * whole.len()).div_ceil(900)];
            let run = |cpu: Option<Cpu>| {
                let mut compiled = Compiled::new(&source).expect("a program");
                assert!(compiled.explain().contains("ended lists"), "{}", compiled.explain());
                compiled.plans.cpu = cpu.unwrap_or(Cpu::Baseline);
                let mut machine = Machine::new(Arc::new(compiled), Limits::default());
                machine.force_tier(Some(if cpu.is_none() { Tier::Checked } else { Tier::Fused }));
                machine.begin();
                machine.push(entries as i64).expect("room");
                let result = machine.resume(&[data]);
                (result, machine.outer_index(), machine.position(0), machine.take_outputs())
            };
            let expected = run(None);
            assert_eq!(expected.0.is_ok(), cut == 0);
            for cpu in Cpu::available() {
                let found = run(Some(cpu));
                assert_eq!((&found.0, &found.1, &found.2), (&expected.0, &expected.1, &expected.2));
                for (found, expected) in found.3.iter().zip(&expected.3) {
                    assert!(found.as_bytes() == expected.as_bytes(), "{} {source}", cpu.name());
                }
            }
        }
    }
}

/// The same for entries whose ends are known, framed or not, of which some do not end where they should.
#[test]
fn all_levels_agree_on_entries() {
    for (code, dtype, size, inner) in [
        ("!h", "int16", 2, "data !I-> stack"),
        ("!f", "float32", 4, "data !I-> stack"),
        ("!d", "float64", 8, "data !I-> stack"),
        ("?", "bool", 1, "data !I-> stack"),
        ("B", "uint8", 1, "data !I-> stack"),
        ("B", "uint8", 1, "data B-> stack dup 255 = if drop data !I-> stack then"),
    ] {
        for (depth, framed) in (1..=3).flat_map(|depth| [(depth, true), (depth, false)]) {
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
            // Whole, then with one byte of every entry changed in turn.
            for broken in 0..=if cfg!(miri) { 1 } else { 60 } {
                let mut data = data.clone();
                if broken > 0 {
                    let at = broken * data.len() / 61;
                    data[at] ^= 1;
                }
                let run = |cpu: Option<Cpu>| {
                    let mut compiled = Compiled::new(&source).expect("a program");
                    assert!(
                        compiled
                            .plans
                            .by_segment
                            .iter()
                            .flatten()
                            .all(|plan| { plan.entry.as_ref().is_some_and(|entry| entry.known_ends) })
                    );
                    compiled.plans.cpu = cpu.unwrap_or(Cpu::Baseline);
                    let mut machine = Machine::new(Arc::new(compiled), Limits::default());
                    machine.force_tier(cpu.is_none().then_some(Tier::Checked));
                    machine.begin();
                    machine.push(40).expect("room");
                    let result = machine.resume(&[&data, &starts, &stops]);
                    let places = (machine.outer_index(), [0, 1, 2].map(|input| machine.position(input)));
                    (result, places, machine.variables().to_vec(), machine.take_outputs())
                };
                let expected = run(None);
                assert!(broken > 0 || expected.0 == Ok(Status::Done), "{source}");
                for cpu in Cpu::available() {
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

/// Forty entries, with their starts and stops.
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
            (0..count).for_each(|inner| list(depth - 1, (items * 7 + inner * 13) % 40, size, text, to));
        }
    }
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    for items in 0..40 {
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
