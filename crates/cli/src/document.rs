//! Generates docs/details/command.md from the same definitions as the help.

use crate::flags;
use clap::Command;

/// Width of help texts on the page, in characters.
const WIDTH: usize = 100;

/// Returns the page.
#[must_use]
pub fn page() -> String {
    let mut command = flags::command().term_width(WIDTH);
    command.build();
    let mut text = String::from(
        "# All commands and options\n\n\
         <!-- Made from the table of flags; a test of crates/cli keeps it in step. FORTHWITH_UPDATE=1 rewrites it. -->\n\n\
         `forthwith` looks into scientific files from a terminal. What follows is what `forthwith --help` and\n\
         `forthwith COMMAND --help` print. Answers go to standard output and errors to standard error; with `--json` every\n\
         answer is one JSON value, whose numbers are plain (no units); what JSON has no number for\n\
         (NaN, infinities) is an error of `head`, unless `--nan` says what becomes of it, and `null` in what `forth run` prints.\n\n",
    );
    section(&mut text, &mut command, "## forthwith");
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        let heading = format!("## forthwith {}", sub.get_name());
        section(&mut text, sub, &heading);
        for act in sub.get_subcommands_mut() {
            let heading = format!("{heading} {}", act.get_name());
            section(&mut text, act, &heading.replacen("##", "###", 1));
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn section(text: &mut String, command: &mut Command, heading: &str) {
    *command = std::mem::take(command).term_width(WIDTH);
    let help = command.render_long_help().to_string();
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    text.push_str(&format!("{heading}\n\n```text\n{}\n```\n\n", lines.join("\n").trim_end()));
}
