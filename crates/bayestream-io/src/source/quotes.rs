//! CSV records with quotes, the slow path: `"a ""b"", c"` is the cell `a "b", c`, and may hold line feeds.

/// Where a scan over a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    CellStart,
    Plain,
    Quoted,
    /// Just behind a quote inside quotes: its end, or the first of a doubled one.
    QuoteSeen,
}

/// The cells of one record, unquoted, in memory that is reused.
#[derive(Debug)]
pub(crate) struct QuotedRecord {
    text: Vec<u8>,
    /// Where in `text` each cell ends.
    ends: Vec<usize>,
    state: State,
    /// How much of the record has been scanned.
    scanned: usize,
}

impl QuotedRecord {
    pub(crate) fn new() -> Self {
        QuotedRecord { text: Vec::new(), ends: Vec::new(), state: State::CellStart, scanned: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.state = State::CellStart;
        self.scanned = 0;
    }

    /// Scans what is new in `record`, of which more may have been read since the last call. True when the record is
    /// whole; false when it ends inside quotes and goes on in the next line.
    pub(crate) fn scan(&mut self, record: &[u8], delimiter: u8) -> bool {
        for &byte in &record[self.scanned..] {
            self.state = match (self.state, byte) {
                (State::CellStart, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::QuoteSeen,
                (State::Quoted, _) => {
                    self.text.push(byte);
                    State::Quoted
                }
                (State::QuoteSeen, b'"') => {
                    self.text.push(b'"');
                    State::Quoted
                }
                (_, byte) if byte == delimiter => {
                    self.ends.push(self.text.len());
                    State::CellStart
                }
                (_, byte) => {
                    self.text.push(byte);
                    State::Plain
                }
            };
        }
        self.scanned = record.len();
        if self.state == State::Quoted {
            return false;
        }
        self.ends.push(self.text.len());
        true
    }

    /// The cells of a whole record.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}
