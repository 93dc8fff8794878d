//! Built-in words, parsers and conversions.

use forthwith_forth::{RunError, Status};

use super::support::{f32s, f64s, fails, i8s, i32s, i64s, run, stack, stack32, u32s, u64s};

#[test]
fn stack_words() {
    assert_eq!(stack("1 2 3 rot"), [2, 3, 1]);
    assert_eq!(stack("1 2 over nip tuck swap"), [1, 1, 1]);
    assert_eq!(stack("1 2 tuck"), [2, 1, 2]);
    assert_eq!(stack("1 2 nip dup drop"), [2]);
    assert_eq!(fails("1 2 rot", &[]), (RunError::StackUnderflow, vec![1, 2]));
}

#[test]
fn arithmetic() {
    assert_eq!(stack("-7 2 / -7 2 mod -7 2 /mod"), [-4, 1, 1, -4]);
    assert_eq!(stack("7 -2 / 7 -2 mod"), [-4, -1]);
    assert_eq!(stack("1 2 < 2 1 < 3 3 <= 0 0= 5 5 <>"), [-1, 0, -1, -1, 0]);
    assert_eq!(stack("6 3 and 6 3 or 6 3 xor 6 invert"), [2, 7, 5, -7]);
    assert_eq!(stack("1 2 min 1 2 max 3 negate true false"), [1, 2, -3, -1, 0]);
    assert_eq!(stack32("2147483647 1+"), [-2147483648]);
    assert_eq!(stack("2147483647 1+"), [2147483648]);
    assert_eq!(fails("1 0 /", &[]), (RunError::DivisionByZero, vec![1]));
    assert_eq!(fails("1 0 /mod", &[]), (RunError::DivisionByZero, vec![1, 0]));
}

#[test]
fn literals_are_cut_to_32_bits() {
    assert_eq!(stack("3000000000 0xffffffff 0x-5 +5 04"), [-1294967296, -1, -5, 5, 4]);
}

#[test]
fn control_flow() {
    assert_eq!(stack("0 5 do i loop 3 0 do i loop"), [0, 1, 2]);
    assert_eq!(stack("10 0 do i 3 +loop"), [0, 3, 6, 9]);
    assert_eq!(stack("2 0 do 2 0 do j i loop loop"), [0, 0, 0, 1, 1, 0, 1, 1]);
    assert_eq!(stack("5 begin dup while 1- repeat"), [0]);
    assert_eq!(stack("0 begin 1+ dup 4 = until"), [4]);
    assert_eq!(stack(": f begin 1+ dup 4 = if exit then again ; 0 f"), [4]);
    assert_eq!(stack(": fib dup 2 < if else dup 1- fib swap 2 - fib + then ; 10 fib"), [55]);
}

#[test]
fn case_words() {
    let table = |n| stack(&format!("{n} case 0 of 10 endof 1 of 11 endof 99 swap endcase"));
    assert_eq!((table(0), table(1), table(2), table(-1)), (vec![10], vec![11], vec![99], vec![99]));
    let general = |n| stack(&format!("{n} case 5 of 10 endof 3 2 + 1+ of 11 endof 99 swap endcase"));
    assert_eq!((general(5), general(6), general(2)), (vec![10], vec![11], vec![99]));
    assert_eq!(stack("7 case 0 of 1 endof 99 endcase"), [7]);
}

#[test]
fn input_words() {
    let (vm, result) =
        run("input x x len x pos 1 x peek 2 x skip x B-> stack x end 0 x seek x pos", &[], &[&[7, 8, 9]]);
    assert_eq!((vm.stack(), result), (&[3, 0, 8, 9, -1, 0][..], Ok(Status::Done)));
    assert_eq!(fails("input x 4 x seek", &[&[1; 3]]).0, RunError::SeekBeyond);
    assert_eq!(fails("input x -1 x skip", &[&[1; 3]]).0, RunError::SkipBeyond);
    assert_eq!(fails("input x -1 x peek", &[&[1; 3]]).0, RunError::ReadBeyond);
    let (vm, _) = run("input x x enum s\" ab\" s\" a\" x skipws x enum s\" z\"", &[], &[b"a \t\n b"]);
    assert_eq!((vm.stack(), vm.position(0)), (&[1, -1][..], 5));
    assert_eq!(fails("input x x enumonly s\" z\"", &[b"abc"]).0, RunError::EnumerationMissing);
}

#[test]
fn fixed_parsers() {
    let bytes = [0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8];
    for (word, value) in [
        ("b", -1),
        ("B", 255),
        ("?", 255),
        ("h", -257),
        ("!h", -2),
        ("H", 0xfeff),
        ("!H", 0xfffe),
        ("i", -50462977),
        ("!I", 0xfffefdfc),
        ("q", i64::from_le_bytes(bytes)),
        ("!N", i64::from_be_bytes(bytes)),
    ] {
        let (vm, _) = run(&format!("input x x {word}-> stack"), &[], &[&bytes]);
        assert_eq!(vm.stack(), [value], "{word}");
    }
    let (vm, result) =
        run("input x output y float64 3 x #!f-> y", &[], &[&[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]]);
    assert_eq!((result, vm.position(0), vm.outputs()[0].len()), (Err(RunError::ReadBeyond), 0, 0));
    let (vm, _) =
        run("input x output y float64 -2 x #!f-> y 2 x #!f-> y", &[], &[&[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]]);
    assert_eq!(f64s(&vm.outputs()[0]), [1.0, -2.0]);
}

