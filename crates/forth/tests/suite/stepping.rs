//! What is seen of a machine between instructions, and of its outputs while it goes on: as awkward's shows
//! it, observed there.

use std::sync::Arc;

use forthwith_forth::{Compiled, DType, Limits, Machine, Output, RunError, Status, Tier};

use super::support::{fails, run};

fn machine(source: &str) -> Machine {
    let mut machine = Machine::new(Arc::new(Compiled::new(source).unwrap()), Limits::default());
    machine.force_tier(Some(Tier::Checked));
    machine
}

/// Position and depth before each step.
fn steps(source: &str) -> Vec<(Option<usize>, Option<usize>)> {
    let mut vm = machine(source);
    vm.begin();
    let mut seen = Vec::new();
    while !vm.is_done() {
        seen.push((vm.bytecode_position(), vm.recursion_depth()));
        vm.step(&[]).unwrap();
    }
    seen
}

fn at(position: usize, depth: usize) -> (Option<usize>, Option<usize>) {
    (Some(position), Some(depth))
}

#[test]
fn the_end_of_a_body_is_left_at_once() {
    assert_eq!(steps(": w 7 8 ; w 9"), [at(0, 1), at(3, 2), at(5, 2), at(1, 1)]);
    assert_eq!(steps("1 if 2 else 3 then 4"), [at(0, 1), at(2, 1), at(7, 2), at(5, 1)]);
}

#[test]
fn the_body_of_an_if_is_an_instruction() {
    assert_eq!(steps("1 if 2 then 4"), [at(0, 1), at(2, 1), at(3, 1), at(6, 2), at(4, 1)]);
    assert_eq!(steps("0 if 2 then 4"), [at(0, 1), at(2, 1), at(4, 1)]);
    let compiled = Compiled::new("1 if 2 3 then 4").unwrap();
    assert_eq!(compiled.instruction(3).as_deref(), Some("2\n3"));
    assert_eq!(compiled.instruction(1), None);
    let source =
        ": twice dup + ; 5 twice 1 if 3 then 2 0 do i loop 0 begin 1+ dup 3 < while repeat 3 0 do 2 +loop";
    let compiled = Compiled::new(source).unwrap();
    for position in steps(source).into_iter().filter_map(|(position, _)| position) {
        assert!(compiled.instruction(position).is_some(), "{position}");
    }
    assert_eq!(steps("0 if 2 else 3 then 4"), [at(0, 1), at(2, 1), at(4, 1), at(9, 2), at(5, 1)]);
}

#[test]
fn a_pause_at_the_end_of_a_body_is_seen_outside_of_it() {
    for (source, seen) in [
        ("1 if pause then 5", at(4, 1)),
        (": w pause ; w 3", at(1, 1)),
        ("begin pause again", at(1, 1)),
        ("3 0 do 1 pause loop 9", at(5, 1)),
        ("3 0 do pause 2 loop 7", at(9, 2)),
    ] {
        let mut vm = machine(source);
        assert_eq!(vm.run(&[]), Ok(Status::Paused));
        assert_eq!((vm.bytecode_position(), vm.recursion_depth()), seen, "{source}");
    }
    let mut vm = machine("1 if 1 if pause then then 3");
    vm.run(&[]).unwrap();
    assert_eq!((vm.bytecode_position(), vm.recursion_depth()), (None, Some(2)));
}

#[test]
fn what_is_counted_when_something_stops() {
    for (source, count) in [("1 halt", 2), ("1 0 /", 2), ("1 if 2 then", 4), ("0 if 2 else 3 then", 4)] {
        let mut vm = machine(source);
        let _ = vm.run(&[]);
        assert_eq!(vm.counters().instructions, count, "{source}");
    }
}

