//! `bass-tui models`: the models that can be used by name.

mod pull;
mod remove;

use std::fmt::Write;

use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::output::print;
use crate::cli::session::Session;
use crate::model::{Model, ModelFiles};
use crate::options::Flags;
use crate::untrusted::clean;

/// Arguments of `models`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A model is used by its name, or by its folder in Hugging Face layout (config.json, tokenizer.json, *.safetensors). pull fetches \
its files into the Hugging Face cache, where other programs find them, too (HF_HOME, HF_TOKEN, HF_ENDPOINT and HTTPS_PROXY count \
as usual); nothing else downloads anything. Names of your own go into models.toml in the config folder, which bass-tui doctor \
shows.

EXAMPLES
  bass-tui models
  bass-tui models show built-in
  bass-tui models pull qwen2.5-coder-1.5b                      its draft model, too
  bass-tui models pull ORG/NAME                                any repository; ORG/NAME@REVISION
  bass-tui models pull ORG/NAME-GGUF:Q4_K_M                    one GGUF file, all its parts
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
    /// Download a model, with its draft model; goes on where it was interrupted
    Pull {
        /// A name from the list, or a repository of the Hugging Face hub
        #[arg(value_name = "NAME|REPO[:FILE]")]
        name: String,
    },
    /// Delete the files of a downloaded model
    Remove {
        /// A name from the list, or a repository of the Hugging Face hub
        #[arg(value_name = "NAME|REPO[:FILE]")]
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let session = Session::open(&Flags::<0>::default())?;
    match args.action.as_ref().unwrap_or(&Action::List) {
        Action::List => list(&session, args.json),
        Action::Show { name } => show(&session, name, args.json),
        Action::Path { name } => path(&session, name, args.json),
        Action::Pull { name } => pull::run(&session, name, args.json),
        Action::Remove { name, yes } => remove::run(&session, name, *yes, args.json),
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
