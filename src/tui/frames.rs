//! When to draw: at most 30 times a second, keys sooner, and never when nothing changed. Pure; times in ms.

/// Least time between frames.
const GAP: u64 = 33;
/// Least time between frames that answer a key.
const KEY_GAP: u64 = 8;

/// Decides when the next frame is due.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    last: Option<u64>,
    dirty: bool,
    urgent: bool,
}

impl Frames {
    /// Something changed; `urgent` if a person waits for it.
    pub fn request(&mut self, urgent: bool) {
        self.dirty = true;
        self.urgent |= urgent;
    }

    /// When the next frame is due; `None` while nothing changed.
    pub fn due(&self) -> Option<u64> {
        let gap = if self.urgent { KEY_GAP } else { GAP };
        self.dirty.then(|| self.last.map_or(0, |last| last + gap))
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: u64) {
        *self = Self { last: Some(now), dirty: false, urgent: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_when_nothing_changed() {
        let mut frames = Frames::default();
        assert_eq!(frames.due(), None);
        frames.request(false);
        assert_eq!(frames.due(), Some(0));
        frames.drawn(100);
        assert_eq!(frames.due(), None);
    }

    #[test]
    fn a_stream_is_capped_and_a_key_is_not_kept_waiting() {
        let mut frames = Frames::default();
        frames.drawn(100);
        frames.request(false);
        assert_eq!(frames.due(), Some(133));
        frames.request(true);
        assert_eq!(frames.due(), Some(108));
    }

    #[test]
    fn a_second_of_tokens_is_at_most_thirty_one_frames() {
        let mut frames = Frames::default();
        let mut drawn = 0;
        for now in 0..1000 {
            frames.request(false);
            if frames.due().is_some_and(|at| at <= now) {
                frames.drawn(now);
                drawn += 1;
            }
        }
        assert!((30..=31).contains(&drawn), "{drawn}");
    }
}
