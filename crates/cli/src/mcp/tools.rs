//! Tools, and their command lines.

use super::{answer::Task, folders::Folders};
use serde_json::{Map, Value, json};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Tool with its name, description and arguments; required ones are marked by a star.
struct Tool {
    name: &'static str,
    about: &'static str,
    arguments: &'static [(&'static str, Kind, &'static str)],
}

/// Type of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Texts,
    Count,
}

const PATH: (&str, Kind, &str) =
    ("*path", Kind::Text, "FILE, or FILE:TABLE if it has several, relative to a served folder");
const COLUMNS: (&str, Kind, &str) = ("columns", Kind::Texts, "names, globs such as Muon_*; default: all");
const CUT: (&str, Kind, &str) =
    ("cut", Kind::Text, "only entries for which this is true, as in nMuon > 1 and any(Muon_pt > 20)");
const LIMIT: (&str, Kind, &str) = ("limit", Kind::Count, "entries, at most 1000; default: 10");

const TOOLS: [Tool; 6] = [
    Tool {
        name: "list",
        about: "Files of the served folders, or the objects in a file",
        arguments: &[("path", Kind::Text, "a folder or file; default: the served folders")],
    },
    Tool {
        name: "schema",
        about: "Columns of a table with their types",
        arguments: &[PATH, ("columns", Kind::Texts, "only columns that match these globs")],
    },
    Tool {
        name: "stats",
        about: "Counts, extremes, means and quantiles of columns",
        arguments: &[PATH, COLUMNS, CUT],
    },
    Tool { name: "head", about: "The first entries, as JSON Lines", arguments: &[PATH, COLUMNS, LIMIT] },
    Tool {
        name: "query",
        about: "Entries that pass a cut, as JSON Lines; columns may be computed, as in pt2=Muon_pt**2",
        arguments: &[PATH, COLUMNS, CUT, LIMIT],
    },
    Tool {
        name: "plot",
        about: "Histogram of a column, or of a histogram object in the file",
        arguments: &[
            PATH,
            ("column", Kind::Text, "the column, unless path names an object"),
            CUT,
            ("format", Kind::Text, "text (default) or svg"),
        ],
    },
];

/// Returns the answer to `tools/list`.
pub(super) fn listed() -> Value {
    TOOLS.iter().map(described).collect()
}

fn described(tool: &Tool) -> Value {
    let property = |kind: Kind, about: &str| match kind {
        Kind::Text => json!({"type": "string", "description": about}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}, "description": about}),
        Kind::Count => json!({"type": "integer", "minimum": 1, "maximum": MOST, "description": about}),
    };
    let named = tool.arguments.iter();
    let properties: Map<String, Value> = named
        .clone()
        .map(|(name, kind, about)| (name.trim_start_matches('*').to_owned(), property(*kind, about)))
        .collect();
    let required: Vec<&str> = named.filter_map(|(name, ..)| name.strip_prefix('*')).collect();
    json!({
        "name": tool.name,
        "description": tool.about,
        "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false},
        "annotations": {"readOnlyHint": true},
    })
}

/// Arguments of a call, whose types were checked.
struct Given<'a>(&'a Map<String, Value>);

impl Given<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let all = self.0.get(name).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn count(&self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(10)
    }
}

/// Returns the work of a call; the inner error is about the named file.
///
/// # Errors
/// Returns an error for an unknown tool, and for unknown, missing or mistyped arguments.
pub(super) fn task(
    name: &str,
    arguments: &Map<String, Value>,
    folders: &Folders,
) -> Result<Result<Task, String>, String> {
    let names = || TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| format!("there is no tool {name:?}: there are {}", names()))?;
    check(tool, arguments)?;
    let given = Given(arguments);
    Ok(found(tool, &given, folders))
}

fn found(tool: &Tool, given: &Given<'_>, folders: &Folders) -> Result<Task, String> {
    let Some(path) = given.text("path") else { return Ok(Task::Text(folders.list(None))) };
    let (path, object) = folders.find(path)?;
    if path.is_dir() {
        return match tool.name {
            "list" => Ok(Task::Text(folders.list(Some(&path)))),
            _ => Err(format!("{} is a folder: name a file", path.display())),
        };
    }
    line(tool.name, &path, &object, given).map(Task::Line)
}

/// Checks the arguments of a call against those of the tool.
fn check(tool: &Tool, arguments: &Map<String, Value>) -> Result<(), String> {
    let known = |name: &str| tool.arguments.iter().find(|(own, ..)| own.trim_start_matches('*') == name);
    for (name, value) in arguments {
        let Some((_, kind, _)) = known(name) else {
            return Err(format!("{} has no argument {name:?}", tool.name));
        };
        let (fits, expected) = match kind {
            Kind::Text => (value.is_string(), "a text"),
            Kind::Texts => {
                let texts = value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
                (texts, "a list of texts")
            }
            Kind::Count => {
                (value.as_u64().is_some_and(|count| (1..=MOST).contains(&count)), "a number from 1 to 1000")
            }
        };
        if !fits {
            return Err(format!("{name} must be {expected}"));
        }
    }
    let missing = tool.arguments.iter().filter_map(|(name, ..)| name.strip_prefix('*'));
    match missing.into_iter().find(|name| !arguments.contains_key(*name)) {
        Some(name) => Err(format!("the argument {name} is missing")),
        None => Ok(()),
    }
}

/// Returns the command line of a call about a file.
fn line(tool: &str, path: &Path, object: &str, given: &Given<'_>) -> Result<Vec<OsString>, String> {
    let mut target = PathBuf::from(path).into_os_string();
    target.push(object);
    let mut line = vec![OsString::from("forthwith")];
    let mut add = |words: &[&str]| line.extend(words.iter().map(OsString::from));
    let limit = given.count("limit").to_string();
    match tool {
        "list" => add(&["ls", "--recursive", "--long"]),
        "schema" => add(&["show"]),
        "stats" => add(&["stats"]),
        "head" => add(&["head", "--jsonl", "--entries", &limit]),
        "query" => add(&["cat", "--skip-unsupported", "--entries", &limit]),
        _ if given.text("format") == Some("svg") => add(&["plot", "--output", "-"]),
        _ => add(&["plot"]),
    }
    let column = match tool {
        "schema" => "--filter",
        "query" => "--columns",
        _ => "--branch",
    };
    let computed = |name: &str| tool == "query" && name.contains('=');
    for name in given.texts("columns").into_iter().chain(given.text("column")) {
        let option = if computed(name) { "--compute" } else { column };
        add(&[&format!("{option}={name}")]);
    }
    if let Some(cut) = given.text("cut") {
        add(&[&format!("--where={cut}")]);
    }
    match given.text("format") {
        None | Some("text" | "svg") => {}
        Some(other) => return Err(format!("unknown format {other:?}: it must be text or svg")),
    }
    add(&["--"]);
    line.push(target);
    Ok(line)
}

/// Maximum number of entries in an answer.
const MOST: u64 = 1000;
