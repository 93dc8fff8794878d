//! The language line by line: what every rule of it says, where `words.rs`, `quirks.rs`, `compile_errors.rs`,
//! `bytecode.rs` and `driving.rs` do not say it already.

use std::sync::Arc;

use forthwith_forth::{CompileErrorKind as E, Compiled, Dtype, Limits, Machine, RunError, Status, Tier, W32};

use super::support::{f32s, f64s, fails, i8s, i32s, i64s, run, run32, stack, stack32, u32s, u64s};

fn kind(source: &str) -> E {
    Compiled::new(source).expect_err(source).kind()
}

mod lexical {
    use super::*;

    #[test]
    fn tokens_are_separated_by_six_characters_and_may_hold_anything_else() {
        assert_eq!(stack("1\t2\r3\u{b}4\u{c}5\n6"), [1, 2, 3, 4, 5, 6]);
        assert_eq!(stack(": é\u{a0}☃! 7 ; é\u{a0}☃!"), [7]);
        assert_eq!(kind("1 DUP"), E::UnknownWord);
    }

    #[test]
    fn comments() {
        assert_eq!(stack("1 ( 2 ( 3 ) 4 ) 5"), [1, 5]);
        // A lone carriage return does not end a line.
        assert_eq!(stack("1 \\ 2 \r 3 \n 4"), [1, 4]);
        assert_eq!(stack("1 \\ 2 ( \n 3"), [1, 3]);
        assert_eq!(kind("1 ) 2"), E::UnknownWord);
        assert_eq!(kind("( ( )"), E::UnclosedComment);
        // A string inside a comment is none.
        assert_eq!(stack("( s\" ) 1"), [1]);
    }

    #[test]
    fn integers() {
        assert_eq!(stack("04 +5 -0 0x1F 0xff 0x-A"), [4, 5, 0, 31, 255, -10]);
        assert_eq!(stack("9223372036854775807 -9223372036854775808"), [-1, 0]);
        for no in ["0Xff", "-0x5", "12abc", "0x", "1.5", "1e3", "0xfg", "9223372036854775808", "--1", "1_000"]
        {
            assert_eq!(kind(no), E::UnknownWord, "{no}");
        }
        // Only what is an integer may not be a name.
        assert!(Compiled::new("variable 99999999999999999999 variable 12abc").is_ok());
    }

    #[test]
    fn strings() {
        let program =
            Compiled::new("s\" \" s\"  a\" s\" b\nc\" .\" \\\"d\\n\\\" \" input x x enum s\" e\"").unwrap();
        assert_eq!(program.strings(), ["", " a", "b\nc", "\"d\\n\" ", "e"]);
        assert_eq!(stack("s\" \" s\" abc\""), [0, 0, 1, 3]);
        // Lengths are in bytes.
        assert_eq!(stack("s\" é☃\""), [0, 5]);
        assert_eq!(kind("s\""), E::UnclosedString);
        // Lines in strings count.
        let error = Compiled::new("s\" a\nb\" nonsense").unwrap_err();
        assert_eq!((error.line(), error.column()), (2, 4));
    }

    #[test]
    fn reserved_words_are_no_names() {
        let words = "( ) \\ : ; recurse variable input output halt pause if then else case of endof endcase do loop +loop
            begin again until while repeat exit ! +! @ enum enumonly peek len pos end seek skip skipws <- +<- stack rewind
            bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64
            dup drop swap over rot nip tuck + - * / mod /mod negate 1+ 1- abs min max = <> > >= < <= 0= invert and or xor
            lshift rshift false true i j k . cr .s
            ?-> b-> h-> i-> q-> n-> B-> H-> I-> Q-> N-> f-> d-> !h-> !i-> !q-> !n-> !H-> !I-> !Q-> !N-> !f-> !d->
            #?-> #b-> #h-> #i-> #q-> #n-> #B-> #H-> #I-> #Q-> #N-> #f-> #d->
            #!h-> #!i-> #!q-> #!n-> #!H-> #!I-> #!Q-> #!N-> #!f-> #!d->
            varint-> zigzag-> textint-> textfloat-> quotedstr-> #varint-> #zigzag-> #textint-> #textfloat-> #quotedstr->
            1bit-> !64bit-> #7bit-> #!7bit->";
        let mut count = 0;
        for word in words.split_whitespace().filter(|word| !matches!(*word, "(" | ")" | "\\")) {
            assert_eq!(kind(&format!("variable {word}")), E::NameTaken, "{word}");
            count += 1;
        }
        assert_eq!(count, 151);
        for name in ["s\" x\"", ".\" x\""] {
            assert!(Compiled::new(&format!("variable {name}")).is_err(), "{name}");
        }
        for free in [
            "!B->",
            "!b->",
            "!?->",
            "!varint->",
            "0bit->",
            "65bit->",
            "#!x->",
            "if?",
            "endif",
            "pick",
            "2dup",
        ] {
            assert!(Compiled::new(&format!("variable {free} {free} @")).is_ok(), "{free}");
        }
    }

