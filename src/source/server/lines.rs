//! Events of a stream (`text/event-stream`), read with bounds.

use std::io::{self, BufRead, BufReader, Read};

/// Longest line of a stream, in bytes.
const MOST_LINE: u64 = 1 << 20;
/// Most bytes of a stream.
const MOST_STREAM: u64 = 64 << 20;
/// Mark of byte order, as UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Most bytes of an answer in one piece.
pub const MOST_BODY: u64 = 16 << 20;

/// One event after the other.
pub struct Events<R> {
    from: BufReader<R>,
    left: u64,
    /// The last line ended with a carriage return: a line feed behind it is of the same end.
    after_return: bool,
    /// The first line that belongs to no event.
    odd: Option<String>,
}

/// An event of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its kind, where that is named.
    pub name: String,
    pub data: String,
}

impl<R: Read> Events<R> {
    /// Events of the stream `from`.
    pub fn new(from: BufReader<R>) -> Self {
        Self { from, left: MOST_STREAM, after_return: false, odd: None }
    }

    /// The next event with data; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        loop {
            let Some(line) = self.line()? else { return Ok((!event.data.is_empty()).then_some(event)) };
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" if line.is_empty() => {
                    if !event.data.trim().is_empty() {
                        return Ok(Some(event));
                    }
                    event = Event::default();
                }
                "data" => {
                    if !event.data.is_empty() {
                        event.data.push('\n');
                    }
                    event.data.push_str(value);
                    if event.data.len() as u64 > MOST_LINE {
                        return Err(too_long());
                    }
                }
                "event" => value.clone_into(&mut event.name),
                // Comments, and fields that say nothing to us.
                "" | "id" | "retry" => {}
                // An error of a server that forgets that it streams.
                _ if line.starts_with('{') => return Ok(Some(Event { data: line, ..event })),
                _ => drop(self.odd.get_or_insert(line)),
            }
        }
    }

    /// The first line that belongs to no event.
    pub fn odd(&self) -> Option<&str> {
        self.odd.as_deref()
    }

    /// The next line, without its end: a line feed, a carriage return, or both.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        loop {
            let found = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                found => found?,
            };
            if std::mem::take(&mut self.after_return) && found.first() == Some(&b'\n') {
                self.from.consume(1);
                continue;
            }
            let end = found.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let is_over = found.is_empty();
            bytes.extend(&found[..end.unwrap_or(found.len())]);
            self.after_return = end.is_some_and(|at| found[at] == b'\r');
            let read = end.map_or(found.len(), |at| at + 1);
            self.from.consume(read);
            self.left = self.left.checked_sub(read as u64).ok_or_else(too_long)?;
            if bytes.len() as u64 > MOST_LINE {
                return Err(too_long());
            }
            if is_over && bytes.is_empty() {
                return Ok(None);
            }
            if is_over || end.is_some() {
                break;
            }
        }
        String::from_utf8(bytes).map(Some).map_err(|_| bad("it is not UTF-8 text".to_owned()))
    }
}

/// The first byte of an answer that is neither white space nor a mark of byte order; those are passed over.
pub fn first(from: &mut BufReader<impl Read>) -> io::Result<Option<u8>> {
    let mut passed = 0;
    loop {
        let bytes = from.fill_buf()?;
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || MARK.contains(byte);
        let (blanks, is_over) = (bytes.iter().take_while(blank).count(), bytes.is_empty());
        let found = bytes.get(blanks).copied();
        from.consume(blanks);
        passed += blanks as u64;
        if found.is_some() || is_over {
            return Ok(found);
        }
        if passed > MOST_LINE {
            return Err(too_long());
        }
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
        let mut events = Events::new(BufReader::new(text));
        std::iter::from_fn(|| events.next().transpose()).map(|event| Ok(event?.data)).collect()
    }

    #[test]
    fn events_are_read_as_the_format_says() {
        let text = b": hello\r\n\r\ndata: {\"a\":1}\r\n\r\nevent: x\nid: 3\ndata:one\ndata: two\n\n\n\ndata: \xC3\xBC\n\ndata: last";
        assert_eq!(all(text).unwrap(), ["{\"a\":1}", "one\ntwo", "ü", "last"]);
        let mut named =
            Events::new(BufReader::new(&b"<p>\nevent: error\ndata:\ndata: a\n\nevent: x\n\ndata: b\n\n"[..]));
        let mut next = || named.next().unwrap().map(|event| (event.name, event.data));
        let event = |name: &str, data: &str| Some((name.to_owned(), data.to_owned()));
        assert_eq!([next(), next(), next()], [event("error", "a"), event("", "b"), None]);
        assert_eq!(named.odd(), Some("<p>"));
        assert_eq!(all(b"data: \n\ndata: 1\n{\"a\": 2}\n").unwrap(), ["{\"a\": 2}"]);
        assert_eq!(all(b"data: 1\rdata: 2\r\rdata: 3\r\n\r\ndata: 4\n\r\n").unwrap(), ["1\n2", "3", "4"]);
        assert!(all(b"data: \xC3\n\n").unwrap_err().to_string().contains("not UTF-8"));
    }

    #[test]
    fn no_line_and_no_stream_is_without_an_end() {
        let endless = |piece: &'static [u8]| {
            let mut events = Events::new(BufReader::new(Again(piece.iter().cycle())));
            std::iter::from_fn(|| events.next().transpose()).find_map(Result::err)
        };
        for piece in [&b"a"[..], b"data: a\n", b"data: {}\n\n", b":\n"] {
            assert!(endless(piece).is_some_and(|error| error.to_string().contains("MiB")));
        }
    }
}
