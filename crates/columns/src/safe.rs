//! Escaping of text from files, which must not control a terminal, hide text or break a line.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a character must be escaped for display: control characters (U+0000-U+001F, U+007F-U+009F), line
/// and paragraph separators, and bidirectional formatting characters.
#[must_use]
pub fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes unsafe characters for display, as `\n`, `\t` or `\u{9b}`. Borrows the text if there are none.
///
/// ```
/// assert_eq!(forthwith_columns::safe_text("Muon_pt"), "Muon_pt");
/// assert_eq!(forthwith_columns::safe_text("\u{1b}[31mred\n"), "\\u{1b}[31mred\\n");
/// ```
#[must_use]
pub fn safe_text(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe_to_show) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe_to_show(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe.into()
}

/// Escapes each line like [`safe_text`] and keeps line feeds.
///
/// ```
/// assert_eq!(forthwith_columns::safe_lines("no branch \u{1b}\n  in a.root"), "no branch \\u{1b}\n  in a.root");
/// ```
#[must_use]
pub fn safe_lines(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_unsafe_to_show(c)) {
        return text.into();
    }
    let lines: Vec<_> = text.split('\n').map(safe_text).collect();
    lines.join("\n").into()
}

/// Appends text as a quoted JSON string to `to`. Unsafe characters are escaped, such as `\u009b`, which does
/// not change the value.
pub fn json_text(text: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    let bytes = text.as_bytes();
    let (mut kept, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        if !SPECIAL[usize::from(*byte)] {
            at += 1;
            continue;
        }
        // These bytes only occur as the first byte of a character.
        let Some(c) = text[at..].chars().next() else { break };
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            c if is_unsafe_to_show(c) => "",
            _ => {
                at += c.len_utf8();
                continue;
            }
        };
        to.extend_from_slice(&bytes[kept..at]);
        if short.is_empty() {
            escape(c, to)
        } else {
            to.extend_from_slice(short.as_bytes())
        }
        at += c.len_utf8();
        kept = at;
    }
    to.extend_from_slice(&bytes[kept..]);
    to.push(b'"');
}

/// First bytes of characters that may have to be escaped in JSON.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        special[byte] = byte < 0x20 || matches!(byte as u8, b'"' | b'\\' | 0x7f | 0xc2 | 0xd8 | 0xe2);
        byte += 1;
    }
    special
};

/// Appends the JSON escape of a character, which has four hexadecimal digits for all unsafe ones.
fn escape(c: char, to: &mut Vec<u8>) {
    let code = u32::from(c);
    to.extend_from_slice(b"\\u");
    to.extend((0..4).rev().map(|digit| b"0123456789abcdef"[(code >> (4 * digit) & 0xf) as usize]));
}

/// A writer that escapes unsafe characters in JSON from a serializer such as `serde_json`, which escapes no
/// character from U+007F on. Such characters only occur in strings, so the JSON is not parsed. Each call of
/// `write` must end at a character boundary.
#[derive(Debug)]
pub struct SafeJson<W> {
    inner: W,
    escaped: Vec<u8>,
}

impl<W: Write> SafeJson<W> {
    /// Makes a writer to `inner`.
    pub const fn new(inner: W) -> Self {
        Self { inner, escaped: Vec::new() }
    }
}

impl<W: Write> Write for SafeJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // First bytes of unsafe characters.
        if !bytes.iter().any(|byte| matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2)) {
            return self.inner.write_all(bytes).map(|()| bytes.len());
        }
        let text =
            str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.escaped.clear();
        let mut utf8 = [0; 4];
        for c in text.chars() {
            // Line ends between values are valid JSON; `serde_json` has escaped those in strings.
            if !c.is_ascii_control() && is_unsafe_to_show(c) || c == '\u{7f}' {
                escape(c, &mut self.escaped);
            } else {
                self.escaped.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
            }
        }
        self.inner.write_all(&self.escaped).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All characters below U+3000 and some beyond, in one text.
    fn everything() -> String {
        (0..0x3000).chain(0xfe00..0xff00).chain(0x1f600..0x1f610).filter_map(char::from_u32).collect()
    }

    #[test]
    fn nothing_unsafe_is_left() {
        let text = everything();
        let mut json = Vec::new();
        json_text(&text, &mut json);
        let mut through = SafeJson::new(Vec::new());
        serde_json::to_writer(&mut through, &text).expect("memory");
        for shown in [safe_text(&text).as_bytes(), &json, &through.inner] {
            let shown = str::from_utf8(shown).expect("UTF-8");
            assert_eq!(shown.chars().find(|c| is_unsafe_to_show(*c)), None);
        }
        for json in [json, through.inner] {
            assert_eq!(serde_json::from_slice::<String>(&json).expect("JSON"), text);
        }
    }

    #[test]
    fn each_kind_is_escaped() {
        for c in [
            '\0', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}', '\u{200e}', '\u{2028}', '\u{202e}',
            '\u{2066}',
        ] {
            assert!(is_unsafe_to_show(c), "{c:?}");
        }
        for c in ['a', 'é', '\u{200d}', '\u{2027}', '…', '本'] {
            assert!(!is_unsafe_to_show(c), "{c:?}");
        }
    }

    #[test]
    fn indented_json_keeps_its_lines() {
        let mut json = SafeJson::new(Vec::new());
        serde_json::to_writer_pretty(&mut json, &["\u{9b}"]).expect("memory");
        assert_eq!(json.inner, b"[\n  \"\\u009b\"\n]");
    }
}
