//! `forthwith completions`: generates shell scripts that complete commands, options and option values.
//! Arguments are completed as files.

use crate::flags::Shell;
use clap::{Arg, Command};

pub(crate) fn script(shell: Shell, command: &Command) -> String {
    let global: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_positional()).collect();
    let shown = || command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut verbs = Vec::new();
    for verb in shown() {
        verbs.push(Verb::of(verb.get_name().into(), verb, &global));
        for below in verb.get_subcommands() {
            verbs.push(Verb::of(format!("{} {}", verb.get_name(), below.get_name()), below, &global));
        }
    }
    verbs.push(Verb {
        name: "help".into(),
        about: "Print the help of a command".into(),
        options: Vec::new(),
        words: shown().map(|verb| verb.get_name().to_owned()).collect(),
        takes_files: false,
    });
    match shell {
        Shell::Bash => bash(&verbs, &global),
        Shell::Zsh => zsh(&verbs, &global),
        Shell::Fish => fish(&verbs),
    }
}

/// A command, or a subcommand of two words.
struct Verb<'a> {
    name: String,
    about: String,
    options: Vec<&'a Arg>,
    words: Vec<String>,
    takes_files: bool,
}

impl<'a> Verb<'a> {
    fn of(name: String, verb: &'a Command, global: &[&'a Arg]) -> Self {
        let options = verb.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_global_set());
        // Subcommands, or the possible values of an argument.
        let below = verb.get_subcommands().map(|below| below.get_name().to_owned());
        Self {
            name,
            about: about(verb.get_about()),
            options: options.chain(global.iter().copied()).collect(),
            words: below.chain(verb.get_positionals().flat_map(values)).collect(),
            takes_files: verb.get_positionals().any(|arg| values(arg).is_empty()),
        }
    }

    fn is_below(&self) -> bool {
        self.name.contains(' ')
    }
}

/// Iterates over commands of one word.
fn first<'v, 'a>(verbs: &'v [Verb<'a>]) -> impl Iterator<Item = &'v Verb<'a>> {
    verbs.iter().filter(|verb| !verb.is_below())
}

