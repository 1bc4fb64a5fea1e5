//! Requests in llama.cpp's own form (`/infill`, `/completion`), which editors send: their fields as those of
//! the other form, and their answers.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Serving;
use super::answer::Refusal;
use super::ask::{self, CompletionRequest, Fields, Form, N_PREDICT, wrong};
use crate::engine::{MAX_CANDIDATES, TextStop};
use crate::model::PromptText;
use crate::source::{FinishReason, Prompt, Summary, Window};

/// Filters where a request names none, as for llama.cpp.
const FILTERS: [(&str, f64); 4] = [("temperature", 0.8), ("top_k", 40.0), ("top_p", 0.95), ("min_p", 0.05)];
/// Names of samplers that do nothing where their own fields, which are refused, do not turn them on.
const IDLE: &[&str] = &["penalties", "dry", "top_n_sigma", "typ_p", "typical_p", "xtc"];
/// The sampler for code, in whose place tokens count that are at least so likely beside the best one.
const INFILL: (&str, f64) = ("infill", 0.5);
/// Most tokens of marks in a prompt.
const MARKS: usize = 16;
/// Fields that keep their names.
const KEPT: &[&str] = &["model", "stream", "stop", "seed", "ignore_eos"];
/// Tokens that models know as the beginning of another file, with its name in a line.
const FILE_MARKS: &[&str] = &["<|file_sep|>", "<file_sep>"];

/// What a request in this form wants beside candidates.
#[derive(Default)]
pub struct Native {
    /// The fields of an answer that are sent, if not all.
    fields: Option<Vec<String>>,
    /// Nothing is to be written: the prompt is read for later requests.
    is_silent: bool,
    /// A part of the text around the place was left out.
    is_truncated: bool,
}

/// Reads a request to go on with a text, or, of `is_infill`, to fill in a place.
pub fn read(fields: &Fields, serving: &Serving, is_infill: bool) -> Result<CompletionRequest, Refusal> {
    ask::supported(fields)?;
    let fields_sent = names(fields)?;
    let mut others: Map<String, Value> = Map::new();
    others.extend(KEPT.iter().filter_map(|&name| Some((name.to_owned(), fields.get(name)?.clone()))));
    others.extend(filters(fields)?);
    // -1 is as many as fit.
    let count = whole(fields, N_PREDICT, -2..=i64::MAX)?.unwrap_or(-1);
    others.insert(N_PREDICT.to_owned(), json!(count));
    if let Some(n) = whole(fields, "n_cmpl", 1..=MAX_CANDIDATES as i64)? {
        others.insert("n".to_owned(), json!(if count == 0 { 1 } else { n }));
    }
    if let Some(ids) = fields.get("return_tokens") {
        others.insert("return_token_ids".to_owned(), ids.clone());
    }
    let filled_in = is_infill.then(|| infill(fields, &serving.window, count)).transpose()?;
    let prompt = match &filled_in {
        Some((prompt, _)) => json!(prompt),
        None => fields.get("prompt").cloned().unwrap_or_default(),
    };
    others.insert("prompt".to_owned(), prompt);
    let mut request = ask::read(Form::Native, &Fields::of(others), serving)?;
    let indent = whole(fields, "n_indent", 0..=i64::MAX)?.unwrap_or(0) as usize;
    let limit = whole(fields, "t_max_predict_ms", -1..=i64::MAX)?.filter(|&ms| ms > 0);
    let limit = limit.map(|ms| Duration::from_millis(ms as u64));
    for request in &mut request.requests {
        request.options.stop.text = stop(indent, limit);
    }
    let (prompt, is_truncated) = filled_in.unzip();
    if let (Some(prompt), [request]) = (prompt, request.requests.as_mut_slice()) {
        request.prompt = Prompt::Text(prompt);
    }
    request.native = Native { fields: fields_sent, is_truncated: is_truncated.unwrap_or_default(), ..request.native };
    Ok(request)
}

/// A whole number in a range.
fn whole(fields: &Fields, name: &str, range: std::ops::RangeInclusive<i64>) -> Result<Option<i64>, Refusal> {
    let Some(value) = fields.get(name) else { return Ok(None) };
    let number = value.as_i64().filter(|number| range.contains(number));
    let most = if *range.end() == i64::MAX { "on".to_owned() } else { format!("to {}", range.end()) };
    number.map(Some).ok_or_else(|| wrong(name, value, &format!("a whole number from {} {most}", range.start())))
}

/// The fields of the answer that are wanted.
fn names(fields: &Fields) -> Result<Option<Vec<String>>, Refusal> {
    let Some(value) = fields.get("response_fields") else { return Ok(None) };
    let name = |name: &Value| name.as_str().map(str::to_owned);
    let names = value.as_array().and_then(|names| names.iter().map(name).collect::<Option<_>>());
    names.map(Some).ok_or_else(|| wrong("response_fields", value, "a list of names"))
}

