//! Driving a machine from outside: states, pauses, calls, steps, limits, errors.

use std::sync::Arc;

use forthwith_forth::{Compiled, DType, Limits, Machine, Output, RunError, Status, Tier};

use super::support::{TIERS, i64s, run};

fn machine(source: &str) -> Machine {
    Machine::new(Arc::new(Compiled::new(source).unwrap()), Limits::default())
}

fn forced(source: &str, tier: Tier) -> Machine {
    let mut vm = machine(source);
    vm.force_tier(Some(tier));
    vm
}

#[test]
fn pause_keeps_everything() {
    let mut vm = machine("3 0 do i pause loop");
    assert_eq!(vm.resume(&[]), Err(RunError::NotReady));
    vm.begin();
    for expected in [vec![0], vec![0, 1], vec![0, 1, 2]] {
        assert_eq!(vm.resume(&[]), Ok(Status::Paused));
        assert_eq!(vm.stack(), expected);
    }
    assert_eq!(vm.resume(&[]), Ok(Status::Done));
    assert_eq!(vm.resume(&[]), Err(RunError::IsDone));
    vm.run(&[]).unwrap();
    assert_eq!(vm.stack(), [0]);
}

#[test]
fn pause_at_the_very_end_is_done() {
    assert_eq!(machine("1 pause").run(&[]), Ok(Status::Done));
    assert_eq!(machine("1 if pause then").run(&[]), Ok(Status::Paused));
}

#[test]
fn halt_carries_the_top_of_the_stack() {
    let mut vm = machine("1 7 halt");
    assert_eq!(vm.run(&[]), Err(RunError::UserHalt(Some(7))));
    assert_eq!(vm.stack(), [1, 7]);
    assert!(!vm.is_ready() && vm.is_done());
    assert_eq!(vm.resume(&[]), Err(RunError::NotReady));
    assert_eq!(machine("halt").run(&[]), Err(RunError::UserHalt(None)));
}

#[test]
fn errors_stay_until_begin() {
    let mut vm = machine(": f 1 ; input x x B-> stack");
    assert_eq!(vm.run(&[&[]]), Err(RunError::ReadBeyond));
    assert_eq!(vm.resume(&[&[1]]), Err(RunError::ReadBeyond));
    assert_eq!(vm.call("f", &[&[1]]), Err(RunError::ReadBeyond));
    let at = vm.error_location().unwrap();
    assert_eq!((at.bytecode, at.line, at.column, at.word.as_deref()), (1 - 1, 1, 17, None));
    assert_eq!(at.instruction, "x B-> stack");
    assert_eq!(vm.run(&[&[1]]), Ok(Status::Done));
}

#[test]
fn errors_name_the_word_and_the_entry() {
    let (vm, result) = run("input x\n: item\n  x !i-> stack drop ;\n0 do item loop", &[3], &[&[0; 9]]);
    assert_eq!(result, Err(RunError::ReadBeyond));
    let at = vm.error_location().unwrap();
    assert_eq!((at.line, at.column, at.word.as_deref()), (3, 3, Some("item")));
    assert_eq!((vm.outer_index(), vm.position(0)), (Some(2), 8));
}

#[test]
fn call_runs_on_top_of_what_is_pending() {
    let mut vm = machine(": f 10 pause 20 ; 1 pause 2");
    vm.begin();
    vm.resume(&[]).unwrap();
    assert_eq!(vm.call("f", &[]), Ok(Status::Paused));
    assert_eq!(vm.resume(&[]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 10, 20]);
    assert_eq!(vm.resume(&[]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 10, 20, 2]);
    assert_eq!(vm.call("f", &[]), Ok(Status::Paused));
    assert_eq!(vm.call("g", &[]), Err(RunError::UnknownWord));
}

#[test]
fn superfluous_resume_does_not_block_call() {
    let mut vm = machine(": f 10 ; 1");
    vm.run(&[]).unwrap();
    assert_eq!(vm.resume(&[]), Err(RunError::IsDone));
    assert_eq!(vm.call("f", &[]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 10]);
}

#[test]
fn begin_again_keeps_stack_and_outputs() {
    let mut vm = machine("input x output y int64 x q-> y 5");
    let block = 3_i64.to_le_bytes();
    vm.run(&[&block]).unwrap();
    vm.begin_again(true).unwrap();
    vm.resume(&[&block]).unwrap();
    assert_eq!(vm.stack(), [5, 5]);
    assert_eq!(i64s(&vm.outputs()[0]), [3, 3]);
    for _ in 0..2000 {
        if let Err(error) = vm.begin_again(true) {
            assert_eq!(error, RunError::RecursionDepthExceeded);
            return;
        }
    }
    panic!("the return stack has a limit");
}

