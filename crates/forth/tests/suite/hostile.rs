//! Sources made to hurt: errors or programs, in bounded time, memory and native stack.

use std::sync::Arc;

use forthwith_forth::{CompileErrorKind as E, Compiled, Limits, Machine, RunError};

/// Everything that looks at a whole program. The stack is that of any thread of the standard library.
fn survive(source: String) -> Result<usize, E> {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let look = move || match Compiled::new(&source) {
        Ok(program) => {
            let texts = program.decompiled().len() + program.explain().len() + program.cut_literals().len();
            let mut limits = Limits::default();
            limits.output_bytes = Some(1 << 20);
            let mut machine = Machine::new(Arc::new(program), limits);
            machine.begin();
            for _ in 0..10_000 {
                if machine.step(&vec![&b"0123456789abcdef"[..]; machine.compiled().inputs().len()]).is_err()
                    || machine.is_done()
                {
                    break;
                }
            }
            Ok(texts)
        }
        Err(error) => {
            assert!(error.to_string().len() < 10_000, "an error is short");
            Err(error.kind())
        }
    };
    thread.spawn(look).expect("a thread").join().expect("no panic")
}

/// Debug builds are slow enough with less.
const LARGE: usize = if cfg!(debug_assertions) { 1 << 20 } else { 10 << 20 };

fn filled(text: &str) -> String {
    text.repeat(LARGE / text.len())
}

#[test]
#[cfg_attr(miri, ignore = "long, and nothing unsafe in it")]
fn everything_unclosed_is_an_error() {
    for (opening, kind) in [
        ("( ", E::UnclosedComment),
        ("1 if ", E::NestedTooDeeply),
        ("1 if else ", E::NestedTooDeeply),
        ("begin ", E::NestedTooDeeply),
        ("begin while ", E::NestedTooDeeply),
        ("0 0 do ", E::NestedTooDeeply),
        ("0 case ", E::UnclosedCase),
        ("0 case 1 of ", E::UnclosedCase),
    ] {
        assert_eq!(survive(filled(opening)), Err(kind), "{opening}");
        let once = survive(opening.to_owned()).expect_err(opening);
        assert_ne!(once, E::NestedTooDeeply);
    }
    for string in ["s\" ", ".\" "] {
        assert_eq!(survive(string.to_owned() + &filled("x \\\"\n")), Err(E::UnclosedString));
    }
    let words: String = (0..LARGE / 10).map(|number| format!(": w{number} ")).collect();
    assert_eq!(survive(words), Err(E::NestedTooDeeply));
    let closers = filled("then ; loop +loop until again repeat endof endcase ) else ");
    assert_eq!(survive(closers), Err(E::UnknownWord));
}

#[test]
#[cfg_attr(miri, ignore = "long, and nothing unsafe in it")]
fn nesting_is_deep_enough_and_bounded() {
    let nested =
        |open: &str, close: &str, depth| survive(format!("{}{}", open.repeat(depth), close.repeat(depth)));
    for (open, close) in [
        ("1 if ", "then "),
        ("1 if else ", "then "),
        ("1 0 do ", "loop "),
        ("begin ", "again "),
        ("begin 1 while ", "repeat "),
        ("0 case 0 of ", "endof endcase "),
        ("7 case 7 of ", "endof endcase "),
        ("7 case ", "endcase "),
        (": w ", "; "),
    ] {
        let depth = if open == ": w " { 1 } else { 190 };
        assert!(nested(open, close, depth).is_ok(), "{open}");
        for depth in [200, 10_000, LARGE / 20] {
            let kind = nested(open, close, depth).expect_err(open);
            assert!(matches!(kind, E::NestedTooDeeply | E::NameTaken), "{open} {depth}: {kind:?}");
        }
    }
}

/// The links of a general `case` are nested in each other.
#[test]
#[cfg_attr(miri, ignore = "long, and nothing unsafe in it")]
fn long_chains_of_branches_are_bounded() {
    let chain = |branches: usize| -> String {
        let branches: String =
            (0..branches).map(|branch| format!("{} of {branch} endof ", branch + 1000)).collect();
        format!("1000 case {branches} endcase ")
    };
    assert!(survive(chain(500)).is_ok());
    assert_eq!(survive(chain(1000)), Err(E::NestedTooDeeply));
    assert_eq!(survive(chain(LARGE / 20)), Err(E::NestedTooDeeply));
    let inside = format!("1000 case {} 7777 of {} endof endcase", chain(300), chain(300));
    assert!(survive(inside).is_ok());
    // The table form is flat.
    let table: String = (0..LARGE / 20).map(|branch| format!("{branch} of endof ")).collect();
    assert!(survive(format!("3 case {table} endcase")).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "long, and nothing unsafe in it")]
