//! The first start of the screen: a menu of models where neither a setting nor a flag names one.

use super::failure::Failure;
use super::init::put_first;
use super::memory::{Machine, usage};
use super::models;
use super::session::{Session, served};
use crate::backend::Dtype;
use crate::catalog::{Entry, ExternalModel};
use crate::hub::bytes;
use crate::source::server::nearby;
use crate::tui::{self, Menu, MenuChoice, MenuRow};

/// Most models of this machine in the menu: with the others at most nine, for the digits.
const MOST: usize = 6;
/// A model to start with.
#[derive(Clone, Debug, PartialEq)]
enum Pick {
    BuiltIn,
    Model(String),
    Server { address: String, model: String },
    Download { name: String, dtype: Dtype },
    Path,
}

/// Outcome of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// There is a model already, or one was chosen.
    Chosen,
    /// The user left.
    Left,
}

/// Asks for a model if nothing names one, and puts it into the settings of the session.
pub fn ask(session: &mut Session) -> Result<First, Failure> {
    let settings = &session.settings;
    if settings.model.is_some() || settings.server.is_some() || settings.draft != "auto" {
        return Ok(First::Chosen);
    }
    let (rows, picks): (Vec<MenuRow>, Vec<Pick>) = rows(session).into_iter().unzip();
    let file = session.paths.config_file();
    let title = "which model writes the candidates?".to_owned();
    let menu = Menu::new(title, rows, format!("keep it in {}", file.display()));
    let theme = tui::theme_of(&settings.theme, &session.paths.themes_dir()).map_err(Failure::input)?;
    let check = |choice: &MenuChoice| match choice.line.as_deref() {
        Some(path) => session.catalog.resolve_main(Some(path)).map(drop).map_err(|error| error.to_string()),
        None => Ok(()),
    };
    let Some(choice) = tui::choose(menu, &theme, &check).map_err(Failure::internal)? else { return Ok(First::Left) };
    let pick = picks[choice.row].clone();
    if let Pick::Download { name, .. } = &pick {
        models::pull(session, name)?;
    }
    let values = values(&pick, choice.line);
    if choice.taken {
        put_first(&file, &text_of(&values))?;
    }
    for (name, value) in &values {
        let set = crate::options::named(name).set(&mut session.settings, value);
        set.map_err(|expected| Failure::input(format!("{name} is `{value}`, expected is {expected}")))?;
    }
    served(&mut session.settings, &session.catalog)?;
    Ok(First::Chosen)
}

/// Options that make a choice.
fn values(pick: &Pick, line: Option<String>) -> Vec<(&'static str, String)> {
    match pick {
        Pick::BuiltIn => vec![("model", "built-in".to_owned())],
        Pick::Model(name) | Pick::Download { name, dtype: Dtype::Auto } => vec![("model", name.clone())],
        Pick::Path => line.map(|line| ("model", line)).into_iter().collect(),
        Pick::Server { address, model } => vec![("server", address.clone()), ("server-model", model.clone())],
        Pick::Download { name, dtype } => vec![("model", name.clone()), ("dtype", dtype.to_string())],
    }
}