#[test]
fn step_goes_one_instruction_at_a_time() {
    let mut vm = machine("2 0 do i loop 9");
    vm.begin();
    let mut positions = Vec::new();
    while vm.step(&[]) == Ok(Status::Paused) {
        positions.push((vm.bytecode_position(), vm.recursion_depth()));
    }
    assert_eq!(vm.stack(), [0, 1, 9]);
    assert!(positions.contains(&(Some(2), Some(1))), "{positions:?}");
    assert_eq!(vm.compiled().instruction(2).as_deref(), Some("0"));
}

#[test]
fn counters_are_those_of_awkward() {
    for (source, count) in [
        ("5 3 +", 3),
        ("3 0 do i drop loop", 12),
        ("3 0 do loop", 6),
        ("begin 1 until", 3),
        ("1 begin dup while 1- repeat", 9),
        ("0 case 0 of 1 endof endcase", 4),
        ("1 0 /", 2),
    ] {
        let mut vm = machine(source);
        vm.force_tier(Some(Tier::Checked));
        let _ = vm.run(&[]);
        assert_eq!(vm.counters().instructions, count, "{source}");
        assert!(vm.counters_exact());
        vm.force_tier(Some(Tier::Fused));
        let _ = vm.run(&[]);
        // The one with `case` leaves one item or none, so it is not static.
        assert_eq!(vm.counters_exact(), source.contains("case"), "{source}");
        vm.reset_counters();
        assert!(vm.counters_exact());
    }
    let mut vm = machine("input x output y int32 x #varint-> y x i-> stack 1 y <- stack");
    vm.force_tier(Some(Tier::Checked));
    vm.begin();
    vm.push(2).unwrap();
    vm.resume(&[&[1, 2, 3, 4, 5, 6]]).unwrap();
    assert_eq!((vm.counters().reads, vm.counters().writes), (2, 2));
}

#[test]
fn recursion_has_the_documented_depth() {
    let depth = |source: &str| {
        let mut vm = machine(source);
        assert_eq!(vm.run(&[]), Err(RunError::RecursionDepthExceeded));
        vm.variables()[0]
    };
    assert_eq!(depth("variable n : f 1 n +! f ; f"), 1023);
    assert_eq!(depth("variable n : f 1 n +! 1 if f then ; f"), 512);
}

#[test]
fn output_limit_is_exact() {
    for (limit, fits) in [(79, false), (80, true)] {
        let program =
            Compiled::new("output a int64 output b int64 5 0 do i a <- stack i b <- stack loop").unwrap();
        let mut limits = Limits::default();
        limits.output_bytes = Some(limit);
        let mut vm = Machine::new(Arc::new(program), limits);
        let result = vm.run(&[]);
        assert_eq!(result.is_ok(), fits);
        if !fits {
            assert_eq!(result, Err(RunError::OutputLimitExceeded));
            assert_eq!((vm.outputs()[0].len(), vm.outputs()[1].len()), (5, 4));
        }
    }
}

#[test]
fn absurd_counts_fail_cleanly() {
    let mut vm = machine("output y int64 1 y <- stack y dup");
    vm.begin();
    vm.push(i64::MAX).unwrap();
    vm.force_tier(None);
    // The order on the stack: the count is below the item written first.
    assert_eq!(vm.resume(&[]), Err(RunError::OutOfMemory));
    let (_, result) = run("input x output y int64 x #q-> y", &[1 << 61], &[&[0; 16]]);
    assert_eq!(result, Err(RunError::ReadBeyond));
    let (_, result) = run("input x x #q-> stack", &[1 << 61], &[&[0; 16]]);
    assert_eq!(result, Err(RunError::ReadBeyond));
}

#[test]
fn outputs_can_be_given_and_taken() {
    let mut vm = machine("output y int64 1 y +<- stack");
    assert_eq!(vm.begin_with(vec![]), Err(RunError::OutputMismatch));
    assert_eq!(vm.begin_with(vec![Output::owned(DType::Int32)]), Err(RunError::OutputMismatch));
    vm.begin_with(vec![Output::owned(DType::Int64)]).unwrap();
    vm.resume(&[]).unwrap();
    let outputs = vm.take_outputs();
    assert_eq!(i64s(&outputs[0]), [1]);
    vm.begin_with(outputs).unwrap();
    vm.resume(&[]).unwrap();
    assert_eq!(i64s(&vm.outputs()[0]), [1, 2]);
}

