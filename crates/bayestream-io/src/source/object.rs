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
    bytes: &'a [u8],
    at: usize,
    begun: bool,
}

impl<'a> Pairs<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Result<Pairs<'a>, Malformed> {
        let mut pairs = Pairs { bytes: line, at: 0, begun: false };
        pairs.skip_blanks();
        match pairs.bump()? {
            b'{' => Ok(pairs),
            _ => Err("not a JSON object; expected one object a line, like {\"x1\": 0.5, \"x2\": null}"),
        }
    }

    /// The next key (escapes as written) and its value; none at the object's end, which must be the line's.
    pub(crate) fn next_pair(&mut self) -> Result<Option<(&'a [u8], Value<'a>)>, Malformed> {
        self.skip_blanks();
        let separator = self.peek()?;
        if separator == b'}' {
            self.at += 1;
            self.skip_blanks();
            return match self.at == self.bytes.len() {
                true => Ok(None),
                false => Err("something follows the JSON object; expected one object a line"),
            };
        }
        if self.begun {
            if separator != b',' {
                return Err("not JSON: expected a comma or } behind a value");
            }
            self.at += 1;
            self.skip_blanks();
        }
        self.begun = true;
        if self.bump()? != b'"' {
            return Err("not JSON: expected a key in double quotes");
        }
        let key = self.text()?;
        self.skip_blanks();
        if self.bump()? != b':' {
            return Err("not JSON: expected a colon behind a key");
        }
        self.skip_blanks();
        Ok(Some((key, self.value()?)))
    }

    fn value(&mut self) -> Result<Value<'a>, Malformed> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                Ok(Value::Text(self.text()?))
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

    /// A list or an object, by its brackets alone: it is never looked into.
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
    if memchr::memchr(b'\\', written).is_none() {
        return std::str::from_utf8(written).ok();
    }
    let mut quoted = Vec::with_capacity(written.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(written);
    quoted.push(b'"');
    *scratch = serde_json::from_slice(&quoted).ok()?;
    Some(scratch)
}
