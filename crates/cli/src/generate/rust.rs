//! Rust code with a struct.

use super::{Column, Described, Member, Taken, camel_case};
use crate::human;
use forthwith::columns::{DType, Form, LogicalType, TimeUnit};

/// Keywords, which are raw identifiers as names of fields.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords without a raw form.
const NEVER: &[&str] = &["self", "super", "crate"];

/// Type of a field, and whether it borrows.
struct Typed {
    text: String,
    borrows: bool,
}

/// Structs and enums in the order of their definitions.
#[derive(Default)]
struct Printer {
    items: Vec<String>,
    names: Taken,
    /// Imported types of `forthwith::rows`.
    used: Vec<&'static str>,
}

pub(super) fn print(described: &Described) -> String {
    let mut printer = Printer::default();
    // Names that are imported or defined by the prelude.
    for name in ["Row", "List", "Date", "Time", "Timestamp", "Decimal", "Milli", "Micro", "Nano", "Option"] {
        printer.names.make(name.to_owned());
    }
    let name = printer.names.make(described.name.clone());
    let fields: Vec<_> =
        described.members().iter().map(|member| printer.member(member, &described.name)).collect();
    let doc = format!("A row of `{}`.", described.from);
    printer.record(&name, &doc, fields, &described.skipped_lines("//", "    "));
    let mut text = format!("// Made by `forthwith gen rust {}`.\n\n", described.from);
    printer.used.sort_unstable();
    text.push_str(&match printer.used.as_slice() {
        [] => "use forthwith::Row;\n".to_owned(),
        [one] => format!("use forthwith::{{Row, rows::{one}}};\n"),
        used => format!("use forthwith::{{\n    Row,\n    rows::{{{}}},\n}};\n", used.join(", ")),
    });
    for item in &printer.items {
        text.push('\n');
        text.push_str(item);
    }
    text
}

/// Field: the name of its column, other attributes, and its type or the reason why it has none.
type Field = (String, String, Result<Typed, String>);

impl Printer {
    fn member(&mut self, member: &Member, outer: &str) -> Field {
        match member {
            Member::Column(Column { name, form }) => {
                let typed = self.typed(form, &format!("{outer}{}", camel_case(name)));
                (name.clone(), String::new(), typed)
            }
            Member::Lists { prefix, count, columns } => {
                let item = self.names.make(camel_case(prefix));
                let column = |column: &Column| match &column.form {
                    Form::List { content, .. } => {
                        let name = column.name[prefix.len()..].to_owned();
                        let typed = self.typed(content, &format!("{item}{}", camel_case(&name)));
                        (name, String::new(), typed)
                    }
                    _ => (column.name.clone(), String::new(), Err("it is not a list".to_owned())),
                };
                let fields: Vec<Field> = columns.iter().map(column).collect();
                let borrows = self.record(&item, &format!("An item of the columns `{prefix}…`."), fields, "");
                let lifetime = if borrows { "<'a>" } else { "" };
                let text = format!("{}<'a, {item}{lifetime}>", self.use_type("List"));
                let attributes = format!("prefix = {prefix:?}, count = {count:?}");
                let name = prefix.trim_end_matches('_').to_owned();
                (name, attributes, Ok(Typed { text, borrows: true }))
            }
        }
    }

