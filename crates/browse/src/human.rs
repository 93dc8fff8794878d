//! Formatting of numbers and texts for people.

use std::time::Duration;

/// Formats `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun: `1 branch`, `2 branches`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats a number of bytes with a decimal unit and at most three digits: `999 B`, `1.23 kB`, `45.6 MB`.
pub fn bytes(number: u64) -> String {
    scaled(number as f64, "B")
}

/// Formats a rate in bytes per second; `-` if the time is zero.
pub fn rate(number: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds <= 0.0 { "-".into() } else { scaled(number as f64 / seconds, "B") + "/s" }
}

fn scaled(mut number: f64, unit: &str) -> String {
    let mut prefixes = ["", "k", "M", "G", "T", "P", "E"].iter();
    let mut prefix = prefixes.next().unwrap_or(&"");
    let whole = number < 999.5;
    while number >= 999.5 {
        let Some(next) = prefixes.next() else { break };
        number /= 1000.0;
        prefix = next;
    }
    if whole { format!("{number:.0} {unit}") } else { format!("{} {prefix}{unit}", three_digits(number)) }
}

/// Formats a time in seconds, milliseconds or microseconds.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{} s", three_digits(seconds))
    } else if seconds >= 1e-3 {
        format!("{} ms", three_digits(seconds * 1e3))
    } else {
        format!("{} µs", three_digits(seconds * 1e6))
    }
}

/// Formats the ratio of two numbers, such as `2.31`; `-` if one is 0.
pub fn ratio(whole: u64, part: u64) -> String {
    if whole == 0 || part == 0 { "-".into() } else { format!("{:.2}", whole as f64 / part as f64) }
}

fn three_digits(number: f64) -> String {
    match number {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

/// Escapes control characters and characters that reorder text, so that text of a file can be shown on one
/// line of a terminal.
pub fn clean(text: &str) -> String {
    forthwith::columns::safe_text(text).into_owned()
}

/// Truncates text to `width` characters, the last of which is `…` if anything was removed.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Truncates text to `width` characters, with `…` in the middle if anything was removed.
pub fn cut_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let first = kept / 2;
    let mut short: String = text.chars().take(first).collect();
    short.push('…');
    short.extend(text.chars().skip(length - (kept - first)));
    short
}

/// Wraps words into lines of at most `width` characters; all lines after the first are indented by `indent`.
pub fn wrap(words: &[String], separator: &str, width: usize, indent: usize) -> String {
    let mut text = String::new();
    let mut column = indent;
    for (at, word) in words.iter().enumerate() {
        let last = at + 1 == words.len();
        let length = word.chars().count() + if last { 0 } else { separator.trim_end().chars().count() };
        if at > 0 && column + 1 + length > width {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if at > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        if !last {
            text.push_str(separator.trim_end());
        }
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, "branch", "branches"), "1 branch");
        assert_eq!(counted(2, "branch", "branches"), "2 branches");
    }

    #[test]
    fn sizes_have_three_digits_and_a_unit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.00 kB");
        assert_eq!(bytes(9_996), "10.0 kB");
        assert_eq!(bytes(394_619), "395 kB");
        assert_eq!(bytes(999_999), "1.00 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
        assert_eq!(rate(3_000_000, Duration::from_millis(2)), "1.50 GB/s");
        assert_eq!(rate(1, Duration::ZERO), "-");
    }

    #[test]
    fn times_and_ratios() {
        assert_eq!(time(Duration::from_micros(12)), "12.0 µs");
        assert_eq!(time(Duration::from_millis(120)), "120 ms");
        assert_eq!(time(Duration::from_millis(2500)), "2.50 s");
        assert_eq!(ratio(231, 100), "2.31");
        assert_eq!(ratio(0, 100), "-");
    }

    #[test]
    fn a_file_cannot_steer_the_terminal() {
        assert_eq!(clean("Muon_pt"), "Muon_pt");
        assert_eq!(clean("\u{1b}[31mred\n\u{202e}x é"), "\\u{1b}[31mred\\n\\u{202e}x é");
    }

    #[test]
    fn cutting_and_wrapping() {
        assert_eq!(cut("float32", 7), "float32");
        assert_eq!(cut("float32", 4), "flo…");
        assert_eq!(cut("float32", 0), "…");
        assert_eq!(cut_middle("Analysis_core_pt1000", 15), "Analysi…_pt1000");
        assert_eq!(cut_middle("Analysis_core_pt1000", 20), "Analysis_core_pt1000");
        assert_eq!(cut_middle("Analysis", 1), "…");
        let words: Vec<String> = ["aa", "bb", "cc"].map(String::from).into();
        assert_eq!(wrap(&words, ",", 9, 2), "aa, bb,\n  cc");
    }
}
