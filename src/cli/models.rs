//! `bass-tui models`: the models that can be used by name.

use std::fmt::Write;

use serde::Serialize;

use super::failure::Failure;
use super::output::print;
use super::session::Session;
use crate::model::{Model, ModelFiles};
use crate::options::Flags;
use crate::untrusted::clean;

/// Arguments of `models`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A model is used by its name, or by its folder in Hugging Face layout (config.json, tokenizer.json, *.safetensors). Names are \
looked up in the Hugging Face cache; nothing is downloaded. Names of your own go into models.toml in the config folder, which \
bass-tui doctor shows.

EXAMPLES
  bass-tui models
  bass-tui models show built-in
  bass-tui models show ~/models/qwen2-1.5b --json
  bass-tui complete --model qwen2.5-coder-1.5b --file stats.py:rolling_max")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// All models, and whether they are on this machine
    List,
    /// What is known of one model
    Show {
        /// A name from the list, or a folder
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// The folder of a model's files
    Path {
        /// A name from the list
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Not in this version
    #[command(hide = true)]
    Pull {
        /// A name from the list
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Not in this version
    #[command(hide = true)]
    Remove {
        /// A name from the list
        #[arg(value_name = "NAME")]
        name: String,
    },
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let session = Session::open(&Flags::<0>::default())?;
    match args.action.as_ref().unwrap_or(&Action::List) {
        Action::List => list(&session, args.json),
        Action::Show { name } => show(&session, name, args.json),
        Action::Path { name } => path(&session, name, args.json),
        Action::Pull { name } => Err(Failure::input(format!(
            "models pull is not available in this version: fetch the model with `hf download {}`",
            session.catalog.entry(name).map_or(name.as_str(), |e| e.main.as_str())
        ))),
        Action::Remove { .. } => Err(Failure::input(
            "models remove is not available in this version: delete the folder that bass-tui models path shows",
        )),
    }
}

#[derive(Serialize)]
struct Row {
    name: String,
    description: String,
    license: String,
    draft: String,
    here: bool,
}

fn list(session: &Session, json: bool) -> Result<u8, Failure> {
    let rows: Vec<Row> = session
        .catalog
        .entries
        .iter()
        .map(|entry| Row {
            name: entry.name.clone(),
            description: entry.description.clone(),
            license: entry.license.clone().unwrap_or_default(),
            draft: entry.draft.clone().unwrap_or_else(|| "none".to_owned()),
            here: session.catalog.resolve_main(Some(&entry.name)).is_ok(),
        })
        .collect();
    if json {
        print(&(serde_json::to_string(&rows).unwrap_or_default() + "\n"))?;
        return Ok(0);
    }
    let width = rows.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        let here = if row.here { "here   " } else { "missing" };
        let _ = writeln!(out, "{:width$}  {here}  {}", clean(&row.name), clean(&row.description));
    }
    print(&out)?;
    Ok(0)
}

#[derive(Serialize)]
struct Details {
    name: String,
    description: String,
    license: String,
    architecture: String,
    layers: usize,
    hidden: usize,
    vocab: usize,
    context: usize,
    parameters: usize,
    draft: String,
}

fn show(session: &Session, name: &str, json: bool) -> Result<u8, Failure> {
    let found = session.catalog.resolve_main(Some(name)).map_err(Failure::input)?;
    let model = Model::load(&found.files).map_err(Failure::input)?;
    let (description, license, draft) =
        found.entry.map_or_else(Default::default, |e| (e.description, e.license.unwrap_or_default(), e.draft));
    let details = Details {
        name: model.name.clone(),
        description,
        license,
        architecture: model.spec.architecture.to_owned(),
        layers: model.spec.blocks.len(),
        hidden: model.spec.hidden,
        vocab: model.spec.vocab_size,
        context: model.spec.context,
        parameters: model.parameters(),
        draft: draft.unwrap_or_else(|| "none".to_owned()),
    };
    if json {
        print(&(serde_json::to_string(&details).unwrap_or_default() + "\n"))?;
        return Ok(0);
    }
    let mut out = clean(&details.name) + "\n";
    for (label, text) in [("about", &details.description), ("licence", &details.license)] {
        if !text.is_empty() {
            let _ = writeln!(out, "  {label:12}  {}", clean(text));
        }
    }
    let _ = writeln!(
        out,
        "  architecture  {}, {} layers x {} wide, {} token ids\n  context       {} tokens\n  parameters    {:.1} million\n  draft         {}",
        details.architecture,
        details.layers,
        details.hidden,
        details.vocab,
        details.context,
        details.parameters as f64 / 1e6,
        clean(&details.draft),
    );
    print(&out)?;
    Ok(0)
}

fn path(session: &Session, name: &str, json: bool) -> Result<u8, Failure> {
    let path = match session.catalog.resolve_main(Some(name)).map_err(Failure::input)?.files {
        ModelFiles::Folder(path) | ModelFiles::Gguf(path) => path.display().to_string(),
        ModelFiles::Embedded(_) => {
            return Err(Failure::input(format!("{name} is inside the program: it has no folder")));
        }
    };
    let out = if json { serde_json::json!({ "path": path }).to_string() } else { path };
    print(&(out + "\n"))?;
    Ok(0)
}
