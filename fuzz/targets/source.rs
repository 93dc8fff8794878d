//! Source texts that nobody would write: an error with a place, or a program whose text in canonical layout compiles
//! again and which all tiers run alike. A first byte of 0 makes the rest a text as it is; else the bytes choose words.
#![no_main]

use forthwith::forth::isa::{Op, Parser, Syntax};
use forthwith::forth::{CompileErrorKind, Compiled, DType};
use forthwith_fuzz::check;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Everything that means something, and a little that does not.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut words: Vec<String> = Op::ALL.iter().map(|op| op.word().to_owned()).collect();
    words.extend(Syntax::ALL.iter().map(|syntax| syntax.word().to_owned()));
    words.extend(DType::ALL.iter().map(|dtype| dtype.name().to_owned()));
    for parser in Parser::ALL {
        let width = if parser.has_width() { "7" } else { "" };
        words.extend(["", "#", "!", "#!"].map(|prefix| format!("{prefix}{width}{}->", parser.text())));
    }
    words.extend(
        [
            "0", "1", "2", "-1", "3000000000", "0x7f", "a", "b", "c", "text\"", "\"", "\n", "\\\"", "é",
            "input a", "input b", "output c int32", "output d uint8", "variable v", "v @", "v !", ": w", "w ;", "; w",
            "a B-> stack", "1 0 do", "c <- stack", "d dup",
        ]
        .map(str::to_owned),
    );
    words
});

fuzz_target!(|bytes: &[u8]| {
    let text = match bytes {
        [0, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        _ => bytes.iter().flat_map(|&byte| [&*WORDS[usize::from(byte) % WORDS.len()], " "]).collect(),
    };
    let compiled = match Compiled::new(&text) {
        Ok(compiled) => compiled,
        Err(error) => {
            assert!(error.line() >= 1 && error.line() <= text.matches('\n').count() + 1 && error.column() >= 1);
            assert!(error.to_string().len() < 16 << 10);
            return;
        }
    };
    let canonical = compiled.decompiled();
    match Compiled::new(&canonical) {
        Ok(again) => assert_eq!((again.inputs(), again.outputs()), (compiled.inputs(), compiled.outputs())),
        // The links of a `case` become structures inside of each other.
        Err(error) => assert_eq!(error.kind(), CompileErrorKind::NestedTooDeeply, "{text}\n{canonical}"),
    }
    for at in 0..compiled.bytecodes().len() {
        let _ = compiled.location(at);
        if at > 64 {
            break;
        }
    }
    let inputs = vec![bytes; compiled.inputs().len()];
    check(compiled, &inputs);
});
