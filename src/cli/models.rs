//! `bass-tui models`: the models that can be used by name.

use serde::Serialize;

use super::complete::print;
use super::failure::Failure;
use super::session::Session;
use crate::model::{Model, ModelFiles};
use crate::untrusted::clean;

/// Arguments of `models`.
#[derive(Debug, clap::Args)]
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
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let session = Session::open()?;
    match args.action.as_ref().unwrap_or(&Action::List) {
        Action::List => list(&session, args.json),
        Action::Show { name } => show(&session, name, args.json),
        Action::Path { name } => path(&session, name, args.json),
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
        out += &format!("{:width$}  {here}  {}\n", clean(&row.name), clean(&row.description));
    }
    print(&out)?;
    Ok(0)
}

#[derive(Serialize)]
struct Details {
    name: String,
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
    let draft = found.entry.and_then(|e| e.draft);
    let details = Details {
        name: model.name.clone(),
        architecture: model.spec.architecture.to_owned(),
        layers: model.spec.layers,
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
    print(&format!(
        "{}\n  architecture  {}, {} layers x {} wide, {} token ids\n  context       {} tokens\n  parameters    {:.1} million\n  draft         {}\n",
        clean(&details.name),
        details.architecture,
        details.layers,
        details.hidden,
        details.vocab,
        details.context,
        details.parameters as f64 / 1e6,
        clean(&details.draft),
    ))?;
    Ok(0)
}

fn path(session: &Session, name: &str, json: bool) -> Result<u8, Failure> {
    let path = match session.catalog.resolve_main(Some(name)).map_err(Failure::input)?.files {
        ModelFiles::Folder(path) => path.display().to_string(),
        ModelFiles::Embedded(_) => {
            return Err(Failure::input(format!("{name} is inside the program: it has no folder")));
        }
    };
    let out = if json { serde_json::json!({ "path": path }).to_string() } else { path };
    print(&(out + "\n"))?;
    Ok(0)
}