    fn use_type(&mut self, name: &'static str) -> &'static str {
        if !self.used.contains(&name) {
            self.used.push(name);
        }
        name
    }

    /// Appends a struct; returns whether it borrows.
    fn record(&mut self, name: &str, doc: &str, fields: Vec<Field>, skipped: &str) -> bool {
        let (mut lines, mut taken, mut borrows) = (String::new(), Taken::default(), false);
        let mut comments = skipped.to_owned();
        for (column, mut attributes, typed) in fields {
            let typed = match typed {
                Ok(typed) => typed,
                Err(why) => {
                    comments.push_str(&format!("    // {}: {}\n", human::clean(&column), human::clean(&why)));
                    continue;
                }
            };
            let ident = taken.make(snake_case(&column));
            if attributes.is_empty() && ident.trim_start_matches("r#") != column {
                attributes = format!("name = {column:?}");
            }
            if !attributes.is_empty() {
                lines.push_str(&format!("    #[row({attributes})]\n"));
            }
            borrows |= typed.borrows;
            lines.push_str(&format!("    pub {ident}: {},\n", typed.text));
        }
        let lifetime = if borrows { "<'a>" } else { "" };
        let derived = "#[derive(Row)]";
        self.items
            .push(format!("/// {doc}\n{derived}\npub struct {name}{lifetime} {{\n{lines}{comments}}}\n"));
        borrows
    }

    /// Returns the type for values of a Form.
    fn typed(&mut self, form: &Form, name: &str) -> Result<Typed, String> {
        let plain = |text: String| Ok(Typed { text, borrows: false });
        let unsupported = || Err(format!("{} has no type here", form.type_string()));
        match form {
            Form::Numpy { dtype, shape, .. } => {
                let number = number(*dtype).to_owned();
                plain(shape.iter().rev().fold(number, |text, size| format!("[{text}; {size}]")))
            }
            Form::String { binary, .. } => {
                let text = if *binary { "&'a [u8]" } else { "&'a str" };
                Ok(Typed { text: text.to_owned(), borrows: true })
            }
            Form::Categorical { .. } => Ok(Typed { text: "&'a str".to_owned(), borrows: true }),
            Form::List { content, .. } => match content.kept() {
                Form::Numpy { dtype, shape, .. }
                    if shape.is_empty()
                        && *dtype != DType::Bool
                        && !matches!(**content, Form::Logical { .. }) =>
                {
                    Ok(Typed { text: format!("&'a [{}]", number(*dtype)), borrows: true })
                }
                _ => {
                    let item = self.typed(content, name)?.text;
                    let list = self.use_type("List");
                    Ok(Typed { text: format!("{list}<'a, {item}>"), borrows: true })
                }
            },
            Form::Regular { size, content } => {
                let Typed { text, borrows } = self.typed(content, name)?;
                Ok(Typed { text: format!("[{text}; {size}]"), borrows })
            }
            Form::Option { content, .. } => {
                let Typed { text, borrows } = self.typed(content, name)?;
                Ok(Typed { text: format!("Option<{text}>"), borrows })
            }
            Form::Logical { meaning, content } => match self.logical(*meaning) {
                Some(text) => plain(text),
                None => self.typed(content, name),
            },
            Form::Record { fields: Some(names), contents, .. } => {
                let item = self.names.make(name.to_owned());
                let fields = names.iter().zip(contents);
                let fields = fields.map(|(field, form)| {
                    let typed = self.typed(form, &format!("{item}{}", camel_case(field)));
                    (field.clone(), String::new(), typed)
                });
                let fields: Vec<Field> = fields.collect();
                if fields.iter().all(|(.., typed)| typed.is_err()) {
                    return unsupported();
                }
                let borrows = self.record(&item, "A record.", fields, "");
                let lifetime = if borrows { "<'a>" } else { "" };
                Ok(Typed { text: format!("{item}{lifetime}"), borrows })
            }
            Form::Union { contents, .. } => self.union(contents, name),
            _ => unsupported(),
        }
    }

    fn union(&mut self, contents: &[Form], name: &str) -> Result<Typed, String> {
        let item = self.names.make(name.to_owned());
        let (mut lines, mut taken, mut borrows) = (String::new(), Taken::default(), false);
        for form in contents {
            let variant = taken.make(match form.record_name() {
                Some(name) => camel_case(name),
                None => camel_case(&form.type_string()),
            });
            let typed = self.typed(form, &format!("{item}{variant}"))?;
            borrows |= typed.borrows;
            lines.push_str(&format!("    {variant}({}),\n", typed.text));
        }
        let lifetime = if borrows { "<'a>" } else { "" };
        self.items.push(format!(
            "/// A value of one of several types.\n#[derive(Row)]\npub enum {item}{lifetime} {{\n{lines}}}\n"
        ));
        Ok(Typed { text: format!("{item}{lifetime}"), borrows })
    }

    fn logical(&mut self, meaning: LogicalType) -> Option<String> {
        let scaled = |printer: &mut Self, name, unit| {
            let unit = match unit {
                TimeUnit::Milli => "Milli",
                TimeUnit::Micro => "Micro",
                TimeUnit::Nano => "Nano",
                TimeUnit::Second => return None,
            };
            Some(format!("{}<{}>", printer.use_type(name), printer.use_type(unit)))
        };
        match meaning {
            LogicalType::Date => Some(self.use_type("Date").to_owned()),
            LogicalType::Timestamp { unit, .. } => scaled(self, "Timestamp", unit),
            LogicalType::Time(unit) => scaled(self, "Time", unit),
            LogicalType::Decimal { precision: precision @ ..=38, scale } => {
                Some(format!("{}<{precision}, {scale}>", self.use_type("Decimal")))
            }
            _ => None,
        }
    }
}

const fn number(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::UInt8 => "u8",
        DType::UInt16 => "u16",
        DType::UInt32 => "u32",
        DType::UInt64 => "u64",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
    }
}

/// Converts a name to snake case, and escapes keywords.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            out.push('_');
        }
        if c != '_' || (!out.is_empty() && !out.ends_with('_')) {
            out.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    let out = out.trim_end_matches('_');
    match out {
        "" => "field".to_owned(),
        keyword if KEYWORDS.contains(&keyword) => format!("r#{keyword}"),
        keyword if NEVER.contains(&keyword) => format!("{keyword}_"),
        number if number.starts_with(|c: char| c.is_ascii_digit()) => format!("field_{number}"),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn names_become_those_of_fields() {
        for (name, expected) in [
            ("MET_pt", "met_pt"),
            ("nMuon", "n_muon"),
            ("type", "r#type"),
            ("self", "self_"),
            ("a.b/c", "a_b_c"),
            ("3x", "field_3x"),
            ("_x_", "x"),
            ("µ", "field"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }
}
