//! The programs of the AwkwardForth paper, corrected, on small data with empty lists at every level.

use forthwith_forth::{RunError, Status};

use super::support::{f32s, i32s, run};

/// Four entries of lists of lists of lists.
fn entries() -> Vec<Vec<Vec<Vec<f32>>>> {
    vec![
        vec![vec![vec![1.0, 2.0], vec![]], vec![], vec![vec![3.0]]],
        vec![],
        vec![vec![vec![], vec![4.0, 5.0, 6.0]]],
        vec![vec![vec![7.0]], vec![vec![8.0, 9.0], vec![10.0]]],
    ]
}

const OUTER: [i32; 5] = [0, 3, 3, 4, 6];
const MIDDLE: [i32; 7] = [0, 2, 2, 3, 5, 6, 8];
const INNER: [i32; 9] = [0, 2, 2, 3, 3, 6, 7, 9, 10];

fn check(vm: &forthwith_forth::Machine) {
    assert_eq!(i32s(&vm.outputs()[0]), OUTER);
    assert_eq!(i32s(&vm.outputs()[1]), MIDDLE);
    assert_eq!(i32s(&vm.outputs()[2]), INNER);
    assert_eq!(f32s(&vm.outputs()[3]), (1..=10).map(|x| x as f32).collect::<Vec<_>>());
}

#[test]
fn root_nested_vectors() {
    let (mut data, mut starts) = (Vec::new(), Vec::new());
    for entry in entries() {
        starts.extend((data.len() as u32).to_le_bytes());
        data.extend([0x40, 0, 0, 0, 0, 9]);
        data.extend((entry.len() as u32).to_be_bytes());
        for middle in entry {
            data.extend((middle.len() as u32).to_be_bytes());
            for inner in middle {
                data.extend((inner.len() as u32).to_be_bytes());
                inner.iter().for_each(|x| data.extend(x.to_be_bytes()));
            }
        }
    }
    let head = "input data input starts
        output outer int32 output middle int32 output inner int32 output values float32
        0 outer <- stack 0 middle <- stack 0 inner <- stack ";
    let entry = "starts i-> stack 6 + data seek
        data !i-> stack dup outer +<- stack
        0 do
            data !i-> stack dup middle +<- stack
            0 do
                data !i-> stack dup inner +<- stack
                data #!f-> values
            loop
        loop ";
    let (vm, result) = run(&format!("{head} 0 do {entry} loop"), &[4], &[&data, &starts]);
    assert_eq!(result, Ok(Status::Done));
    check(&vm);
    // As printed: endless, and the end of the starts is the end.
    let (vm, result) = run(&format!("{head} begin {entry} again"), &[], &[&data, &starts]);
    assert_eq!(result, Err(RunError::ReadBeyond));
    check(&vm);
}

