//! `forthwith completions`: scripts that let shells complete commands, options and their values; arguments are files.

use crate::flags::Shell;
use clap::{Arg, Command};

pub(crate) fn script(shell: Shell, command: &Command) -> String {
    let mut verbs: Vec<Verb<'_>> = command
        .get_subcommands()
        .map(|verb| Verb {
            name: verb.get_name(),
            about: about(verb.get_about()),
            options: verb
                .get_arguments()
                .chain(command.get_arguments())
                .filter(|arg| !arg.is_positional())
                .collect(),
            // A command of a command, or one of the values that an argument takes.
            words: verb
                .get_subcommands()
                .map(|below| below.get_name().to_owned())
                .chain(verb.get_positionals().flat_map(values))
                .collect(),
        })
        .collect();
    let words = verbs.iter().map(|verb| verb.name.to_owned()).collect();
    verbs.push(Verb {
        name: "help",
        about: "Print the help of a command".into(),
        options: Vec::new(),
        words,
    });
    match shell {
        Shell::Bash => bash(&verbs),
        Shell::Zsh => zsh(&verbs),
        Shell::Fish => fish(&verbs),
    }
}

/// A command.
struct Verb<'a> {
    name: &'a str,
    about: String,
    options: Vec<&'a Arg>,
    words: Vec<String>,
}

/// The first sentence, without what shells would take for their own.
fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines()
        .next()
        .unwrap_or_default()
        .replace(['\'', '[', ']', '"', '`', '\\', '$'], "")
        .replace(':', ",")
}

fn values(arg: &Arg) -> Vec<String> {
    arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// The ways to write an option.
fn spellings(arg: &Arg) -> Vec<String> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect()
}

fn bash(verbs: &[Verb<'_>]) -> String {
    let names: Vec<&str> = verbs.iter().map(|verb| verb.name).collect();
    let mut cases = String::new();
    for Verb { name, options, words, .. } in verbs {
        let spelled: Vec<String> = options.iter().flat_map(|arg| spellings(arg)).collect();
        cases +=
            &format!("    {name}) options='{} --help' words='{}' ;;\n", spelled.join(" "), words.join(" "));
    }
    let mut valued = String::new();
    for arg in verbs.iter().flat_map(|verb| &verb.options).filter(|arg| !values(arg).is_empty()) {
        let line =
            format!("    {}) words='{}' options= ;;\n", spellings(arg).join("|"), values(arg).join(" "));
        if takes_value(arg) && !valued.contains(&line) {
            valued += &line;
        }
    }
    format!(
        "\
# Completions of forthwith for Bash: source <(forthwith completions bash)
_forthwith() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verb= options= words= word
  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do
    [[ $word == -* ]] || {{ verb=$word; break; }}
  done
  case $verb in
    '') words='{}' ;;
{cases}  esac
  case ${{COMP_WORDS[COMP_CWORD-1]}} in
{valued}    *) ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")
  else
    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\"; compgen -f -- \"$current\")
  fi
}}
complete -o filenames -F _forthwith forthwith
",
        names.join(" ")
    )
}

fn zsh(verbs: &[Verb<'_>]) -> String {
    let listed: Vec<String> =
        verbs.iter().map(|Verb { name, about, .. }| format!("    '{name}:{about}'\n")).collect();
    let mut cases = String::new();
    for Verb { name, options, words, .. } in verbs {
        cases += &format!("    {name})\n      _arguments -s \\\n");
        for arg in options {
            let value = match values(arg) {
                _ if !takes_value(arg) => String::new(),
                values if values.is_empty() => ":value:_files".into(),
                values => format!(":value:({})", values.join(" ")),
            };
            for spelling in spellings(arg) {
                let help = about(arg.get_help());
                cases += &format!("        '*{spelling}[{help}]{value}' \\\n");
            }
        }
        let words = if words.is_empty() {
            "_files".into()
        } else {
            format!("{{compadd -- {}; _files}}", words.join(" "))
        };
        cases += &format!("        '*:file:{words}'\n      ;;\n");
    }
    format!(
        "\
#compdef forthwith
# Completions of forthwith for the Z shell: source <(forthwith completions zsh)
_forthwith() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'command' verbs
    _files
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{cases}    *) _files ;;
  esac
}}
compdef _forthwith forthwith
",
        listed.concat()
    )
}

fn fish(verbs: &[Verb<'_>]) -> String {
    let mut text = String::from("# Completions of forthwith for fish\n");
    for Verb { name, about: described, options, words } in verbs {
        text += &format!("complete -c forthwith -n __fish_use_subcommand -a {name} -d '{described}'\n");
        let here = format!("complete -c forthwith -n '__fish_seen_subcommand_from {name}'");
        for arg in options {
            let short = arg.get_short().map(|short| format!(" -s {short}")).unwrap_or_default();
            let long = arg.get_long().map(|long| format!(" -l {long}")).unwrap_or_default();
            let value = match values(arg) {
                _ if !takes_value(arg) => String::new(),
                values if values.is_empty() => " -r".into(),
                values => format!(" -x -a '{}'", values.join(" ")),
            };
            text += &format!("{here}{short}{long}{value} -d '{}'\n", about(arg.get_help()));
        }
        if !words.is_empty() {
            text += &format!("{here} -a '{}'\n", words.join(" "));
        }
    }
    text
}
