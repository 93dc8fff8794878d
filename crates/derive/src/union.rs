//! Expansion for enums.

use crate::{attributes, lifetimes};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, Lifetime, Result, ext::IdentExt};

/// Maximum number of variants of an enum: the tags of unions are signed bytes.
const MOST: usize = 127;

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataEnum,
    lifetime: Option<&Lifetime>,
) -> Result<TokenStream> {
    let (variants, types) = variants(input, data)?;
    let (name, label, visibility) = (&input.ident, input.ident.unraw().to_string(), &input.vis);
    let (view, builder) = (format_ident!("{}View", name), format_ident!("{}Builder", name));
    let short = if lifetime.is_some() { quote!(#name<'view>) } else { quote!(#name) };
    let own = lifetime.map(|own| quote!(<#own>));
    let slots: Vec<Ident> = (0..variants.len()).map(|at| format_ident!("variant{}", at)).collect();
    let numbers: Vec<usize> = (0..variants.len()).collect();
    let (view_doc, builder_doc) =
        (format!("The columns of [`{name}`] in a batch."), format!("Columns of [`{name}`] being filled."));
    let fits = quote!(&[#(::forthwith::rows::fits::<#types>,)*]);
    Ok(quote! {
        #[doc = #view_doc]
        #[automatically_derived]
        #[allow(unreachable_pub)]
        #visibility struct #view {
            rows: ::forthwith::rows::UnionView,
            #(#slots: ::core::option::Option<<#types as ::forthwith::rows::Value>::View>,)*
        }

        #[doc = #builder_doc]
        #[automatically_derived]
        #[allow(unreachable_pub)]
        #[derive(Default)]
        #visibility struct #builder {
            rows: ::forthwith::rows::UnionBuilder,
            #(#slots: <#types as ::forthwith::rows::Value>::Builder,)*
        }

        #[automatically_derived]
        impl #own ::forthwith::rows::Value for #name #own {
            type View = #view;
            type Borrowed<'view> = #short;
            type Builder = #builder;

            fn check(form: &::forthwith::columns::Form, check: &mut ::forthwith::rows::Check<'_>) {
                check.union(form, #label, #fits);
            }

            fn view(array: &::forthwith::columns::Array) -> ::forthwith::plan::Result<#view> {
                let (rows, variants) = ::forthwith::rows::UnionView::of(array, #fits)?;
                ::core::result::Result::Ok(#view {
                    rows,
                    #(#slots: match &variants[#numbers] {
                        ::core::option::Option::Some(array) => {
                            ::core::option::Option::Some(<#types as ::forthwith::rows::Value>::view(array)?)
                        }
                        ::core::option::Option::None => ::core::option::Option::None,
                    },)*
                })
            }

            fn get<'view>(view: &'view #view, row: usize) -> #short {
                let (variant, row) = view.rows.at(row);
                match variant {
                    #(#numbers => if let ::core::option::Option::Some(values) = &view.#slots {
                        return #name::#variants(<#types as ::forthwith::rows::Value>::get(values, row));
                    },)*
                    _ => {}
                }
                ::core::unreachable!("a variant without values")
            }

            fn push_to(&self, builder: &mut #builder) {
                match self {
                    #(Self::#variants(value) => {
                        builder.rows.push(#numbers);
                        ::forthwith::rows::Value::push_to(value, &mut builder.#slots);
                    })*
                }
            }

            fn finish(
                builder: #builder,
                key: &str,
                columns: &mut ::std::vec::Vec<(::std::string::String, ::forthwith::columns::Column)>,
            ) -> ::forthwith::columns::Form {
                let contents = ::std::vec![#(
                    <#types as ::forthwith::rows::Value>::finish(
                        builder.#slots,
                        &::std::format!("{key}.{}", #numbers),
                        columns,
                    ),
                )*];
                builder.rows.finish(key, contents, columns)
            }
        }
    })
}

fn variants<'f>(input: &DeriveInput, data: &'f DataEnum) -> Result<(Vec<&'f Ident>, Vec<TokenStream>)> {
    if data.variants.is_empty() || data.variants.len() > MOST {
        return Err(Error::new_spanned(&input.ident, format!("a union has 1 to {MOST} variants")));
    }
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        attributes::none(&variant.attrs)?;
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                names.push(&variant.ident);
                types.push(lifetimes::fixed(&fields.unnamed[0].ty)?);
            }
            _ => {
                let what = "a variant has one field, the value; values that may be missing are Option<…> of the enum";
                return Err(Error::new_spanned(variant, what));
            }
        }
    }
    Ok((names, types))
}
