//! `forthwith mcp`: a server of the Model Context Protocol on standard input and output, for the files of
//! some folders.
//!
//! Messages are JSON-RPC 2.0, one on each line. Each tool executes a command line of this program, so that
//! its answers are those of the command. `folders.rs` determines the files that may be read, and `tools.rs`
//! has the table of tools.

mod answer;
mod folders;
mod tools;

use crate::{
    console::Console,
    failure::{Failure, Result},
    opened::Opening,
};
use answer::Workers;
use folders::Folders;
use serde_json::{Value, json};
use std::{
    ffi::OsString,
    io::{self, BufRead, Read},
    path::PathBuf,
    time::Duration,
};

/// Supported versions of the protocol, newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// Maximum size of a message in bytes.
const LONGEST: u64 = 1 << 20;

/// Folders of a server, and the time limit of a tool.
#[derive(Debug, PartialEq)]
pub(crate) struct Serving {
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) limit: Duration,
}

/// Error codes of JSON-RPC.
#[derive(Clone, Copy)]
enum Code {
    Parse = -32700,
    Request = -32600,
    Method = -32601,
    Params = -32602,
}

/// Answers messages until the input ends.
pub(crate) fn serve(
    asked: &Serving,
    opening: &Opening,
    input: &mut dyn BufRead,
    console: &mut Console<'_>,
) -> Result<()> {
    // A file may refer to others beside it, and links among them could lead out of the folders.
    forthwith::io::follow_links_to_neighbours(false);
    let folders = Folders::of(&asked.folders)?;
    let mut server = Server { folders, workers: Workers::new(asked.limit, words(opening)) };
    while let Some(line) = next(input).map_err(Failure::Output)? {
        let answer = match line {
            Line::TooLong => Some(failed(Value::Null, Code::Request, "a message is longer than 1 MiB")),
            Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => None,
            Line::Text(text) => server.answer(&text),
        };
        if let Some(answer) = answer {
            console.line(&answer.to_string())?;
            console.flush()?;
        }
    }
    Ok(())
}

/// Returns the options for opening files as words of a command line.
fn words(opening: &Opening) -> Vec<OsString> {
    let mut words: Vec<String> = Vec::new();
    words.extend(opening.threads.map(|threads| format!("--threads={threads}")));
    words.extend(opening.recover.then(|| "--recover".into()));
    words.extend(opening.no_checksums.then(|| "--no-checksums".into()));
    words.extend(opening.no_cache.then(|| "--no-cache".into()));
    words.extend(opening.format.iter().map(|(name, value)| format!("--open={name}={value}")));
    words.extend(opening.index.iter().map(|index| format!("--index={index}")));
    words.into_iter().map(OsString::from).collect()
}

enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// Reads the next line; returns `None` at the end. A line that is too long is skipped.
fn next(input: &mut dyn BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    if input.take(LONGEST).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST {
        return Ok(Some(Line::Text(line)));
    }
    loop {
        let (found, length) = match input.fill_buf() {
            Ok([]) => return Ok(Some(Line::TooLong)),
            Ok(bytes) => {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                (end.is_some(), end.map_or(bytes.len(), |end| end + 1))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        input.consume(length);
        if found {
            return Ok(Some(Line::TooLong));
        }
    }
}

fn failed(id: Value, code: Code, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": message}})
}

struct Server {
    folders: Folders,
    workers: Workers,
}

impl Server {
    /// Returns the answer to a message; `None` for notifications and answers.
    fn answer(&mut self, text: &[u8]) -> Option<Value> {
        let message: Value = match serde_json::from_slice(text) {
            Ok(message) => message,
            Err(error) => return Some(failed(Value::Null, Code::Parse, &format!("not JSON: {error}"))),
        };
        let Value::Object(message) = message else {
            return Some(failed(Value::Null, Code::Request, "a message is one object"));
        };
        let id = message.get("id").cloned();
        let is_number = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
        let known = || id.clone().filter(is_number).unwrap_or_default();
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            let is_answer = message.contains_key("result") || message.contains_key("error");
            return (!is_answer).then(|| failed(known(), Code::Request, "the message has no method"));
        };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Some(failed(known(), Code::Request, "jsonrpc must be \"2.0\""));
        }
        let id = match id {
            None => return None,
            Some(id) if is_number(&id) => id,
            Some(_) => {
                return Some(failed(Value::Null, Code::Request, "id must be a string or a whole number"));
            }
        };
        let empty = Value::Object(serde_json::Map::new());
        let params = message.get("params").unwrap_or(&empty);
        Some(match self.call(method, params) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => failed(id, code, &message),
        })
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value, (Code, String)> {
        match method {
            "initialize" => Ok(initialized(params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": tools::listed()})),
            "tools/call" => {
                let invalid = |what: String| (Code::Params, what);
                let name = params.get("name").and_then(Value::as_str);
                let name = name.ok_or_else(|| invalid("the name of the tool is missing".into()))?;
                let empty = serde_json::Map::new();
                let arguments = match params.get("arguments") {
                    None => &empty,
                    Some(Value::Object(arguments)) => arguments,
                    Some(_) => return Err(invalid("arguments must be an object".into())),
                };
                let task = tools::task(name, arguments, &self.folders).map_err(invalid)?;
                let answered = task.and_then(|task| self.workers.run(task));
                let (text, is_error) = answered.map_or_else(|error| (error, true), |text| (text, false));
                Ok(json!({"content": [{"type": "text", "text": text}], "isError": is_error}))
            }
            _ => Err((Code::Method, format!("there is no method {method:?}"))),
        }
    }
}

/// Returns the answer to `initialize`: the version that the client requests if it is supported, otherwise the
/// newest.
fn initialized(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = asked.filter(|version| VERSIONS.contains(version)).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "forthwith", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "Reads tables and objects of scientific files in the served folders. Begin with list.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Option<usize>> {
        let mut input = io::BufReader::with_capacity(64, text);
        std::iter::from_fn(|| next(&mut input).unwrap())
            .map(|line| match line {
                Line::Text(text) => Some(text.len()),
                Line::TooLong => None,
            })
            .collect()
    }

    #[test]
    fn long_lines_are_dropped_and_the_next_is_read() {
        let mut text = vec![b'x'; 3 << 20];
        text.extend(b"\nshort\n\nlast");
        assert_eq!(lines(&text), [None, Some(6), Some(1), Some(4)]);
        assert_eq!(lines(b""), []);
    }
}
