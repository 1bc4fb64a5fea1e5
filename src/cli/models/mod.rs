//! `bass-tui models`: the models that can be used by name.

mod list;
mod pull;
mod remove;
mod show;

use crate::cli::failure::Failure;
use crate::cli::output::print;
use crate::cli::session::Session;
use crate::model::ModelFiles;
use crate::options::Flags;

/// Fetches a model of the catalog.
pub fn pull(session: &Session, name: &str) -> Result<(), Failure> {
    pull::run(session, name, false).map(drop)
}

/// Arguments of `models`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A model is used by its name, by its folder in Hugging Face layout (config.json, tokenizer.json, *.safetensors), or by its GGUF \
file. pull fetches its files into the Hugging Face cache, where other programs find them, too (HF_HOME, HF_TOKEN, HF_ENDPOINT and \
HTTPS_PROXY count as usual); nothing else downloads anything. GGUF files of Ollama are used where they are, as ollama:NAME:TAG. \
Names of your own go into models.toml in the config folder, which bass-tui doctor \
shows.

EXAMPLES
  bass-tui models
  bass-tui models show built-in
  bass-tui models pull qwen2.5-coder-1.5b-instruct             its draft model, too
  bass-tui models pull ORG/NAME                                any repository; ORG/NAME@REVISION
  bass-tui models pull ORG/NAME-GGUF:Q4_K_M                    one GGUF file, all its parts; also as hf.co/ORG/NAME-GGUF:Q4_K_M
  bass-tui models pull -hf ORG/NAME-GGUF:UD-Q4_K_XL            as llama.cpp takes it; -hf stands for --model of other commands, too
  bass-tui models show ~/models/qwen2-1.5b --json
  bass-tui complete --model qwen2.5-coder-1.5b-instruct --file stats.py:rolling_max")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// All models: which are on this machine, which fit into its memory, what Ollama and LM Studio have,
    /// which servers run
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
        Action::List => list::run(&session, args.json),
        Action::Show { name } => show::run(&session, name, args.json),
        Action::Path { name } => path(&session, name, args.json),
        Action::Pull { name } => pull::run(&session, name, args.json),
        Action::Remove { name, yes } => remove::run(&session, name, *yes, args.json),
    }
}

fn path(session: &Session, name: &str, json: bool) -> Result<u8, Failure> {
    let path = match session.catalog.resolve_main(Some(name)).map_err(Failure::input)?.files {
        ModelFiles::Folder(path) | ModelFiles::Gguf(path) | ModelFiles::Blob(path, _) => path.display().to_string(),
        ModelFiles::Embedded(_) => {
            return Err(Failure::input(format!("{name} is inside the program: it has no folder")));
        }
    };
    let out = if json { serde_json::json!({ "path": path }).to_string() } else { path };
    print(&(out + "\n"))?;
    Ok(0)
}
