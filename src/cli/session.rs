//! What every command begins with: folders, settings, the catalog; and the questions to the user.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use super::failure::{Failure, INTERRUPTED};
use super::output::say;
use crate::backend::BackendError;
use crate::catalog::{Catalog, memory};
use crate::config::{PROJECT_FILE, Paths};
use crate::engine::LookupSettings;
use crate::language::Language;
use crate::options::{Flags, Settings};
use crate::signals::{self, Signals};
use crate::source::server::{Address, Key};
use crate::source::{Drafting, LocalModels, LocalSource, ServerSource, Source, SourceError};
use crate::trial::{Project, Runner, Tests, TrialError};

/// Folders, settings and names of models.
pub struct Session {
    /// Where files live.
    pub paths: Paths,
    /// Flags over the config file over the defaults.
    pub settings: Settings,
    /// Models by name.
    pub catalog: Catalog,
}

impl Session {
    /// Reads the config file, lays `flags` over it, and reads the catalog; doubtful settings are reported on
    /// stderr.
    pub fn open<const GROUPS: u8>(flags: &Flags<GROUPS>) -> Result<Self, Failure> {
        Self::open_at(flags, None)
    }

    /// The same for a file or folder of the user's, whose project may have settings of its own: they are above
    /// the config file and below the flags.
    pub fn open_at<const GROUPS: u8>(flags: &Flags<GROUPS>, at: Option<&Path>) -> Result<Self, Failure> {
        let paths = Paths::find().map_err(Failure::input)?;
        let (mut settings, mut warnings) = Settings::load(&paths).map_err(Failure::input)?;
        if let Some(file) = at.and_then(project_file) {
            warnings.extend(settings.lay_project_over(&file).map_err(Failure::input)?);
        }
        for warning in warnings {
            say(&format!("bass-tui: {}\n", crate::untrusted::framed(&warning)));
        }
        flags.lay_over(&mut settings).map_err(Failure::input)?;
        let catalog = Catalog::load(&paths).map_err(Failure::input)?;
        Ok(Self { paths, settings, catalog })
    }

    /// The models that settings and catalog name.
    pub fn models(&self) -> Result<LocalModels, Failure> {
        let settings = &self.settings;
        let main = self.catalog.resolve_main(settings.model.as_deref()).map_err(Failure::input)?;
        let model = |name: &str| {
            let draft = self.catalog.resolve_draft(name, &main).map_err(Failure::input)?;
            Ok::<_, Failure>(draft.map(|draft| draft.files))
        };
        let lookup = |own: LookupSettings| {
            let least = settings.lookup_match.unwrap_or(own.least);
            let most = settings.lookup_length.unwrap_or(own.most);
            LookupSettings { least, most, longest: own.longest.max(least), ..own }
        };
        let draft = match settings.draft.as_str() {
            "lookup" => Drafting::Lookup(lookup(LookupSettings::LOOKUP)),
            "sibling" => Drafting::Lookup(lookup(LookupSettings::SIBLING)),
            "chain" => match model("auto")? {
                Some(files) => Drafting::Chain(lookup(LookupSettings::ALL), files),
                None => Drafting::Lookup(lookup(LookupSettings::ALL)),
            },
            name => model(name)?.map_or(Drafting::None, Drafting::Model),
        };
        let profiles = Some(self.paths.cache_dir.join("profiles"));
        let weights = Some(self.weights());
        let chat = settings.chat.or_else(|| main.entry.as_ref()?.chat);
        Ok(LocalModels { main: main.files, draft, chat, load: settings.load, profiles, weights, kv_cache: 0 })
    }

    /// Where what takes long to make of weights is kept.
    pub fn weights(&self) -> PathBuf {
        self.paths.cache_dir.join("weights")
    }

    /// The same where a prompt is often asked for again: for the screen and for servers.
    pub fn models_keeping_prompts(&self) -> Result<LocalModels, Failure> {
        let of_machine = || memory::of_machine().map_or(0, |bytes| (bytes / 16).min(1 << 30));
        let kv_cache = self.settings.kv_cache.map_or_else(of_machine, |mib| (mib as u64) << 20);
        let kv_cache = usize::try_from(kv_cache).unwrap_or(usize::MAX);
        Ok(LocalModels { kv_cache, ..self.models()? })
    }

    /// What writes candidates: the server that is set, else the engine with these models, loaded.
    pub fn source(&self) -> Result<Box<dyn Source>, Failure> {
        let source = self.opener(Self::models)?().map_err(|error| unusable(&error))?;
        if let Some(note) = source.info().note {
            say(&format!("bass-tui: {note}\n"));
        }
        Ok(source)
    }

