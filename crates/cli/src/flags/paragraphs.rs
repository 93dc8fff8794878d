//! Paragraphs of help as one line each, which are wrapped where the terminal ends.

use super::Typed;
use clap::{Command, CommandFactory};

/// The command with its help, made of the table of flags.
pub(crate) fn command() -> Command {
    with_paragraphs(Typed::command())
}

fn with_paragraphs(mut command: Command) -> Command {
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(joined(&text));
    }
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_paragraphs))
}

/// Joins the lines of paragraphs. Indented lines, such as examples, and links stay lines.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        let is_apart = |line: &str| line.is_empty() || line.starts_with(' ');
        let goes_on = !is_apart(before) && !is_apart(line) && !line.starts_with("https://");
        if !joined.is_empty() {
            joined.push(if goes_on { ' ' } else { '\n' });
        }
        joined.push_str(line);
        before = line;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_one() {
        let text =
            "\nOne two\nthree.\n\nExamples:\n  forthwith ls a\n  forthwith ls b\nMore\nhttps://example.org";
        let expected =
            "\nOne two three.\n\nExamples:\n  forthwith ls a\n  forthwith ls b\nMore\nhttps://example.org";
        assert_eq!(joined(text.trim_start()), expected.trim_start());
        assert_eq!(joined(""), "");
    }

    #[test]
    fn all_commands_stay_in_their_order() {
        let names = |command: &Command| -> Vec<String> {
            command.get_subcommands().map(|below| below.get_name().to_owned()).collect()
        };
        assert_eq!(names(&command()), names(&Typed::command()));
        command().debug_assert();
    }
}
