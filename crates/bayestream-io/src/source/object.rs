//! The grammar of one NDJSON line: a flat JSON object, read without building anything.
//!
//! Somewhat wider than JSON on purpose: a bare `NaN`, as Python writes it, is a missing value.

/// A value as it stands in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(&'a [u8]),
    /// The token of a number, not yet read.
    Number(&'a [u8]),
    /// What is between the quotes; escapes are as written.
    Text(&'a [u8]),
    /// A list or an object, as written.
    Nested(&'a [u8]),
}

/// The line is not a whole object; the text says why.
pub(crate) type Malformed = &'static str;

const NOT_WHOLE: Malformed = "not one whole JSON object on one line (it ends early)";

/// Walks over the pairs of an object.
pub(crate) struct Pairs<'a> {
    scan: Scanner<'a>,
    begun: bool,
}

impl<'a> Pairs<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Result<Pairs<'a>, Malformed> {
        let mut scan = Scanner { bytes: line, at: 0 };
        scan.skip_blanks();
        match scan.bump()? {
            b'{' => Ok(Pairs { scan, begun: false }),
            _ => Err("not a JSON object; expected one object a line, like {\"x1\": 0.5, \"x2\": null}"),
        }
    }

    /// The next key (escapes as written) and its value; none at the object's end, which must be the line's.
    pub(crate) fn next_pair(&mut self) -> Result<Option<(&'a [u8], Value<'a>)>, Malformed> {
        let scan = &mut self.scan;
        scan.skip_blanks();
        let separator = scan.peek()?;
        if separator == b'}' {
            scan.at += 1;
            scan.skip_blanks();
            return match scan.at == scan.bytes.len() {
                true => Ok(None),
                false => Err("something follows the JSON object; expected one object a line"),
            };
        }
        if self.begun {
            if separator != b',' {
                return Err("not JSON: expected a comma or } behind a value");
            }
            scan.at += 1;
            scan.skip_blanks();
        }
        self.begun = true;
        if scan.bump()? != b'"' {
            return Err("not JSON: expected a key in double quotes");
        }
        let key = scan.text()?;
        scan.skip_blanks();
        if scan.bump()? != b':' {
            return Err("not JSON: expected a colon behind a key");
        }
        scan.skip_blanks();
        Ok(Some((key, scan.value()?)))
    }

    /// How far into the line it has come.
    pub(crate) fn position(&self) -> usize {
        self.scan.at
    }
}

/// Whether a line is one object from beginning to end, whatever its values are.
pub(crate) fn is_whole(line: &[u8]) -> bool {
    let Ok(mut pairs) = Pairs::of(line) else { return false };
    loop {
        match pairs.next_pair() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Walks over the items of a list.
pub(crate) struct Items<'a> {
    scan: Scanner<'a>,
    begun: bool,
}

impl<'a> Items<'a> {
    /// The items of a list as written; none if it is something else.
    pub(crate) fn of(list: &'a [u8]) -> Option<Items<'a>> {
        let mut scan = Scanner { bytes: list, at: 0 };
        scan.skip_blanks();
        (scan.bump() == Ok(b'[')).then_some(Items { scan, begun: false })
    }

    /// The next item; none at the list's end.
    pub(crate) fn next_item(&mut self) -> Result<Option<Value<'a>>, Malformed> {
        let scan = &mut self.scan;
        scan.skip_blanks();
        match scan.peek()? {
            b']' => return Ok(None),
            b',' if self.begun => {
                scan.at += 1;
                scan.skip_blanks();
            }
            _ if self.begun => return Err("not JSON: expected a comma or ] behind an item of a list"),
            _ => {}
        }
        self.begun = true;
        scan.value().map(Some)
    }
}

/// A place in the line, and the steps that lead on from it.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn value(&mut self) -> Result<Value<'a>, Malformed> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                Ok(Value::Text(self.long_text()?))
            }
            b'[' | b'{' => self.nested(),
            _ => {
                let token = self.token();
                match token {
                    b"null" | b"NaN" => Ok(Value::Null),
                    b"true" | b"false" => Ok(Value::Boolean(token)),
                    b"" => Err("not JSON: a key without a value"),
                    _ => Ok(Value::Number(token)),
                }
            }
        }
    }

    fn token(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let ends_token = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        let length = rest.iter().position(ends_token).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The rest of a text whose opening quote has been read, up to its closing one.
    fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let start = self.at;
        loop {
            match self.bump()? {
                b'"' => return Ok(&self.bytes[start..self.at - 1]),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    /// As [`Scanner::text`], for texts worth a search.
    fn long_text(&mut self) -> Result<&'a [u8], Malformed> {
        let start = self.at;
        loop {
            let rest = self.bytes.get(self.at..).ok_or(NOT_WHOLE)?;
            let length = memchr::memchr2(b'"', b'\\', rest).ok_or(NOT_WHOLE)?;
            self.at += length + 1;
            if rest[length] == b'"' {
                return Ok(&self.bytes[start..self.at - 1]);
            }
            self.at += 1;
        }
    }

    /// A list or an object, by its brackets alone.
    fn nested(&mut self) -> Result<Value<'a>, Malformed> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.bump()? {
                b'"' => {
                    self.text()?;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(Value::Nested(&self.bytes[start..self.at]));
            }
        }
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, Malformed> {
        self.bytes.get(self.at).copied().ok_or(NOT_WHOLE)
    }

    fn bump(&mut self) -> Result<u8, Malformed> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }
}

