//! The reference manual: a tour, then every word, generated from the table in [`isa`](crate::isa).
//!
//! Every program in it is an [`Example`]: its last comment is `\ GIVEN => LEFT`. GIVEN are the bytes of
//! inputs, in hexadecimal or as text, and the initial stack; LEFT is the final stack, followed by other
//! results:
//!
//! ```
//! use forthwith_forth::{Tier, W64, manual::Example};
//!
//! let example = Example::parse(r#"input x output y int8  x B-> y  x pos \ x: 05 06, stack: 7 => 7 1 ; y: 5 ; x at 1"#);
//! assert_eq!(example.unwrap().check::<W64>(Tier::Checked), Ok(()));
//! ```
//!
//! `cargo run -p forthwith-forth --example manual` regenerates `docs/details/forth.md`.

mod example;

pub use example::Example;

use crate::DType;
use crate::isa::{Group, Op, Parser, Syntax};

const TOUR: &str = include_str!("tour.md");
const BEHIND: &str = include_str!("behind.md");

/// Returns the manual as Markdown.
pub fn page() -> String {
    let mut page = Page { text: TOUR.trim_end().to_owned() + "\n\n" };
    page.reference();
    page.text.push_str(BEHIND.trim_end());
    page.text.push_str("\n\n");
    page.opcodes();
    page.text
}

/// Returns the programs of a page that state their results.
pub fn examples(page: &str) -> impl Iterator<Item = Example> + '_ {
    page.split("```forth\n").skip(1).filter_map(|block| Example::parse(block.split("```").next()?.trim_end()))
}

struct Page {
    text: String,
}

/// A section of words without a prefix: title, introduction, first and last word.
const SECTIONS: [(&str, &str, Op, Op); 5] = [
    ("The stack", "", Op::Dup, Op::Tuck),
    ("Arithmetic", "All arithmetic wraps at the width of the machine, 32 or 64 bits.", Op::Add, Op::Max),
    ("Comparisons", "", Op::Eq, Op::EqZero),
    ("Bits and flags", "", Op::Invert, Op::True),
    ("Loop indices", "", Op::IndexI, Op::IndexK),
];

impl Page {
    fn reference(&mut self) {
        self.heading(2, "Reference");
        self.paragraph(
            "Stack effects are written `( before -- after )`, the top on the right. Each example ends in a comment that says what \
             the program is given and, behind `=>`, what it leaves: first the stack, then outputs (`y: 1 2`), positions \
             (`x at 2`), variables (`v = 5`), what is printed, and how it ends if not at its end.",
        );
        self.heading(3, "Literals and strings");
        for op in [Op::Literal, Op::String] {
            self.op(op, &name(op));
        }
        for (title, intro, first, last) in SECTIONS {
            self.heading(3, title);
            self.paragraph(intro);
            let inside = Op::ALL.iter().filter(|op| (first..=last).contains(op));
            inside.for_each(|&op| self.op(op, op.word()));
        }
        self.heading(3, "Control flow");
        for op in Op::ALL.iter().filter(|op| op.group() == Group::Control && **op != Op::Literal) {
            self.op(*op, &name(*op));
        }
        self.heading(3, "Words that shape the text");
        for syntax in Syntax::ALL {
            self.heading(4, &format!("`{}`", syntax.word()));
            self.paragraph(&sentence(syntax.doc()));
            self.program(syntax.example());
        }
        self.heading(3, "Variables");
        self.paragraph("Written behind the name of a variable.");
        self.group(Group::Variable, "VAR ");
        self.heading(3, "Inputs");
        self.paragraph("Written behind the name of an input. Positions and lengths are in bytes.");
        self.group(Group::Input, "IN ");
        self.parsers();
        self.heading(3, "Outputs");
        let dtypes: Vec<String> = DType::ALL.iter().map(|dtype| format!("`{dtype}`")).collect();
        self.paragraph(&format!(
            "Written behind the name of an output. The dtypes are {}. Only parsers can write floats that are no integers.",
            dtypes.join(", ")
        ));
        self.group(Group::OutputStack, "OUT ");
        self.group(Group::Output, "OUT ");
        self.heading(3, "Printing");
        self.paragraph("To standard output from the command and from Python; from Rust to whatever was set, at first nowhere.");
        for op in [Op::PrintString, Op::Print, Op::PrintNewline, Op::PrintStack] {
            self.op(op, &name(op));
        }
    }

