//! The same topics under other numbers of their words: vocabularies of shards are numbered each in its own way.

use super::MmHdp;
use std::sync::OnceLock;

impl MmHdp {
    /// A copy whose word i has the number `numbers[i]` among `n_words`; words without a number are let go.
    pub fn renumbered(&self, numbers: &[Option<u32>], n_words: usize) -> MmHdp {
        let mut copy = MmHdp { view: OnceLock::new(), ..self.clone() };
        copy.held = self.held.renumbered(|word| numbers.get(word as usize).copied().flatten());
        if let (Some(ours), Some(theirs)) = (&mut copy.master, &self.master) {
            ours.rows = theirs.unseen.repeat(n_words);
            ours.frequency = vec![0.0; n_words];
            let known = theirs.rows.chunks_exact(theirs.stride).zip(&theirs.frequency).zip(numbers);
            for ((row, frequency), number) in known {
                if let Some(number) = number {
                    let at = *number as usize * theirs.stride;
                    ours.rows[at..at + theirs.stride].copy_from_slice(row);
                    ours.frequency[*number as usize] = *frequency;
                }
            }
        }
        copy
    }
}
