//! The bytes of the terminal as keys, pasted text and clicks. Pure.
//!
//! Terminals also send replies: colours, versions, the cursor's place. Over a slow line they come seconds
//! after they were asked for, and in pieces. They are dropped here, so that they never become keys. Complete
//! sequences that are no known key are dropped as well.

use std::time::Duration;

use super::event::{Code, Input, Key, Mouse, MouseKind};

/// Longest wait for bytes that tell a key from the begin of a sequence, such as Esc from `ESC [ A`.
const WAIT: Duration = Duration::from_millis(50);
/// A sequence that has begun for certain may pause for so long; a key that might have been one is remembered.
const PAUSE: Duration = Duration::from_secs(5);
/// Longest sequence, in bytes.
const LONGEST: usize = 4096;
/// Most bytes of one paste; the rest comes as another.
const MOST_PASTED: usize = 1 << 24;
const PASTE_END: &[u8] = b"\x1b[201~";
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Decoder of a stream of bytes, in whatever pieces they come.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Bytes of an unfinished character or sequence.
    held: Vec<u8>,
    /// Number of these that nothing followed in time, so that they became keys.
    passed: usize,
    /// Pasted text that has not ended.
    paste: Option<Vec<u8>>,
}

/// Meaning of the bytes held.
enum Read {
    /// Not finished.
    More,
    /// Nothing for the screen.
    Dropped,
    Is(Input),
    PasteBegins,
    /// The last byte does not belong to those before it.
    Broken,
}

impl From<Option<Input>> for Read {
    fn from(input: Option<Input>) -> Self {
        input.map_or(Self::Dropped, Self::Is)
    }
}

impl Decoder {
    /// Takes in one byte.
    pub fn push(&mut self, byte: u8, out: &mut Vec<Input>) {
        if let Some(paste) = &mut self.paste {
            paste.push(byte);
            if let Some(text) = paste.strip_suffix(PASTE_END) {
                out.push(pasted(text));
                self.paste = None;
            } else if paste.len() >= MOST_PASTED {
                out.push(pasted(paste));
                paste.clear();
            }
            return;
        }
        self.held.push(byte);
        match self.read() {
            Read::More => {}
            Read::Dropped => self.clear(),
            Read::Is(input) => {
                self.clear();
                out.push(input);
            }
            Read::PasteBegins => {
                self.clear();
                self.paste = Some(Vec::new());
            }
            Read::Broken => {
                self.held.pop();
                // The ESC that ends a text may have begun something else.
                let escape = self.held.len() > 2 && self.held.last() == Some(&ESC);
                if !self.is_certain() {
                    self.pass_on(out);
                }
                self.clear();
                if escape {
                    self.push(ESC, out);
                }
                self.push(byte, out);
            }
        }
    }

    /// Time to wait for the next byte before [`Self::pause`] is to be called; `None` if nothing is held.
    pub fn wait(&self) -> Option<Duration> {
        if self.paste.is_some() {
            Some(PAUSE)
        } else if self.held.is_empty() {
            None
        } else if self.is_certain() || self.passed == self.held.len() {
            Some(PAUSE)
        } else {
            Some(WAIT)
        }
    }

    /// No byte has come for [`Self::wait`].
    pub fn pause(&mut self, out: &mut Vec<Input>) {
        if let Some(paste) = self.paste.take() {
            out.push(pasted(&paste));
        } else if self.is_certain() || self.passed == self.held.len() {
            self.clear();
        } else {
            self.pass_on(out);
            self.passed = self.held.len();
        }
    }

    fn clear(&mut self) {
        self.held.clear();
        self.passed = 0;
    }

    /// The bytes held are a sequence, not keys.
    fn is_certain(&self) -> bool {
        let [ESC, kind, rest @ ..] = self.held.as_slice() else { return false };
        if self.passed < 2 {
            return !rest.is_empty() && matches!(kind, b'[' | b']' | b'P' | b'_');
        }
        // These could have been typed, a key at a time: only what nobody types is a reply.
        let number = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let after = rest.get(number);
        match kind {
            b'[' => match rest {
                [b'?' | b'>' | b'=', digit, ..] => digit.is_ascii_digit(),
                _ => number > 0 && after == Some(&b';') && rest.get(number + 1).is_some_and(u8::is_ascii_digit),
            },
            b']' => number > 0 && after == Some(&b';'),
            b'P' => matches!(rest, [b'>' | b'!', b'|', ..] | [b'0' | b'1', b'+' | b'$', ..]),
            _ => matches!(rest, [b'G', b'a'..=b'z', b'=', ..]),
        }
    }

