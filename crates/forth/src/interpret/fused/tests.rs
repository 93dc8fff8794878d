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
                let mut compiled = Compiled::new(&source).expect("a program");
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
