//! The local engine as a source: it lives on a thread of its own, where all requests that are there advance
//! together.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SendError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::profiles::{self, ProfileFile};
use super::{EventSink, Load, Prompt, Request, ServerError, Source, SourceInfo, Ticket, Told, Window};
use crate::backend::{self, BackendError, Choice, Dtype, LoadOptions, Network};
use crate::engine::drafter::{LookupChanges, NamedDrafter};
use crate::engine::{
    DraftVocabulary, Drafter, Engine, EngineError, Event, HeadDrafter, ModelDrafter, Profile, RequestId,
};
use crate::model::{ChatUse, DraftHead, Model, ModelError, ModelFiles, ModelWeights, PromptText, blocks};

/// Source of draft tokens.
#[derive(Clone, Debug, Default)]
pub enum Drafting {
    /// Nothing: plain decoding.
    #[default]
    None,
    /// A draft model.
    Model(ModelFiles),
    /// One of the drafters with a name, with a draft model if it wants one and there is one.
    Named(NamedDrafter, LookupChanges, Option<ModelFiles>),
}

/// Which models to load, and how.
#[derive(Clone, Debug)]
pub struct LocalModels {
    /// The main model.
    pub main: ModelFiles,
    /// Its source of drafts.
    pub draft: Drafting,
    /// The layer for the next tokens that the main model may bring along drafts in the place of a draft model.
    pub own_head: bool,
    /// Tokens that a draft model proposes.
    pub draft_vocabulary: DraftVocabulary,
    /// Weight storage of a draft model or head; see [`Dtype::of_draft`].
    pub draft_dtype: Dtype,
    /// The main model is shown requests as conversations; `None`: where its name says so.
    pub chat: Option<ChatUse>,
    /// Weight storage and threads.
    pub load: LoadOptions,
    /// Folder where measurements of pairs are kept; `None` to measure anew.
    pub profiles: Option<PathBuf>,
    /// Folder where quantised weights are kept; `None` to make them anew.
    pub weights: Option<PathBuf>,
    /// Bytes of K/V for prompts that are kept for the next request; 0 keeps none.
    pub kv_cache: usize,
    /// Room that many requests share; `None`: requests are those of one user.
    pub shared: Option<Shared>,
}

/// Keys and values of requests that are being written, all together.
#[derive(Clone, Copy, Debug)]
pub enum Shared {
    /// So many positions.
    Positions(usize),
    /// As many as fit into so many bytes.
    Bytes(usize),
}

/// Why the models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A server cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A model's files are not usable.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model could not be put on its device.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The draft model speaks another vocabulary.
    #[error("the draft model {draft} cannot draft for {main}: {why}, or use --draft none")]
    Vocabulary {
        /// Name of the main model.
        main: String,
        /// Name of the draft model.
        draft: String,
        /// The first difference.
        why: String,
    },
    /// The pair could not be measured.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The thread of the engine could not be started.
    #[error("the engine's thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// The engine on its own thread.
pub struct LocalSource {
    info: SourceInfo,
    window: Window,
    requests: Sender<Work>,
    load: Arc<Mutex<Load>>,
}

enum Work {
    Generate(Box<Request>, EventSink, Ticket),
    ReadAhead(Prompt),
}

impl LocalSource {
    /// Loads the models and starts the thread. Takes as long as reading and packing the weights takes.
    pub fn open(models: &LocalModels) -> Result<Self, SourceError> {
        Self::open_telling(models, None)
    }

    /// Like [`open`](Self::open); tells how much of the weights has been read.
    pub fn open_telling(models: &LocalModels, told: Option<&Told>) -> Result<Self, SourceError> {
        Self::open_telling_on(models, &backend::choices(models.load.device), told)
    }

    /// Like [`open`](Self::open), on the first of these devices that can hold the models; its note says why
    /// not on an earlier one.
    pub fn open_on(models: &LocalModels, choices: &[Choice]) -> Result<Self, SourceError> {
        Self::open_telling_on(models, choices, None)
    }

    fn open_telling_on(models: &LocalModels, choices: &[Choice], told: Option<&Told>) -> Result<Self, SourceError> {
        let Loaded { mut engine, info, window, profile } = load(models, choices, told)?;
        engine.keep_prompts(models.kv_cache);
        match models.shared {
            None => {}
            Some(Shared::Positions(positions)) => engine.share(positions),
            Some(Shared::Bytes(bytes)) => engine.share_bytes(bytes)?,
        }
        Self::start(engine, info, window, profile)
    }

    /// Measures the models anew, in about `budget`, and keeps the result for later starts.
    pub fn measure(models: &LocalModels, budget: Duration) -> Result<(SourceInfo, Profile), SourceError> {
        let Loaded { mut engine, info, profile: file, .. } = load(models, &backend::choices(models.load.device), None)?;
        let profile = engine.measure(budget)?;
        if let Some(file) = file {
            file.keep(&profile);
        }
        Ok((info, profile))
    }

