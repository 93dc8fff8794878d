//! The language line by line: what every rule of it says, where `words.rs`, `quirks.rs`, `compile_errors.rs`,
//! `bytecode.rs` and `driving.rs` do not say it already.

mod control_flow;
mod declarations;
mod errors;
mod generic_words;
mod inputs;
mod lexical;
mod outputs;

use std::sync::Arc;

use forthwith_forth::{CompileErrorKind as E, Compiled, DType, Limits, Machine, RunError, Status, Tier, W32};

use super::support::{f32s, f64s, fails, i8s, i32s, i64s, run, run32, stack, stack32, u32s, u64s};

fn kind(source: &str) -> E {
    Compiled::new(source).expect_err(source).kind()
}
