//! Section by section: errors.

use super::*;

#[test]
fn the_stack_at_the_time_of_each_error() {
    for (source, error, left) in [
        ("1 2 halt", RunError::UserHalt(Some(2)), &[1, 2][..]),
        ("1 +", RunError::StackUnderflow, &[1]),
        ("input x 1 9 x peek", RunError::ReadBeyond, &[1]),
        ("input x 1 9 x #B-> stack", RunError::ReadBeyond, &[1]),
        ("input x 1 9 x seek", RunError::SeekBeyond, &[1]),
        ("input x 1 9 x skip", RunError::SkipBeyond, &[1]),
        ("output y int8 1 9 y rewind", RunError::RewindBeyond, &[1]),
        ("output y int8 1 9 y dup", RunError::RewindBeyond, &[1]),
        ("5 1 0 /", RunError::DivisionByZero, &[5, 1]),
        ("5 1 0 mod", RunError::DivisionByZero, &[5, 1]),
        ("5 1 0 /mod", RunError::DivisionByZero, &[5, 1, 0]),
    ] {
        let inputs = vec![&[][..]; Compiled::new(source).unwrap().inputs().len()];
        assert_eq!(fails(source, &inputs), (error, left.to_vec()), "{source}");
    }
}

#[test]
fn depth_is_exceeded_with_the_operands_popped() {
    let mut limits = Limits::default();
    limits.recursion = 1;
    for (source, left) in
        [("7 1 if then", &[7][..]), ("7 0 if else then", &[7]), ("7 0 case 0 of endof endcase", &[7])]
    {
        let mut vm = Machine::new(Arc::new(Compiled::new(source).unwrap()), limits);
        assert_eq!(vm.run(&[]), Err(RunError::RecursionDepthExceeded));
        assert_eq!(vm.stack(), left, "{source}");
    }
}

#[test]
fn every_error_has_awkwards_name() {
    let names: Vec<&str> = [
        RunError::UserHalt(None),
        RunError::RecursionDepthExceeded,
        RunError::StackUnderflow,
        RunError::StackOverflow,
        RunError::ReadBeyond,
        RunError::SeekBeyond,
        RunError::SkipBeyond,
        RunError::RewindBeyond,
        RunError::DivisionByZero,
        RunError::VarintTooBig,
        RunError::TextNumberMissing,
        RunError::QuotedStringMissing,
        RunError::EnumerationMissing,
    ]
    .iter()
    .map(|error| error.name())
    .collect();
    assert_eq!(
        names.join(", "),
        "user halt, recursion depth exceeded, stack underflow, stack overflow, read beyond, seek beyond, skip beyond, rewind beyond, division by zero, varint too big, text number missing, quoted string missing, enumeration missing"
    );
    assert!(RunError::ReadBeyond.to_string().starts_with("'read beyond' in AwkwardForth runtime: "));
}

#[test]
fn an_error_stays_and_its_instruction_is_passed_but_not_counted() {
    let mut vm = Machine::new(
        Arc::new(Compiled::new("output y int8 5 y <- stack 1 0 / 9").unwrap()),
        Limits::default(),
    );
    vm.force_tier(Some(Tier::Checked));
    assert_eq!(vm.run(&[]), Err(RunError::DivisionByZero));
    assert_eq!((vm.counters().instructions, vm.bytecode_position()), (4, Some(9)));
    assert!(vm.is_ready() && !vm.is_done());
    assert_eq!(vm.outputs()[0].as_bytes(), [5]);
    assert_eq!(
        (vm.resume(&[]), vm.step(&[])),
        (Err(RunError::DivisionByZero), Err(RunError::DivisionByZero))
    );
    vm.clear_error();
    assert_eq!((vm.resume(&[]), vm.stack()), (Ok(Status::Done), &[1, 9][..]));
}

#[test]
fn states() {
    let mut vm = Machine::new(Arc::new(Compiled::new("1 pause 2").unwrap()), Limits::default());
    vm.force_tier(Some(Tier::Checked));
    let state = |vm: &Machine| (vm.is_ready(), vm.is_done());
    assert_eq!(state(&vm), (false, true));
    vm.begin();
    assert_eq!(state(&vm), (true, false));
    vm.resume(&[]).unwrap();
    assert_eq!((state(&vm), vm.bytecode_position(), vm.recursion_depth()), ((true, false), Some(3), Some(1)));
    vm.resume(&[]).unwrap();
    assert_eq!((state(&vm), vm.bytecode_position()), ((true, true), None));
    vm.reset();
    assert_eq!((state(&vm), vm.stack()), ((false, true), &[][..]));
    assert_eq!(vm.counters().instructions, 3, "counters are not touched");
    // What was pushed before `begin` is lost.
    vm.push(5).unwrap();
    vm.run(&[]).unwrap();
    assert_eq!(vm.stack(), [1]);
}

#[test]
fn begin_again_goes_on_with_new_inputs() {
    let mut vm = Machine::new(
        Arc::new(Compiled::new("input x x B-> stack pause x B-> stack").unwrap()),
        Limits::default(),
    );
    vm.begin();
    vm.resume(&[&[1, 2]]).unwrap();
    vm.begin_again(false).unwrap();
    assert_eq!(vm.position(0), 0);
    assert_eq!(vm.resume(&[&[7, 8]]), Ok(Status::Done));
    assert_eq!(vm.stack(), [1, 7]);
    vm.begin_again(true).unwrap();
    assert_eq!(vm.resume(&[&[9]]), Ok(Status::Paused));
    assert_eq!(vm.stack(), [1, 7, 9]);
}