    /// Puts a ready engine on a thread.
    pub fn with_engine(engine: Engine, info: SourceInfo) -> Result<Self, SourceError> {
        Self::start(engine, info, Window::default(), None)
    }

    fn start(
        engine: Engine,
        info: SourceInfo,
        window: Window,
        profile: Option<ProfileFile>,
    ) -> Result<Self, SourceError> {
        let (requests, work) = channel();
        let load = Arc::new(Mutex::new(load_of(&engine)));
        let serving = Serving { engine, profile, running: HashMap::new(), load: Arc::clone(&load) };
        std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || serving.serve(&work))
            .map_err(SourceError::Thread)?;
        Ok(Self { info, window, requests, load })
    }
}

struct Loaded {
    engine: Engine,
    info: SourceInfo,
    window: Window,
    profile: Option<ProfileFile>,
}

/// On the first device that can hold the pair.
fn load(models: &LocalModels, choices: &[Choice], told: Option<&Told>) -> Result<Loaded, SourceError> {
    let mut note = None;
    for (number, &choice) in choices.iter().enumerate() {
        let load = LoadOptions { device: Some(choice), ..models.load };
        match load_on(&LocalModels { load, ..models.clone() }, note.take(), told) {
            Err(SourceError::Backend(why)) if number + 1 < choices.len() => {
                let why = match why {
                    // Its own advice is to do what is done here.
                    BackendError::Device { why, .. } => format!("it {why}"),
                    other => other.to_string(),
                };
                note = Some(format!("{choice} is not used: {why}").into());
            }
            done => return done,
        }
    }
    load_on(models, note, told)
}

/// Bytes of all weights that will be read.
fn bytes(models: &LocalModels) -> u64 {
    let draft = match &models.draft {
        Drafting::Model(files) | Drafting::Named(_, _, Some(files)) => files.bytes(),
        Drafting::None | Drafting::Named(_, _, None) => 0,
    };
    models.main.bytes() + draft
}

/// Weight storage of a draft model or head.
fn draft_dtype(models: &LocalModels, draft: &ModelWeights, device: &str) -> Dtype {
    match (device, models.draft_dtype) {
        ("cpu", asked) => asked.of_draft(models.load.dtype, draft.parameters() as f64, draft.bytes_of_weight()),
        (_, Dtype::Auto) => models.load.dtype,
        (_, asked) => asked,
    }
}

/// Puts a draft head beside the main model.
fn beside(
    models: &LocalModels,
    head: &DraftHead,
    network: &mut Box<dyn Network>,
    pair: &mut Vec<String>,
) -> Result<Box<dyn Drafter>, SourceError> {
    network.attach(head, draft_dtype(models, &head.weights, network.info().device))?;
    pair.push(head.weights.name.clone());
    let drafter = HeadDrafter::new(&head.weights.name, head.kind);
    Ok(Box::new(drafter.proposing(models.draft_vocabulary, network.vocab_size())))
}

/// Loads the drafter for a main model; what it is goes to `pair`.
fn drafter(
    models: &LocalModels,
    main: &Model,
    network: &mut Box<dyn Network>,
    pair: &mut Vec<String>,
    pack: &impl Fn(&ModelWeights, Dtype) -> Result<Box<dyn Network>, BackendError>,
) -> Result<Option<Box<dyn Drafter>>, SourceError> {
    let (named, files) = match &models.draft {
        Drafting::None => return Ok(None),
        Drafting::Model(files) => (None, Some(files)),
        Drafting::Named(drafter, changes, files) => (Some((drafter, changes)), files.as_ref()),
    };
    // One that cannot be read or run is done without, as drafts only save time.
    let own = if models.own_head { DraftHead::of_main(&models.main, main).ok().flatten() } else { None };
    let own = own.and_then(|head| beside(models, &head, network, pair).ok());
    let model = match (own, files) {
        (Some(own), _) => Some(own),
        (None, None) => None,
        (None, Some(files @ ModelFiles::Folder(folder))) if DraftHead::is_at(files) => {
            Some(beside(models, &DraftHead::load(folder, &main.spec)?, network, pair)?)
        }
        (None, Some(files)) => {
            let device = network.info().device;
            let pack = |weights: &ModelWeights| pack(weights, draft_dtype(models, weights, device));
            let (draft, network) = Model::load_beside(files, pack)?;
            main.tokenizer.same_vocabulary(&draft.tokenizer).map_err(|why| SourceError::Vocabulary {
                main: main.name.clone(),
                draft: draft.name.clone(),
                why,
            })?;
            let network = network?;
            let list = models.draft_vocabulary.first(network.vocab_size()).unwrap_or(network.vocab_size());
            pair.push(format!("{} {list}", profiles::describe(&draft.name, &network.info())));
            Some(Box::new(ModelDrafter::new(&draft.name, network).proposing(models.draft_vocabulary)) as _)
        }
    };
    Ok(match named {
        None => model,
        Some((drafter, changes)) => Some((drafter.new)(*changes, model)),
    })
}