pub(crate) fn zigzag(value: i64, to: &mut Vec<u8>) {
    let mut rest = (value << 1 ^ value >> 63) as u64;
    while rest >= 0x80 {
        to.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    to.push(rest as u8);
}

/// A list in Avro blocks: one per item when `split`, with a negative count and a byte size on every other.
fn avro<T>(items: &[T], split: bool, to: &mut Vec<u8>, write: &dyn Fn(&T, &mut Vec<u8>)) {
    let size = if split { 1 } else { items.len().max(1) };
    for (number, block) in items.chunks(size).enumerate() {
        let mut bytes = Vec::new();
        block.iter().for_each(|item| write(item, &mut bytes));
        if split && number % 2 == 0 {
            zigzag(-(block.len() as i64), to);
            zigzag(bytes.len() as i64, to);
        } else {
            zigzag(block.len() as i64, to);
        }
        to.extend(bytes);
    }
    zigzag(0, to);
}

pub(crate) const AVRO: &str = "input data
    output outer int32 output middle int32 output inner int32 output values float32
    0 outer <- stack 0 middle <- stack 0 inner <- stack
    : items data zigzag-> stack dup 0 < if negate data zigzag-> stack drop then ;
    : read-inner   0 begin items dup while dup data #f-> values +   repeat drop inner  +<- stack ;
    : read-middle  0 begin items dup while dup 0 do read-inner  loop + repeat drop middle +<- stack ;
    : read-outer   0 begin items dup while dup 0 do read-middle loop + repeat drop outer  +<- stack ;
    0 do read-outer loop";

/// The next block, and whether it ended where it said.
pub(crate) const SIZED: &str = ": sized data zigzag-> stack
        dup 0 < if negate data zigzag-> stack over 0 < over 0 < or if 16 halt then data pos + else 0 then ;
    : ends dup if data pos <> if 16 halt then else drop then ;
";

/// [`AVRO`], with blocks that have to end where they say.
pub(crate) fn avro_sized() -> String {
    let block = |items: &str, offsets: &str| {
        format!("0 begin sized over while over {items} ends + repeat drop drop {offsets} +<- stack")
    };
    format!(
        "input data
        output outer int32 output middle int32 output inner int32 output values float32
        0 outer <- stack 0 middle <- stack 0 inner <- stack
        {SIZED}
        : read-inner {} ;
        : read-middle {} ;
        : read-outer {} ;
        0 do read-outer loop",
        block("data #f-> values", "inner"),
        block("0 do read-inner loop", "middle"),
        block("0 do read-middle loop", "outer"),
    )
}

/// Sizes that are wrong are found at each level, and nowhere else.
#[test]
fn avro_blocks_of_a_wrong_size() {
    let inner = |claimed: i64, to: &mut Vec<u8>| {
        zigzag(-1, to);
        zigzag(claimed, to);
        to.extend(1.0_f32.to_le_bytes());
        to.push(0);
    };
    for wrong in -2..=3 {
        for level in 0..3 {
            let off = |here: usize| if here == level { wrong } else { 0 };
            let (mut data, mut middle) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                middle.clear();
                inner(4 + off(0), &mut middle);
                zigzag(-1, &mut data);
                let mut outer = Vec::new();
                zigzag(-1, &mut outer);
                zigzag(middle.len() as i64 + off(1), &mut outer);
                outer.extend(&middle);
                outer.push(0);
                zigzag(outer.len() as i64 + off(2), &mut data);
                data.extend(outer);
                data.push(0);
            }
            let (_, result) = run(&avro_sized(), &[20], &[&data]);
            let expected = if wrong == 0 { Ok(Status::Done) } else { Err(RunError::UserHalt(Some(16))) };
            assert_eq!(result, expected, "{wrong} at level {level}");
        }
    }
    // Sizes below zero, and counts and sizes without an opposite or too large for a position.
    for (count, size) in [(-1, -1), (i64::MIN, 4), (i64::MIN, i64::MIN), (-1, i64::MAX), (-1, i64::MAX - 2)] {
        let mut data = Vec::new();
        for number in [1, 1, count, size] {
            zigzag(number, &mut data);
        }
        data.extend([0; 70]);
        let (_, result) = run(&avro_sized(), &[1], &[&data]);
        assert_eq!(result, Err(RunError::UserHalt(Some(16))), "{count} {size}");
    }
}

#[test]
fn avro_nested_arrays() {
    for (source, split) in [AVRO, &avro_sized()].into_iter().flat_map(|text| [(text, false), (text, true)]) {
        let mut data = Vec::new();
        for entry in entries() {
            avro(&entry, split, &mut data, &|middle, to| {
                avro(middle, split, to, &|inner, to| {
                    avro(inner, split, to, &|x, to| to.extend(x.to_le_bytes()))
                });
            });
        }
        let (vm, result) = run(source, &[4], &[&data]);
        assert_eq!(result, Ok(Status::Done));
        check(&vm);
        assert_eq!(vm.position(0), data.len());
    }
}

