//! Lifetimes of rows and their fields.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, GenericParam, Generics, Lifetime, Result, Type};

/// Returns the lifetime parameter, which is the only generic parameter that a row may have; `None` without
/// parameters.
pub(crate) fn only(generics: &Generics) -> Result<Option<&Lifetime>> {
    let mut found = None;
    for parameter in &generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) if found.is_none() => found = Some(&lifetime.lifetime),
            GenericParam::Lifetime(_) => {
                let what = "a row has one lifetime: all its fields borrow from the same batch";
                return Err(Error::new_spanned(parameter, what));
            }
            _ => {
                let what = "a row has no type or const parameters: its columns follow from its types";
                return Err(Error::new_spanned(parameter, what));
            }
        }
    }
    Ok(found)
}

/// Returns a type with `'static` in place of all its lifetimes.
pub(crate) fn fixed(of: &Type) -> Result<TokenStream> {
    match of {
        Type::Reference(reference) if reference.mutability.is_some() => {
            Err(Error::new_spanned(of, "a row only reads what it borrows: use `&`, not `&mut`"))
        }
        _ => Ok(replaced(of.to_token_stream())),
    }
}

fn replaced(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            // A lifetime is an apostrophe and a name.
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let span = tokens.next().map_or_else(|| punct.span(), |name| name.span());
                Lifetime::new("'static", span).to_tokens(&mut out);
            }
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), replaced(group.stream()));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            token => out.extend([token]),
        }
    }
    out
}