    /// The bytes held may become certain, though they were passed on as keys.
    fn may_be_certain(&self) -> bool {
        let [ESC, kind, rest @ ..] = self.held.as_slice() else { return true };
        let number = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        match (kind, rest) {
            (_, [])
            | (b'[', [b'?' | b'>' | b'='])
            | (b'P', [b'>' | b'!' | b'0' | b'1'])
            | (b'_', [b'G'] | [b'G', b'a'..=b'z']) => true,
            (b'[' | b']', _) => number == rest.len() || (*kind == b'[' && number > 0 && rest[number..] == *b";"),
            _ => false,
        }
    }

    /// Bytes that are held and were not passed on become keys.
    fn pass_on(&self, out: &mut Vec<Input>) {
        let (mut rest, mut alt) = (&self.held[self.passed..], false);
        if self.passed == 0 && rest.first() == Some(&ESC) {
            if rest.len() == 1 {
                out.push(Input::Key(Key::plain(Code::Esc)));
                return;
            }
            (rest, alt) = (&rest[1..], true);
        }
        for &byte in rest {
            if let Read::Is(Input::Key(key)) = character(&[byte]) {
                out.push(Input::Key(Key { alt: alt || key.alt, ..key }));
            }
            alt = false;
        }
    }

    fn read(&self) -> Read {
        let held = self.held.as_slice();
        if held.len() > LONGEST {
            return Read::Dropped;
        }
        // Keys that were typed one after another are not a sequence, unless it can be nothing else.
        if self.passed > 1 && !self.is_certain() && !self.may_be_certain() {
            return Read::Broken;
        }
        match held {
            [ESC] | [ESC, b'O'] => Read::More,
            [ESC, ESC, ..] => Read::Broken,
            [ESC, b'[', rest @ ..] => control(rest),
            [ESC, kind @ (b']' | b'P' | b'_'), rest @ ..] => text(*kind, rest),
            [ESC, b'O', last] => letter(*last).map_or(Read::Broken, |code| Read::Is(Input::Key(Key::plain(code)))),
            // The end of a text that was given up.
            [ESC, b'\\'] if self.passed == 0 => Read::Dropped,
            // The key came after an Esc of its own.
            [ESC, ..] if self.passed > 0 => Read::Broken,
            [ESC, rest @ ..] => match character(rest) {
                Read::Is(Input::Key(key)) => Read::Is(Input::Key(Key { alt: true, ..key })),
                other => other,
            },
            _ => character(held),
        }
    }
}

fn pasted(text: &[u8]) -> Input {
    Input::Paste(String::from_utf8_lossy(text).into_owned())
}

/// One character, or the key whose control character it is.
fn character(bytes: &[u8]) -> Read {
    let plain = |code| Read::Is(Input::Key(Key::plain(code)));
    let ctrl = |c: u8| Read::Is(Input::Key(Key { ctrl: true, ..Key::plain(Code::Char(char::from(c))) }));
    match *bytes {
        [b'\r'] => plain(Code::Enter),
        [b'\t'] => plain(Code::Tab),
        [0x7f] => plain(Code::Backspace),
        [ESC] => plain(Code::Esc),
        [0] => ctrl(b' '),
        [c @ 0x01..=0x1a] => ctrl(c - 1 + b'a'),
        [c @ 0x1c..=0x1f] => ctrl(c - 0x1c + b'4'),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.chars().next().map_or(Read::Dropped, |c| plain(Code::Char(c))),
            Err(why) if why.error_len().is_none() => Read::More,
            Err(_) if bytes.len() > 1 => Read::Broken,
            Err(_) => Read::Dropped,
        },
    }
}

