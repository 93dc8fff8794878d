//! `#[derive(Row)]`: structs as rows of tables, and enums as values of unions. It is re-exported as
//! `forthwith::Row`; the documentation of `forthwith::rows` lists the supported types of fields and the
//! attributes.
//!
//! The generated code is safe, and calls the functions of `forthwith::rows` for each field.
#![deny(missing_docs)]

mod attributes;
mod lifetimes;
mod record;
mod union;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, Result, parse_macro_input};

/// Implements `forthwith::rows::Row` for a struct, or `forthwith::rows::Value` as a union for an enum.
#[proc_macro_derive(Row, attributes(row))]
pub fn derive_row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expand(input: &DeriveInput) -> Result<proc_macro2::TokenStream> {
    let lifetime = lifetimes::only(&input.generics)?;
    attributes::none(&input.attrs)?;
    match &input.data {
        Data::Struct(data) => record::expand(input, data, lifetime),
        Data::Enum(data) => union::expand(input, data, lifetime),
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "a union cannot be a row: fields must have one type each",
        )),
    }
}
