//! Behaviour of the façade: files of all formats, opened, selected from, checked and written.

mod avro;
mod background;
mod chain;
mod chain_divide;
mod chain_projection;
mod chain_rows;
mod check;
mod codecs;
mod extend;
mod files;
mod open;
mod own;
mod parquet;
mod rntuple;
mod rows;
mod select;
mod streams;