#[test]
fn parquet_levels() {
    let source = "input data
        output levels uint8
        data I-> stack
        begin
          data varint-> stack
          dup 1 and 0= if
            data B-> levels 1 rshift 1- levels dup
          else
            1 rshift 8 * data #2bit-> levels
          then
          dup data pos 4 - <=
        until
        drop";
    // Eight packed levels 0 1 2 3 3 2 1 0, then three times 2, then twice 1.
    let page = [7, 0, 0, 0, 0x03, 0b11_10_01_00, 0b00_01_10_11, 0x06, 2, 0x04, 1];
    let (vm, result) = run(source, &[], &[&page]);
    assert_eq!(result, Ok(Status::Done));
    assert_eq!(vm.outputs()[0].as_bytes(), [0, 1, 2, 3, 3, 2, 1, 0, 2, 2, 2, 1, 1]);
    assert!(vm.stack().is_empty());
}

#[test]
fn parquet_offsets() {
    let source = "input levels
        output outer int32 output middle int32 output inner int32
        variable n-outer variable n-middle variable n-inner
        begin
          levels b-> stack
          dup 3 = if 1 n-inner +! then
          dup 2 = if 1 n-middle +! n-inner @ inner +<- stack 1 n-inner ! then
          dup 1 = if 1 n-outer +! n-middle @ middle +<- stack 1 n-middle !
                     n-inner @ inner +<- stack 1 n-inner ! then
          0 =     if n-outer @ outer +<- stack 1 n-outer !
                     n-middle @ middle +<- stack 1 n-middle !
                     n-inner @ inner +<- stack 1 n-inner ! then
          levels end
        until
        n-outer @ outer +<- stack n-middle @ middle +<- stack n-inner @ inner +<- stack";
    let (vm, result) = run(source, &[], &[&[0, 3, 2, 3, 3, 1, 3, 0, 3, 1, 2, 3]]);
    assert_eq!(result, Ok(Status::Done));
    assert_eq!(i32s(&vm.outputs()[0]), [0, 2, 4]);
    assert_eq!(i32s(&vm.outputs()[1]), [0, 2, 3, 4, 6]);
    assert_eq!(i32s(&vm.outputs()[2]), [0, 2, 5, 7, 9, 10, 12]);
}

#[test]
fn typed_builder() {
    use std::sync::Arc;
    let source = "input data
        output outer int32 output middle int32 output inner int32 output values float32
        0 outer <- stack 0 middle <- stack 0 inner <- stack
        : value 1 = if 0 data seek data d-> values else halt then ;
        : list2 2 <> if halt then 0 begin pause dup 3 = if drop inner  +<- stack exit else value 1+ then again ;
        : list1 2 <> if halt then 0 begin pause dup 3 = if drop middle +<- stack exit else list2 1+ then again ;
        : list0 2 <> if halt then 0 begin pause dup 3 = if drop outer  +<- stack exit else list1 1+ then again ;
        0 begin pause list0 1+ again";
    let program = Arc::new(forthwith_forth::Compiled::new(source).unwrap());
    let mut vm = forthwith_forth::Machine::new(program, forthwith_forth::Limits::default());
    vm.begin();
    assert_eq!(vm.resume(&[&[]]), Ok(Status::Paused));
    let command = |vm: &mut forthwith_forth::Machine, code, value: f64| {
        vm.push(code).unwrap();
        vm.resume(&[&value.to_le_bytes()])
    };
    for entry in entries() {
        command(&mut vm, 2, 0.0).unwrap();
        for middle in entry {
            command(&mut vm, 2, 0.0).unwrap();
            for inner in middle {
                command(&mut vm, 2, 0.0).unwrap();
                for x in inner {
                    command(&mut vm, 1, f64::from(x)).unwrap();
                }
                command(&mut vm, 3, 0.0).unwrap();
            }
            command(&mut vm, 3, 0.0).unwrap();
        }
        command(&mut vm, 3, 0.0).unwrap();
    }
    check(&vm);
    assert_eq!(vm.stack(), [4]);
    // A wrong command halts, which ends the builder although its outputs can still be read.
    assert_eq!(command(&mut vm, 7, 0.0), Err(RunError::UserHalt(Some(4))));
    check(&vm);
}