/// A text from the terminal: `OSC`, `DCS` or `APC`, up to its terminator.
fn text(kind: u8, rest: &[u8]) -> Read {
    let Some((&first, body)) = rest.split_first() else { return Read::More };
    let begins = match kind {
        b']' => first.is_ascii_digit() || matches!(first, b'l' | b'L'),
        b'P' => first.is_ascii_digit() || matches!(first, b'>' | b'!' | b'|'),
        _ => first == b'G',
    };
    match body {
        _ if !begins => Read::Broken,
        [.., ESC, b'\\'] | [.., BEL | 0x18 | 0x1a] => Read::Dropped,
        [.., ESC, _] => Read::Broken,
        [.., ESC] => Read::More,
        // Somebody types: the text will not go on.
        [.., 0..=0x1f | 0x7f] => Read::Broken,
        _ => Read::More,
    }
}

/// A control sequence, after its `ESC [`.
fn control(rest: &[u8]) -> Read {
    let Some((&last, parameters)) = rest.split_last() else { return Read::More };
    match (parameters, last) {
        // Function keys of the Linux console begin with a second `[`.
        ([], b'[') | (_, b' '..=b'?') => Read::More,
        ([b'['], b'A'..=b'E') => Read::Is(Input::Key(Key::plain(Code::F(1 + last - b'A')))),
        ([b'['], _) => Read::Broken,
        (b"200", b'~') => Read::PasteBegins,
        ([b'<', place @ ..], b'M' | b'm') => mouse(place, last == b'M').map(Input::Mouse).into(),
        (_, b'@'..=b'~') => key(parameters, last).map(Input::Key).into(),
        _ => Read::Broken,
    }
}

fn letter(last: u8) -> Option<Code> {
    Some(match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(1 + last - b'P'),
        _ => return None,
    })
}

fn key(parameters: &[u8], last: u8) -> Option<Key> {
    let text = std::str::from_utf8(parameters).ok()?;
    let mut fields = text.split(';');
    let mut first = fields.next()?.split(':');
    let number: u32 = match first.next()? {
        "" => 1,
        digits => digits.parse().ok()?,
    };
    let mut held = fields.next().unwrap_or_default().split(':');
    let mut modifiers = held.next().and_then(|m| m.parse::<u32>().ok()).unwrap_or(1).saturating_sub(1);
    if held.next() == Some("3") {
        // A release.
        return None;
    }
    let code = match last {
        // `R` is a place of the cursor, not F3.
        b'A'..=b'D' | b'F' | b'H' | b'P' | b'Q' | b'S' if number == 1 => letter(last)?,
        b'Z' if number == 1 => {
            modifiers |= 1;
            Code::Tab
        }
        // xterm's `modifyOtherKeys`.
        b'~' if number == 27 => unicode(fields.next()?.parse().ok()?)?,
        b'~' => tilde(number)?,
        b'u' => unicode(number)?,
        _ => return None,
    };
    let (shift, alt, ctrl) = (modifiers & 1 != 0, modifiers & (2 | 32) != 0, modifiers & 4 != 0);
    Some(Key { code, ctrl, alt, shift }.normal())
}

fn tilde(number: u32) -> Option<Code> {
    Some(match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::F(number as u8 - 10),
        17..=21 => Code::F(number as u8 - 11),
        23..=26 => Code::F(number as u8 - 12),
        28 | 29 => Code::F(number as u8 - 13),
        31..=34 => Code::F(number as u8 - 14),
        _ => return None,
    })
}

/// A key by its code point; kitty's keyboard protocol has those of the keypad in a private range.
fn unicode(number: u32) -> Option<Code> {
    const KEYPAD: &[u8] = b"0123456789./*-+";
    Some(match number {
        13 | 57414 => Code::Enter,
        27 => Code::Esc,
        9 => Code::Tab,
        8 | 127 => Code::Backspace,
        57376..=57387 => Code::F((number - 57376 + 13) as u8),
        57399..=57413 => Code::Char(char::from(KEYPAD[number as usize - 57399])),
        57415 => Code::Char('='),
        57417 => Code::Left,
        57418 => Code::Right,
        57419 => Code::Up,
        57420 => Code::Down,
        57421 => Code::PageUp,
        57422 => Code::PageDown,
        57423 => Code::Home,
        57424 => Code::End,
        57425 => Code::Insert,
        57426 => Code::Delete,
        57344..=63743 => return None,
        _ => Code::Char(char::from_u32(number).filter(|c| !c.is_control())?),
    })
}