    #[test]
    fn sub_words_stand_behind_a_name_only() {
        for word in [
            "len", "pos", "seek", "skip", "end", "peek", "enum", "rewind", "<-", "+<-", "@", "!", "i->",
            "stack",
        ] {
            assert_eq!(kind(&format!("1 {word}")), E::UnknownWord, "{word}");
        }
    }
}

mod declarations {
    use super::*;

    #[test]
    fn declarations_are_global_and_come_first() {
        assert_eq!(stack(": f variable v 3 v ! ; f v @"), [3]);
        assert_eq!(stack("0 if variable v then v @"), [0]);
        assert_eq!(kind("v @ variable v"), E::UnknownWord);
        assert_eq!(kind("f : f 1 ;"), E::UnknownWord);
        for again in ["variable x", "input x", "output x int8", ": x ;"] {
            for first in ["variable x", "input x", "output x int8", ": x ;"] {
                assert_eq!(kind(&format!("{first} {again}")), E::NameTaken, "{first} {again}");
            }
        }
    }

    #[test]
    fn words_may_be_nested_and_stand_anywhere() {
        let program = Compiled::new(": a : b 1 ; b ; 0 if : c 2 ; then : d 3 ;").unwrap();
        assert_eq!(program.dictionary(), ["a", "b", "c", "d"]);
        assert_eq!(stack(": a : b 1 ; b ; a b 0 if : c 2 ; then c"), [1, 1, 2]);
        assert_eq!(stack(": f dup 0 > if 1- recurse else drop 9 then ; 3 f"), [9]);
        assert_eq!(stack(": f dup 0 > if 1- f else drop 9 then ; 3 f"), [9]);
        // `recurse` is the innermost definition.
        assert_eq!(stack(": a : b dup if 1- recurse then ; 3 b ; a"), [0]);
    }

    #[test]
    fn every_dtype_can_be_declared() {
        for dtype in Dtype::ALL {
            let program = Compiled::new(&format!("output y {dtype}")).unwrap();
            assert_eq!(program.outputs()[0].dtype, *dtype);
        }
        assert_eq!(Dtype::ALL.len(), 11);
    }
}

mod control_flow {
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
        let mut vm = Machine::new(
            Arc::new(Compiled::new(": f 2 0 do i pause loop ; f 9").unwrap()),
            Limits::default(),
        );
        vm.begin();
        for expected in [&[0][..], &[0, 1]] {
            assert_eq!(vm.resume(&[]), Ok(Status::Paused));
            assert_eq!(vm.stack(), expected);
        }
        assert_eq!((vm.resume(&[]), vm.stack()), (Ok(Status::Done), &[0, 1, 9][..]));
    }
}

mod generic_words {
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
        for (source, expected) in [
            ("1+", -2147483648_i64),
            ("2 *", -2),
            ("dup +", -2),
            ("negate 2 -", 2147483647),
            ("1 lshift", -2),
        ] {
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
            assert_eq!(
                fails(&format!("{text}{}", op.word()), &[]),
                (RunError::StackUnderflow, items),
                "{op:?}"
            );
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
}

mod inputs {
    use super::*;