fn ten_million_bytes_of_anything() {
    for text in [
        "1 ",
        "dup ",
        "\n",
        "( ) ",
        "3000000000 ",
        "1 if then ",
        "1 0 do loop ",
        "1 0 do 1 0 do loop loop ",
        "begin exit again ",
        "0 case 0 of endof endcase ",
        "9 case 5 of endof endcase ",
        "s\" text\" ",
        ".\" \" ",
        "true ",
    ] {
        assert!(survive(filled(text)).is_ok(), "{text:?}");
    }
    let variables: String =
        (0..LARGE / 24).map(|number| format!("variable v{number} v{number} @ ")).collect();
    assert!(survive(variables).is_ok());
    let words: String = (0..LARGE / 24).map(|number| format!(": w{number} 1 ; w{number} ")).collect();
    assert!(survive(words).is_ok());
    for junk in ["\u{0}", "é", "\u{feff}x ", "-", "#!", "->", "\"", "'", "0x", "1e5 "] {
        assert_eq!(survive(filled(junk)), Err(E::UnknownWord), "{junk:?}");
    }
}

/// Words made of words made of words: a few lines that would expand to more instructions than can be counted.
#[test]
#[cfg_attr(miri, ignore = "long, and nothing unsafe in it")]
fn words_that_double_are_not_expanded() {
    for body in ["W W", "data B-> stack if W else W then", "data B-> stack 0 do W W loop", "1 if W W then"] {
        let mut source = String::from("input data output y uint8 : w0 data B-> y ;\n");
        for number in 1..100 {
            source.push_str(&format!(": w{number} {} ;\n", body.replace('W', &format!("w{}", number - 1))));
        }
        source.push_str("1 0 do w99 loop 1 0 do w98 loop w97");
        assert!(survive(source).is_ok(), "{body}");
    }
    let mut empty = String::from(": w0 ;\n");
    for number in 1..100 {
        empty.push_str(&format!(": w{number} w{0} w{0} ;\n", number - 1));
    }
    assert!(survive(empty + "1 0 do w99 loop").is_ok());
}

#[test]
fn absurd_counts_are_errors() {
    let mut limits = Limits::default();
    limits.output_bytes = Some(1 << 16);
    for (source, error) in [
        ("output y int64 1 y <- stack 2147483647 y dup", RunError::OutputLimitExceeded),
        ("output y int8 begin 1 y <- stack again", RunError::OutputLimitExceeded),
        ("output y int8 1 y <- stack begin y len y dup again", RunError::OutputLimitExceeded),
        ("input x 2147483647 x #B-> stack", RunError::ReadBeyond),
        ("input x output y int8 2147483647 x #q-> y", RunError::ReadBeyond),
        ("input x output y int8 2147483647 x #64bit-> y", RunError::ReadBeyond),
        ("input x output y int8 2147483647 x #textint-> y", RunError::TextNumberMissing),
        ("input x output y uint8 2147483647 x #quotedstr-> y", RunError::QuotedStringMissing),
        ("begin 1 again", RunError::StackOverflow),
        (": f f ; f", RunError::RecursionDepthExceeded),
        (": f 1 0 do f loop ; f", RunError::RecursionDepthExceeded),
        ("2147483647 0 do i loop", RunError::StackOverflow),
    ] {
        let mut machine = Machine::new(Arc::new(Compiled::new(source).unwrap()), limits);
        let inputs = vec![&b"abc"[..]; machine.compiled().inputs().len()];
        assert_eq!(machine.run(&inputs), Err(error), "{source}");
    }
}

#[test]
fn limits_of_nothing_are_errors() {
    for (stack, recursion, source, error) in [
        (0, 8, "1", RunError::StackOverflow),
        (8, 0, ": f ; f", RunError::RecursionDepthExceeded),
        (8, 1, "1 if then", RunError::RecursionDepthExceeded),
        (8, 1, "1 0 do loop", RunError::RecursionDepthExceeded),
        (1, 8, "s\" a\"", RunError::StackOverflow),
        (1, 8, "1 dup", RunError::StackOverflow),
    ] {
        let mut limits = Limits::default();
        (limits.stack, limits.recursion) = (stack, recursion);
        let mut machine = Machine::new(Arc::new(Compiled::new(source).unwrap()), limits);
        assert_eq!(machine.run(&[]), Err(error), "{source}");
    }
}

/// An input that shrinks or goes away while the machine is paused.
#[test]
fn inputs_are_looked_at_again() {
    let source = "input x output y uint8 x B-> y pause 2 x skip pause x #!h-> y x end";
    let mut machine = Machine::new(Arc::new(Compiled::new(source).unwrap()), Limits::default());
    machine.begin();
    machine.resume(&[&[1, 2, 3, 4, 5]]).unwrap();
    machine.resume(&[&[1, 2, 3]]).unwrap();
    assert_eq!(machine.position(0), 3);
    assert_eq!(machine.resume(&[&[1, 2]]), Err(RunError::InputMismatch));
    assert_eq!(machine.resume(&[]), Err(RunError::InputMismatch));
    assert_eq!(machine.step(&[&[]]), Err(RunError::InputMismatch));
    machine.push(1).unwrap();
    assert_eq!(machine.resume(&[&[1, 2, 3, 4]]), Err(RunError::ReadBeyond));
    assert_eq!(machine.outputs()[0].as_bytes(), [1]);
}
