//! Expansion for structs.

use crate::{attributes::FieldOptions, lifetimes};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataStruct, DeriveInput, Error, Fields, Ident, Lifetime, Result, ext::IdentExt};

/// A field of the struct, which generates the code for it.
struct Field<'f> {
    ident: &'f Ident,
    /// The field's type with `'static` in place of lifetimes.
    fixed: TokenStream,
    options: FieldOptions,
}

impl Field<'_> {
    /// Returns the type of the field's view of a batch.
    fn view_type(&self) -> TokenStream {
        let fixed = &self.fixed;
        if self.options.has_default {
            quote!(::forthwith::rows::DefaultView<#fixed>)
        } else {
            quote!(<#fixed as ::forthwith::rows::Value>::View)
        }
    }

    fn count(&self) -> TokenStream {
        match &self.options.count {
            Some(count) => quote!(::core::option::Option::Some(#count)),
            None => quote!(::core::option::Option::None),
        }
    }

    fn check(&self) -> TokenStream {
        let (fixed, label, count) = (&self.fixed, self.ident.unraw().to_string(), self.count());
        let FieldOptions { name, has_default, prefix, .. } = &self.options;
        match prefix {
            Some(prefix) => quote!(fields.prefixed::<#fixed>(#label, #prefix, #count);),
            None if *has_default => {
                quote!(fields.field::<::core::option::Option<#fixed>>(#label, #name, true);)
            }
            None => quote!(fields.field::<#fixed>(#label, #name, false);),
        }
    }

    fn view(&self) -> TokenStream {
        let (ident, fixed, count) = (self.ident, &self.fixed, self.count());
        let FieldOptions { name, has_default, prefix, .. } = &self.options;
        match prefix {
            Some(prefix) => quote!(#ident: fields.prefixed_field::<#fixed>(#prefix, #count)?,),
            None if *has_default => quote! {
                #ident: ::forthwith::rows::DefaultView::new(
                    fields.field_or_default::<::core::option::Option<#fixed>>(#name)?
                ),
            },
            None => quote!(#ident: fields.field::<#fixed>(#name)?,),
        }
    }

    fn get(&self) -> TokenStream {
        let (ident, fixed) = (self.ident, &self.fixed);
        if self.options.has_default {
            quote!(#ident: view.#ident.get(row),)
        } else {
            quote!(#ident: <#fixed as ::forthwith::rows::Value>::get(&view.#ident, row),)
        }
    }

    fn rows(&self) -> Option<TokenStream> {
        let (ident, fixed) = (self.ident, &self.fixed);
        (!self.options.has_default).then(|| quote!(<#fixed as ::forthwith::rows::Value>::rows(&view.#ident)))
    }

    fn finish(&self) -> TokenStream {
        let (ident, fixed, count) = (self.ident, &self.fixed, self.count());
        let name = &self.options.name;
        match &self.options.prefix {
            Some(prefix) => quote!(fields.prefixed_field::<#fixed>(#prefix, #count, builder.#ident);),
            None => quote!(fields.field::<#fixed>(#name, builder.#ident);),
        }
    }
}

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataStruct,
    lifetime: Option<&Lifetime>,
) -> Result<TokenStream> {
    let fields = fields(input, data)?;
    let (name, label, visibility) = (&input.ident, input.ident.unraw().to_string(), &input.vis);
    let (view, builder) = (format_ident!("{}View", name), format_ident!("{}Builder", name));
    let of = |lifetime: TokenStream| match &input.generics.params.is_empty() {
        true => quote!(#name),
        false => quote!(#name<#lifetime>),
    };
    let (own, fixed, short) = (lifetime.map(|own| quote!(<#own>)), of(quote!('static)), of(quote!('view)));
    let this = lifetime.map_or_else(|| quote!(#name), |own| quote!(#name<#own>));
    let idents: Vec<&Ident> = fields.iter().map(|field| field.ident).collect();
    let types: Vec<&TokenStream> = fields.iter().map(|field| &field.fixed).collect();
    let visibilities = data.fields.iter().map(|field| &field.vis);
    let view_types = fields.iter().map(Field::view_type);
    let docs = fields.iter().map(|field| format!("The column of `{}`.", field.ident));
    let checks = fields.iter().map(Field::check);
    let views = fields.iter().map(Field::view);
    let gets = fields.iter().map(Field::get);
    let rows = fields.iter().filter_map(Field::rows);
    let finishes = fields.iter().map(Field::finish);
    let (view_doc, builder_doc) =
        (format!("The columns of [`{name}`] in a batch."), format!("Columns of [`{name}`] being filled."));
    Ok(quote! {
        #[doc = #view_doc]
        #[automatically_derived]
        #[allow(non_snake_case, unreachable_pub, dead_code)]
        #visibility struct #view { #(#[doc = #docs] #visibilities #idents: #view_types,)* }

        #[doc = #builder_doc]
        #[automatically_derived]
        #[allow(non_snake_case, unreachable_pub)]
        #[derive(Default)]
        #visibility struct #builder { #(#idents: <#types as ::forthwith::rows::Value>::Builder,)* }

        #[automatically_derived]
        impl #own ::forthwith::rows::Value for #this {
            type View = #view;
            type Borrowed<'view> = #short;
            type Builder = #builder;

            fn check(form: &::forthwith::columns::Form, check: &mut ::forthwith::rows::Check<'_>) {
                check.record::<#fixed>(form);
            }

            fn view(array: &::forthwith::columns::Array) -> ::forthwith::plan::Result<#view> {
                <Self as ::forthwith::rows::Row>::view_fields(&::forthwith::rows::FieldArrays::of_record(array))
            }

            // Fields that the caller does not use are not looked up.
            #[inline(always)]
            fn get<'view>(view: &'view #view, row: usize) -> #short {
                #name { #(#gets)* }
            }

            #[inline]
            fn rows(view: &#view) -> usize {
                let rows = ::core::primitive::usize::MAX;
                #(let rows = rows.min(#rows);)*
                rows
            }

            #[inline]
            fn push_to(&self, builder: &mut #builder) {
                #(::forthwith::rows::Value::push_to(&self.#idents, &mut builder.#idents);)*
            }

            fn finish(
                builder: #builder,
                key: &str,
                columns: &mut ::std::vec::Vec<(::std::string::String, ::forthwith::columns::Column)>,
            ) -> ::forthwith::columns::Form {
                let mut fields = ::forthwith::rows::FieldWriter::new(key);
                <Self as ::forthwith::rows::Row>::finish_fields(builder, &mut fields);
                fields.into_record(#label, columns)
            }
        }

        #[automatically_derived]
        impl #own ::forthwith::rows::Row for #this {
            const NAME: &'static str = #label;

            fn check_fields(fields: &mut ::forthwith::rows::FieldCheck<'_, '_>) {
                #(#checks)*
            }

            fn view_fields(fields: &::forthwith::rows::FieldArrays<'_>) -> ::forthwith::plan::Result<#view> {
                ::core::result::Result::Ok(#view { #(#views)* })
            }

            fn finish_fields(builder: #builder, fields: &mut ::forthwith::rows::FieldWriter) {
                #(#finishes)*
            }
        }

        ::forthwith::prefixed_row!(#[automatically_derived] impl #own ::forthwith::rows::Prefixed for #this);
    })
}

fn fields<'f>(input: &'f DeriveInput, data: &'f DataStruct) -> Result<Vec<Field<'f>>> {
    let named = match &data.fields {
        Fields::Named(named) if !named.named.is_empty() => &named.named,
        Fields::Named(_) | Fields::Unit => {
            return Err(Error::new_spanned(&input.ident, "a row has fields: they are its columns"));
        }
        Fields::Unnamed(unnamed) => {
            return Err(Error::new_spanned(unnamed, "fields of a row have names: they are those of columns"));
        }
    };
    let mut all: Option<Error> = None;
    let mut fields = Vec::new();
    for field in named {
        let parts = FieldOptions::of(field).and_then(|options| Ok((options, lifetimes::fixed(&field.ty)?)));
        match (parts, &field.ident) {
            (Ok((options, fixed)), Some(ident)) => fields.push(Field { ident, fixed, options }),
            (Ok(_), None) => {}
            (Err(error), _) => match &mut all {
                Some(errors) => errors.combine(error),
                None => all = Some(error),
            },
        }
    }
    all.map_or(Ok(fields), Err)
}
