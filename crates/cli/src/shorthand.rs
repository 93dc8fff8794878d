//! Expands short forms of commands: `forthwith FILE` to `forthwith ls FILE`, `head -3 FILE` to `head -n 3
//! FILE`, and `-:OBJECT` to an object in standard input.

use std::{ffi::OsString, path::Path};

/// Global options that take their value as a separate argument.
const VALUED: [&str; 4] = ["--threads", "--color", "--option", "--index"];

/// Returns the expanded command line. `verbs` are the known commands; `exists` tests whether a file exists.
pub(crate) fn expand(
    mut args: Vec<OsString>,
    verbs: &[&str],
    exists: impl Fn(&Path) -> bool,
) -> Vec<OsString> {
    for arg in &mut args {
        // An object in standard input; the parser would take it as an option.
        if let Some(object) = arg.to_str().and_then(|text| text.strip_prefix("-:")) {
            *arg = format!("/dev/stdin:{object}").into();
        }
    }
    let Some(at) = first_word(&args) else { return args };
    if !verbs.iter().any(|verb| args[at] == *verb) {
        if is_target(&args[at], exists) {
            // Inserted at the front, since options of `ls` may come before the file, as in `forthwith -l
            // FILE`.
            args.insert(1, "ls".into());
        }
        return args;
    }
    if args[at] == "head" || args[at] == "tail" {
        for number in at + 1..args.len() {
            let takes_value = args[number - 1].to_str().is_some_and(|before| {
                matches!(
                    before,
                    "-n" | "--entries" | "-b" | "--branch" | "-c" | "--columns" | "-f" | "--filter" | "--"
                )
            });
            let digits = args[number].to_str().and_then(|text| text.strip_prefix('-'));
            let digits = digits.filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
            if let (Some(digits), false) = (digits, takes_value) {
                args[number] = format!("-n{digits}").into();
            }
        }
    }
    args
}

/// Returns the index of the first argument other than the program name, options and option values.
fn first_word(args: &[OsString]) -> Option<usize> {
    let is_option = |arg: &OsString| arg.as_encoded_bytes().first() == Some(&b'-') && arg != "-";
    (1..args.len()).find(|&at| !is_option(&args[at]) && !VALUED.iter().any(|option| args[at - 1] == *option))
}

/// Returns whether an argument names an existing file, optionally followed by a colon and an object.
fn is_target(arg: &OsString, exists: impl Fn(&Path) -> bool) -> bool {
    if exists(Path::new(arg)) {
        return true;
    }
    let Some(text) = arg.to_str() else { return false };
    text.match_indices(':').any(|(at, _)| at > 0 && exists(Path::new(&text[..at])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        let exists = |path: &Path| path == Path::new("a.root") || path == Path::new("ls");
        let args = expand(args, &["ls", "head", "tail"], exists);
        args.iter().map(|arg| arg.to_str().expect("UTF-8")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn shorthands() {
        for (line, full) in [
            ("f a.root", "f ls a.root"),
            ("f --color never a.root:t", "f ls --color never a.root:t"),
            ("f -l a.root", "f ls -l a.root"),
            ("f --option x=y a.root", "f ls --option x=y a.root"),
            ("f --threads 3 head -3 a.root", "f --threads 3 head -n3 a.root"),
            ("f head a.root -12", "f head a.root -n12"),
            ("f tail -n -3 a.root", "f tail -n -3 a.root"),
            ("f head a.root -- -3", "f head a.root -- -3"),
            ("f head -:t/x -3", "f head /dev/stdin:t/x -n3"),
            ("f ls", "f ls"),
            ("f b.root", "f b.root"),
            ("f", "f"),
        ] {
            assert_eq!(expanded(line), full);
        }
    }
}
