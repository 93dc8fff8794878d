//! Parsers of text: white space, integers, numbers and quoted strings.

use crate::error::RunError;

pub(crate) fn skip_space(input: &[u8], at: usize) -> usize {
    let rest = &input[at..];
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// An optional minus and digits. Every 64-bit integer is accepted, anything longer is refused.
pub(crate) fn integer(input: &[u8], at: &mut usize) -> Result<i64, RunError> {
    let negative = minus(input, at)?;
    let digits = digits(input, at)?;
    let mut value = 0_i128;
    for digit in digits {
        value = value * 10 + i128::from(digit - b'0');
        if value > 1 << 64 {
            return Err(RunError::VarintTooBig);
        }
    }
    i64::try_from(if negative { -value } else { value }).map_err(|_| RunError::VarintTooBig)
}

/// `[-]digits[.digits][e[+|-]digits]`, correctly rounded.
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
    let text = std::str::from_utf8(&input[start..*at]);
    text.ok().and_then(|text| text.parse().ok()).ok_or(RunError::TextNumberMissing)
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
        return Err(if rest.is_empty() { RunError::ReadBeyond } else { RunError::TextNumberMissing });
    }
    *at += count;
    Ok(&rest[..count])
}

/// A JSON-like string; at most `limit` decoded bytes.
pub(crate) fn quoted(input: &[u8], at: &mut usize, limit: usize) -> Result<Vec<u8>, RunError> {
    let mut next = || {
        let byte = input.get(*at).copied().ok_or(RunError::QuotedStringMissing)?;
        *at += 1;
        Ok(byte)
    };
    if next()? != b'"' {
        return Err(RunError::QuotedStringMissing);
    }
    let mut decoded = Vec::new();
    loop {
        match next()? {
            b'"' => return Ok(decoded),
            b'\\' => match next()? {
                b'n' => decoded.push(b'\n'),
                b'r' => decoded.push(b'\r'),
                b't' => decoded.push(b'\t'),
                b'b' => decoded.push(0x08),
                b'f' => decoded.push(0x0c),
                byte @ (b'"' | b'/' | b'\\') => decoded.push(byte),
                b'u' => {
                    let scalar = escape(&mut next)?;
                    decoded.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return Err(RunError::QuotedStringMissing),
            },
            byte => decoded.push(byte),
        }
        if decoded.len() > limit {
            return Err(RunError::QuotedStringMissing);
        }
    }
}

/// What follows `\u`: four digits, or a pair of surrogates.
fn escape(next: &mut impl FnMut() -> Result<u8, RunError>) -> Result<char, RunError> {
    let high = hex4(next)?;
    let code = if (0xd800..0xdc00).contains(&high) {
        if next()? != b'\\' || next()? != b'u' {
            return Err(RunError::QuotedStringMissing);
        }
        let low = hex4(next)?.wrapping_sub(0xdc00);
        if low >= 0x400 {
            return Err(RunError::QuotedStringMissing);
        }
        0x1_0000 + ((high - 0xd800) << 10) + low
    } else {
        high
    };
    char::from_u32(code).ok_or(RunError::QuotedStringMissing)
}

fn hex4(next: &mut impl FnMut() -> Result<u8, RunError>) -> Result<u32, RunError> {
    let mut value = 0;
    for _ in 0..4 {
        let digit = char::from(next()?).to_digit(16).ok_or(RunError::QuotedStringMissing)?;
        value = value << 4 | digit;
    }
    Ok(value)
}