/// Temperature and filters, of which `samplers` turns off those that it does not name.
fn filters(fields: &Fields) -> Result<Vec<(String, Value)>, Refusal> {
    let mut kept: Vec<(String, Value)> = Vec::new();
    for (name, usual) in FILTERS {
        let value = fields.get(name).cloned().unwrap_or_else(|| json!(usual));
        let number = value.as_f64().ok_or_else(|| wrong(name, &value, "a number"))?;
        let value = match name {
            "temperature" => json!(number.max(0.0)),
            "top_k" => json!(number.max(0.0) as u64),
            _ => json!(number),
        };
        // A filter that keeps all tokens is none.
        let is_none = name == "top_p" && number >= 1.0 || name != "temperature" && number <= 0.0;
        kept.extend((!is_none).then(|| (name.to_owned(), value)));
    }
    let Some(samplers) = fields.get("samplers") else { return Ok(kept) };
    let expected = || wrong("samplers", samplers, "a list of names");
    let names = samplers.as_array().ok_or_else(expected)?;
    let names = names.iter().map(|name| name.as_str().ok_or_else(expected)).collect::<Result<Vec<_>, _>>()?;
    let is_known = |name: &str| IDLE.contains(&name) || name == INFILL.0 || FILTERS.iter().any(|(of, _)| *of == name);
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let name = crate::untrusted::clean_line(name, 40);
        return Err(Refusal::bad(format!("`samplers` names {name}, which is not supported here: leave it out")));
    }
    kept.retain(|(name, _)| names.contains(&name.as_str()));
    if names.contains(&INFILL.0) {
        kept.retain(|(name, value)| name != "min_p" || value.as_f64() > Some(INFILL.1));
        if kept.iter().all(|(name, _)| name != "min_p") {
            kept.push(("min_p".to_owned(), json!(INFILL.1)));
        }
    }
    Ok(kept)
}

/// The prompt for a place in a file, and true if the context has no room for all that is around it.
fn infill(fields: &Fields, window: &Window, count: i64) -> Result<(PromptText, bool), Refusal> {
    let text = |name| fields.text(name).map(Option::unwrap_or_default);
    let (before, after, written) = (text("input_prefix")?, text("input_suffix")?, text("prompt")?);
    let Some(infill) = window.infill else {
        return Err(Refusal::bad("/infill is not supported: the model has no tokens for filling in"));
    };
    let mark = FILE_MARKS.iter().find(|mark| infill.stops.contains(mark) && window.count(mark) == 1);
    let chunks = chunks(fields, mark.copied())?;
    // A quarter of the context is for what is written, as far as that is wanted.
    let quarter = window.context / 4;
    let wanted = usize::try_from(count).map_or(quarter, |count| count.min(quarter));
    let mut room = if window.context == 0 { usize::MAX } else { window.context - wanted };
    // The marks and what is written already.
    room = room.saturating_sub(window.count(written) + MARKS);
    let (half, eighth) = (room / 2, room / 8);
    let (cut_before, cut_after) = (last_lines(before, half, window), first_lines(after, eighth, window));
    let mut is_truncated = cut_before.len() < before.len() || cut_after.len() < after.len();
    room = room.saturating_sub(window.count(cut_before) + window.count(cut_after));
    // The last chunks are the newest.
    let mut extra = Vec::new();
    for chunk in chunks.iter().rev() {
        let tokens = window.count(chunk);
        if tokens > room {
            is_truncated = true;
            break;
        }
        room -= tokens;
        extra.push(chunk);
    }
    extra.reverse();
    let mut text = extra.into_iter().fold(PromptText::default(), PromptText::with);
    if let Some(mark) = mark.filter(|_| !text.is_empty()) {
        text = text.with_marks(mark).with_words("filename\n");
    }
    Ok((text.with(&infill.prompt(cut_before, cut_after)).with_words(written), is_truncated))
}

/// Texts of other files, each as it stands in the prompt.
fn chunks(fields: &Fields, mark: Option<&str>) -> Result<Vec<PromptText>, Refusal> {
    let Some(value) = fields.get("input_extra") else { return Ok(Vec::new()) };
    let expected = || wrong("input_extra", value, "a list of objects with `text` and `filename`");
    let one = |chunk: &Value| {
        let text = chunk["text"].as_str().ok_or_else(expected)?;
        let name = chunk["filename"].as_str().unwrap_or("tmp").replace('\n', " ");
        Ok(match mark {
            Some(mark) => PromptText::marks(mark).with_words(&format!("{name}\n{text}")),
            None => PromptText::words(format!("{text}\n\n")),
        })
    };
    value.as_array().ok_or_else(expected)?.iter().map(one).collect()
}