/// Returns the commands of two words as a pattern for Bash and Zsh.
fn below(verbs: &[Verb<'_>]) -> String {
    let names = verbs.iter().filter(|verb| verb.is_below()).map(|verb| format!("'{}'", verb.name));
    names.collect::<Vec<_>>().join("|")
}

/// Returns all options with values, each prefixed by its command, as a pattern for Bash and Zsh. An option
/// may take a value in one command but not in another.
fn valued(verbs: &[Verb<'_>], global: &[&Arg]) -> String {
    let spelled = |verb: String, options: &[&Arg]| {
        let options = options.iter().filter(|arg| takes_value(arg)).flat_map(|arg| all_spellings(arg));
        options.map(|spelling| format!("'{verb}{spelling}'")).collect::<Vec<_>>()
    };
    let all = spelled(" ".into(), global).into_iter();
    let all = all.chain(verbs.iter().flat_map(|verb| spelled(format!("{} ", verb.name), &verb.options)));
    all.collect::<Vec<_>>().join("|")
}

/// Returns the first line of a help text, without characters special to shells.
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

/// Returns the spellings of an option.
fn spellings(arg: &Arg) -> Vec<String> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect()
}

/// Returns all spellings of an option, including hidden ones.
fn all_spellings(arg: &Arg) -> Vec<String> {
    let mut all = spellings(arg);
    all.extend(arg.get_all_short_aliases().into_iter().flatten().map(|short| format!("-{short}")));
    all.extend(arg.get_all_aliases().into_iter().flatten().map(|long| format!("--{long}")));
    all
}

/// Returns whether the values of an option are columns of a table.
fn takes_columns(verb: &str, arg: &Arg) -> bool {
    verb != "streamers"
        && takes_value(arg)
        && matches!(arg.get_id().as_str(), "branch" | "columns" | "filter" | "on" | "y")
}

fn bash(verbs: &[Verb<'_>], global: &[&Arg]) -> String {
    let names: Vec<&str> = first(verbs).map(|verb| verb.name.as_str()).collect();
    let (mut cases, mut choices, mut columns) = (String::new(), String::new(), Vec::new());
    let mut choice = |verb: &str, arg: &Arg| {
        if takes_value(arg) && !values(arg).is_empty() {
            let spelled: Vec<String> =
                spellings(arg).iter().map(|spelling| format!("'{verb} {spelling}'")).collect();
            choices += &format!("      {}) words='{}' files= ;;\n", spelled.join("|"), values(arg).join(" "));
        }
    };
    global.iter().for_each(|arg| choice("", arg));
    for verb in verbs {
        let spelled: Vec<String> = verb.options.iter().flat_map(|arg| spellings(arg)).collect();
        let (options, words) = (spelled.join(" "), verb.words.join(" "));
        let files = if verb.takes_files { "yes" } else { "" };
        cases +=
            &format!("    '{}') options='{options} --help' words='{words}' files={files} ;;\n", verb.name);
        verb.options.iter().for_each(|arg| choice(&verb.name, arg));
        let of_columns = verb.options.iter().filter(|arg| takes_columns(&verb.name, arg));
        let spelled = of_columns.flat_map(|arg| all_spellings(arg));
        columns.extend(spelled.map(|spelling| format!("'{} {spelling}'", verb.name)));
    }
    let spelled: Vec<String> = global.iter().flat_map(|arg| spellings(arg)).collect();
    format!(
        "\
# Completions of forthwith for Bash: source <(forthwith completions bash)
_forthwith() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verb= options= words= files=yes word= before= at=
  local target= last= found=
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=${{COMP_WORDS[at]}}
    # Bash takes --color=never for three words.
    if [[ -n $before && $word == = ]]; then continue; fi
    # The value of an option is neither a command nor a file.
    if [[ -n $before ]]; then before=; continue; fi
    case \"$verb $word\" in {valued}) before=$word; continue ;; esac
    case $word in
      -*) ;;
      *)
        case \"$verb $word\" in
          ' '*) verb=$word ;;
          {below}) verb=\"$verb $word\" ;;
          # Bash takes FILE:OBJECT for three words.
          *) if [[ $word == : || $last == : ]]; then target+=$word; else target=$word; fi; last=$word ;;
        esac
        ;;
    esac
  done
  if [[ $current == = ]]; then current=; fi
  case $verb in
    '') options='{global} --help --version' words='{names}' ;;
{cases}  esac
  if [[ -n $before ]]; then
    words= options= files=yes
    case \"$verb $before\" in
{choices}      {columns})
        if [[ -n $target ]]; then
          mapfile -t COMPREPLY < <(command forthwith __complete --of \"$(_forthwith_plain \"$target\")\" -- \"$current\" 2> /dev/null)
          return
        fi
        ;;
    esac
  elif [[ $current == : || $last == : || $current == *:* ]]; then
    # Objects of the file; Bash has completed the text up to its last word.
    if [[ $current == *:* && $current != : ]]; then target= found=; else found=$target; fi
    if [[ $current == : ]]; then current=; found+=:; fi
    mapfile -t COMPREPLY < <(
      found=$(_forthwith_plain \"$found\")
      command forthwith __complete -- \"$found$current\" 2> /dev/null | while IFS= read -r word; do
        printf '%s\\n' \"${{word#\"$found\"}}\"
      done
    )
    if ((${{#COMPREPLY[@]}})); then
      compopt -o nospace 2> /dev/null
      return
    fi
  fi
  if [[ -z $before && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")
  else
    mapfile -t COMPREPLY < <(
      compgen -W \"$words\" -- \"$current\"
      if [[ -n $files ]]; then compgen -f -- \"$current\"; fi
    )
  fi
}}
# A word without its quotes and backslashes, and with the home folder for ~.
_forthwith_plain() {{
  local word=${{1//\\\\}}
  word=${{word//\\\"}} word=${{word//\\'}}
  case $word in '~/'*) word=$HOME${{word#'~'}} ;; esac
  printf '%s' \"$word\"
}}
complete -o filenames -F _forthwith forthwith
",
        valued = valued(verbs, global),
        columns = columns.join("|"),
        below = below(verbs),
        global = spelled.join(" "),
        names = names.join(" "),
    )
}

fn zsh(verbs: &[Verb<'_>], global: &[&Arg]) -> String {
    let listed: Vec<String> =
        first(verbs).map(|Verb { name, about, .. }| format!("    '{name}:{about}'\n")).collect();
    let option = |verb: &str, arg: &Arg, indent: &str| {
        let value = match values(arg) {
            _ if !takes_value(arg) => String::new(),
            _ if takes_columns(verb, arg) => ":column:_forthwith_columns".into(),
            values if values.is_empty() => ":value:_files".into(),
            values => format!(":value:({})", values.join(" ")),
        };
        let help = about(arg.get_help());
        let lines =
            spellings(arg).into_iter().map(|spelling| format!("{indent}'*{spelling}[{help}]{value}' \\\n"));
        lines.collect::<String>()
    };
    let mut cases = String::new();
    for Verb { name, options, words, takes_files, .. } in verbs {
        cases += &format!("    '{name}')\n      _arguments -s \\\n");
        cases.extend(options.iter().map(|arg| option(name, arg, "        ")));
        let words = match (words.is_empty(), takes_files) {
            (true, _) => "_forthwith_files".into(),
            (false, true) => format!("{{compadd -- {}; _forthwith_files}}", words.join(" ")),
            (false, false) => format!("({})", words.join(" ")),
        };
        cases += &format!("        '*:argument:{words}'\n      ;;\n");
    }
    format!(
        "\
#compdef forthwith
# Completions of forthwith for the Z shell: source <(forthwith completions zsh)
# Files, and the objects of the file before a colon.
_forthwith_files() {{
  local -a found
  if [[ $PREFIX == *:* ]]; then
    found=(${{(f)\"$(command forthwith __complete -- ${{(Q)PREFIX}} 2> /dev/null)\"}})
    if (($#found)); then compadd -S '' -- $found; return; fi
  fi
  _files
}}
# Columns of the last file before the word.
_forthwith_columns() {{
  local -a found
  local word= target=
  for word in ${{words[1,CURRENT-1]}}; do
    if [[ -f ${{${{(Q)word}}%%:*}} ]]; then target=${{(Q)word}}; fi
  done
  if [[ -z $target ]]; then return 1; fi
  found=(${{(f)\"$(command forthwith __complete --of $target -- ${{(Q)PREFIX}} 2> /dev/null)\"}})
  compadd -- $found
}}
_forthwith() {{
  local -a verbs
  verbs=(
{listed}  )
  local verb= before= at=
  for ((at = 2; at < CURRENT; at++)); do
    # The value of an option is neither a command nor a file.
    if [[ -n $before ]]; then before=; continue; fi
    case \" $words[at]\" in {valued}) before=$words[at]; continue ;; esac
    case $words[at] in
      -*) ;;
      *)
        verb=$words[at]
        case \"$verb $words[at+1]\" in
          {below}) if ((at + 1 < CURRENT)); then ((at++)); verb=\"$verb $words[at]\"; fi ;;
        esac
        break
        ;;
    esac
  done
  if [[ -z $verb ]]; then
    _arguments -s \\
{global}      '1:command:{{_describe -t commands command verbs; _files}}'
    return
  fi
  ((at--))
  shift $at words
  ((CURRENT -= at))
  case $verb in
{cases}    *) _files ;;
  esac
}}
compdef _forthwith forthwith
",
        listed = listed.concat(),
        valued = valued(&[], global),
        below = below(verbs),
        global = global.iter().map(|arg| option("", arg, "      ")).collect::<String>(),
    )
}

/// The objects of the file before a colon, and the columns of the last file before the word.
const FISH: &str = "\
# Completions of forthwith for fish
function __forthwith_targets
    set -l word (commandline -ct | string unescape)
    string match -q '*:*' -- $word; and command forthwith __complete -- $word 2> /dev/null
end
function __forthwith_columns
    set -l target
    for word in (commandline -opc)
        test -f (string split -m 1 : -- $word)[1]; and set target $word
    end
    # The value of --columns=nM is what follows the sign.
    set -l word (commandline -ct | string replace -r -- '^--[a-z-]+=' '' | string unescape)
    test -n \"$target\"; and command forthwith __complete --of $target -- \"$word\" 2> /dev/null
end
complete -c forthwith -n 'not __fish_use_subcommand' -a '(__forthwith_targets)'
";

fn fish(verbs: &[Verb<'_>]) -> String {
    let mut text = String::from(FISH);
    for Verb { name, about: described, options, words, takes_files } in verbs {
        let mut here = String::from("complete -c forthwith -n '");
        let words_of_name = name.split(' ').map(|word| format!("__fish_seen_subcommand_from {word}"));
        here += &words_of_name.collect::<Vec<_>>().join("; and ");
        here.push('\'');
        if !name.contains(' ') {
            text += &format!("complete -c forthwith -n __fish_use_subcommand -a {name} -d '{described}'\n");
        }
        for arg in options {
            let short = arg.get_short().map(|short| format!(" -s {short}")).unwrap_or_default();
            let long = arg.get_long().map(|long| format!(" -l {long}")).unwrap_or_default();
            let value = match values(arg) {
                _ if !takes_value(arg) => String::new(),
                _ if takes_columns(name, arg) => " -x -a '(__forthwith_columns)'".into(),
                values if values.is_empty() => " -r".into(),
                values => format!(" -x -a '{}'", values.join(" ")),
            };
            text += &format!("{here}{short}{long}{value} -d '{}'\n", about(arg.get_help()));
        }
        if !words.is_empty() {
            let no_files = if *takes_files { "" } else { " -f" };
            text += &format!("{here}{no_files} -a '{}'\n", words.join(" "));
        }
    }
    text
}