#[test]
fn a_byte_that_breaks_a_text_is_not_consumed() {
    use RunError::{QuotedStringMissing as Quoted, ReadBeyond, TextNumberMissing as Number};
    for (text, error, position) in [
        ("", ReadBeyond, 0),
        ("a", Quoted, 0),
        ("\"", Quoted, 1),
        ("\"a", Quoted, 2),
        ("\"a\\", Quoted, 3),
        ("\"a\\q\"", Quoted, 3),
        ("\"\\u00\"", Quoted, 2),
        ("\"\\u00zz\"", Quoted, 5),
    ] {
        let (vm, result) = run("input x output o uint8 x quotedstr-> o", &[], &[text.as_bytes()]);
        assert_eq!((result, vm.position(0)), (Err(error), position), "{text}");
    }
    for (text, error, position) in [
        ("", ReadBeyond, 0),
        ("-", Number, 1),
        ("1.", Number, 2),
        ("1e", Number, 2),
        ("1e+", Number, 3),
        ("x", Number, 0),
    ] {
        let (vm, result) = run("input x output o float64 x textfloat-> o", &[], &[text.as_bytes()]);
        assert_eq!((result, vm.position(0)), (Err(error), position), "{text}");
    }
    assert_eq!(fails("input x x textint-> stack", &[b"-"]).0, Number);
}

#[test]
fn floats_that_do_not_fit_a_stack_of_32_bits_are_its_smallest_number() {
    let compiled = Arc::new(Compiled::new("input x 3 x #d-> stack").unwrap());
    let mut vm = Machine::new32(compiled, Limits::default());
    let bytes: Vec<u8> = [3e9, f64::NAN, -7.9].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
    vm.run(&[&bytes]).unwrap();
    assert_eq!(vm.stack(), [i64::from(i32::MIN), i64::from(i32::MIN), -7]);
}

fn leased(output: &Output) -> Vec<u8> {
    output.as_bytes().to_vec()
}

#[test]
fn a_lease_keeps_the_bytes_where_they_are() {
    let mut vm = machine("output o uint8 0 begin dup o <- stack 1+ pause again");
    vm.begin_with(vec![Output::growing(DType::UInt8, 0, 1.0)]).unwrap();
    let mut leases = Vec::new();
    for _ in 0..5000 {
        vm.resume(&[]).unwrap();
        let lease = vm.outputs()[0].lease().unwrap();
        assert_eq!(lease.len(), vm.outputs()[0].len());
        leases.push((lease, leased(&vm.outputs()[0])));
    }
    vm.begin();
    drop(vm);
    for (lease, bytes) in &leases {
        assert_eq!((lease.dtype(), lease.is_empty()), (DType::UInt8, false));
        // SAFETY: the lease keeps these bytes there, and there are no writers to them any more.
        let kept = unsafe { std::slice::from_raw_parts(lease.address() as *const u8, lease.len()) };
        assert_eq!(kept, bytes);
    }
    assert!(leases[0].0.address() != leases[4999].0.address());
}

#[test]
fn outputs_without_a_lease_grow_where_they_are_or_move() {
    for (items, factor) in
        [(0, 1.0), (10, 1.5), (100_000, 2.0), (usize::MAX, f64::INFINITY), (3, f64::NAN), (0, -1.0)]
    {
        let mut vm = machine("output o int64 100000 0 do i o <- stack loop");
        vm.begin_with(vec![Output::growing(DType::Int64, items, factor)]).unwrap();
        assert_eq!(vm.resume(&[]), Ok(Status::Done), "{items} {factor}");
        let bytes = vm.outputs()[0].as_bytes();
        assert_eq!(bytes.len(), 800_000);
        let expected: Vec<u8> = (0..100_000_i64).flat_map(i64::to_ne_bytes).collect();
        assert!(bytes == expected);
    }
}

#[test]
fn an_empty_output_is_leased_as_well() {
    let lease = Output::owned(DType::Int32).lease().unwrap();
    assert!(lease.is_empty());
    assert!(lease.address() != 0);
}
