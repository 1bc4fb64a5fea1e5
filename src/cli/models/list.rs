//! `bass-tui models list`: the models, which of them fit, and which one to use.

use std::fmt::Write;

use serde::Serialize;

use crate::catalog::memory::{Need, PROMPT, Shape};
use crate::catalog::{Catalog, Entry, ExternalModel};
use crate::cli::failure::Failure;
use crate::cli::memory::{Machine, usage};
use crate::cli::output::{broken, columns_of_stdout, print};
use crate::cli::session::Session;
use crate::hub::{Repository, bytes};
use crate::language::Language;
use crate::model::{ModelFiles, Outline};
use crate::source::server::{Address, Nearby, nearby};
use crate::untrusted::clean_line;

#[derive(Serialize)]
struct ListedModel {
    name: String,
    description: String,
    license: String,
    draft: String,
    /// True if the files of the main model are on this machine.
    here: bool,
    /// Address of its server, if it is not a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The other program that the files belong to, if any.
    program: Option<&'static str>,
    languages: Vec<Language>,
    /// Number of weights.
    parameters: Option<u64>,
    context: Option<usize>,
    /// Number format of the stored weights.
    dtype: Option<String>,
    /// Memory of the pair with the settings, in bytes.
    memory: Option<u64>,
    fits: Option<bool>,
    recommended: bool,
    /// Reason why the local files cannot be used.
    problem: Option<String>,
}

/// Prints all entries, and the models of other programs.
pub fn run(session: &Session, json: bool) -> Result<u8, Failure> {
    let (catalog, how) = (&session.catalog, usage(&session.settings));
    let machine = Machine::measured();
    let memory = machine.memory;
    let proposal = machine.proposal(catalog, how);
    let need = |entry: Option<&Entry>, outline: Option<&Outline>| {
        let main = outline.map(Shape::of_model).or_else(|| Shape::of_entry(entry?))?;
        let draft = entry.and_then(|entry| draft(catalog, entry));
        Some(Need::of(&main, draft.as_ref(), how))
    };
    let listed = |name: &str, entry: Option<&Entry>, files: Option<Result<ModelFiles, String>>| {
        let outline = files.map(|files| Outline::read(&files?).map_err(|e| e.to_string()));
        let here = outline.is_some();
        let (outline, problem) =
            outline.map_or((None, None), |read| read.map_or_else(|e| (None, Some(e)), |o| (Some(o), None)));
        let need = need(entry, outline.as_ref()).filter(|_| problem.is_none());
        let cannot = |name: &str| format!("this version cannot read {name}");
        let problem = problem.or_else(|| entry.filter(|_| !here)?.unreadable().map(cannot));
        let written = entry.and_then(|e| e.parameters).map(|billions| (billions * 1e9) as u64);
        let context = outline.as_ref().map(|o| o.spec.context).or_else(|| Some(entry?.context? as usize));
        let stored = || match entry.and_then(|e| e.dtype) {
            Some(dtype) => Some(format!("{dtype:?}").to_uppercase()),
            None => Repository::parse(&entry?.main)?.file,
        };
        ListedModel {
            name: name.to_owned(),
            description: entry.map_or_else(
                || outline.as_ref().map_or_else(String::new, |o| format!("{}, {}", o.spec.architecture, o.stored())),
                |entry| entry.description.clone(),
            ),
            license: entry.and_then(|e| e.license.clone()).unwrap_or_default(),
            draft: entry.and_then(|e| e.draft.clone()).unwrap_or_else(|| "none".to_owned()),
            here,
            server: entry.and_then(|e| e.server.as_deref()).map(shown),
            program: None,
            languages: entry.map(|e| e.languages.clone()).unwrap_or_default(),
            parameters: outline.as_ref().map(Outline::parameters).or(written),
            context,
            dtype: outline.as_ref().map(Outline::stored).or_else(stored),
            memory: need.map(Need::bytes),
            fits: need.and_then(|need| Some(need.fits(memory?))),
            recommended: proposal.as_ref().is_some_and(|p| p.entry.name == name),
            problem,
        }
    };
    let mut models: Vec<ListedModel> = catalog
        .entries
        .iter()
        .map(|entry| {
            listed(&entry.name, Some(entry), catalog.resolve_main(Some(&entry.name)).ok().map(|r| Ok(r.files)))
        })
        .collect();
    for ExternalModel { name, program, file } in catalog.others.all() {
        models.push(ListedModel { program: Some(program), ..listed(&name, None, Some(file.map(ModelFiles::Gguf))) });
    }
    for Nearby { address, model } in nearby() {
        models.push(ListedModel {
            server: Some(address),
            program: Some("Servers on this machine"),
            ..listed(&model, None, None)
        });
    }
    if json {
        print(&(serde_json::to_string(&models).unwrap_or_default() + "\n"))?;
        return Ok(0);
    }
    let columns = columns_of_stdout();
    let mut out = table(&models, columns);
    let models_end = out.len();
    if let Some(memory) = memory {
        let (n, tokens, dtype) = (how.n, how.tokens, how.dtype);
        let _ = writeln!(
            out,
            "\nThis machine has {}. Counted are both models with --dtype {dtype}, a prompt of {PROMPT} tokens and {n} \
             candidates of {tokens}; a quarter is left to others.",
            bytes(memory)
        );
    }
    if let Some(proposal) = proposal {
        let (name, takes) = (&proposal.entry.name, bytes(proposal.need.bytes()));
        let here = models.iter().any(|model| model.name == *name && model.here);
        let pull = if here { String::new() } else { format!("bass-tui models pull {name}, then ") };
        let seconds = machine.seconds(proposal.entry, proposal.need, how.n).ceil();
        let _ = writeln!(
            out,
            "Recommended here: {name}, {takes}, about {seconds:.0} s until the first bodies: {pull}{}",
            proposal.flags()
        );
    }
    let said = broken(&out.split_off(models_end), columns, 0);
    print(&(out + &said))?;
    Ok(0)
}

