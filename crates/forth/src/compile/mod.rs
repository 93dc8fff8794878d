//! Text → tokens → structured IR → external bytecode.

mod decompile;
mod emit;
pub(crate) mod ir;
mod lexer;
mod options;
mod parser;

pub(crate) use decompile::Decompiler;
pub(crate) use emit::{Bytecode, emit};
pub use options::{LiteralWidth, Options};
pub(crate) use parser::parse;
