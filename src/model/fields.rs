//! Fields of a JSON object, read with errors that name the file and the field.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use super::{ModelError, mistaken};

/// Largest width, count or vocabulary that is believed; keeps products of two sizes far from overflow.
const MAX_SIZE: usize = 1 << 26;

/// A JSON object of a file. A field that is `null` counts as absent.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    path: &'a Path,
    prefix: &'a str,
    map: &'a Map<String, Value>,
    /// Is told the names of fields that are asked for.
    asked: Option<&'a Asked>,
}

/// Names of fields that were asked for.
pub type Asked = RefCell<BTreeSet<String>>;

/// Parses the bytes of a JSON file that must hold an object.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Map<String, Value>, ModelError> {
    mistaken::refuse_text(path, bytes)?;
    let parsed = serde_json::from_slice(bytes).or_else(|error| {
        // As the reference library does, numbers that JSON has not are read; a field that is used refuses them.
        let text = std::str::from_utf8(bytes).ok();
        text.and_then(|text| serde_json::from_str(&mistaken::without_odd_numbers(text)).ok()).ok_or(error)
    });
    let problem = match parsed {
        Ok(Value::Object(map)) => return Ok(map),
        Ok(_) => "it holds no object".into(),
        Err(error) => error.to_string(),
    };
    Err(ModelError::Json { path: path.into(), problem })
}

impl<'a> Fields<'a> {
    /// The top level of the file at `path`.
    pub fn new(path: &'a Path, map: &'a Map<String, Value>) -> Self {
        Self { path, prefix: "", map, asked: None }
    }

    /// An object of which `prefix` stands before the names in the file.
    pub fn with_prefix(path: &'a Path, prefix: &'a str, map: &'a Map<String, Value>) -> Self {
        Self { path, prefix, map, asked: None }
    }

    /// These fields; `asked` is told the names of those that are asked for.
    pub fn watched(self, asked: &'a Asked) -> Self {
        Self { asked: Some(asked), ..self }
    }

    fn ask(&self, field: &str) -> Option<&'a Value> {
        if let Some(asked) = self.asked {
            asked.borrow_mut().insert(field.to_owned());
        }
        self.map.get(field)
    }

    /// The file.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// An error about `field`.
    pub fn error(&self, field: &str, expected: &str) -> ModelError {
        let found = match self.map.get(field) {
            None => "nothing".to_owned(),
            Some(value) => {
                let text = value.to_string();
                text.char_indices().nth(80).map_or(text.clone(), |(end, _)| format!("{}…", &text[..end]))
            }
        };
        ModelError::field(self.path, format!("{}{field}", self.prefix), found, expected)
    }

    /// The value of `field`, unless absent or `null`.
    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.ask(field).filter(|value| !value.is_null())
    }

    /// As [`get`](Self::get), by someone who only hands it on.
    pub fn peek(&self, field: &str) -> Option<&'a Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    /// `field` is there and `null`.
    pub fn is_null(&self, field: &str) -> bool {
        self.ask(field).is_some_and(Value::is_null)
    }

    /// The nested object `field`; `prefix` is its name with a dot, for messages.
    pub fn object(&self, field: &str, prefix: &'a str) -> Result<Option<Fields<'a>>, ModelError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Fields { path: self.path, prefix, map, asked: None })),
            Some(_) => Err(self.error(field, "an object")),
        }
    }

    /// A size, at least 1; `None` where absent.
    pub fn size(&self, field: &str) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        match value.as_u64().and_then(|size| usize::try_from(size).ok()) {
            Some(size) if (1..=MAX_SIZE).contains(&size) => Ok(Some(size)),
            _ => Err(self.error(field, &format!("a whole number from 1 to {MAX_SIZE}"))),
        }
    }

    /// A whole number, 0 included; `None` where absent.
    pub fn whole(&self, field: &str) -> Result<Option<usize>, ModelError> {
        if self.get(field).is_some_and(|value| value.as_u64() == Some(0)) { Ok(Some(0)) } else { self.size(field) }
    }

    /// A size that has to be there.
    pub fn required_size(&self, field: &str) -> Result<usize, ModelError> {
        self.size(field)?.ok_or_else(|| self.error(field, "a whole number"))
    }

    /// A number above 0; `None` where absent.
    pub fn positive(&self, field: &str) -> Result<Option<f64>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        match value.as_f64() {
            Some(number) if number.is_finite() && number > 0.0 => Ok(Some(number)),
            _ => Err(self.error(field, "a number above 0")),
        }
    }

    /// A number from 0 on; `None` where absent.
    pub fn not_negative(&self, field: &str) -> Result<Option<f64>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        match value.as_f64() {
            Some(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            _ => Err(self.error(field, "a number from 0 on")),
        }
    }

    /// A number above 0 that has to be there.
    pub fn required_positive(&self, field: &str) -> Result<f64, ModelError> {
        self.positive(field)?.ok_or_else(|| self.error(field, "a number above 0"))
    }

    /// A truth value; `None` where absent.
    pub fn flag(&self, field: &str) -> Result<Option<bool>, ModelError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.error(field, "true or false")),
        }
    }

    /// A text; `None` where absent.
    pub fn text(&self, field: &str) -> Result<Option<&'a str>, ModelError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.error(field, "a text")),
        }
    }

    /// Numbers above 0; `None` where absent.
    pub fn positives(&self, field: &str) -> Result<Option<Vec<f64>>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let one = |value: &Value| value.as_f64().filter(|number| number.is_finite() && *number > 0.0);
        let all = value.as_array().and_then(|list| list.iter().map(one).collect());
        all.map(Some).ok_or_else(|| self.error(field, "a list of numbers above 0"))
    }

    /// Sizes, each at least 1; `None` where absent.
    pub fn sizes(&self, field: &str) -> Result<Option<Vec<usize>>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let one = |value: &Value| {
            let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
            size.filter(|size| (1..=MAX_SIZE).contains(size))
        };
        let all = value.as_array().and_then(|list| list.iter().map(one).collect());
        all.map(Some).ok_or_else(|| self.error(field, &format!("a list of whole numbers from 1 to {MAX_SIZE}")))
    }

    /// Texts; `None` where absent.
    pub fn texts(&self, field: &str) -> Result<Option<Vec<&'a str>>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let all = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        all.map(Some).ok_or_else(|| self.error(field, "a list of texts"))
    }

    /// Token ids: one number or a list of numbers; `None` where absent.
    pub fn ids(&self, field: &str) -> Result<Option<Vec<u32>>, ModelError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let ids = match value {
            Value::Array(list) => list.iter().map(one).collect(),
            value => one(value).map(|id| vec![id]),
        };
        ids.map(Some).ok_or_else(|| self.error(field, "a token id or a list of token ids"))
    }
}
