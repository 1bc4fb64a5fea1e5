//! Admission of requests to the room that they share: places for candidates and positions of keys and values.
//! The first to arrive begins first. Some room is reserved for small requests, so that large ones cannot hold
//! them up.

use super::MAX_CANDIDATES;
use super::request::GenerateOptions;

/// Candidates of a request that is small.
const SMALL: usize = 8;
/// Places that only small requests get.
const PLACES: usize = 16;
/// One position of so many is theirs, too.
const SHARE: usize = 8;

/// Partition of the room that a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Open to all, in the order of their arrival.
    Open,
    /// Reserved for small requests.
    Reserved,
}

/// Room that a request needs, or that several hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Candidates.
    pub candidates: usize,
    /// Positions of the prompt, which the candidates share.
    pub prompt: usize,
    /// Positions of each candidate.
    pub tail: usize,
    /// Positions that would take as much memory as the state of a sequence, where models have such.
    pub state: usize,
}

impl Need {
    /// Need of a prompt of so many tokens, with these options, in a context of so many positions. The last
    /// token of the prompt is read once for every candidate.
    pub fn new(prompt: usize, options: &GenerateOptions, context: usize) -> Self {
        let room = prompt.saturating_add(options.max_tokens).min(context);
        let shared = prompt.saturating_sub(1);
        Self { candidates: options.n, prompt: shared, tail: room.saturating_sub(shared), state: 0 }
    }

    /// Most tokens of each candidate.
    pub fn tokens(&self, prompt: usize) -> usize {
        self.prompt + self.tail - prompt
    }

    /// All of its positions.
    pub fn positions(&self) -> usize {
        let candidates = self.candidate().saturating_mul(self.candidates);
        candidates.saturating_add(self.prompt).saturating_add(self.state)
    }

    /// Positions of a candidate and its state.
    pub fn candidate(&self) -> usize {
        self.tail.saturating_add(self.state)
    }
}

/// Candidates and positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub candidates: usize,
    pub positions: usize,
}

/// All that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    open: Held,
    reserved: Held,
}

impl Default for Room {
    /// For one user: nothing is reserved for others, and memory is what bounds positions.
    fn default() -> Self {
        let open = Held { candidates: MAX_CANDIDATES, positions: usize::MAX };
        Self { open, reserved: Held::default() }
    }
}

impl Room {
    /// For many: so many positions, of which a share is reserved for small requests.
    pub fn shared(positions: usize) -> Self {
        let reserved = positions / SHARE;
        Self {
            open: Held { candidates: MAX_CANDIDATES, positions: positions - reserved },
            reserved: Held { candidates: PLACES, positions: reserved },
        }
    }

    /// Positions in all.
    pub fn positions(&self) -> usize {
        self.open.positions.saturating_add(self.reserved.positions)
    }

    /// Why a request can never begin, if that is so.
    pub fn refuses(&self, need: &Need) -> Option<String> {
        (need.positions() > self.open.positions).then(|| {
            format!(
                "a prompt of {} tokens and {} candidates of up to {} more need {} positions of keys and values, but a \
                 request may have {}: ask for fewer candidates or tokens, or shorten the prompt",
                need.prompt + 1,
                need.candidates,
                need.tail - 1,
                need.positions(),
                self.open.positions
            )
        })
    }

    /// A need that is cut to what a request may have, but for a token of each candidate.
    pub fn cut(&self, need: Need) -> Need {
        let left = self.open.positions.saturating_sub(need.prompt + need.state) / need.candidates.max(1);
        Need { tail: need.tail.min(left.saturating_sub(need.state).max(2)), ..need }
    }