    #[test]
    fn positions() {
        assert_eq!(fails("input x 4 x seek", &[&[1; 3]]), (RunError::SeekBeyond, vec![]));
        assert_eq!(fails("input x -1 x seek", &[&[1; 3]]), (RunError::SeekBeyond, vec![]));
        let (vm, _) = run("input x 2 x skip 3 x skip", &[], &[&[1; 3]]);
        assert_eq!((vm.error(), vm.position(0)), (Some(RunError::SkipBeyond), 2));
        let (vm, _) = run("input x 3 x seek x end -3 x skip x pos x end 0 x skip", &[], &[&[1; 3]]);
        assert_eq!(vm.stack(), [-1, 0, 0]);
        assert_eq!(fails("input x 3 x peek", &[&[1; 3]]), (RunError::ReadBeyond, vec![]));
        let (vm, _) = run("input x x skipws x pos", &[], &[b" \t\n\r\x0b "]);
        assert_eq!(vm.stack(), [4]);
    }

    #[test]
    fn enumerations() {
        let (vm, _) = run("input x x enum s\" a\" s\" ab\" x pos", &[], &[b"ab"]);
        assert_eq!(vm.stack(), [0, 1]);
        // An empty string matches anywhere but at the end.
        let (vm, _) = run("input x x enum s\" z\" s\" \" 2 x skip x enum s\" \"", &[], &[b"ab"]);
        assert_eq!(vm.stack(), [1, -1]);
        let (vm, result) = run("input x x enumonly s\" z\"", &[], &[b"ab"]);
        assert_eq!((result, vm.position(0)), (Err(RunError::EnumerationMissing), 0));
        // Consumed first, pushed then.
        let mut limits = Limits::default();
        limits.stack = 0;
        let mut vm = Machine::new(Arc::new(Compiled::new("input x x enum s\" ab\"").unwrap()), limits);
        assert_eq!(vm.run(&[b"abc"]), Err(RunError::StackOverflow));
        assert_eq!(vm.position(0), 2);
    }

    #[test]
    fn counts_that_are_not_positive_read_nothing() {
        for parser in
            ["B", "q", "!d", "varint", "zigzag", "3bit", "3msb", "textint", "textfloat", "quotedstr"]
        {
            for count in [0, -1, i64::MIN] {
                let source = format!("input x output y uint8 x #{parser}-> y");
                let (vm, result) = run(&source, &[count], &[&[]]);
                assert_eq!(
                    (result, vm.position(0), vm.outputs()[0].len()),
                    (Ok(Status::Done), 0, 0),
                    "{parser}"
                );
            }
        }
    }

    #[test]
    fn a_bang_is_accepted_everywhere() {
        for parser in ["?", "b", "B", "varint", "zigzag", "textint"] {
            let inputs: &[&[u8]] = &[b"1"];
            let plain = run(&format!("input x x {parser}-> stack"), &[], inputs).0;
            let bang = run(&format!("input x x !{parser}-> stack"), &[], inputs).0;
            assert_eq!(plain.stack(), bang.stack(), "{parser}");
        }
        // As one reader emits it.
        let (vm, _) = run("input stream output y uint8 stream !B-> stack stream #!B-> y", &[], &[&[2, 7, 8]]);
        assert_eq!(vm.outputs()[0].as_bytes(), [7, 8]);
        assert!(Compiled::new("input node1234567890123456789-data variable var_N").is_ok());
    }

    #[test]
    fn fixed_sizes_are_all_or_nothing_and_others_are_not() {
        let (vm, result) = run("input x output y int16 3 x #h-> y", &[], &[&[1; 5]]);
        assert_eq!((result, vm.position(0), vm.outputs()[0].len()), (Err(RunError::ReadBeyond), 0, 0));
        let (vm, result) = run("input x 3 x #h-> stack", &[], &[&[1; 5]]);
        assert_eq!((result, vm.position(0), vm.stack()), (Err(RunError::ReadBeyond), 0, &[][..]));
        for (parser, data, position) in [
            ("varint", &[1, 2, 0x80][..], 3),
            ("zigzag", &[1, 2, 0x80], 3),
            ("8bit", &[1, 2], 2),
            ("8msb", &[1, 2], 2),
            ("textint", b"1 2", 3),
            ("textfloat", b"1 2", 3),
        ] {
            let (vm, result) = run(&format!("input x output y int16 3 x #{parser}-> y"), &[], &[data]);
            assert_eq!(
                (result, vm.position(0), vm.outputs()[0].len()),
                (Err(RunError::ReadBeyond), position, 2),
                "{parser}"
            );
        }
    }

