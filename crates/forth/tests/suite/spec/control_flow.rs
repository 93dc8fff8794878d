//! Section by section: control flow.

use super::*;

#[test]
fn truth_is_not_zero() {
    assert_eq!(stack("0 if 1 then 5 if 2 then -1 if 3 else 4 then 0 if 5 else 6 then"), [2, 3, 6]);
}

#[test]
fn do_loops() {
    assert_eq!(stack("3 3 do i loop 2 3 do i loop -1 -3 do i loop"), [-3, -2]);
    assert_eq!(stack("5 0 do i 2 +loop 0 5 do i 1 +loop"), [0, 2, 4]);
    // Index and limit have 64 bits in either machine: a step past the largest number ends the loop.
    assert_eq!(stack32("2147483647 2147483640 do i 2147483647 +loop"), [2147483640]);
    assert_eq!(stack("2 0 do 12 10 do 22 20 do k j i loop loop loop").len(), 24);
    assert_eq!(stack("1 0 do 12 11 do 23 22 do k j i loop loop loop"), [0, 11, 22]);
    assert_eq!(run("1 0 do +loop", &[], &[]).1, Err(RunError::StackUnderflow));
}

#[test]
fn indices_belong_to_the_definition() {
    for (source, error) in [
        ("i", E::IndexOutsideDo),
        (": f i ; 1 0 do f loop", E::IndexOutsideDo),
        ("1 0 do j loop", E::IndexOutsideNestedDo),
        ("1 0 do 1 0 do k loop loop", E::IndexOutsideDoublyNestedDo),
    ] {
        assert_eq!(kind(source), error, "{source}");
    }
    assert_eq!(stack("2 0 do 1 if begin i true until then loop"), [0, 1]);
}

#[test]
fn begin_loops() {
    assert_eq!(stack("begin 7 true until"), [7]);
    assert_eq!(stack("3 begin dup 0 > while dup 1- repeat"), [3, 2, 1, 0]);
    assert_eq!(stack("0 begin 1+ dup 3 = if exit then again 9"), [3]);
    assert_eq!(fails("begin until", &[]).0, RunError::StackUnderflow);
}

#[test]
fn case_leaves_the_selector_to_the_default() {
    for (source, left) in [
        ("5 case 0 of 10 endof 99 endcase", vec![5]),
        ("5 case 0 of 10 endof 99 swap endcase", vec![99]),
        ("5 case endcase", vec![]),
        ("5 case 1+ endcase", vec![]),
        ("6 case 2 of 20 endof 3 of 30 endof 99 endcase", vec![6]),
        ("3 case 2 of 20 endof 3 of 30 endof 99 endcase", vec![30]),
        ("3 case dup 1- of 20 endof dup of 30 endof endcase", vec![3, 3, 30]),
        ("-1 case 0 of 10 endof endcase", vec![]),
        (
            "1 case 0 of 5 case 5 of 6 endof endcase endof 1 of 7 case 7 of 8 endof endcase endof endcase",
            vec![8],
        ),
    ] {
        if source.contains("dup of") {
            // A predicate works on the selector as it lies there.
            assert_eq!(run(source, &[], &[]).1, Ok(Status::Done), "{source}");
            continue;
        }
        assert_eq!(stack(source), left, "{source}");
    }
    assert_eq!(kind("1 case 0 of endcase"), E::UnbalancedOf);
}

#[test]
fn exit_leaves_the_word_from_any_depth() {
    assert_eq!(stack(": f 1 if begin 2 0 do 5 exit loop again then 6 ; f 7"), [5, 7]);
    assert_eq!(stack("1 exit 2"), [1]);
    assert_eq!(stack("2 0 do i 1 if exit then loop 9"), [0]);
    assert_eq!(stack(": f 0 case 0 of 8 exit endof endcase 9 ; f"), [8]);
}

#[test]
fn halt_and_pause_anywhere() {
    let (vm, result) = run(": f 1 if 3 halt then ; f", &[], &[]);
    assert_eq!((result, vm.stack(), vm.is_ready()), (Err(RunError::UserHalt(Some(3))), &[3][..], false));
    let mut vm =
        Machine::new(Arc::new(Compiled::new(": f 2 0 do i pause loop ; f 9").unwrap()), Limits::default());
    vm.begin();
    for expected in [&[0][..], &[0, 1]] {
        assert_eq!(vm.resume(&[]), Ok(Status::Paused));
        assert_eq!(vm.stack(), expected);
    }
    assert_eq!((vm.resume(&[]), vm.stack()), (Ok(Status::Done), &[0, 1, 9][..]));
}