fn load_on(models: &LocalModels, note: Option<Box<str>>, told: Option<&Told>) -> Result<Loaded, SourceError> {
    let (read, total) = (Arc::new(AtomicU64::new(0)), bytes(models));
    let pack = |weights: &ModelWeights, dtype: Dtype| {
        if let Some(told) = told.cloned() {
            let read = Arc::clone(&read);
            weights.tell(move |bytes| told(bytes + read.fetch_add(bytes, Ordering::Relaxed), total));
        }
        backend::load_with_cache(weights, LoadOptions { dtype, ..models.load }, models.weights.as_deref())
    };
    let (mut main, network) = Model::load_beside(&models.main, |weights| pack(weights, models.load.dtype))?;
    let (chat, mut network) = (main.chat(models.chat)?, network?);
    let on = network.info();
    let mut pair = vec![profiles::describe(&main.name, &on)];

    let drafter = drafter(models, &main, &mut network, &mut pair, &pack)?;
    let widened = || {
        let as_stored = on.device == "cpu" && models.load.dtype == Dtype::Auto;
        let said = as_stored.then(|| blocks::widened(main.types())).flatten()?;
        Some(format!("{}: {said}", main.name).into())
    };
    let note = note.or_else(widened);
    let info = SourceInfo {
        model: main.name.clone(),
        draft: drafter.as_ref().map_or("none", |drafter| drafter.name()).to_owned(),
        device: on.device.to_owned(),
        dtype: on.dtype.to_owned(),
        kernel: on.kernel.to_owned(),
        threads: on.threads,
        context: network.context(),
        note,
    };
    pair.push(info.draft.clone());
    let profile = models.profiles.as_ref().map(|folder| ProfileFile::new(folder, &info, &pair));
    let (weights, tokenizer) = (main.parameters(), Arc::new(main.tokenizer));
    let window = Window::new(&main.called, weights, info.context, tokenizer.clone()).asked(chat);
    let mut ends = main.eos;
    ends.extend(window.infill.iter().flat_map(|infill| infill.stop_ids(&tokenizer)));
    Ok(Loaded { engine: Engine::new(network, tokenizer, ends, drafter), info, window, profile })
}

impl Source for LocalSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn window(&self) -> Window {
        self.window.clone()
    }

    fn generate(&self, request: Request, sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let work = Work::Generate(Box::new(request), sink, ticket.clone());
        if let Err(SendError(Work::Generate(_, mut sink, _))) = self.requests.send(work) {
            let _ = sink(Event::Failed("the engine has stopped: start the program again".to_owned()));
        }
        ticket
    }

    fn load(&self) -> Load {
        *self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_ahead(&self, prompt: Prompt) {
        let _ = self.requests.send(Work::ReadAhead(prompt));
    }
}

/// The thread of the engine.
struct Serving {
    engine: Engine,
    /// Where the measurements of the pair are kept, until they have been read.
    profile: Option<ProfileFile>,
    running: HashMap<RequestId, Running>,
    /// Its work, as others see it.
    load: Arc<Mutex<Load>>,
}

fn load_of(engine: &Engine) -> Load {
    Load {
        candidates: engine.live(),
        small: engine.small(),
        waiting: engine.waiting(),
        positions: engine.positions(),
        most_positions: engine.most_positions(),
        kv_bytes: engine.kv_bytes(),
    }
}

/// A request that the engine has taken.
struct Running {
    ticket: Ticket,
    /// `None` once nobody listens.
    sink: Option<EventSink>,
}

impl Running {
    fn tell(&mut self, event: Event) {
        if self.sink.as_mut().is_some_and(|sink| sink(event).is_break()) {
            self.sink = None;
        }
    }
}

impl Serving {
    /// Time for measuring a pair that this machine has not seen before.
    const PROFILE: Duration = Duration::from_secs(2);

    /// Answers requests until all handles are gone and all is done.
    fn serve(mut self, work: &Receiver<Work>) {
        loop {
            loop {
                let next = if self.running.is_empty() && self.engine.is_idle() {
                    work.recv().map_err(|_| TryRecvError::Disconnected)
                } else {
                    work.try_recv()
                };
                match next {
                    Ok(work) => self.take(work),
                    Err(TryRecvError::Disconnected) if self.running.is_empty() => return,
                    Err(_) => break,
                }
            }
            self.step();
            let Self { engine, load, .. } = &self;
            *load.lock().unwrap_or_else(PoisonError::into_inner) = load_of(engine);
        }
    }