    /// The next of the waiting requests to begin, and its partition of the room. `waiting` is in the order of
    /// arrival. `held` gives what others have of a partition; `None` while a prompt is being read there.
    pub fn next(&self, waiting: &[Need], held: impl Fn(Partition) -> Option<Held>) -> Option<(usize, Partition)> {
        let fits = |partition: Partition, need: &Need| {
            let most = if partition == Partition::Open { self.open } else { self.reserved };
            held(partition).is_some_and(|held| {
                held.candidates + need.candidates <= most.candidates
                    && held.positions.saturating_add(need.positions()) <= most.positions
            })
        };
        if waiting.first().is_some_and(|need| fits(Partition::Open, need)) {
            return Some((0, Partition::Open));
        }
        let is_small = |need: &Need| need.candidates <= SMALL && need.positions() <= self.reserved.positions;
        let first = waiting.iter().position(is_small)?;
        fits(Partition::Reserved, &waiting[first]).then_some((first, Partition::Reserved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(candidates: usize, tail: usize) -> Need {
        Need { candidates, prompt: 10, tail, state: 0 }
    }

    fn held(candidates: usize, positions: usize) -> Held {
        Held { candidates, positions }
    }

    #[test]
    fn who_came_first_begins_first() {
        let room = Room::default();
        let nobody = |_| Some(Held::default());
        assert_eq!(room.next(&[], nobody), None);
        assert_eq!(room.next(&[need(64, 1 << 40), need(1, 1)], nobody), Some((0, Partition::Open)));
        // Nothing is reserved: all wait for the first.
        let some = |partition| Some(if partition == Partition::Open { held(1, 0) } else { Held::default() });
        assert_eq!(room.next(&[need(64, 1), need(1, 1)], some), None);
        assert_eq!(room.next(&[need(63, 1), need(1, 1)], some), Some((0, Partition::Open)));
        assert_eq!(room.next(&[need(1, 1)], |_| None), None, "one prompt at a time");
    }

    #[test]
    fn small_requests_begin_beside_large_ones() {
        let room = Room::shared(8000);
        let full = |partition| Some(if partition == Partition::Open { held(64, 700) } else { Held::default() });
        let next = |waiting: &[Need]| room.next(waiting, full);
        // The large ones keep their order, and so do the small ones among themselves.
        assert_eq!(next(&[need(64, 10), need(9, 10), need(8, 10), need(1, 10)]), Some((2, Partition::Reserved)));
        assert_eq!(next(&[need(64, 10), need(9, 10)]), None, "nine are not small");
        assert_eq!(next(&[need(1, 10)]), Some((0, Partition::Reserved)), "also where no large one waits");
        // A few candidates of many tokens are not small either.
        assert_eq!(next(&[need(64, 10), need(1, 991), need(1, 990)]), Some((2, Partition::Reserved)));
        // The reserved partition has no room for the first small request: later ones do not overtake it
        // there, either.
        let used = |partition| Some(if partition == Partition::Open { held(64, 700) } else { held(10, 500) });
        assert_eq!(room.next(&[need(64, 10), need(8, 10), need(1, 10)], used), None);
        assert_eq!(room.next(&[need(64, 10), need(6, 10), need(1, 10)], used), Some((1, Partition::Reserved)));
        assert_eq!(room.next(&[need(64, 10), need(6, 82), need(1, 10)], used), None, "502 positions and 500");
        // A prompt that is being read in the open partition does not hold them up.
        let reading = |partition| (partition == Partition::Reserved).then(Held::default);
        assert_eq!(room.next(&[need(1, 10)], reading), Some((0, Partition::Reserved)));
        assert_eq!(room.next(&[need(64, 10)], reading), None);
    }

    #[test]
    fn positions_are_bounded() {
        let room = Room::shared(8000);
        assert_eq!(room.positions(), 8000);
        let with = |positions| {
            move |partition| Some(if partition == Partition::Open { held(1, positions) } else { held(16, 0) })
        };
        assert_eq!(room.next(&[need(10, 100)], with(7000 - 1010)), Some((0, Partition::Open)));
        assert_eq!(room.next(&[need(10, 100), need(1, 1)], with(7000 - 1009)), None, "it waits, and all behind it");
        assert_eq!(room.refuses(&need(10, 699)), None);
        let why = room.refuses(&need(10, 700)).expect("never");
        assert!(why.contains("a prompt of 11 tokens and 10 candidates of up to 699 more need 7010 positions"), "{why}");
        assert_eq!(Room::default().refuses(&need(64, usize::MAX)), None);
        // A request without a length gets the length that fits.
        assert_eq!(room.cut(need(10, 900)), need(10, 699));
        assert_eq!(room.cut(need(64, 900)), need(64, 109));
        assert_eq!(room.cut(need(64, 100)), need(64, 100));
        assert_eq!(Room::default().cut(need(64, 1 << 40)), need(64, 1 << 40));
        let long = room.cut(Need { prompt: 6999, ..need(1, 900) });
        assert!(long.tail == 2 && room.refuses(&long).is_some(), "{long:?}");
        let options = GenerateOptions { n: 3, max_tokens: usize::MAX, ..GenerateOptions::default() };
        assert_eq!(Need::new(10, &options, 100), Need { candidates: 3, prompt: 9, tail: 91, state: 0 });
        let options = GenerateOptions { max_tokens: 5, ..options };
        assert_eq!(Need::new(10, &options, 100).positions(), 9 + 3 * 6);
    }
}
