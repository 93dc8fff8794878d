//! The tiers agree: same result, stack, variables, positions, outputs, error and place of the error, for any program and
//! input. A first byte of 0 makes the rest a source text of its own.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use forthwith::forth::Compiled;
use forthwith_fuzz::{Script, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match bytes {
        [0, text @ ..] => {
            let Ok(text) = std::str::from_utf8(text) else { return };
            let Ok(compiled) = Compiled::new(text) else { return };
            let inputs = vec![text.as_bytes(); compiled.inputs().len()];
            check(compiled, &inputs);
        }
        [_, rest @ ..] => {
            let Ok(script) = Script::arbitrary(&mut Unstructured::new(rest)) else { return };
            let compiled = Compiled::new(&script.source)
                .unwrap_or_else(|error| panic!("the generator made {}\n{error}", script.source));
            check(compiled, &[&script.data, &script.other]);
        }
        [] => {}
    }
});
