//! Events of a stream (`text/event-stream`), read with bounds.

use std::io::{self, BufRead, BufReader, Read};

/// Longest line of a stream, in bytes.
const MOST_LINE: u64 = 1 << 20;
/// Most bytes of a stream.
const MOST_STREAM: u64 = 64 << 20;
/// Most bytes of an answer in one piece.
pub const MOST_BODY: u64 = 16 << 20;

/// The data of one event after the other.
pub struct Events<R> {
    from: BufReader<R>,
    left: u64,
}

impl<R: Read> Events<R> {
    /// Events of the stream `from`.
    pub fn new(from: R) -> Self {
        Self { from: BufReader::new(from), left: MOST_STREAM }
    }

    /// The data of the next event; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<String>> {
        let mut data = String::new();
        loop {
            let Some(line) = self.line()? else { return Ok((!data.is_empty()).then_some(data)) };
            if line.is_empty() && !data.is_empty() {
                return Ok(Some(data));
            }
            // Comments and other fields say nothing to us.
            if let Some(more) = line.strip_prefix("data:") {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(more.strip_prefix(' ').unwrap_or(more));
                if data.len() as u64 > MOST_LINE {
                    return Err(too_long());
                }
            }
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let most = MOST_LINE.min(self.left);
        let read = (&mut self.from).take(most).read_until(b'\n', &mut bytes)? as u64;
        self.left -= read;
        if read == most && bytes.last() != Some(&b'\n') {
            return Err(too_long());
        }
        if read == 0 {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8 text".to_owned()))?;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

fn bad(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn too_long() -> io::Error {
    bad(format!("it has more than {} MiB without an end, or {} MiB in all", MOST_LINE >> 20, MOST_STREAM >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Endless repetition of the same bytes.
    struct Again(std::iter::Cycle<std::slice::Iter<'static, u8>>);

    impl Read for Again {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            out.iter_mut().zip(&mut self.0).for_each(|(byte, next)| *byte = *next);
            Ok(out.len())
        }
    }

    fn all(text: &[u8]) -> io::Result<Vec<String>> {
        let mut events = Events::new(text);
        std::iter::from_fn(|| events.next().transpose()).collect()
    }

    #[test]
    fn events_are_read_as_the_format_says() {
        let text = b": hello\r\n\r\ndata: {\"a\":1}\r\n\r\nevent: x\nid: 3\ndata:one\ndata: two\n\n\n\ndata: \xC3\xBC\n\ndata: last";
        assert_eq!(all(text).unwrap(), ["{\"a\":1}", "one\ntwo", "ü", "last"]);
        assert!(all(b"data: \xC3\n\n").unwrap_err().to_string().contains("not UTF-8"));
    }

    #[test]
    fn no_line_and_no_stream_is_without_an_end() {
        let endless = |piece: &'static [u8]| {
            let mut events = Events::new(Again(piece.iter().cycle()));
            std::iter::from_fn(|| events.next().transpose()).find_map(Result::err)
        };
        for piece in [&b"a"[..], b"data: a\n", b"data: {}\n\n", b":\n"] {
            assert!(endless(piece).is_some_and(|error| error.to_string().contains("MiB")));
        }
    }
}