/// The address of an entry's server, without secrets.
fn shown(server: &str) -> String {
    Address::parse(server).map_or_else(|error| error.to_string(), |address| address.to_string())
}

/// The shape of an entry's draft model: by its files if they are here, else by its own entry.
fn draft(catalog: &Catalog, entry: &Entry) -> Option<Shape> {
    let source = entry.draft.as_ref()?;
    let files = catalog.files(source, &entry.name).ok();
    let outline = files.and_then(|files| Outline::read(&files).ok());
    let written = || catalog.by_main(source).and_then(Shape::of_entry);
    outline.as_ref().map(Shape::of_model).or_else(written)
}

/// Columns of a row between the name of a model and its description.
const FACTS: usize = 31;
/// Fewest columns of a description beside the other facts.
const LEAST: usize = 24;

fn table(models: &[ListedModel], columns: Option<usize>) -> String {
    let own: Vec<&ListedModel> = models.iter().filter(|model| model.program.is_none()).collect();
    let width = own.iter().map(|r| r.name.chars().count()).max().unwrap_or(0).min(40);
    let mut out = String::new();
    for model in own {
        let here = match (&model.server, model.here) {
            (Some(_), _) => "server ",
            (None, true) => "here   ",
            (None, false) => "missing",
        };
        let row = format!("{:width$}  {here}  {}\n", clean_line(&model.name, 80), facts(model));
        let indent = Some(width + FACTS).filter(|indent| columns.is_none_or(|columns| indent + LEAST <= columns));
        out += &broken(&row, columns, indent.unwrap_or(4));
    }
    let mut program = None;
    for model in models.iter().filter(|model| model.program.is_some()) {
        if program != model.program {
            program = model.program;
            let _ = writeln!(out, "\n{}", program.unwrap_or_default());
        }
        let row = format!("  {}\n    {}\n", clean_line(&model.name, 200), facts(model));
        out += &broken(&row, columns, 4);
    }
    out
}

fn facts(model: &ListedModel) -> String {
    if let Some(problem) = &model.problem {
        return format!("cannot be used: {}", clean_line(problem, 200));
    }
    if let (Some(server), None) = (&model.server, model.program) {
        return format!("at {}  {}", clean_line(server, 200), clean_line(&model.description, 200))
            .trim_end()
            .to_owned();
    }
    if let Some(server) = &model.server {
        return format!("--server {server} --server-model {}", clean_line(&model.name, 200));
    }
    let memory = model.memory.map_or_else(|| "?".to_owned(), bytes);
    let fits = match model.fits {
        Some(true) => "fits   ",
        Some(false) => "too big",
        None => "       ",
    };
    format!("{memory:>8}  {fits}  {}", clean_line(&model.description, 200))
}