    #[test]
    fn a_full_stack_keeps_what_fits() {
        let mut limits = Limits::default();
        limits.stack = 3;
        for (parser, position) in [("B", 5), ("varint", 4), ("3bit", 2), ("8msb", 4)] {
            let mut vm = Machine::new(
                Arc::new(Compiled::new(&format!("input x 5 x #{parser}-> stack")).unwrap()),
                limits,
            );
            assert_eq!(vm.run(&[&[1; 9]]), Err(RunError::StackOverflow), "{parser}");
            assert_eq!((vm.stack().len(), vm.position(0)), (3, position), "{parser}");
        }
    }

    #[test]
    fn varints() {
        let (vm, _) = run("input x 3 x #varint-> stack", &[], &[&[0x80, 0, 0xff, 0x7f, 1]]);
        assert_eq!(vm.stack(), [0, 16383, 1]);
        let (vm, result) = run("input x x varint-> stack", &[], &[&[0xff; 12]]);
        assert_eq!((result, vm.position(0)), (Err(RunError::VarintTooBig), 10));
        let (vm, _) = run(
            "input x output y int8 output z uint64 x varint-> y 0 x seek x zigzag-> z",
            &[],
            &[&[0xff, 3]],
        );
        assert_eq!((i8s(&vm.outputs()[0]), u64s(&vm.outputs()[1])), (vec![-1], vec![-256_i64 as u64]));
    }

    #[test]
    fn bits_begin_at_a_byte_with_every_word() {
        let (vm, _) = run("input x x 4bit-> stack x 4bit-> stack x pos", &[], &[&[0x21, 0x43]]);
        assert_eq!(vm.stack(), [1, 3, 2]);
        let (vm, _) = run("input x 2 x #4bit-> stack x pos", &[], &[&[0x21, 0x43]]);
        assert_eq!(vm.stack(), [1, 2, 1]);
        let (vm, _) = run("input x output y uint64 x 64bit-> y", &[], &[&[0xff; 8]]);
        assert_eq!(u64s(&vm.outputs()[0]), [u64::MAX]);
    }

    #[test]
    fn text() {
        for (text, error, position) in [
            ("x", RunError::TextNumberMissing, 0),
            ("", RunError::ReadBeyond, 0),
            ("-", RunError::TextNumberMissing, 1),
            ("-x", RunError::TextNumberMissing, 1),
            ("+5", RunError::TextNumberMissing, 0),
            (" 5", RunError::TextNumberMissing, 0),
            ("nan", RunError::TextNumberMissing, 0),
        ] {
            for parser in ["textint", "textfloat"] {
                let (vm, result) =
                    run(&format!("input x output y float64 x {parser}-> y"), &[], &[text.as_bytes()]);
                assert_eq!((result, vm.position(0)), (Err(error), position), "{parser} {text}");
            }
        }
        for (text, error) in [
            ("1.", RunError::TextNumberMissing),
            ("1.x", RunError::TextNumberMissing),
            ("1e", RunError::TextNumberMissing),
            ("1e+x", RunError::TextNumberMissing),
        ] {
            assert_eq!(
                fails("input x output y float64 x textfloat-> y", &[text.as_bytes()]).0,
                error,
                "{text}"
            );
        }
        let (vm, _) = run(
            "input x output y float64 5 x #textfloat-> y x pos",
            &[],
            &[b"007 -0.50\n1E2\t2e-1 3.25e+1]"],
        );
        assert_eq!((f64s(&vm.outputs()[0]), vm.stack()), (vec![7.0, -0.5, 100.0, 0.2, 32.5], &[26][..]));
        // White space is skipped between items, not before the first or behind the last.
        let (vm, _) = run("input x 2 x #textint-> stack x pos", &[], &[b"1 \r\n\t2 "]);
        assert_eq!(vm.stack(), [1, 2, 6]);
    }

