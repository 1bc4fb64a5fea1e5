//! The rows of a pass, cut into lists that go through the layers together.

use std::ops::Range;

use super::{SeqId, Span, Wanted};

/// Consecutive rows of one sequence in a slab.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The sequence.
    pub seq: SeqId,
    /// Position of the first row.
    pub start: usize,
    /// Number of rows.
    pub len: usize,
    /// How many of the last ones need logits, or hidden states.
    pub wanted: usize,
}

/// Cuts the spans into lists of at most `most` rows.
pub fn slabs(spans: &[Span], want: Wanted, most: usize) -> Vec<Vec<Piece>> {
    let mut slabs: Vec<Vec<Piece>> = Vec::new();
    let mut room = 0;
    for span in spans {
        let end = span.start + span.len;
        let mut start = span.start;
        while start < end {
            if room == 0 {
                slabs.push(Vec::new());
                room = most;
            }
            let len = room.min(end - start);
            let wanted = match want {
                Wanted::Nothing => 0,
                Wanted::Last => usize::from(start + len == end),
                Wanted::All | Wanted::Hidden => len,
            };
            if let Some(slab) = slabs.last_mut() {
                slab.push(Piece { seq: span.seq, start, len, wanted });
            }
            start += len;
            room -= len;
        }
    }
    slabs
}

/// The pieces of a slab with their rows.
pub fn pieces(slab: &[Piece]) -> impl Iterator<Item = (&Piece, Range<usize>)> {
    slab.iter().scan(0, |end, piece| {
        *end += piece.len;
        Some((piece, *end - piece.len..*end))
    })
}
