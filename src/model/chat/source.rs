//! The text of a template: its tags, the words in them, and how it is written for the engine that runs it.

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Outside of tags, also comments and what is to be left as it is.
    Text(&'a str),
    /// Begins a tag, with its sign for white space.
    Open(&'a str),
    /// Ends a tag, with its sign for white space.
    Close(&'a str),
    /// Between the words of a tag.
    Space(&'a str),
    /// A name, a number or a sign in a tag.
    Word(&'a str),
    /// A string in a tag, with its quotes.
    Quoted(&'a str),
}

impl<'a> Part<'a> {
    /// Its text in the template.
    fn text(self) -> &'a str {
        let (Self::Text(text)
        | Self::Open(text)
        | Self::Close(text)
        | Self::Space(text)
        | Self::Word(text)
        | Self::Quoted(text)) = self;
        text
    }
}

/// All parts, one after another.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let begin = ["{{", "{%", "{#"].iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
        let is_comment = rest[begin..].starts_with("{#");
        let end = |mark: &str| rest[begin..].find(mark).map_or(rest.len(), |end| begin + end + mark.len());
        let (before, after) = rest.split_at(if is_comment { end("#}") } else { begin });
        found.push(Part::Text(before));
        rest = after;
        if !is_comment && !rest.is_empty() {
            let first = found.len();
            rest = tag(rest, &mut found);
            let mut words = found[first..].iter().filter(|part| matches!(part, Part::Word(_) | Part::Quoted(_)));
            if (words.next(), words.next()) == (Some(&Part::Word("raw")), None) && found[first].text().starts_with("{%")
            {
                let (raw, after) = rest.split_at(end_of_raw(rest));
                found.push(Part::Text(raw));
                rest = after;
            }
        }
    }
    found
}

/// Where the tag begins that ends a raw part, or the end of the text.
fn end_of_raw(text: &str) -> usize {
    let is_end = |at: &usize| text[at + 2..].trim_start_matches(['-', '+']).trim_start().starts_with("endraw");
    text.match_indices("{%").map(|(at, _)| at).find(is_end).unwrap_or(text.len())
}

/// Adds the parts of the tag that `text` begins with. Returns the rest.
fn tag<'a>(text: &'a str, found: &mut Vec<Part<'a>>) -> &'a str {
    let close = if text.starts_with("{%") { "%}" } else { "}}" };
    let len = |text: &str| 2 + usize::from(text[2..].starts_with(['-', '+']));
    let (open, mut rest) = text.split_at(len(text));
    found.push(Part::Open(open));
    // Within brackets no tag ends.
    let mut depth = 0_usize;
    while let Some(c) = rest.chars().next() {
        let signed = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        if depth == 0 && signed.starts_with(close) {
            let (mark, after) = rest.split_at(rest.len() - signed.len() + close.len());
            found.push(Part::Close(mark));
            return after;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end_of = |is: &dyn Fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let len = match c {
            '"' | '\'' => end_of_string(rest, c),
            _ if c.is_whitespace() => end_of(&char::is_whitespace),
            _ if is_word(c) => end_of(&is_word),
            _ => c.len_utf8(),
        };
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let (word, after) = rest.split_at(len);
        found.push(match c {
            '"' | '\'' => Part::Quoted(word),
            _ if c.is_whitespace() => Part::Space(word),
            _ => Part::Word(word),
        });
        rest = after;
    }
    rest
}

/// Length of the string that `text` begins with, its quotes included.
fn end_of_string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|next: char| {
        let ends = next == quote && !escaped;
        escaped = next == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The words and signs in the tags of a template, without strings, and their lines.
pub fn words(text: &str) -> Vec<(usize, &str)> {
    let mut line = 1;
    let mut found = Vec::new();
    for part in parts(text) {
        if let Part::Word(word) = part {
            found.push((line, word));
        }
        line += part.text().matches('\n').count();
    }
    found
}

/// The template as the engine reads it: line ends of one kind, strings whose escapes are those that both
/// languages have, and a scope of its own in the place of marks of what a model is trained on.
pub fn rewritten(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let parts = parts(&text);
    let mut out = String::with_capacity(text.len());
    for (at, &part) in parts.iter().enumerate() {
        match part {
            Part::Quoted(text) => {
                let value = unescaped(text).replace('\\', "\\\\").replace('"', "\\\"");
                out.extend(["\"", &value, "\""]);
            }
            Part::Word(mark @ ("generation" | "endgeneration")) if is_alone(&parts, at) => {
                out += if mark == "generation" { " with " } else { " endwith " };
            }
            part => out += part.text(),
        }
    }
    out
}

/// The word at this place is the only one of its tag for statements.
fn is_alone(parts: &[Part], at: usize) -> bool {
    let is_near = |part: &&Part| !matches!(part, Part::Space(_));
    let (before, after) = (parts[..at].iter().rfind(is_near), parts[at + 1..].iter().find(is_near));
    matches!((before, after), (Some(Part::Open(open)), Some(Part::Close(_))) if open.starts_with("{%"))
}

/// The value of a string with its quotes, as Python reads it.
fn unescaped(quoted: &str) -> String {
    let inner = quoted[1..].strip_suffix(&quoted[..1]).unwrap_or(&quoted[1..]);
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((before, after)) = rest.split_once('\\') {
        value += before;
        let (c, len) = escape(after);
        match c {
            Some(c) => value.push(c),
            // The end of a line is left out; what is no escape stays.
            None if after.starts_with('\n') => {}
            None => value.extend(["\\", &after[..len]]),
        }
        rest = &after[len..];
    }
    value + rest
}

/// The character that follows a backslash by this text, and the number of bytes that tell it.
fn escape(after: &str) -> (Option<char>, usize) {
    let Some(first) = after.chars().next() else { return (None, 0) };
    let plain = |c: char| (Some(c), 1);
    let number = |from: usize, len: usize, radix: u32| {
        let digits = after.get(from..from + len)?;
        let digits = digits.chars().all(|c| c.is_digit(radix)).then_some(digits)?;
        u32::from_str_radix(digits, radix).ok()
    };
    let coded = |len: usize| match number(1, len, 16) {
        // Two halves of a character.
        Some(high @ 0xd800..=0xdbff) if after.get(5..7) == Some("\\u") => {
            let low = number(7, 4, 16).filter(|low| (0xdc00..=0xdfff).contains(low));
            let whole = low.map(|low| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            (whole.and_then(char::from_u32), if whole.is_some() { 11 } else { 5 })
        }
        code => (code.and_then(char::from_u32), if code.is_some() { len + 1 } else { 1 }),
    };
    match first {
        '\\' | '\'' | '"' => plain(first),
        'a' => plain('\x07'),
        'b' => plain('\x08'),
        'f' => plain('\x0c'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'v' => plain('\x0b'),
        'x' => coded(2),
        'u' => coded(4),
        'U' => coded(8),
        '0'..='7' => {
            let len = after.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            (number(0, len, 8).and_then(char::from_u32), len)
        }
        _ => (None, first.len_utf8()),
    }
}