    #[test]
    fn quoted_strings() {
        let data = br#""a\/\\\b\f\r\t" "\u00e9\u20ac""#;
        let (vm, _) = run("input x output y uint8 2 x #quotedstr-> y", &[], &[data]);
        assert_eq!(vm.outputs()[0].as_bytes(), "a/\\\u{8}\u{c}\r\t\u{e9}\u{20ac}".as_bytes());
        assert_eq!(vm.stack(), [7, 5]);
        assert_eq!(fails("input x output y uint8 x quotedstr-> y", &[b""]).0, RunError::ReadBeyond);
        for bad in [&b"abc"[..], b"\"abc", b"\"\\x\"", b"\"\\u12g4\"", b"\"\\ud800\"", b"\"\\udc00\""] {
            assert_eq!(
                fails("input x output y uint8 x quotedstr-> y", &[bad]).0,
                RunError::QuotedStringMissing
            );
        }
        let mut limits = Limits::default();
        limits.string = 3;
        for (text, fits) in [(b"\"abc\"".as_slice(), true), (b"\"abcd\"", false)] {
            let mut vm = Machine::new(
                Arc::new(Compiled::new("input x output y uint8 x quotedstr-> y").unwrap()),
                limits,
            );
            assert_eq!(vm.run(&[text]).is_ok(), fits);
        }
    }

    #[test]
    fn to_the_stack() {
        let (vm, _) = run32("input x x q-> stack x I-> stack x Q-> stack", &[&[0xff; 20]]);
        assert_eq!(vm.stack(), [-1, -1, -1]);
        let (vm, _) = run32("input x x q-> stack", &[&0x1_0000_0005_i64.to_le_bytes()]);
        assert_eq!(vm.stack(), [5]);
        let floats: Vec<u8> =
            [2.9_f64, -2.9, f64::NAN, f64::INFINITY, 1e300].iter().flat_map(|x| x.to_le_bytes()).collect();
        let (vm, _) = run("input x 5 x #d-> stack", &[], &[&floats]);
        assert_eq!(vm.stack(), [2, -2, i64::MIN, i64::MIN, i64::MIN]);
        let (vm, _) = run("input x 3 x #?-> stack", &[], &[&[0, 1, 200]]);
        assert_eq!(vm.stack(), [0, 1, 200]);
    }

    #[test]
    fn widths_wrap_lengths_and_floats_of_the_small_machine() {
        let floats: Vec<u8> = [3e9_f64, f64::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let (vm, _) = run32("input x x d-> stack x d-> stack", &[&floats]);
        assert_eq!(vm.stack().len(), 2);
        let machine: &Machine<W32> = &vm;
        assert!(machine.stack().iter().all(|&item| i32::try_from(item).is_ok()));
    }
}

mod outputs {
    use super::*;

    /// Every parser to every dtype, one at a time and all at once, against Rust's own conversions.
    #[test]
    fn every_conversion_is_the_same_one_by_one_and_in_bulk() {
        let data: Vec<u8> = (0..96_u32).map(|at| (at * 89 % 251) as u8).collect();
        for parser in ["?", "b", "h", "i", "q", "n", "B", "H", "I", "Q", "N", "f", "d", "varint", "zigzag"] {
            for bang in ["", "!"] {
                for dtype in Dtype::ALL {
                    let head = format!("input x output y {dtype} ");
                    let (one, a) =
                        run(&format!("{head} 8 0 do x {bang}{parser}-> y loop x pos"), &[], &[&data]);
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
        let (vm, _) = run(
            "output y int8 1 y <- stack 2 y <- stack 1 y rewind 3 y +<- stack 2 y rewind y len",
            &[],
            &[],
        );
        assert_eq!((vm.stack(), vm.outputs()[0].len()), (&[0][..], 0));
    }
}

mod errors {
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
        assert_eq!(
            (state(&vm), vm.bytecode_position(), vm.recursion_depth()),
            ((true, false), Some(3), Some(1))
        );
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
}