/// The last lines of a text that have at most so many tokens.
fn last_lines<'a>(mut text: &'a str, most: usize, window: &Window) -> &'a str {
    loop {
        let tokens = window.count(text);
        if tokens <= most {
            return text;
        }
        let cut = text.len() * (tokens - most) / tokens;
        let end = text.as_bytes()[cut..].iter().position(|&byte| byte == b'\n');
        text = end.map_or("", |end| &text[cut + end + 1..]);
    }
}

/// The first lines of a text that have at most so many tokens.
fn first_lines<'a>(mut text: &'a str, most: usize, window: &Window) -> &'a str {
    loop {
        let tokens = window.count(text);
        if tokens <= most {
            return text;
        }
        let kept = text.len() * most / tokens;
        let end = text.as_bytes()[..kept].iter().rposition(|&byte| byte == b'\n');
        text = end.map_or("", |end| &text[..end]);
    }
}

/// Ends a text before a line that is less indented, and, once it has a line end, when its time is over.
fn stop(indent: usize, limit: Option<Duration>) -> Option<TextStop> {
    if indent == 0 && limit.is_none() {
        return None;
    }
    let begin = OnceLock::new();
    Some(Arc::new(move |text: &str| {
        let begin = begin.get_or_init(Instant::now);
        let is_less = |at: &usize| {
            let line = &text[*at..];
            let first = line.find(|c| c != ' ' && c != '\t').filter(|&first| !line[first..].starts_with(['\n', '\r']));
            first.is_some_and(|first| first < indent)
        };
        let lines = text.match_indices('\n').map(|(at, _)| at + 1);
        let is_late = || text.contains('\n') && limit.is_some_and(|limit| begin.elapsed() > limit);
        lines.filter(|_| indent > 0).find(is_less).or_else(|| is_late().then_some(text.len()))
    }))
}

impl Native {
    /// Of a request that is only to be read, where `is_silent`.
    pub fn new(is_silent: bool) -> Self {
        Self { is_silent, ..Self::default() }
    }

    /// True if what is written is sent.
    pub fn is_sent(&self) -> bool {
        !self.is_silent
    }

    /// The answer about a candidate, once all have ended.
    pub fn answer(&self, mut said: Value, tokens: usize, finish: Option<FinishReason>, summary: &Summary) -> Value {
        let per = |ms: f64, count: usize| if count == 0 { 0.0 } else { ms / count as f64 };
        let rate = |ms: f64, count: usize| if ms > 0.0 { count as f64 * 1000.0 / ms } else { 0.0 };
        let read = summary.prompt_tokens - summary.prompt_tokens_reused.min(summary.prompt_tokens);
        let (prompt_ms, written_ms) = (summary.prefill_ms, summary.decode_ms);
        let more = json!({
            "stop": true,
            "stop_type": if finish == Some(FinishReason::Stop) { "eos" } else { "limit" },
            "truncated": self.is_truncated,
            "tokens_cached": summary.prompt_tokens + tokens,
            "tokens_evaluated": summary.prompt_tokens,
            "tokens_predicted": tokens,
            "timings": {
                "prompt_n": read,
                "prompt_ms": prompt_ms,
                "prompt_per_token_ms": per(prompt_ms, read),
                "prompt_per_second": rate(prompt_ms, read),
                "predicted_n": tokens,
                "predicted_ms": written_ms,
                "predicted_per_token_ms": per(written_ms, tokens),
                "predicted_per_second": rate(written_ms, tokens),
            },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            said[name] = value.clone();
        }
        let Some(fields) = &self.fields else { return said };
        let part = |path: &String| {
            let value = path.split('/').try_fold(&said, |value, name| value.get(name))?;
            Some((path.clone(), value.clone()))
        };
        Value::Object(fields.iter().filter_map(part).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_less_indented_ends_the_text() {
        let rule = stop(4, None).unwrap();
        for (text, kept) in [
            ("x = 1\n    y\n\n    z\n", None),
            ("x\n    y\n  z", Some(8)),
            ("x\n  ", None),
            ("  x\ny", Some(4)),
            ("x\n\t\t\t\ty", None),
            ("", None),
        ] {
            assert_eq!(rule(text), kept, "{text:?}");
        }
        assert!(stop(0, None).is_none());
        let rule = stop(0, Some(Duration::ZERO)).unwrap();
        assert_eq!(rule("x = 1"), None, "the first line is written to its end");
        assert_eq!(rule("x = 1\ny"), Some(7));
    }

    #[test]
    fn lines_are_left_out_where_there_is_no_room() {
        // Two sevenths of a token for each byte.
        let window = Window::default();
        let text = "aaaaaaa\nbbbbbbb\nccccccc\n";
        assert_eq!(last_lines(text, 4, &window), "ccccccc\n");
        assert_eq!(first_lines(text, 4, &window), "aaaaaaa\nbbbbbbb");
        assert_eq!((last_lines(text, 6, &window), first_lines(text, 0, &window)), (text, ""));
    }
}
