//! Section by section: inputs.

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
    for parser in ["B", "q", "!d", "varint", "zigzag", "3bit", "3msb", "textint", "textfloat", "quotedstr"] {
        for count in [0, -1, i64::MIN] {
            let source = format!("input x output y uint8 x #{parser}-> y");
            let (vm, result) = run(&source, &[count], &[&[]]);
            assert_eq!((result, vm.position(0), vm.outputs()[0].len()), (Ok(Status::Done), 0, 0), "{parser}");
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
        let mut vm =
            Machine::new(Arc::new(Compiled::new(&format!("input x 5 x #{parser}-> stack")).unwrap()), limits);
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
    let (vm, _) =
        run("input x output y int8 output z uint64 x varint-> y 0 x seek x zigzag-> z", &[], &[&[0xff, 3]]);
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
        assert_eq!(fails("input x output y float64 x textfloat-> y", &[text.as_bytes()]).0, error, "{text}");
    }
    let (vm, _) =
        run("input x output y float64 5 x #textfloat-> y x pos", &[], &[b"007 -0.50\n1E2\t2e-1 3.25e+1]"]);
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
        assert_eq!(fails("input x output y uint8 x quotedstr-> y", &[bad]).0, RunError::QuotedStringMissing);
    }
    let mut limits = Limits::default();
    limits.string = 3;
    for (text, fits) in [(b"\"abc\"".as_slice(), true), (b"\"abcd\"", false)] {
        let mut vm =
            Machine::new(Arc::new(Compiled::new("input x output y uint8 x quotedstr-> y").unwrap()), limits);
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
