//! Section by section: generic words.

use super::*;

/// Both widths, and all there is below is left alone.
#[track_caller]
fn both(source: &str, expected: &[i64]) {
    let source = format!("77 {source}");
    let expected: Vec<i64> = [77].iter().chain(expected).copied().collect();
    assert_eq!(stack(&source), expected, "{source}");
    assert_eq!(stack32(&source), expected, "{source}");
}

#[test]
fn each_does_what_it_says() {
    for (source, left) in [
        ("1 dup", &[1, 1][..]),
        ("1 drop", &[]),
        ("1 2 swap", &[2, 1]),
        ("1 2 over", &[1, 2, 1]),
        ("1 2 nip", &[2]),
        ("1 2 tuck", &[2, 1, 2]),
        ("1 2 3 rot", &[2, 3, 1]),
        ("1 2 +", &[3]),
        ("1 2 -", &[-1]),
        ("3 -2 *", &[-6]),
        ("7 2 /", &[3]),
        ("-7 2 /", &[-4]),
        ("7 -2 /", &[-4]),
        ("-7 -2 /", &[3]),
        ("7 2 mod", &[1]),
        ("-7 2 mod", &[1]),
        ("7 -2 mod", &[-1]),
        ("-7 -2 mod", &[-1]),
        ("6 3 mod -6 3 mod", &[0, 0]),
        ("-7 2 /mod", &[1, -4]),
        ("5 negate", &[-5]),
        ("5 1+ 5 1-", &[6, 4]),
        ("-5 abs 5 abs 0 abs", &[5, 5, 0]),
        ("-1 1 min -1 1 max", &[-1, 1]),
        ("1 1 = 1 2 =", &[-1, 0]),
        ("1 1 <> 1 2 <>", &[0, -1]),
        ("-1 1 < 1 1 < 2 1 <", &[-1, 0, 0]),
        ("-1 1 <= 1 1 <= 2 1 <=", &[-1, -1, 0]),
        ("-1 1 > 1 1 > 2 1 >", &[0, 0, -1]),
        ("-1 1 >= 1 1 >= 2 1 >=", &[0, -1, -1]),
        ("0 0= 1 0= -1 0=", &[-1, 0, 0]),
        ("0 invert -1 invert", &[-1, 0]),
        ("12 10 and 12 10 or 12 10 xor", &[8, 14, 6]),
        ("1 3 lshift -1 1 lshift", &[8, -2]),
        ("8 3 rshift -8 1 rshift", &[1, -4]),
        ("false true", &[0, -1]),
    ] {
        both(source, left);
    }
}

#[test]
fn arithmetic_wraps_at_the_width() {
    for (source, expected) in
        [("1+", -2147483648_i64), ("2 *", -2), ("dup +", -2), ("negate 2 -", 2147483647), ("1 lshift", -2)]
    {
        assert_eq!(stack32(&format!("2147483647 {source}")), [expected], "{source}");
    }
    let max = i64::MAX.to_le_bytes();
    for (source, expected) in
        [("1+", i64::MIN), ("2 *", -2), ("dup +", -2), ("negate 2 -", i64::MAX), ("1 lshift", -2)]
    {
        let (vm, _) = run(&format!("input x x q-> stack {source}"), &[], &[&max]);
        assert_eq!(vm.stack(), [expected], "{source}");
    }
    assert_eq!(
        stack32("-2147483648 negate -2147483648 abs -2147483648 1-"),
        [-2147483648, -2147483648, 2147483647]
    );
    assert_eq!(stack32("variable v 2147483647 v ! 1 v +! v @"), [-2147483648]);
}

#[test]
fn each_needs_its_items_and_keeps_them_if_there_are_too_few() {
    for op in forthwith_forth::isa::Op::ALL {
        use forthwith_forth::isa::Group;
        let loops = matches!(op.word(), "i" | "j" | "k");
        if op.group() != Group::Generic || op.pops() == 0 || loops {
            continue;
        }
        let items: Vec<i64> = (1..op.pops() as i64).collect();
        let text: String = items.iter().map(|item| format!("{item} ")).collect();
        assert_eq!(fails(&format!("{text}{}", op.word()), &[]), (RunError::StackUnderflow, items), "{op:?}");
    }
    for phrase in [
        "v !",
        "v +!",
        "y <- stack",
        "y +<- stack",
        "y dup",
        "y rewind",
        "x seek",
        "x skip",
        "x peek",
        "x #B-> y",
    ] {
        let source = format!("variable v input x output y int8 {phrase}");
        assert_eq!(fails(&source, &[&[1]]).0, RunError::StackUnderflow, "{phrase}");
    }
    for phrase in [
        "if then",
        "if else then",
        "begin until",
        "begin while repeat",
        "1 do loop",
        "case endcase",
        "case 7 of endof endcase",
    ] {
        assert_eq!(fails(phrase, &[]).0, RunError::StackUnderflow, "{phrase}");
    }
}

#[test]
fn pushing_needs_room() {
    for phrase in [
        "1",
        "true",
        "dup",
        "over",
        "tuck",
        "v @",
        "x len",
        "x pos",
        "x end",
        "x B-> stack",
        "y len",
        "s\" a\"",
        "x enum s\" a\"",
    ] {
        let source = format!("variable v input x output y int8 begin {phrase} again");
        let program = Arc::new(Compiled::new(&source).unwrap());
        let mut limits = Limits::default();
        limits.stack = 6;
        let mut vm = Machine::new(program, limits);
        vm.begin();
        vm.push(1).unwrap();
        vm.push(2).unwrap();
        assert_eq!(vm.resume(&[b"aaaaaaaaaaaa"]), Err(RunError::StackOverflow), "{phrase}");
        assert_eq!(vm.stack().len(), 6, "{phrase}");
    }
}