    fn parsers(&mut self) {
        self.heading(3, "Parsers");
        self.paragraph(
            "Written `IN [#][!]CODE-> DESTINATION`; the destination is the name of an output, or `stack`. Without `#` one item is \
             read `( -- )`, with `#` as many as the stack says `( n -- )`, none if that is not positive. `!` means \
             big-endian; without it numbers are little-endian. Where there is no byte order it says nothing, but for `bit`.",
        );
        self.paragraph(
            "Items of fixed size are all or nothing: if the input is too short for all of them it is *read beyond*, and \
             nothing has moved. Others are read one by one: earlier items are delivered, and the position is where the failure was \
             noticed. To an output, the value never passes through the stack, so the width of the machine makes no difference.",
        );
        for parser in Parser::ALL {
            let number = if parser.has_width() { "N" } else { "" };
            self.heading(4, &format!("`{number}{}->`", parser.text()));
            self.paragraph(&join([&sentence(parser.doc()), parser.more()]));
            self.program(parser.example());
        }
    }

    fn group(&mut self, group: Group, before: &str) {
        for op in Op::ALL.iter().filter(|op| op.group() == group) {
            let behind = if group == Group::OutputStack { " stack" } else { "" };
            self.op(*op, &format!("{before}{}{behind}", op.word()));
        }
    }

    fn op(&mut self, op: Op, name: &str) {
        self.heading(4, &format!("`{name}`"));
        self.paragraph(&join([&format!("`{}` {}", op.effect(), sentence(op.doc())), op.more()]));
        self.program(op.example());
    }

    /// The external bytecode.
    fn opcodes(&mut self) {
        let rows: Vec<String> = Op::ALL
            .iter()
            .map(|op| {
                let before = match op.group() {
                    Group::Variable => "VAR ",
                    Group::Input => "IN ",
                    Group::Output | Group::OutputStack => "OUT ",
                    _ => "",
                };
                format!(" {} | `{before}{}` | {} ", *op as u8, name(*op), op.operands())
            })
            .collect();
        self.table("code | word | numbers", &rows);
        self.paragraph("Parsers, by `k`:");
        let row = |parser: &Parser| format!(" {} | `{}->` ", *parser as u8, parser.text());
        let rows: Vec<String> = Parser::ALL.iter().map(row).collect();
        self.table("k | word", &rows);
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
    }

    /// Appends a table with three rows side by side.
    fn table(&mut self, heading: &str, rows: &[String]) {
        let cells = heading.split('|').count();
        self.text.push_str(&format!(
            "|{}|\n|{}\n",
            [format!(" {heading} ").as_str(); 3].join("|"),
            " --- |".repeat(3 * cells)
        ));
        let height = rows.len().div_ceil(3);
        for line in 0..height {
            let line: Vec<&str> =
                (0..3).map(|part| rows.get(part * height + line).map_or("  |  ", String::as_str)).collect();
            self.text.push_str(&format!("|{}|\n", line.join("|")));
        }
        self.text.push('\n');
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.text.push_str(&format!("{} {title}\n\n", "#".repeat(level)));
    }

    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(&format!("{}\n\n", wrapped(text)));
        }
    }

    fn program(&mut self, source: &str) {
        self.text.push_str(&format!("```forth\n{source}\n```\n\n"));
    }
}

/// Wraps a text into lines of at most [`WIDTH`] characters, broken at spaces. Tables are unchanged.
fn wrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let mut width = 0;
        for (at, word) in line.split(' ').enumerate() {
            let length = word.chars().count();
            if at > 0 && width + 1 + length > WIDTH && !line.starts_with('|') {
                out.push('\n');
                width = 0;
            } else if at > 0 {
                out.push(' ');
                width += 1;
            }
            out.push_str(word);
            width += length;
        }
    }
    out
}

/// Maximum length of a line of the page, outside of tables and programs.
const WIDTH: usize = 118;

/// Returns a word as a program spells it, with its operands.
fn name(op: Op) -> String {
    match op {
        Op::Literal => "123".into(),
        Op::If => "if … then".into(),
        Op::IfElse => "if … else … then".into(),
        Op::CaseTable => "case … of … endof … endcase".into(),
        Op::Do => "do … loop".into(),
        Op::DoStep => "do … +loop".into(),
        Op::Again => "begin … again".into(),
        Op::Until => "begin … until".into(),
        Op::While => "begin … while … repeat".into(),
        Op::String | Op::PrintString => format!("{} …\"", op.word()),
        _ => op.word().into(),
    }
}

fn join(parts: [&str; 2]) -> String {
    parts.join(" ").trim_end().to_owned()
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str() + ".")
}