#[test]
fn variable_length_parsers() {
    let (vm, _) =
        run("input x x varint-> stack x zigzag-> stack x zigzag-> stack", &[], &[&[0x80, 0x01, 3, 0x84, 0]]);
    assert_eq!(vm.stack(), [128, -2, 2]);
    let (vm, result) = run("input x output y int32 3 x #varint-> y", &[], &[&[1, 2, 0x80]]);
    assert_eq!((result, vm.position(0)), (Err(RunError::ReadBeyond), 3));
    assert_eq!(i32s(&vm.outputs()[0]), [1, 2]);
}

#[test]
fn packed_bits() {
    let (vm, _) = run("input x 8 x #3bit-> stack x pos", &[], &[&[0x88, 0xc6, 0xfa, 0xff]]);
    assert_eq!(vm.stack(), [0, 1, 2, 3, 4, 5, 6, 7, 3]);
    let (vm, _) = run("input x x !4bit-> stack x !8bit-> stack", &[], &[&[0xb0, 0xb0]]);
    assert_eq!(vm.stack(), [13, 13]);
}

#[test]
fn text_parsers() {
    let (vm, _) = run("input x 3 x #textint-> stack", &[], &[b"12 -3\n456 "]);
    assert_eq!((vm.stack(), vm.position(0)), (&[12, -3, 456][..], 9));
    let (vm, _) = run("input x output y float64 3 x #textfloat-> y", &[], &[b"1.5 -2e3 7"]);
    assert_eq!(f64s(&vm.outputs()[0]), [1.5, -2000.0, 7.0]);
    assert_eq!(fails("input x x textint-> stack", &[b"x"]).0, RunError::TextNumberMissing);
    assert_eq!(fails("input x x textint-> stack", &[b""]).0, RunError::ReadBeyond);
    let (vm, _) = run("input x output y uint8 x quotedstr-> y", &[], &[br#""a\n\u00e9\"b" "#]);
    assert_eq!((vm.outputs()[0].as_bytes(), vm.stack()), ("a\né\"b".as_bytes(), &[6][..]));
    assert_eq!(fails("input x output y uint8 x quotedstr-> y", &[b"\"abc"]).0, RunError::QuotedStringMissing);
}

#[test]
fn output_words() {
    let (vm, _) = run("output y int32 3 y <- stack 4 y +<- stack 2 y dup y len 1 y rewind y len", &[], &[]);
    assert_eq!((i32s(&vm.outputs()[0]), vm.stack()), (vec![3, 7, 7], &[4, 3][..]));
    assert_eq!(fails("output y int32 0 y dup", &[]).0, RunError::RewindBeyond);
    assert_eq!(fails("output y int32 1 y rewind", &[]).0, RunError::RewindBeyond);
    let (vm, _) = run("output y float32 1 y +<- stack 2 y +<- stack", &[], &[]);
    assert_eq!(f32s(&vm.outputs()[0]), [1.0, 3.0]);
    let (vm, _) = run("output y bool 0 y +<- stack 2 y +<- stack 0 y +<- stack", &[], &[]);
    assert_eq!(vm.outputs()[0].as_bytes(), [0, 1, 1]);
    let (vm, _) = run("output y int8 200 y <- stack 100 y +<- stack", &[], &[]);
    assert_eq!(i8s(&vm.outputs()[0]), [-56, 44]);
}

#[test]
fn out_of_range_floats_are_defined() {
    let bytes: Vec<u8> = [f64::NAN, 1e300, -1e10, 4e9].iter().flat_map(|x| x.to_le_bytes()).collect();
    let source = |dtype| format!("input x output y {dtype} 4 x #d-> y 0 x seek 4 x #d-> stack");
    let (vm, _) = run(&source("int64"), &[], &[&bytes]);
    assert_eq!(i64s(&vm.outputs()[0]), [i64::MIN, i64::MIN, -10_000_000_000, 4_000_000_000]);
    assert_eq!(vm.stack(), i64s(&vm.outputs()[0]));
    let (vm, _) = run(&source("int32"), &[], &[&bytes]);
    assert_eq!(i32s(&vm.outputs()[0]), [i32::MIN; 4]);
    let (vm, _) = run(&source("int8"), &[], &[&bytes]);
    assert_eq!(i8s(&vm.outputs()[0]), [0; 4]);
    let (vm, _) = run(&source("uint32"), &[], &[&bytes]);
    assert_eq!(u32s(&vm.outputs()[0]), [0, 0, (-10_000_000_000_i64) as u32, 4_000_000_000]);
    let (vm, _) = run(&source("uint64"), &[], &[&bytes]);
    assert_eq!(u64s(&vm.outputs()[0])[3], 4_000_000_000);
    let (vm, _) = run(&source("bool"), &[], &[&bytes]);
    assert_eq!(vm.outputs()[0].as_bytes(), [1; 4]);
}

#[test]
fn printing_goes_to_the_printer() {
    use std::sync::{Arc, Mutex};
    let program = forthwith_forth::Compiled::new("1 2 .s . cr .\" hi\" s\" abc\"").unwrap();
    let mut vm = forthwith_forth::Machine::new(Arc::new(program), forthwith_forth::Limits::default());
    let text = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&text);
    vm.set_printer(Some(Box::new(move |part| sink.lock().unwrap().push_str(part))));
    vm.run(&[]).unwrap();
    assert_eq!(*text.lock().unwrap(), "<2> 1 2 <- top 2 \nhi");
    assert_eq!(vm.stack(), [1, 1, 3]);
}