/// `button;column;row`, counted from 1.
fn mouse(place: &[u8], pressed: bool) -> Option<Mouse> {
    let mut numbers = std::str::from_utf8(place).ok()?.split(';').map(|n| n.parse::<u16>().ok());
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    // Shift, alt and ctrl do not matter.
    let kind = match button & !0b1_1100 {
        0 if pressed => MouseKind::Press,
        64 => MouseKind::WheelUp,
        65 => MouseKind::WheelDown,
        _ => return None,
    };
    Some(Mouse { kind, column: column.saturating_sub(1), row: row.saturating_sub(1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REPLIES: &[&str] = &[
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:1e1e/1e1e/2e2e\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
        "\x1b[?62;22;52c", "\x1b[?6c", "\x1b[>41;390;0c", "\x1bP!|00000000\x1b\\", "\x1bP>|xterm(390)\x1b\\",
        "\x1bP>|WezTerm 20240203-110809\x1b\\", "\x1b[0n", "\x1b[24;80R", "\x1b[0;0R", "\x1b[?24;80;1R",
        "\x1b[?2026;2$y", "\x1b[4;2$y", "\x1b[?1u", "\x1b[?0u", "\x1b_Gi=31;OK\x1b\\",
        "\x1b_Gi=31;ENOENT:no such q file\x1b\\", "\x1bP1+r524742=38\x1b\\", "\x1bP1$r0m\x1b\\", "\x1b[8;24;80t",
        "\x1b]lq title\x1b\\", "\x1b[?997;1n", "\x1b[I",
    ];

    fn decode(decoder: &mut Decoder, bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        for &byte in bytes {
            decoder.push(byte, &mut out);
        }
        out
    }

    /// The keys of `bytes`, followed by silence.
    fn keys(bytes: &str) -> String {
        let mut decoder = Decoder::default();
        let mut out = decode(&mut decoder, bytes.as_bytes());
        while decoder.wait().is_some() {
            decoder.pause(&mut out);
        }
        shown(&out)
    }

    fn shown(inputs: &[Input]) -> String {
        let one = |input: &Input| match input {
            Input::Key(key) => key.to_string(),
            other => format!("{other:?}"),
        };
        inputs.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn replies_are_dropped_and_keys_around_them_are_not() {
        for reply in REPLIES {
            assert_eq!(keys(&format!("a{reply}b")), "a b", "{reply:?}");
            assert_eq!(keys(&format!("{reply}{reply}\x03")), "Ctrl-C", "{reply:?}");
        }
    }

    #[test]
    fn replies_with_one_long_pause_anywhere_give_at_most_an_esc() {
        for reply in REPLIES {
            for cut in 1..reply.len() {
                let mut decoder = Decoder::default();
                let mut out = decode(&mut decoder, &reply.as_bytes()[..cut]);
                let waits = decoder.wait().unwrap();
                if waits == WAIT {
                    decoder.pause(&mut out);
                }
                out.extend(decode(&mut decoder, &reply.as_bytes()[cut..]));
                out.extend(decode(&mut decoder, b"z"));
                let said = shown(&out);
                let introducer = &reply[1..2];
                let allowed = match cut {
                    1 => "Esc z".to_owned(),
                    2 if introducer == "[" && reply.len() == 3 => "Alt-[ I z".to_owned(),
                    2 if waits == WAIT => format!("Alt-{introducer} z"),
                    _ => "z".to_owned(),
                };
                let short = ["\x1b[0n", "\x1b]lq title\x1b\\"].contains(reply) && cut == 2;
                assert!(said == allowed || short, "{reply:?} cut at {cut}: {said}");
            }
        }
    }

    #[test]
    fn keys_are_read() {
        for (bytes, expected) in [
            ("aé漢Z", "a é 漢 Z"),
            ("\r\t\x7f\x01\x1a\0", "Enter Tab Backspace Ctrl-A Ctrl-Z Ctrl-Space"),
            ("\x1b", "Esc"),
            ("\x1b\x1b", "Esc Esc"),
            ("\x1bx\x1b\r\x1b\x7f\x1bé", "Alt-x Alt-Enter Alt-Backspace Alt-é"),
            ("\x1b[A\x1bOB\x1b[1;5C\x1b[H\x1b[4~", "Up Down Ctrl-Right Home End"),
            ("\x1b[Z\x1b[1;2A\x1b[5~\x1b[6~\x1b[3~\x1b[2~", "Shift-Tab Shift-Up PgUp PgDn Del Insert"),
            ("\x1bOP\x1b[15~\x1b[24~\x1b[[A\x1b[1;5Q", "F1 F5 F12 F1 Ctrl-F2"),
            ("\x1b[27u\x1b[99;5u\x1b[13;2u\x1b[97;3u\x1b[13;2:3u", "Esc Ctrl-C Shift-Enter Alt-a"),
            ("\x1b[27;2;13~\x1b[57414u\x1b[57399u", "Shift-Enter Enter 0"),
            ("\x1b]", "Alt-]"),
            ("\x1bP", "Alt-P"),
            ("\x1b[", "Alt-["),
            ("\x1bO", "Alt-O"),
            ("\x1bOz", "Alt-O z"),
            ("\x1b]q", "Alt-] q"),
            ("\u{1b}\u{1b}[A", "Esc Up"),
        ] {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn keys_typed_after_an_esc_stay_keys() {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for byte in b"\x1b]11q\x1b[Aq\x1b[?q\x1bP>\x1bOA" {
            decoder.push(*byte, &mut out);
            if decoder.wait() == Some(WAIT) {
                decoder.pause(&mut out);
            }
        }
        assert_eq!(shown(&out), "Esc ] 1 1 q Esc [ A q Esc [ ? q Esc P > Esc O A");
    }

    #[test]
    fn a_reply_that_breaks_off_does_not_keep_the_keys() {
        assert_eq!(keys("\x1b]11;rgb:ff\x03q"), "Ctrl-C q");
        assert_eq!(keys("\x1b[?2026;\x03q"), "Ctrl-C q");
        assert_eq!(keys("\x1bP>|xterm\x1b[A"), "Up");
        let mut decoder = Decoder::default();
        assert!(decode(&mut decoder, b"\x1b]11;rgb:ff").is_empty());
        assert_eq!(decoder.wait(), Some(PAUSE));
        decoder.pause(&mut Vec::new());
        assert_eq!(shown(&decode(&mut decoder, b"q")), "q");
    }

    #[test]
    fn pasted_text_is_text() {
        let text = "q\x1b]11;rgb:ff/ff/ff\x07 \x1b[?6c\r\n\x03é";
        let inputs = decode(&mut Decoder::default(), format!("\x1b[200~{text}\x1b[201~x").as_bytes());
        assert_eq!(inputs, [Input::Paste(text.to_owned()), Input::Key(Key::plain(Code::Char('x')))]);
    }

    #[test]
    fn clicks_and_the_wheel_are_read() {
        let at = |kind, column, row| Input::Mouse(Mouse { kind, column, row });
        let inputs =
            decode(&mut Decoder::default(), b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<64;1;1M\x1b[<65;200;9M\x1b[<35;1;1M");
        let expected = [at(MouseKind::Press, 4, 2), at(MouseKind::WheelUp, 0, 0), at(MouseKind::WheelDown, 199, 8)];
        assert_eq!(inputs, expected);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_in(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\x1b[]?P;0~u\x07\\".to_vec())], 0..200)) {
            let mut decoder = Decoder::default();
            let mut out = decode(&mut decoder, &bytes);
            for _ in 0..4 {
                decoder.pause(&mut out);
            }
            prop_assert!(decoder.wait().is_none());
            prop_assert_eq!(shown(&decode(&mut decoder, b"q")), "q");
        }

        #[test]
        fn text_comes_through_whole(text in "[a-zA-Z0-9 é漢🙂\\[\\]?;]{0,60}") {
            let typed: String = decode(&mut Decoder::default(), text.as_bytes())
                .iter()
                .map(|input| if let Input::Key(Key { code: Code::Char(c), .. }) = input { *c } else { '\u{fffd}' })
                .collect();
            prop_assert_eq!(typed, text);
        }
    }
}
