//! The attribute `#[row(…)]` of fields.

use syn::{Attribute, Error, Field, LitStr, Result, ext::IdentExt};

/// Parsed `#[row(…)]` attributes of a field.
pub(crate) struct FieldOptions {
    pub(crate) name: String,
    pub(crate) has_default: bool,
    pub(crate) prefix: Option<String>,
    pub(crate) count: Option<String>,
}

impl FieldOptions {
    pub(crate) fn of(field: &Field) -> Result<Self> {
        let (mut name, mut prefix, mut count, mut has_default) = (None, None, None, false);
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
            attribute.parse_nested_meta(|meta| {
                let text = || meta.value()?.parse::<LitStr>();
                let slot = if meta.path.is_ident("name") {
                    &mut name
                } else if meta.path.is_ident("prefix") {
                    &mut prefix
                } else if meta.path.is_ident("count") {
                    &mut count
                } else if meta.path.is_ident("default") {
                    has_default = true;
                    return Ok(());
                } else {
                    return Err(meta.error("unknown attribute: there are name, prefix, count and default"));
                };
                if slot.replace(text()?).is_some() {
                    return Err(meta.error("this attribute is given twice"));
                }
                Ok(())
            })?;
        }
        let refuse = |text: &LitStr, what| Err(Error::new(text.span(), what));
        match (&name, &prefix, &count) {
            (Some(name), Some(_), _) => return refuse(name, "a field has a name or a prefix, not both"),
            (_, None, Some(count)) => return refuse(count, "a count belongs to a prefix: prefix = \"…\""),
            (_, Some(prefix), _) if has_default => {
                return refuse(prefix, "a field with a prefix has no default: its own fields may have");
            }
            _ => {}
        }
        let ident = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
        Ok(Self {
            name: name.map_or(ident, |name| name.value()),
            has_default,
            prefix: prefix.map(|prefix| prefix.value()),
            count: count.map(|count| count.value()),
        })
    }
}

/// Returns an error if `#[row(…)]` is among the attributes of an item that is not a field.
pub(crate) fn none(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| attribute.path().is_ident("row")) {
        Some(attribute) => Err(Error::new_spanned(attribute, "`row` is an attribute of fields of a struct")),
        None => Ok(()),
    }
}
