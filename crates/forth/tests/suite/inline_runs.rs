//! Short loops, runs, and strings, which machine code does without a call, and long ones, for which it makes
//! one.

use std::sync::Arc;

use forthwith_forth::{Compiled, Limits, Machine, RunError, Status};

use super::support::{TIERS, assert_same};

/// All that stands in an entry: strings, then lists, as many as one count says, then runs of as many as
/// another.
const SOURCE: &str = r#"
input data
output strings int64  output text uint8  output lists int64  output numbers float32
output flags bool  output pairs float64  output shorts int16  output wide float64  output name int32
0 do
  data !H-> stack
  dup 0 do data B-> stack dup 255 = if drop data !I-> stack then dup strings +<- stack data #B-> text loop
  0 do data !I-> stack dup lists +<- stack data #!f-> numbers loop
  data !H-> stack dup data #?-> flags 2 * data #!d-> pairs
  3 data skip 3 data #!h-> shorts 2 data #!f-> wide 4 data skip 2 data #?-> flags
  data enum s" Track;1" s" Hit" s" a longer name than eight" name <- stack
loop
"#;
const NAMES: [&str; 4] = ["Track;1", "Hit", "a longer name than eight", ""];

fn entry(loops: usize, run: usize, name: &str) -> Vec<u8> {
    let byte = |at: usize| (at * 37 + loops + run) as u8;
    let mut data = (loops as u16).to_be_bytes().to_vec();
    for at in 0..loops {
        let length = if at == 5 { 300 } else { at % 20 };
        if length < 255 {
            data.push(length as u8);
        } else {
            data.push(255);
            data.extend((length as u32).to_be_bytes());
        }
        data.extend((0..length).map(byte));
    }
    for at in 0..loops {
        data.extend(((at % 23) as u32).to_be_bytes());
        data.extend((0..4 * (at % 23)).map(byte));
    }
    data.extend((run as u16).to_be_bytes());
    data.extend((0..run + 16 * run + 3 + 6 + 8 + 4 + 2).map(byte));
    data.extend(name.as_bytes());
    data
}

/// Runs all tiers; what the first said.
fn agree(compiled: &Arc<Compiled>, limits: Limits, entries: usize, data: &[u8]) -> Result<Status, RunError> {
    let [checked, fast @ ..] = TIERS.map(|tier| {
        let mut machine: Machine = Machine::new(Arc::clone(compiled), limits);
        machine.force_tier(Some(tier));
        machine.begin();
        machine.push(entries as i64).unwrap();
        let result = machine.resume(&[data]);
        (machine, result)
    });
    for (machine, result) in &fast {
        assert_eq!(*result, checked.1, "{} bytes", data.len());
        assert_same(&checked.0, machine);
    }
    checked.1
}

#[test]
fn of_any_length() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    for loops in [0, 1, 2, 7, 23, 24, 25, 60] {
        for run in [0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 63, 64, 65, 66, 128, 129, 1023, 1024, 1025] {
            let mut data = entry(loops, run, NAMES[run % 4]);
            data.extend(entry(run % 5, loops, NAMES[loops % 4]));
            assert_eq!(agree(&compiled, Limits::default(), 2, &data), Ok(Status::Done), "{loops} {run}");
        }
    }
}

#[test]
fn that_are_none_at_all() {
    let source = "input data  output lists int64  output numbers float32  output marks int8
      2 0 do
        over over do data !I-> stack dup lists +<- stack data #!f-> numbers loop
        data enum s\" x\" marks <- stack
      loop";
    let compiled = Arc::new(Compiled::new(source).unwrap());
    let data = [0; 4000];
    for (stop, start) in [(i64::MIN + 100, i64::MAX), (0, i64::MAX), (i64::MIN, 0), (5, 5), (4, 5), (30, 0)] {
        let machines = TIERS.map(|tier| {
            let mut machine: Machine = Machine::new(Arc::clone(&compiled), Limits::default());
            machine.force_tier(Some(tier));
            machine.begin();
            machine.push(stop).unwrap();
            machine.push(start).unwrap();
            assert_eq!(machine.resume(&[&data]), Ok(Status::Done), "{stop} {start}");
            assert_eq!(machine.position(0), if stop == 30 { 240 } else { 0 }, "{stop} {start}");
            machine
        });
        machines[1..].iter().for_each(|machine| assert_same(&machines[0], machine));
    }
}

#[test]
fn that_end_anywhere() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    for (loops, run, step) in [(1, 1, 1), (3, 5, 1), (26, 9, 5), (4, 70, 7)] {
        for name in &NAMES[..3] {
            let data = entry(loops, run, name);
            for end in (0..data.len()).step_by(step) {
                // What is missing of a name is no name.
                let _ = agree(&compiled, Limits::default(), 1, &data[..end]);
            }
        }
    }
}

#[test]
fn that_memory_does_not_suffice_for() {
    let compiled = Arc::new(Compiled::new(SOURCE).unwrap());
    let data = entry(27, 70, NAMES[0]);
    for bytes in (0..4000).step_by(61) {
        let mut limits = Limits::default();
        limits.output_bytes = Some(bytes);
        let _ = agree(&compiled, limits, 1, &data);
    }
}

/// Packed items of every width up to a byte, of any number, with any bytes left behind them.
#[test]
fn that_are_packed() {
    let data: Vec<u8> = (0..200_u32).map(|at| ((at * at * 97 + at * 31) >> 3) as u8).collect();
    for (bits, dtype) in
        (1..=8).flat_map(|bits| [(bits, "uint8"), (bits, "int8"), (bits, "bool"), (bits, "int32")])
    {
        let source = format!(
            "input data output items {dtype} data seek 0 do data B-> stack data #{bits}bit-> items loop"
        );
        let compiled = Arc::new(Compiled::new(&source).unwrap());
        for count in (0..70).chain([127, 128, 129]) {
            let mut bytes = data.clone();
            bytes[3] = count;
            let size = (usize::from(count) * bits).div_ceil(8);
            for behind in [0, 1, 7, 8, 15, 16, 17, 31, 32, 40, 64] {
                let whole = &bytes[..(4 + size + behind).min(bytes.len())];
                let [checked, fast @ ..] = TIERS.map(|tier| {
                    let mut machine: Machine = Machine::new(Arc::clone(&compiled), Limits::default());
                    machine.force_tier(Some(tier));
                    machine.begin();
                    machine.push(1).unwrap();
                    machine.push(3).unwrap();
                    assert_eq!(machine.resume(&[whole]), Ok(Status::Done), "{source} {count}");
                    machine
                });
                fast.iter().for_each(|machine| assert_same(&checked, machine));
            }
        }
    }
}
