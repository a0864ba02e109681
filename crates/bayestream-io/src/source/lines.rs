//! Lines out of a reader, without copying them and without reading ahead of what one `read` returned.

use std::fmt;
use std::io;

use super::input::{BoxedReader, UTF8_BOM};

/// No honest row of numbers is longer; a binary file read as text would otherwise fill the memory.
const LONGEST_LINE: usize = 256 << 20;
const FIRST_CAPACITY: usize = 256 * 1024;

/// A line is longer than lines may be. Inside of an [`io::Error`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineTooLong {
    /// The 1-based number of the line.
    pub(crate) line: u64,
    /// Bytes that a line may have.
    pub(crate) longest: usize,
}

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} has more than {} bytes", self.line, self.longest)
    }
}

impl std::error::Error for LineTooLong {}

/// A reader's lines, one at a time.
pub(crate) struct Lines {
    reader: BoxedReader,
    buffer: Vec<u8>,
    /// The current line is `buffer[start..end]`, without its line feed.
    start: usize,
    end: usize,
    /// Where the line after it begins.
    next: usize,
    /// `buffer[..filled]` has been read.
    filled: usize,
    at_end: bool,
    /// Bytes of the input before the buffer's first one.
    offset: u64,
    longest: usize,
    /// The current line was too long, and its end has not been found yet.
    is_cut: bool,
    /// The 1-based number of the line on which the current one begins, and of its last one.
    first_line: u64,
    last_line: u64,
}

impl Lines {
    pub(crate) fn new(reader: BoxedReader) -> Lines {
        Lines::with_longest(reader, LONGEST_LINE)
    }

    /// Lines of at most so many bytes. A longer one is an error, after which [`Lines::advance`] goes on behind it.
    pub(crate) fn with_longest(reader: BoxedReader, longest: usize) -> Lines {
        Lines {
            reader,
            buffer: vec![0; FIRST_CAPACITY],
            offset: 0,
            longest,
            is_cut: false,
            start: 0,
            end: 0,
            next: 0,
            filled: 0,
            at_end: false,
            first_line: 0,
            last_line: 0,
        }
    }

    /// The current line, without line feed and carriage return.
    pub(crate) fn current(&self) -> &[u8] {
        let line = &self.buffer[self.start..self.end];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Leaves the byte order mark out, if the current line begins with one.
    pub(crate) fn skip_byte_order_mark(&mut self) {
        if self.buffer[self.start..self.end].starts_with(UTF8_BOM) {
            self.start += UTF8_BOM.len();
        }
    }

    /// The 1-based number of the file's line on which the current one begins.
    pub(crate) fn number(&self) -> u64 {
        self.first_line
    }

    /// Whether the input ends within the current line, which is one line of the file: there is no line feed behind it.
    pub(crate) fn is_last_without_feed(&self) -> bool {
        let is_one_line = self.first_line == self.last_line;
        is_one_line && self.next == self.end && !self.buffer[self.start..self.end].ends_with(b"\n")
    }

    /// Bytes of the input before the current line.
    pub(crate) fn offset(&self) -> u64 {
        self.offset + self.start as u64
    }

    /// Moves on to the next line; false at the end.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        if self.is_cut {
            self.leave_cut_line()?;
        }
        self.start = self.next;
        self.end = self.next;
        self.first_line = self.last_line + 1;
        self.find_end(self.next)
    }

    /// Makes the next line part of the current one, line feed included; false at the end.
    pub(crate) fn extend(&mut self) -> io::Result<bool> {
        self.find_end(self.next)
    }

    /// Looks for the line feed from `from` on.
    fn find_end(&mut self, mut from: usize) -> io::Result<bool> {
        let mut searched = from;
        loop {
            if let Some(offset) = memchr::memchr(b'\n', &self.buffer[searched..self.filled]) {
                self.end = searched + offset;
                self.next = self.end + 1;
                self.last_line += 1;
                return self.check_length().map(|()| true);
            }
            if self.at_end {
                // The last line may lack its line feed.
                let is_line = from < self.filled;
                self.end = self.filled;
                self.next = self.filled;
                self.last_line += u64::from(is_line);
                return self.check_length().map(|()| is_line);
            }
            let moved = self.make_room()?;
            from -= moved;
            searched = self.filled;
            self.refill()?;
        }
    }

    /// Moves the current line, as far as it has been read, to the front of the buffer, by the distance returned, and
    /// grows the buffer when there is no room behind it.
    fn make_room(&mut self) -> io::Result<usize> {
        let moved = self.start;
        self.buffer.copy_within(self.start..self.filled, 0);
        self.start = 0;
        self.end -= moved;
        self.next -= moved;
        self.filled -= moved;
        self.offset += moved as u64;
        if self.filled > self.longest {
            self.is_cut = true;
            return Err(self.too_long());
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        Ok(moved)
    }

    fn check_length(&self) -> io::Result<()> {
        if self.end - self.start > self.longest { Err(self.too_long()) } else { Ok(()) }
    }

    fn too_long(&self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, LineTooLong { line: self.first_line, longest: self.longest })
    }

    /// Reads to the end of a line that was too long, and keeps none of it.
    fn leave_cut_line(&mut self) -> io::Result<()> {
        self.is_cut = false;
        loop {
            self.offset += self.filled as u64;
            self.filled = 0;
            self.refill()?;
            let feed = memchr::memchr(b'\n', &self.buffer[..self.filled]);
            if feed.is_some() || self.at_end {
                self.next = feed.map_or(0, |feed| feed + 1);
                self.last_line += 1;
                return Ok(());
            }
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(n) => {
                    self.at_end = n == 0;
                    self.filled += n;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
