//! The start of every command: folders, settings, the catalog, and questions to the user.

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
use crate::engine::drafter::{CHAIN, LookupChanges, NamedDrafter};
use crate::history::History;
use crate::job::{Job, Task};
use crate::language::Language;
use crate::model::ModelFiles;
use crate::options::{Flags, Settings};
use crate::signals::{self, Signals};
use crate::source::server::{Address, Key, Wishes};
use crate::source::{Drafting, LocalModels, LocalSource, ServerSource, Source, SourceError, Told};
use crate::trial::{Project, Runner, Tests, TrialError};
use crate::untrusted::framed;

/// Folders, settings and names of models.
#[derive(Clone)]
pub struct Session {
    /// The folders of the program.
    pub paths: Paths,
    /// Settings: flags over the config file over the defaults.
    pub settings: Settings,
    /// Models by name.
    pub catalog: Catalog,
}

impl Session {
    /// Reads the config file, applies `flags` over it, and reads the catalog. Doubtful settings are reported
    /// on stderr.
    pub fn open<const GROUPS: u16>(flags: &Flags<GROUPS>) -> Result<Self, Failure> {
        Self::open_at(flags, None)
    }

    /// Opens a session for a file or folder of the user's. Its project may have settings of its own, above
    /// the config file and below the flags.
    pub fn open_at<const GROUPS: u16>(flags: &Flags<GROUPS>, at: Option<&Path>) -> Result<Self, Failure> {
        let paths = Paths::find().map_err(Failure::input)?;
        let mut settings = settings(&paths, flags, at)?;
        let catalog = Catalog::load(&paths).map_err(Failure::input)?;
        served(&mut settings, &catalog)?;
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
        let changes = LookupChanges { least: settings.lookup_match, most: settings.lookup_length };
        let draft = match NamedDrafter::find(&settings.draft) {
            Some(drafter) => Drafting::Named(drafter, changes, if drafter.wants_model { model("auto")? } else { None }),
            None => match model(&settings.draft)? {
                None if settings.draft == "none" => Drafting::None,
                // Lookups take a twentieth of a pass of the built-in pair.
                Some(files @ ModelFiles::Embedded(_)) => Drafting::Model(files),
                files => Drafting::Named(CHAIN, changes, files),
            },
        };
        let profiles = Some(self.paths.profiles_dir());
        let weights = Some(self.weights());
        let chat = settings.chat.or_else(|| main.entry.as_ref()?.chat.map(Into::into));
        let (load, kv_cache, shared) = (settings.load, 0, None);
        let (draft_vocabulary, draft_dtype) = (settings.draft_vocabulary, settings.draft_dtype);
        let named = NamedDrafter::find(&settings.draft);
        let own_head = named.map_or(settings.draft == "auto", |drafter| drafter.wants_model);
        Ok(LocalModels {
            main: main.files,
            draft,
            own_head,
            draft_vocabulary,
            draft_dtype,
            chat,
            load,
            profiles,
            weights,
            kv_cache,
            shared,
        })
    }

    /// The cache folder of prepared weights.
    pub fn weights(&self) -> PathBuf {
        self.paths.weights_dir()
    }

    /// The models for the screen and for servers, which repeat prompts often and cache them.
    pub fn models_keeping_prompts(&self) -> Result<LocalModels, Failure> {
        let of_machine = || memory::of_machine().map_or(0, |bytes| (bytes / 16).min(1 << 30));
        let kv_cache = self.settings.kv_cache.map_or_else(of_machine, |mib| (mib as u64) << 20);
        let kv_cache = usize::try_from(kv_cache).unwrap_or(usize::MAX);
        Ok(LocalModels { kv_cache, ..self.models()? })
    }

    /// The source of candidates: the configured server, else the engine with these models, loaded.
    /// So many rounds read the same prompt, which is then kept.
    pub fn source(&self, rounds: usize) -> Result<Arc<dyn Source>, Failure> {
        let models = if rounds > 1 { Self::models_keeping_prompts } else { Self::models };
        let source = self.opener(models)?(None).map_err(|error| unusable(&error))?;
        if let Some(note) = source.info().note {
            say(&format!("bass-tui: {note}\n"));
        }
        Ok(Arc::from(source))
    }

    /// Opens the source, from any thread; with `models`, if no server is configured.
    pub fn opener(&self, models: impl FnOnce(&Self) -> Result<LocalModels, Failure>) -> Result<Opener, Failure> {
        let Settings { server, server_model, server_suffix: suffix, chat, generate, .. } = self.settings.clone();
        let Some(server) = server else {
            let models = models(self)?;
            return Ok(Box::new(move |told| Ok(Box::new(LocalSource::open_telling(&models, told.as_ref())?))));
        };
        let address = Address::parse(&server).map_err(Failure::input)?;
        let key = Key::find(&address, &self.paths.keys_file()).map_err(Failure::input)?;
        Ok(Box::new(move |_| {
            let sampling = Some(&generate.sampling);
            let wishes = Wishes { model: server_model.as_deref(), chat, suffix, sampling };
            Ok(Box::new(ServerSource::open(address, key, wishes)?))
        }))
    }

    /// The cache folder of project builds.
    pub fn builds(&self) -> PathBuf {
        self.paths.builds_dir()
    }

    /// The kept runs, unless the settings keep none.
    pub fn history(&self) -> Option<History> {
        self.settings.history.then(|| History::at(self.paths.runs_dir()))
    }

    /// The runner of tests.
    pub fn runner(&self) -> Runner {
        Runner::probe().keeping(&self.builds()).with_python(self.settings.python.as_deref())
    }