#[test]
fn inputs_must_fit() {
    let mut vm = machine("input x x B-> stack pause");
    vm.begin();
    assert_eq!(vm.resume(&[]), Err(RunError::InputMismatch));
    vm.set_position(0, 2);
    assert_eq!(vm.resume(&[&[1]]), Err(RunError::InputMismatch));
    assert_eq!(vm.resume(&[&[1, 2, 3]]), Ok(Status::Done));
    assert_eq!(vm.stack(), [3]);
}

#[test]
fn settling_shows_the_next_instruction_and_changes_nothing() {
    let mut plain = machine("3 0 do i 2 0 do loop loop : f 7 ; f");
    let mut settled = machine("3 0 do i 2 0 do loop loop : f 7 ; f");
    plain.begin();
    settled.begin();
    assert_eq!(settled.loops().count(), 0);
    loop {
        let ready = settled.settle(&[]);
        if ready != Ok(Status::Done) {
            assert!(settled.bytecode_position().is_some());
        }
        let (a, b) = (plain.step(&[]), if ready == Ok(Status::Paused) { settled.step(&[]) } else { ready });
        assert_eq!((a, plain.stack(), plain.counters()), (b, settled.stack(), settled.counters()));
        assert!(settled.loops().all(|(index, stop)| index <= stop));
        if a == Ok(Status::Done) {
            break;
        }
    }
    assert_eq!(settled.settle(&[]), Err(RunError::IsDone));
    let mut broken = machine("1 0 do +loop");
    broken.begin();
    broken.step(&[]).unwrap();
    broken.step(&[]).unwrap();
    broken.step(&[]).unwrap();
    assert_eq!(broken.settle(&[]), Err(RunError::StackUnderflow));
    assert_eq!(
        (broken.error(), broken.step(&[])),
        (Some(RunError::StackUnderflow), Err(RunError::StackUnderflow))
    );
}

/// As awkward's machine has it, but for the empty `resume` that it wants at the end.
#[test]
fn begin_again_on_what_is_pending_runs_both_to_the_end() {
    for tier in TIERS {
        let mut vm = forced("1 pause 2", tier);
        vm.begin();
        assert_eq!(vm.resume(&[]), Ok(Status::Paused));
        vm.begin_again(true).expect("ready");
        assert_eq!(vm.recursion_depth(), Some(2));
        assert_eq!(vm.resume(&[]), Ok(Status::Paused));
        assert_eq!(vm.resume(&[]), Ok(Status::Done));
        assert_eq!(vm.stack(), [1, 1, 2, 2]);
        assert_eq!(vm.resume(&[]), Err(RunError::IsDone));
    }
}

/// What a called word leaves behind at its end is what it was called on, whether it gets there by steps or by
/// a `pause` at the end.
#[test]
fn a_called_word_is_left_at_its_end() {
    for tier in TIERS {
        let mut stepped = forced(": g pause 9 8 ; 1 pause 3 4", tier);
        assert_eq!(stepped.run(&[]), Ok(Status::Paused));
        let place = stepped.bytecode_position();
        assert_eq!(stepped.call("g", &[]), Ok(Status::Paused));
        assert_eq!(stepped.step(&[]), Ok(Status::Paused));
        assert_eq!(stepped.step(&[]), Ok(Status::Paused));
        assert_eq!((stepped.bytecode_position(), stepped.recursion_depth()), (place, Some(1)));
        assert_eq!(stepped.resume(&[]), Ok(Status::Done));
        assert_eq!(stepped.stack(), [1, 9, 8, 3, 4]);

        let mut paused = forced(": g 9 pause ; 1 pause 3 4", tier);
        assert_eq!(paused.run(&[]), Ok(Status::Paused));
        assert_eq!(paused.call("g", &[]), Ok(Status::Paused));
        assert_eq!((paused.bytecode_position(), paused.recursion_depth()), (Some(3), Some(1)));
        assert_eq!(paused.resume(&[]), Ok(Status::Done));
        assert_eq!(paused.stack(), [1, 9, 3, 4]);
    }
}

#[test]
fn places_are_those_of_the_text() {
    let pairs = if cfg!(miri) { 40 } else { 4_000 };
    let source = "1 drop\n( é ) 2 drop\n".repeat(pairs);
    let compiled = Compiled::new(&source).expect("a program");
    let last = compiled.bytecodes().len() - 1;
    assert_eq!((compiled.location(0).line, compiled.location(0).column), (1, 1));
    assert_eq!((compiled.location(last).line, compiled.location(last).column), (2 * pairs, 9));
    // Not by looking through the whole text for each.
    assert!((0..=last).all(|at| compiled.location(at).line <= 2 * pairs));
}