/// The lines of the config file for some options.
fn text_of(values: &[(&'static str, String)]) -> String {
    let line = |(name, value): &(&str, String)| {
        format!("{} = {}\n", crate::options::named(name).setting(), toml::Value::from(value.as_str()))
    };
    values.iter().map(line).collect()
}

fn rows(session: &Session) -> Vec<(MenuRow, Pick)> {
    let row = |name: &str, remark: &str, about: String, pick: Pick| {
        let (name, remark) = (name.to_owned(), remark.to_owned());
        (MenuRow { name, remark, about, typed: pick == Pick::Path }, pick)
    };
    let about = "A small pair of models inside the program, to see how it works: short everyday Python functions, no other language. No download.";
    let mut rows = vec![row("built-in demo", "Python only", about.to_owned(), Pick::BuiltIn)];
    let catalog = &session.catalog;
    for entry in
        catalog.entries.iter().filter(|entry| !entry.main.starts_with("embedded:") && catalog.is_here(&entry.name))
    {
        let remark = if entry.server.is_some() { "on its server" } else { "on this machine" };
        rows.push(row(&entry.name, remark, entry.description.clone(), Pick::Model(entry.name.clone())));
    }
    for ExternalModel { name, program, .. } in catalog.others.all().into_iter().filter(|found| found.file.is_ok()) {
        let about = format!("A model of {program} on this machine, used where it is.");
        rows.push(row(&name, program, about, Pick::Model(name.clone())));
    }
    for server in nearby() {
        let about = format!("A model of the server {} on this machine.", server.address);
        let pick = Pick::Server { address: server.address, model: server.model.clone() };
        rows.push(row(&server.model, "a running server", about, pick));
    }
    rows.truncate(1 + MOST);
    let machine = Machine::measured();
    let how = usage(&session.settings);
    let proposal = machine.proposal(catalog, how);
    if let Some(proposal) = proposal.filter(|proposal| !catalog.is_here(&proposal.entry.name)) {
        let entry = proposal.entry;
        let draft = entry.draft.as_ref().and_then(|draft| catalog.by_main(draft));
        let size = bytes([Some(entry), draft].into_iter().flatten().filter_map(Entry::bytes).sum());
        let about = format!(
            "{} It fits: {} of {} memory{}. About {:.0} s until the first bodies are there (a rough estimate: {} cores, \
             {:.0} GB/s).",
            entry.description,
            bytes(proposal.need.bytes()),
            bytes(machine.memory.unwrap_or_default()),
            if proposal.dtype == Dtype::Auto { String::new() } else { format!(" with --dtype {}", proposal.dtype) },
            machine.seconds(entry, proposal.need, how.n).ceil(),
            machine.cores,
            machine.bandwidth / 1e9,
        );
        let pick = Pick::Download { name: entry.name.clone(), dtype: proposal.dtype };
        rows.push(row(&entry.name, &format!("download {size}"), about, pick));
    }
    let about = "A folder in Hugging Face layout, a GGUF file, or a name of models.toml.";
    rows.push(row("a path …", "", about.to_owned(), Pick::Path));
    rows
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::catalog::{Catalog, Others};
    use crate::hub::HubCache;
    use crate::options::Settings;

    #[test]
    fn what_is_slow_is_not_proposed() {
        let hub = HubCache { folder: "/hub".into() };
        let catalog = Catalog::parse("", Path::new("models.toml"), hub, Others::default()).unwrap();
        let how = usage(&Settings::default());
        let named = |gib: u64, cores: usize, bandwidth: f64| {
            let machine = Machine { memory: Some(gib << 30), cores, bandwidth: bandwidth * 1e9 };
            machine.proposal(&catalog, how).map(|p| p.entry.name.clone()).unwrap_or_default()
        };
        assert_eq!(named(64, 2, 20.0), "qwen2.5-coder-1.5b-instruct");
        assert_eq!(named(16, 6, 50.0), "qwen2.5-coder-7b-instruct");
        // Of 30 billion weights a token reads three.
        assert_eq!(named(64, 8, 60.0), "qwen3-coder-30b-a3b-q4");
        assert_eq!(named(64, 64, 300.0), "qwen2.5-coder-32b-instruct");
        assert_eq!(named(64, 1, 0.1), "");
        assert!(Machine::measured().bandwidth > 1e6);
    }

    #[test]
    fn a_choice_is_kept_above_what_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/config.toml");
        let pick = Pick::Download { name: "a \"b\"".to_owned(), dtype: Dtype::Int8 };
        put_first(&file, &text_of(&values(&pick, None))).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "model = 'a \"b\"'\ndtype = \"int8\"\n");
        std::fs::write(&file, "n = 4\n[keys]\nquit = \"x\"\n").unwrap();
        let server = Pick::Server { address: "http://127.0.0.1:1".to_owned(), model: "m".to_owned() };
        put_first(&file, &text_of(&values(&server, None))).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let (settings, warnings) = Settings::parse(&text, &file).unwrap();
        assert_eq!(
            (settings.server.as_deref(), settings.server_model.as_deref()),
            (Some("http://127.0.0.1:1"), Some("m"))
        );
        assert_eq!((settings.generate.n, warnings), (4, Vec::<String>::new()));
        assert_eq!(values(&Pick::Path, Some("/m".into())), [("model", "/m".to_owned())]);
    }
}
