//! Parsers of text: white space, integers, numbers and quoted strings.

use crate::error::RunError;

pub(crate) fn skip_space(input: &[u8], at: usize) -> usize {
    let rest = &input[at..];
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

// A byte that does not match is not consumed. The error is `ReadBeyond` only at the very end of the input; a
// number or string that breaks off is missing.

/// Parses an optional minus and digits. Every 64-bit integer is accepted; larger numbers are an error.
pub(crate) fn integer(input: &[u8], at: &mut usize) -> Result<i64, RunError> {
    let negative = minus(input, at)?;
    let digits = digits(input, at)?;
    let mut value = 0_i128;
    for digit in digits {
        // The bytes were digits when checked, but other threads may write to the memory.
        value = value * 10 + i128::from(digit.wrapping_sub(b'0'));
        if value > 1 << 64 {
            return Err(RunError::VarintTooBig);
        }
    }
    i64::try_from(if negative { -value } else { value }).map_err(|_| RunError::VarintTooBig)
}

/// Parses `[-]digits[.digits][e[+|-]digits]`, correctly rounded.
pub(crate) fn float(input: &[u8], at: &mut usize) -> Result<f64, RunError> {
    let start = *at;
    minus(input, at)?;
    digits(input, at)?;
    if input.get(*at) == Some(&b'.') {
        *at += 1;
        digits(input, at)?;
    }
    if matches!(input.get(*at), Some(b'e' | b'E')) {
        *at += 1;
        if matches!(input.get(*at), Some(b'+' | b'-')) {
            *at += 1;
        }
        digits(input, at)?;
    }
    // Parses a copy, which cannot change between check and use.
    let number = &input[start..*at];
    let mut short = [0; 64];
    let long;
    let number = match short.get_mut(..number.len()) {
        Some(short) => {
            short.copy_from_slice(number);
            &*short
        }
        None => {
            long = number.to_vec();
            &long
        }
    };
    std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).ok_or(RunError::TextNumberMissing)
}

fn minus(input: &[u8], at: &mut usize) -> Result<bool, RunError> {
    let negative = *input.get(*at).ok_or(RunError::ReadBeyond)? == b'-';
    *at += usize::from(negative);
    Ok(negative)
}

fn digits<'a>(input: &'a [u8], at: &mut usize) -> Result<&'a [u8], RunError> {
    let rest = &input[*at..];
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return Err(RunError::TextNumberMissing);
    }
    *at += count;
    Ok(&rest[..count])
}

/// Parses a JSON-like string of at most `limit` decoded bytes.
pub(crate) fn quoted(input: &[u8], at: &mut usize, limit: usize) -> Result<Vec<u8>, RunError> {
    let missing = RunError::QuotedStringMissing;
    match input.get(*at) {
        None => return Err(RunError::ReadBeyond),
        Some(b'"') => *at += 1,
        Some(_) => return Err(missing),
    }
    let mut decoded = Vec::new();
    loop {
        let byte = *input.get(*at).ok_or(missing)?;
        if byte == b'"' {
            *at += 1;
            return Ok(decoded);
        }
        if decoded.len() >= limit {
            return Err(missing);
        }
        *at += 1;
        if byte != b'\\' {
            decoded.push(byte);
            continue;
        }
        match *input.get(*at).ok_or(missing)? {
            b'n' => decoded.push(b'\n'),
            b'r' => decoded.push(b'\r'),
            b't' => decoded.push(b'\t'),
            b'b' => decoded.push(0x08),
            b'f' => decoded.push(0x0c),
            byte @ (b'"' | b'/' | b'\\') => decoded.push(byte),
            b'u' => {
                let scalar = escape(input, at)?;
                decoded.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
                if decoded.len() > limit {
                    return Err(missing);
                }
            }
            _ => return Err(missing),
        }
        *at += 1;
    }
}

/// Decodes the escape whose `u` is at `at`: four digits, or a pair of surrogates. `at` ends at the last
/// digit.
fn escape(input: &[u8], at: &mut usize) -> Result<char, RunError> {
    let missing = RunError::QuotedStringMissing;
    let high = hex4(input, at)?;
    let code = if (0xd800..0xdc00).contains(&high) {
        if input.get(*at + 1..*at + 3) != Some(b"\\u") {
            return Err(missing);
        }
        let mut pair = *at + 2;
        let low = hex4(input, &mut pair)?.wrapping_sub(0xdc00);
        if low >= 0x400 {
            return Err(missing);
        }
        *at = pair;
        0x1_0000 + ((high - 0xd800) << 10) + low
    } else {
        high
    };
    char::from_u32(code).ok_or(missing)
}

/// Decodes the four hexadecimal digits after `at`, which ends at the last of them.
fn hex4(input: &[u8], at: &mut usize) -> Result<u32, RunError> {
    let missing = RunError::QuotedStringMissing;
    let mut value = 0;
    for &byte in input.get(*at + 1..*at + 5).ok_or(missing)? {
        *at += 1;
        value = value << 4 | char::from(byte).to_digit(16).ok_or(missing)?;
    }
    Ok(value)
}

/// Returns the index of the first string that is a prefix of the input at a position, and the position after
/// it.
pub(crate) fn first_of(strings: &[String], input: &[u8], at: usize) -> Option<(i64, usize)> {
    let rest = input.get(at..).filter(|rest| !rest.is_empty())?;
    let number = strings.iter().position(|string| rest.starts_with(string.as_bytes()))?;
    Some((number as i64, at + strings[number].len()))
}
