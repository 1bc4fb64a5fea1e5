//! Which blocks have windows.

use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::ModelSpec;

/// A truth value, which files also write as a number.
pub fn flag(value: &serde_json::Value) -> Option<bool> {
    value.as_bool().or_else(|| Some(value.as_u64()? != 0))
}

/// Takes the window from the blocks that see everything: a truth value for every block says which have one,
/// or all but each last one of so many have; `usual` where the file does not say, 0 for all.
pub fn windows(fields: Fields<'_>, spec: &mut ModelSpec, usual: usize) -> Result<(), ModelError> {
    let (name, count) = ("attention.sliding_window_pattern", spec.blocks.len());
    let every = |every: usize| (0..count).map(|number| every == 0 || (number + 1) % every != 0).collect();
    let windows: Option<Vec<bool>> = match fields.get(name) {
        None => Some(every(usual)),
        Some(serde_json::Value::Array(list)) => list.iter().map(flag).collect(),
        Some(value) => value.as_u64().and_then(|value| usize::try_from(value).ok()).map(every),
    };
    let windows = windows.filter(|windows| windows.len() == count);
    let expected = || fields.error(name, &format!("a whole number, or {count} times true or false"));
    for (block, window) in spec.blocks.iter_mut().zip(windows.ok_or_else(expected)?) {
        block.attention.window = block.attention.window.filter(|_| window);
    }
    Ok(())
}