    /// Opens the source, from any thread; with `models`, where no server is set.
    pub fn opener(&self, models: impl FnOnce(&Self) -> Result<LocalModels, Failure>) -> Result<Opener, Failure> {
        let Settings { server, server_model, chat, .. } = self.settings.clone();
        let Some(server) = server else {
            let models = models(self)?;
            return Ok(Box::new(move || Ok(Box::new(LocalSource::open(&models)?))));
        };
        let address = Address::parse(&server).map_err(Failure::input)?;
        let key = Key::find(&address, &self.paths.config_dir.join(Key::FILE)).map_err(Failure::input)?;
        Ok(Box::new(move || Ok(Box::new(ServerSource::open(address, key, server_model.as_deref(), chat)?))))
    }

    /// Where builds of projects are kept.
    pub fn builds(&self) -> PathBuf {
        self.paths.cache_dir.join("builds")
    }

    /// What runs tests.
    pub fn runner(&self) -> Runner {
        Runner::probe().keeping(&self.builds()).with_python(self.settings.python.as_deref())
    }
}

/// The settings of the project that a file or folder lies in: the nearest ones, up to its top folder.
fn project_file(at: &Path) -> Option<PathBuf> {
    let at = std::fs::canonicalize(at).ok()?;
    let folder = if at.is_dir() { at.as_path() } else { at.parent()? };
    let root = Project::folders(folder).map_or_else(|| folder.to_path_buf(), |(root, _)| root);
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(&root));
    folders.map(|folder| folder.join(PROJECT_FILE)).find(|file| file.exists())
}

/// Makes a source, which may take its time.
pub type Opener = Box<dyn FnOnce() -> Result<Box<dyn Source>, SourceError> + Send>;

/// Models that cannot be used are bad input, unless it is the machine that fails.
pub fn unusable(error: &SourceError) -> Failure {
    match error {
        SourceError::Model(_) | SourceError::Vocabulary { .. } | SourceError::Backend(BackendError::Device { .. }) => {
            Failure::input(error)
        }
        SourceError::Server(error) if error.is_refusal() => Failure::input(error),
        SourceError::Server(_) | SourceError::Backend(_) | SourceError::Engine(_) | SourceError::Thread(_) => {
            Failure::internal(error)
        }
    }
}

/// The runner to use for tests: where nothing protects the user, only after a yes.
pub fn consent(runner: Runner, unprotected: bool) -> Result<Runner, Failure> {
    if runner.protection().is_isolated() {
        return Ok(runner);
    }
    let summary = runner.protection().summary.clone();
    if unprotected {
        say(&format!("bass-tui: UNPROTECTED: model-written code runs with your rights ({summary})\n"));
        return Ok(runner.allow_unprotected());
    }
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        say(&format!("Nothing protects your files from the code under test ({summary}). Run it all the same? [y/N] "));
        let mut answer = String::new();
        let _ = std::io::stdin().lock().read_line(&mut answer);
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(runner.allow_unprotected());
        }
    }
    Err(Failure::internal(format!(
        "tests were not run, because nothing protects your files from the code under test ({summary}); \
         use --tests none, or --unprotected if you accept that"
    )))
}

/// Refuses tests that cannot be run here, and a tests file that is no program.
pub fn check_tests(
    runner: &Runner,
    language: Option<Language>,
    file: Option<&Path>,
    tests: &Tests,
) -> Result<(), Failure> {
    runner.check(language.unwrap_or(Language::Python), file, tests).map_err(|error| match error {
        TrialError::TestsDoNotParse(_) => Failure::input(error),
        TrialError::Sandbox(_) => Failure::internal(error),
        error => Failure::internal(format!("the tests cannot be run: {error}, or use --tests none")),
    })
}

/// Turns SIGINT and SIGTERM into messages while someone is listening. Before that, and the second time, they
/// end the program.
pub fn on_interrupt<M: Send + 'static>(
    send: &Sender<M>,
    listening: &Arc<AtomicBool>,
    message: impl Fn() -> M + Send + 'static,
) {
    let (send, listening) = (send.clone(), Arc::clone(listening));
    on_signal(move || {
        if !listening.swap(false, Ordering::Relaxed) || send.send(message()).is_err() {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
}

/// Calls `act` on every SIGINT and SIGTERM, on a thread of its own.
pub fn on_signal(act: impl Fn() + Send + 'static) {
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = Signals::listen(signals::END) else { return };
            loop {
                signals.next().await;
                act();
            }
        });
    };
    // Without the thread the signals keep their default effect: the program ends at once.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
}
