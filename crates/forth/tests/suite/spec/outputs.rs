//! Section by section: outputs.

use super::*;

/// Every parser to every dtype, one at a time and all at once, against Rust's own conversions.
#[test]
fn every_conversion_is_the_same_one_by_one_and_in_bulk() {
    let data: Vec<u8> = (0..96_u32).map(|at| (at * 89 % 251) as u8).collect();
    // Miri takes a fifth of the pairs: each parser, each dtype.
    let step = if cfg!(miri) { 5 } else { 1 };
    let parsers = ["?", "b", "h", "i", "q", "n", "B", "H", "I", "Q", "N", "f", "d", "varint", "zigzag"];
    for (at, parser) in parsers.into_iter().enumerate() {
        for bang in ["", "!"] {
            for dtype in DType::ALL.iter().skip(at % step).step_by(step) {
                let head = format!("input x output y {dtype} ");
                let (one, a) = run(&format!("{head} 8 0 do x {bang}{parser}-> y loop x pos"), &[], &[&data]);
                let (all, b) = run(&format!("{head} 8 x #{bang}{parser}-> y x pos"), &[], &[&data]);
                assert_eq!((a, b), (Ok(Status::Done), Ok(Status::Done)));
                assert_eq!(
                    one.outputs()[0].as_bytes(),
                    all.outputs()[0].as_bytes(),
                    "{bang}{parser} {dtype}"
                );
                assert_eq!(one.stack(), all.stack());
            }
        }
    }
}

#[test]
fn conversions() {
    let (vm, _) = run(
        "input x output y float32 output z bool output w uint32 x !q-> y 0 x seek x !q-> z 0 x seek x !q-> w",
        &[],
        &[&(16777217_i64 + (1 << 40)).to_be_bytes()],
    );
    assert_eq!(f32s(&vm.outputs()[0]), [(16777217_i64 + (1 << 40)) as f32]);
    assert_eq!((vm.outputs()[1].as_bytes(), u32s(&vm.outputs()[2])), (&[1][..], vec![16777217]));
    let nan = f64::NAN.to_le_bytes();
    let (vm, _) = run("input x output y bool output z float32 x d-> y 0 x seek x d-> z", &[], &[&nan]);
    assert_eq!(vm.outputs()[0].as_bytes(), [1]);
    assert!(f32s(&vm.outputs()[1])[0].is_nan());
    let (vm, _) = run("input x output y int8 x ?-> y", &[], &[&[255]]);
    assert_eq!(i8s(&vm.outputs()[0]), [-1]);
}

#[test]
fn writing() {
    let (vm, _) = run(
        "output y uint8 output z float32 300 y <- stack -1 y +<- stack -1 z <- stack 2 z +<- stack",
        &[],
        &[],
    );
    assert_eq!((vm.outputs()[0].as_bytes(), f32s(&vm.outputs()[1])), (&[44, 43][..], vec![-1.0, 1.0]));
    // float32 arithmetic, not float64 rounded later.
    let (vm, _) = run("output y float32 16777216 y <- stack 1 y +<- stack 1 y +<- stack", &[], &[]);
    assert_eq!(f32s(&vm.outputs()[0])[2], 16_777_216.0);
    let (vm, _) = run("output y bool 0 y <- stack 0 y +<- stack 4 y +<- stack 0 y +<- stack", &[], &[]);
    assert_eq!(vm.outputs()[0].as_bytes(), [0, 0, 1, 1]);
    let (vm, _) = run32("output y int64 -1 y <- stack -1 y +<- stack", &[]);
    assert_eq!(i64s(&vm.outputs()[0]), [-1, -2]);
}

#[test]
fn duplicating_and_rewinding() {
    let (vm, _) = run("output y int32 5 y <- stack 0 y dup -3 y dup 2 y dup y len", &[], &[]);
    assert_eq!((i32s(&vm.outputs()[0]), vm.stack()), (vec![5, 5, 5], &[3][..]));
    for source in [
        "output y int8 0 y dup",
        "output y int8 -1 y dup",
        "output y int8 1 y rewind",
        "output y int8 1 y <- stack 2 y rewind",
    ] {
        assert_eq!(fails(source, &[]), (RunError::RewindBeyond, vec![]), "{source}");
    }
    let (vm, _) =
        run("output y int8 1 y <- stack 2 y <- stack 1 y rewind 3 y +<- stack 2 y rewind y len", &[], &[]);
    assert_eq!((vm.stack(), vm.outputs()[0].len()), (&[0][..], 0));
}