    /// Hands a request to the engine.
    fn take(&mut self, work: Work) {
        let (request, mut sink, ticket) = match work {
            Work::Generate(request, sink, ticket) => (request, sink, ticket),
            Work::ReadAhead(prompt) => {
                let read = || self.tokens(&prompt).map(|tokens| self.engine.read_ahead(&tokens));
                // Nobody waits for it, and who asks for it hears why it cannot be read.
                let _ = catch_unwind(AssertUnwindSafe(read));
                return;
            }
        };
        let submitted = catch_unwind(AssertUnwindSafe(|| self.submit(&request)));
        let failure = match submitted {
            Ok(Ok(id)) => {
                self.running.insert(id, Running { ticket, sink: Some(sink) });
                return;
            }
            Ok(Err(EngineError::Request(why))) => Event::Refused(why),
            Ok(Err(error)) => Event::Failed(error.to_string()),
            Err(_) => Event::Failed(INTERNAL.to_owned()),
        };
        let _ = sink(failure);
    }

    fn submit(&mut self, request: &Request) -> Result<RequestId, EngineError> {
        let prompt = self.tokens(&request.prompt)?;
        let mut options = request.options.clone();
        if let Some(text) = &request.reference {
            options.reference = self.encode(&PromptText::words(text), false)?.into();
        }
        if self.engine.wants_profile(&options)
            && let Some(file) = self.profile.take()
        {
            let profile = file.read().or_else(|| {
                let measured = self.engine.measure(Self::PROFILE).ok()?;
                file.keep(&measured);
                Some(measured)
            });
            // A pair that cannot be measured goes without drafts.
            let profile = profile.unwrap_or_default();
            self.engine.set_profile(&profile);
        }
        self.engine.submit(&prompt, &options)
    }

    fn tokens(&self, prompt: &Prompt) -> Result<Vec<u32>, EngineError> {
        match prompt {
            Prompt::Ids(ids) => Ok(ids.clone()),
            Prompt::Text(text) if text.is_empty() => Err(EngineError::Request(super::EMPTY.to_owned())),
            Prompt::Text(text) => self.encode(text, true),
            Prompt::Written(text) => self.encode(text, false),
        }
    }

    fn encode(&self, text: &PromptText, add_special: bool) -> Result<Vec<u32>, EngineError> {
        self.engine.tokenizer().encode_prompt(text, add_special).map_err(|e| EngineError::Backend(e.into()))
    }

    /// One step of the engine, after taking out what is not wanted any more.
    fn step(&mut self) {
        let Self { engine, running, .. } = self;
        for (&id, request) in running.iter_mut() {
            if request.sink.is_none() {
                engine.cancel(id, None);
            } else {
                request.ticket.cancelled().for_each(|candidate| engine.cancel(id, Some(candidate)));
            }
        }
        let mut over = Vec::new();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            engine.step(&mut |id, event| {
                if matches!(event, Event::Done(_) | Event::Refused(_) | Event::Failed(_)) {
                    over.push(id);
                }
                if let Some(request) = running.get_mut(&id) {
                    request.tell(event);
                }
            })
        }));
        for id in over {
            running.remove(&id);
        }
        let why = match outcome {
            Ok(Ok(_)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => {
                // Half a step may have been done: nothing of it is kept.
                let _ = catch_unwind(AssertUnwindSafe(|| engine.abort()));
                INTERNAL.to_owned()
            }
        };
        for (_, mut request) in running.drain() {
            request.tell(Event::Failed(why.clone()));
        }
    }
}

const INTERNAL: &str = "the engine failed on this request (an internal error)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DRAFT, MAIN};

    #[test]
    fn the_bytes_of_both_models_are_told_as_they_are_read() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&heard);
        let models = LocalModels {
            main: ModelFiles::Embedded(&MAIN),
            draft: Drafting::Model(ModelFiles::Embedded(&DRAFT)),
            own_head: false,
            draft_vocabulary: DraftVocabulary::Auto,
            draft_dtype: Dtype::Auto,
            chat: None,
            load: LoadOptions::default(),
            profiles: None,
            weights: None,
            kv_cache: 0,
            shared: None,
        };
        let told: Told = Arc::new(move |done, total| told.lock().unwrap().push((done, total)));
        LocalSource::open_telling(&models, Some(&told)).unwrap();
        let heard = heard.lock().unwrap();
        let total = bytes(&models);
        assert!(heard.len() > 8 && heard.is_sorted() && heard.iter().all(|point| point.1 == total), "{heard:?}");
        let last = heard.last().unwrap().0;
        // Headers are no tensors.
        assert!(last <= total && last > total / 10 * 9, "{last} of {total}");
    }
}
