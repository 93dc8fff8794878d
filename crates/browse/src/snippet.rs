//! Code that reads the values on the screen: in Python, as a command, and in Rust.

use crate::human;
use forthwith::Table;
use std::fmt::Write;

/// Columns of a table, with their cut and histogram.
pub(crate) struct Snippet<'a> {
    pub(crate) table: &'a Table,
    /// Paths of the columns; empty for all columns.
    pub(crate) columns: Vec<String>,
    pub(crate) cut: Option<&'a str>,
    /// Options of the histogram, if one is shown.
    pub(crate) picture: Option<PictureOptions>,
}

/// Options of a histogram.
#[derive(Clone, Copy, Default)]
pub(crate) struct PictureOptions {
    pub(crate) bins: Option<usize>,
    pub(crate) range: Option<(f64, f64)>,
}

/// Maximum number of columns that are listed by name.
const NAMED: usize = 12;

impl Snippet<'_> {
    /// Returns the code in all three languages.
    pub(crate) fn text(&self) -> String {
        format!("Python\n\n{}\nCommand\n\n{}\nRust\n\n{}", self.python(), self.command(), self.rust())
    }

    fn columns(&self) -> &[String] {
        if self.columns.len() > NAMED { &[] } else { &self.columns }
    }

    fn list(&self, quote: fn(&str) -> String) -> String {
        self.columns().iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ")
    }

    fn python(&self) -> String {
        let file = self.table.file();
        let uri = python_text(file.uri());
        let mut code = String::from("import forthwith\n\n");
        let _ = match file.is_one_table() {
            true => writeln!(code, "table = forthwith.open({uri})"),
            false => writeln!(code, "table = forthwith.open({uri})[{}]", python_text(self.table.path())),
        };
        let mut arguments = Vec::new();
        if !self.columns().is_empty() {
            arguments.push(format!("[{}]", self.list(python_text)));
        }
        arguments.extend(self.cut.map(|cut| format!("cut={}", python_text(cut))));
        let _ = writeln!(code, "arrays = table.arrays({})", arguments.join(", "));
        code
    }

    fn command(&self) -> String {
        let file = self.table.file();
        let target = match self.table.path() {
            _ if file.is_one_table() => file.uri().to_owned(),
            path => format!("{}:{path}", file.uri()),
        };
        let verb = if self.picture.is_some() { "plot" } else { "cat" };
        let mut code = format!("forthwith {verb} {}", shell_text(&target));
        for name in self.columns() {
            let _ = write!(code, " -{} {}", if self.picture.is_some() { 'b' } else { 'c' }, shell_text(name));
        }
        if let Some(cut) = self.cut {
            let _ = write!(code, " --where {}", shell_text(cut));
        }
        if let Some(PictureOptions { bins, range }) = self.picture {
            let _ = bins.map_or(Ok(()), |bins| write!(code, " --bins {bins}"));
            let _ = range.map_or(Ok(()), |(low, high)| write!(code, " --range={low},{high}"));
        }
        code.push('\n');
        code
    }

    fn rust(&self) -> String {
        let file = self.table.file();
        let mut code = format!("let file = forthwith::File::open({})?;\n", rust_text(file.uri()));
        let _ = writeln!(code, "let table = file.table({})?;", rust_text(self.table.path()));
        let names = match self.columns() {
            [] => {
                let _ = writeln!(
                    code,
                    "let fields = table.fields()?.iter().filter(|f| f.has_data && !f.is_part);"
                );
                let _ = writeln!(
                    code,
                    "let names: Vec<&str> = fields.map(|field| field.path.as_str()).collect();"
                );
                "&names".to_owned()
            }
            _ => format!("&[{}]", self.list(rust_text)),
        };
        let options = match self.cut {
            None => "forthwith::SelectOptions::default()".to_owned(),
            Some(cut) => format!(
                "forthwith::SelectOptions {{ cut: Some({}.into()), ..Default::default() }}",
                rust_text(cut)
            ),
        };
        let _ = writeln!(code, "let selected = table.select({names}, {options})?.read(.., None, None)?;");
        code
    }
}

/// Returns a Python string literal.
fn python_text(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c if forthwith::columns::is_unsafe_to_show(c) => {
                let _ = write!(literal, "\\U{:08x}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Returns a Rust string literal.
fn rust_text(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c => literal.push_str(&human::clean(c.encode_utf8(&mut [0; 4]))),
        }
    }
    literal.push('"');
    literal
}

/// Returns a quoted word for a shell.
fn shell_text(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if text.chars().any(forthwith::columns::is_unsafe_to_show) {
        let escaped = text.chars().map(|c| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if forthwith::columns::is_unsafe_to_show(c) => format!("\\U{:08x}", u32::from(c)),
            c => c.to_string(),
        });
        return format!("$'{}'", escaped.collect::<String>());
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_each_language() {
        let name = "it's \"a\"\n";
        assert_eq!(python_text(name), "\"it's \\\"a\\\"\\U0000000a\"");
        assert_eq!(rust_text(name), "\"it's \\\"a\\\"\\n\"");
        assert_eq!(shell_text(name), "$'it\\'s \"a\"\\U0000000a'");
        assert_eq!(shell_text("it's"), r"'it'\''s'");
        assert_eq!(shell_text("a.root:events/pt"), "a.root:events/pt");
    }
}
