//! The AwkwardForth language and a machine for it.
//!
//! AwkwardForth is a small Forth for describing how bytes become columns: integers on a stack control the
//! flow, and parser words move data from untyped inputs to typed outputs. Programs are generated at run time
//! from the schema in a file.
//!
//! * [`Compiled`] is a program: compiled once from text, immutable, shared by reference count.
//! * [`Machine`] runs it. Inputs are passed to each call, so a machine borrows nothing between calls.
//! * [`Output`] is an append-only column over memory of its own or of the caller (see [`Memory`]).
//!
//! ```
//! use std::sync::Arc;
//! use forthwith_forth::{Compiled, Limits, Machine, Status};
//!
//! let program = Compiled::new(
//!     "input data
//!      output offsets int64
//!      output content float32
//!      0 do
//!        data !I-> stack dup offsets +<- stack data #!f-> content
//!      loop",
//! )?;
//! let mut machine = Machine::new(Arc::new(program), Limits::default());
//! machine.begin();
//! machine.push(2)?; // number of lists
//! let bytes = [0, 0, 0, 1, 0x3f, 0x80, 0, 0, 0, 0, 0, 0];
//! assert_eq!(machine.resume(&[&bytes])?, Status::Done);
//! assert_eq!(machine.outputs()[1].as_bytes(), 1.0_f32.to_ne_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The program `examples/essay.rs` shows how to drive a machine with pauses, single steps, limits, counters
//! and caller-provided memory: `cargo run -p forthwith-forth --example essay`.
//!
//! Every instruction is a row of one table ([`isa`]). There are three tiers with equal results ([`Tier`]):
//! the checked interpreter, which defines the semantics; flat code with native loops for the phrases in
//! [`idioms`]; and machine code, if the feature `jit` is enabled and the system allows it.
//! [`Compiled::explain`] reports which one runs.
//!
//! A program may run without bound: only the memory of outputs is limited, not the number of instructions
//! (see [`Limits`]). Another thread can interrupt it ([`Machine::set_interrupt`]).

#![deny(missing_docs)]
// Columns are raw memory that the caller may own, kernels write past the end into the agreed slack, flat code
// accesses registers and inputs at indices that were checked before, and machine code is called.
#![allow(unsafe_code)]

mod compile;
mod compiled;
mod error;
mod explain;
pub mod idioms;
mod interpret;
pub mod isa;
mod jit;
mod lower;
mod machine;
pub mod manual;
mod number;
#[doc = include_str!("interpret/mutable_inputs.md")]
pub mod mutable_inputs {}
mod output;
mod prepare;
mod program;
mod programs;
mod similar;
mod state;
mod value;

pub use compile::ir::OutputDecl;
pub use compile::{LiteralWidth, Options};
pub use compiled::Compiled;
pub use error::{CompileError, CompileErrorKind, Location, RunError, quote};
pub use forthwith_dtype::DType;
pub use machine::Machine;
pub use output::{Keeper, LEAD, Lease, Memory, OutOfMemory, Output, SLACK};
pub use prepare::prepare;
pub use program::Program;
pub use programs::Programs;
pub use similar::similar_names;
pub use state::{Counters, Limits, Printer, Status, Tier, W32, W64, Width};
pub use value::Value;
