//! How to drive the machine: `cargo run -p forthwith-forth --example essay`.
//!
//! The language has a manual of its own, `docs/details/forth.md`; this is the Rust side of it, from the first run to
//! columns in memory of your own. Each part is a function that asserts what it claims.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that prints, and stops at what is unexpected"
)]
#![allow(unsafe_code, reason = "memory of one's own is promised to the machine in an unsafe trait")]

use std::sync::{Arc, Mutex};

use forthwith_forth::{
    CompileErrorKind, Compiled, DType, LEAD, Limits, LiteralWidth, Machine, Memory, Options, OutOfMemory,
    Output, Programs, RunError, SLACK, Status, Tier, Value,
};

fn main() {
    compile_and_run();
    many_blocks();
    pause_and_resume();
    call_words();
    step_through();
    errors_have_places();
    memory_of_your_own();
    tiers();
    many_threads();
    println!("all of it holds");
}

/// Lists: a count, then so many numbers.
const LISTS: &str = "\
input data
output offsets int64
output content float32
0 do
  data !I-> stack dup offsets +<- stack
  data #!f-> content
loop";

fn lists(lists: &[&[f32]]) -> Vec<u8> {
    let mut data = Vec::new();
    for list in lists {
        data.extend((list.len() as u32).to_be_bytes());
        list.iter().for_each(|item| data.extend(item.to_be_bytes()));
    }
    data
}

/// A program is compiled once and shared; a machine has the state. Inputs are given with each call, in the
/// order of their declarations, and borrowed for that call only. `begin` comes first: it makes new outputs
/// and empties the stack, so what the program shall find there is pushed afterwards.
fn compile_and_run() {
    let program = Arc::new(Compiled::new(LISTS).unwrap());
    let mut machine = Machine::new(Arc::clone(&program), Limits::default());
    let data = lists(&[&[1.0, 2.0], &[], &[3.0]]);
    machine.begin();
    machine.push(3).unwrap();
    assert_eq!(machine.resume(&[&data]), Ok(Status::Done));

    let [offsets, content] = machine.outputs() else { unreachable!("two are declared") };
    assert_eq!(
        (program.outputs()[0].name.as_str(), offsets.dtype(), offsets.len()),
        ("offsets", DType::Int64, 3)
    );
    // Bytes in native order for who is in a hurry, values for who is not.
    assert_eq!(content.as_bytes(), [1.0_f32, 2.0, 3.0].map(f32::to_ne_bytes).concat());
    assert_eq!(offsets.values().next_back(), Some(Value::Signed(3)));
    assert_eq!(machine.position(0), data.len());

    // Machines have items of 64 bits, or of 32.
    let mut small = Machine::new32(Arc::new(Compiled::new("2147483647 1+").unwrap()), Limits::default());
    assert_eq!((small.run(&[]), small.stack()), (Ok(Status::Done), &[-2_147_483_648][..]));
    // Literals are cut to 32 bits in either, as in awkward's machine; that can be noticed, and switched off.
    assert_eq!(Compiled::new("1 5000000000").unwrap().cut_literals(), [(1, 3)]);
    let wide = Options::default().literal_width(LiteralWidth::Bits64);
    assert!(Compiled::with_options("1 5000000000", wide).unwrap().cut_literals().is_empty());
}

/// Files come in blocks. `begin_again` takes new inputs and goes on writing the same outputs.
fn many_blocks() {
    let mut machine = Machine::new(Arc::new(Compiled::new(LISTS).unwrap()), Limits::default());
    machine.begin();
    for (number, block) in [lists(&[&[1.0], &[2.0, 3.0]]), lists(&[&[4.0]])].iter().enumerate() {
        if number > 0 {
            machine.begin_again(true).unwrap();
        }
        machine.push(2 - number as i64).unwrap();
        assert_eq!(machine.resume(&[block]), Ok(Status::Done));
    }
    let offsets: Vec<String> = machine.outputs()[0].values().map(|value| value.to_string()).collect();
    assert_eq!(offsets, ["1", "3", "4"]);
}

/// `pause` in a program returns to the caller with everything kept. Until `resume`, the stack may be changed,
/// and the next call may have other inputs; a position beyond the end of one is an error then.
fn pause_and_resume() {
    let program = Compiled::new("output numbers int64 begin pause numbers <- stack again").unwrap();
    let mut machine = Machine::new(Arc::new(program), Limits::default());
    machine.begin();
    assert_eq!(machine.resume(&[]), Ok(Status::Paused));
    for number in [3, 1, 4] {
        machine.push(number).unwrap();
        assert_eq!(machine.resume(&[]), Ok(Status::Paused));
    }
    assert_eq!(machine.outputs()[0].len(), 3);
}

/// Words of the program can be called, also while it is paused: they run on top of what is pending.
fn call_words() {
    let program = Compiled::new("variable total : add total +! ; pause total @").unwrap();
    let mut machine = Machine::new(Arc::new(program), Limits::default());
    machine.run(&[]).unwrap();
    for number in [20, 22] {
        machine.push(number).unwrap();
        assert_eq!(machine.call("add", &[]), Ok(Status::Done));
    }
    assert_eq!(machine.call("subtract", &[]), Err(RunError::UnknownWord));
    assert_eq!(machine.resume(&[]), Ok(Status::Done));
    assert_eq!((machine.stack(), machine.variables()), (&[42][..], &[42][..]));
}

