//! Reads the rows of a file: JSON lines or one JSON array, packed with gzip or not. `format` interprets the
//! rows.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::problem::Origin;
use crate::files;

/// JSON object of a file.
pub(super) struct JsonRow {
    /// Its keys.
    pub object: Map<String, Value>,
    pub origin: Origin,
}

/// All rows of a file. The error is a sentence.
pub(super) fn rows(path: &Path) -> Result<Vec<JsonRow>, String> {
    let file = path.display();
    let bytes = files::read(path, files::DATA).map_err(|e| format!("the file {file} cannot be read: {e}"))?;
    // Recognised by the first bytes, not by the name: a browser may have unpacked it.
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let reader = flate2::read::MultiGzDecoder::new(bytes.as_slice());
        files::read_all(reader, files::DATA).map_err(|e| match e.kind() {
            io::ErrorKind::FileTooLarge => format!("the file {file} cannot be unpacked: {e}"),
            _ => format!(
                "the file {file} is packed with gzip, but cannot be unpacked ({e}): it may be cut off; get it anew"
            ),
        })?
    } else {
        bytes
    };
    let text =
        String::from_utf8(bytes).map_err(|e| format!("the file {file} is not UTF-8 text: {}", e.utf8_error()))?;
    parse(path, text.strip_prefix('\u{feff}').unwrap_or(&text))
}

fn parse(path: &Path, text: &str) -> Result<Vec<JsonRow>, String> {
    let values = if text.trim_start().starts_with('[') { array(path, text)? } else { lines(path, text)? };
    if values.is_empty() {
        return Err(format!(
            "the file {} is empty: expected one JSON object per line, or a JSON array",
            path.display()
        ));
    }
    let row = |(line, value)| {
        let origin = Origin { file: path.to_path_buf(), line };
        match value {
            Value::Object(object) => Ok(JsonRow { object, origin }),
            _ => Err(format!("{origin}: expected a JSON object such as {{\"task_id\": …}}")),
        }
    };
    values.into_iter().map(row).collect()
}

fn lines(path: &Path, text: &str) -> Result<Vec<(usize, Value)>, String> {
    let numbered = text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(i, line): (usize, &str)| {
        let value = serde_json::from_str(line).map_err(|e| broken(path, i + 1, &e))?;
        Ok((i + 1, value))
    };
    numbered.map(read).collect()
}

fn array(path: &Path, text: &str) -> Result<Vec<(usize, Value)>, String> {
    let items: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(text).map_err(|e| broken(path, e.line(), &e))?;
    let (mut line, mut at) = (1, 0);
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        // The items are slices of the text, so the start of each gives its line.
        let start = item.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text.get(at..start).map_or(0, |between| between.matches('\n').count());
        at = start;
        values.push((line, serde_json::from_str(item.get()).map_err(|e| broken(path, line, &e))?));
    }
    Ok(values)
}

fn broken(path: &Path, line: usize, error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    format!(
        "{}, line {line}: this is no JSON ({said}): expected one JSON object per line, or a JSON array",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<usize>, String> {
        Ok(parse(Path::new("p.jsonl"), text)?.iter().map(|row| row.origin.line).collect())
    }

    #[test]
    fn rows_know_their_lines() {
        assert_eq!(read("{\"a\":1}\n\n{\"b\":2}\r\n").unwrap(), [1, 3]);
        assert_eq!(read("[\n  {\"a\":\n 1},\n  {\"b\":2}\n]\n").unwrap(), [2, 4]);
        assert_eq!(read(" [{\"a\":1},{\"b\":2}]").unwrap(), [1, 1]);
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_line() {
        for (text, words) in [
            ("{\"a\":1}\n{\"b\":", "p.jsonl, line 2: this is no JSON"),
            ("{\"a\":1}\n3\n", "p.jsonl, line 2: expected a JSON object"),
            ("[\n{\"a\":1},\n7]", "p.jsonl, line 3: expected a JSON object"),
            ("[{\"a\":1}\n", "p.jsonl, line 2: this is no JSON"),
            ("\n", "is empty"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_packed_file_is_told_by_its_bytes_and_a_cut_one_refused() {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(b"{\"task_id\":\"x\"}\n").unwrap();
        let packed = packer.finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("problems.jsonl");
        std::fs::write(&path, &packed).unwrap();
        assert_eq!(rows(&path).unwrap()[0].object["task_id"], "x");
        std::fs::write(&path, &packed[..packed.len() - 9]).unwrap();
        assert!(rows(&path).err().unwrap().contains("cannot be unpacked"));
    }
}