    /// Says why the candidates are not called, if the user asked that they are, or if that is `missed`.
    pub fn say_uncalled(&self, why: &str, missed: bool) {
        if let Some(words) = uncalled(self.settings.agree, why, missed) {
            say(&(framed(&words) + "\n"));
        }
    }

    /// The runner for the calls of candidates that are not tested; `None` if they are not called. Without
    /// isolation they are not. `missed`: it is said why.
    pub fn caller(&self, job: &Job, missed: bool) -> Option<Runner> {
        if !self.settings.compares() {
            return None;
        }
        if let Err(why) = job.inputs(&[]) {
            self.say_uncalled(&why, missed);
            return None;
        }
        if let Some(why) = Runner::lacks_place() {
            say(&(framed(&format!("bass-tui: the candidates are not compared: {why}")) + "\n"));
            return None;
        }
        Some(self.runner()).filter(Runner::may_run)
    }
}

/// Words that say why candidates are not called.
fn uncalled(agree: Option<bool>, why: &str, missed: bool) -> Option<String> {
    match agree {
        Some(true) => Some(format!("bass-tui: --agree: {why}")),
        None if missed => Some(format!("bass-tui: the candidates are not compared: {why}")),
        _ => None,
    }
}

/// The settings in force for a file or folder of the user's.
pub fn settings<const GROUPS: u16>(
    paths: &Paths,
    flags: &Flags<GROUPS>,
    at: Option<&Path>,
) -> Result<Settings, Failure> {
    let (mut settings, mut warnings) = Settings::load(paths).map_err(Failure::input)?;
    if let Some(file) = at.and_then(project_file) {
        warnings.extend(settings.lay_project_over(&file).map_err(Failure::input)?);
    }
    for warning in warnings {
        say(&format!("bass-tui: {}\n", crate::untrusted::framed(&warning)));
    }
    flags.lay_over(&mut settings).map_err(Failure::input)?;
    Ok(settings)
}

/// Replaces a model that the catalog has on a server by the server and its model.
pub fn served(settings: &mut Settings, catalog: &Catalog) -> Result<(), Failure> {
    let Some(entry) = settings.model.as_deref().and_then(|name| catalog.served(name)) else { return Ok(()) };
    if settings.server.as_ref().is_some_and(|server| Some(server) != entry.server.as_ref()) {
        return Err(Failure::input(format!(
            "the model {} is on a server of its own by models.toml, and `server` names another one: leave one of the two out",
            entry.name
        )));
    }
    settings.server.clone_from(&entry.server);
    settings.server_model = settings.server_model.take().or_else(|| entry.server_model.clone());
    settings.server_suffix |= entry.suffix;
    settings.chat = settings.chat.or(entry.chat.map(Into::into));
    Ok(())
}

/// The project settings for a file or folder: the nearest ones, up to its root.
pub fn project_file(at: &Path) -> Option<PathBuf> {
    let at = std::fs::canonicalize(at).ok()?;
    let folder = if at.is_dir() { at.as_path() } else { at.parent()? };
    let root = Project::folders(folder).map_or_else(|| folder.to_path_buf(), |(root, _)| root);
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(&root));
    folders.map(|folder| folder.join(PROJECT_FILE)).find(|file| file.exists())
}

/// The settings file of the project around a file or folder, or where it would be.
pub fn project_place(at: &Path) -> Option<PathBuf> {
    project_file(at).or_else(|| {
        let at = std::fs::canonicalize(at).ok()?;
        let folder = if at.is_dir() { at.as_path() } else { at.parent()? };
        Project::folders(folder).map(|(root, _)| root.join(PROJECT_FILE))
    })
}

/// Opens a source, which may take time, and tells how far it is.
pub type Opener = Box<dyn FnOnce(Option<Told>) -> Result<Box<dyn Source>, SourceError> + Send>;

/// Models that cannot be used are bad input, unless the machine failed.
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

/// The runner for tests. Without isolation the user must consent first.
pub fn consent(runner: Runner, unprotected: bool) -> Result<Runner, Failure> {
    if runner.protection().is_isolated() {
        return Ok(runner);
    }
    if let Some(why) = Runner::lacks_place() {
        return Err(Failure::internal(format!("tests were not run: {why}")));
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

/// Refuses tests that cannot be run here, and a tests file that does not parse.
pub fn check_tests(
    runner: &Runner,
    language: Option<Language>,
    file: Option<&Path>,
    tests: &Tests,
) -> Result<(), Failure> {
    runner.check(language.unwrap_or(Language::Python), file, tests).map_err(|error| match error {
        TrialError::TestsDoNotParse(_) => Failure::input(error),
        TrialError::Tests(_) => Failure::input(format!("the tests cannot be run: {error}")),
        TrialError::Sandbox(_) => Failure::internal(error),
        error => Failure::internal(format!("the tests cannot be run: {error}, or use --tests none")),
    })
}

/// Turns SIGINT and SIGTERM into messages while the receiver exists. Before that, and the second time, they
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
    // Without the thread the signals keep their default effect and end the program at once.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_why_candidates_are_not_called_where_that_is_missed_or_asked_for() {
        let said = |agree, missed| uncalled(agree, "not in Go", missed);
        assert_eq!(said(None, true).as_deref(), Some("bass-tui: the candidates are not compared: not in Go"));
        assert_eq!(said(Some(true), false).as_deref(), Some("bass-tui: --agree: not in Go"));
        assert_eq!((said(None, false), said(Some(false), true)), (None, None));
    }
}