/// The text that a JSON string stands for, put into `scratch` only when it has escapes.
pub(crate) fn unescape<'s>(written: &'s [u8], scratch: &'s mut String) -> Option<&'s str> {
    let text = std::str::from_utf8(written).ok()?;
    if memchr::memchr(b'\\', written).is_none() {
        return Some(text);
    }
    scratch.clear();
    unescape_into(text, scratch, false).ok()?;
    Some(scratch)
}

/// Adds the text that a JSON string stands for, and says whether something had to be mended: escapes that stand for no
/// character, as for one half of a pair, become U+FFFD. Unless they may not: the error is the place of the first.
pub(crate) fn unescape_into(written: &str, into: &mut String, may_mend: bool) -> Result<bool, usize> {
    let mut is_mended = false;
    let mut rest = written;
    while let Some(slash) = memchr::memchr(b'\\', rest.as_bytes()) {
        into.push_str(&rest[..slash]);
        let escape = &rest[slash + 1..];
        let (character, length) = match escape.as_bytes().first() {
            Some(b'n') => (Some('\n'), 1),
            Some(b't') => (Some('\t'), 1),
            Some(b'r') => (Some('\r'), 1),
            Some(b'b') => (Some('\u{8}'), 1),
            Some(b'f') => (Some('\u{c}'), 1),
            Some(&sign @ (b'"' | b'\\' | b'/')) => (Some(char::from(sign)), 1),
            Some(b'u') => unicode_escape(escape),
            _ => (None, 0),
        };
        if character.is_none() && !may_mend {
            return Err(written.len() - rest.len() + slash);
        }
        is_mended |= character.is_none();
        into.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &escape[length..];
    }
    into.push_str(rest);
    Ok(is_mended)
}

/// The character of an escape that begins with `u`, and how many bytes it takes: eleven where two escapes are one pair.
fn unicode_escape(escape: &str) -> (Option<char>, usize) {
    let unit_at = |start: usize| -> Option<u16> {
        let digits = escape.get(start..start + 4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        u16::from_str_radix(digits?, 16).ok()
    };
    let Some(first) = unit_at(1) else {
        return (None, 1);
    };
    let second = if escape[5..].starts_with("\\u") { unit_at(7) } else { None };
    let pair = [first, second.unwrap_or(0)];
    match char::decode_utf16(pair).next() {
        Some(Ok(character)) if character.len_utf16() == 2 => (Some(character), 11),
        Some(Ok(character)) => (Some(character), 5),
        _ => (None, 5),
    }
}