/// `step` executes one instruction. `settle` leaves finished bodies first, so that the next instruction is
/// known.
fn step_through() {
    let program = Arc::new(Compiled::new("2 0 do\n  i 10 *\nloop").unwrap());
    let mut machine = Machine::new(Arc::clone(&program), Limits::default());
    machine.begin();
    let mut trace = Vec::new();
    while machine.settle(&[]) == Ok(Status::Paused) {
        let place = program.location(machine.bytecode_position().unwrap());
        machine.step(&[]).unwrap();
        trace.push(format!("{}:{} {} {:?}", place.line, place.column, place.instruction, machine.stack()));
        if machine.is_done() {
            break;
        }
    }
    assert_eq!(trace[..4], ["1:1 2 [2]", "1:3 0 [2, 0]", "1:5 do []", "2:3 i [0]"]);
    assert_eq!((trace.len(), machine.stack()), (9, &[0, 10][..]));
}

/// Errors are kinds with places. After one, outputs keep what was written, and the machine keeps the error
/// until `begin` or `clear_error`.
fn errors_have_places() {
    let error = Compiled::new("input data\ndata foo-> stack").unwrap_err();
    assert_eq!((error.kind(), error.line(), error.column()), (CompileErrorKind::InputWithoutAction, 2, 1));

    let mut machine = Machine::new(Arc::new(Compiled::new(LISTS).unwrap()), Limits::default());
    machine.begin();
    machine.push(5).unwrap();
    assert_eq!(machine.resume(&[&lists(&[&[1.0], &[2.0]])]), Err(RunError::ReadBeyond));
    let place = machine.error_location().unwrap();
    assert_eq!((place.line, place.column, place.instruction.as_str()), (5, 3, "data !I-> stack"));
    // The pass of the outermost loop: for a reader, the entry.
    assert_eq!((machine.outer_index(), machine.outputs()[1].len()), (Some(2), 2));
    assert_eq!(machine.resume(&[&[]]), Err(RunError::ReadBeyond));
    machine.clear_error();

    // A fault of the data that the program itself finds: `halt`, with a number on the stack that says which.
    let mut machine = Machine::new(Arc::new(Compiled::new("7 halt").unwrap()), Limits::default());
    assert_eq!(machine.run(&[]), Err(RunError::UserHalt(Some(7))));

    // What a hostile program or hostile data may take is limited.
    let mut limits = Limits::default();
    limits.output_bytes = Some(1 << 20);
    let endless = Compiled::new("output y int64 begin 1 y <- stack again").unwrap();
    assert_eq!(Machine::new(Arc::new(endless), limits).run(&[]), Err(RunError::OutputLimitExceeded));
}

/// A column with room for a number of items that is known beforehand.
struct Column(Vec<u64>, usize);

impl Column {
    fn with_room(bytes: usize) -> Box<Self> {
        let bytes = bytes.next_multiple_of(8);
        Box::new(Self(vec![0; (LEAD + bytes + SLACK) / 8], bytes))
    }
}

// SAFETY: the vector is not touched while an output has it; it spans the leading bytes, the capacity and the
// slack, and u64 is aligned for every dtype. It never grows.
unsafe impl Memory for Column {
    fn as_ptr(&self) -> *mut u8 {
        self.0.as_ptr().cast::<u8>().cast_mut().wrapping_add(LEAD)
    }

    fn capacity(&self) -> usize {
        self.1
    }

    fn grow(&mut self, _: usize, _: usize) -> Result<(), OutOfMemory> {
        Err(OutOfMemory)
    }
}

/// Outputs may write into memory of yours, and be taken out of the machine without a copy.
fn memory_of_your_own() {
    let mut machine = Machine::new(Arc::new(Compiled::new(LISTS).unwrap()), Limits::default());
    let offsets = Output::new(DType::Int64, Column::with_room(8 * 8));
    let content = Output::new(DType::Float32, Column::with_room(4 * 2));
    machine.begin_with(vec![offsets, content]).unwrap();
    machine.push(2).unwrap();
    // Room for two numbers: the second list does not fit.
    assert_eq!(machine.resume(&[&lists(&[&[1.0, 2.0], &[3.0]])]), Err(RunError::OutOfMemory));
    let outputs = machine.take_outputs();
    assert_eq!(outputs[1].as_bytes(), [1.0_f32, 2.0].map(f32::to_ne_bytes).concat());
}

/// There are several ways to execute a program, with equal results. The machine chooses; `explain` says what
/// it can do.
fn tiers() {
    let program = Arc::new(Compiled::new(LISTS).unwrap());
    assert!(program.explain().contains("native"));
    let data = lists(&[&[1.0, 2.0], &[3.0]]);
    let columns = [Tier::Checked, Tier::Fused, Tier::Compiled].map(|tier| {
        let mut machine = Machine::new(Arc::clone(&program), Limits::default());
        machine.force_tier(Some(tier));
        machine.begin();
        machine.push(2).unwrap();
        machine.resume(&[&data]).unwrap();
        machine.outputs()[1].as_bytes().to_vec()
    });
    assert!(columns.iter().all(|column| *column == columns[0]));
}

/// Programs are made at run time, and mostly the same few: keep them. A `Compiled` is shared by threads, a
/// machine moves between them.
fn many_threads() {
    let programs = Programs::default();
    let total = Mutex::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            let (programs, total) = (&programs, &total);
            scope.spawn(move || {
                let mut machine =
                    Machine::new(programs.get(": square dup * ; square").unwrap(), Limits::default());
                machine.begin();
                machine.push(thread).unwrap();
                machine.resume(&[]).unwrap();
                *total.lock().unwrap() += machine.pop().unwrap();
            });
        }
    });
    assert_eq!((*total.lock().unwrap(), programs.len()), (1 + 4 + 9, 1));
}
