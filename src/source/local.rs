//! The local engine as a source: it lives on a thread of its own and answers one request after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::{EventSink, Prompt, Request, Source, SourceInfo, Ticket};
use crate::backend::{self, BackendError, LoadOptions};
use crate::engine::{Engine, EngineError, Event, ModelDrafter};
use crate::model::{Model, ModelError, ModelFiles};

/// Which models to load, and how.
#[derive(Clone, Debug)]
pub struct LocalModels {
    /// The main model.
    pub main: ModelFiles,
    /// The draft model; `None` for plain decoding.
    pub draft: Option<ModelFiles>,
    /// Weight storage and threads.
    pub load: LoadOptions,
}

/// Why the models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
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
    /// The thread of the engine could not be started.
    #[error("the engine's thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// The engine on its own thread.
pub struct LocalSource {
    info: SourceInfo,
    requests: Sender<Work>,
}

struct Work {
    request: Request,
    sink: EventSink,
    ticket: Ticket,
}

impl LocalSource {
    /// Loads the models and starts the thread. Takes as long as reading and packing the weights takes.
    pub fn open(models: &LocalModels) -> Result<Self, SourceError> {
        let main = Model::load(&models.main)?;
        let network = backend::load(&main, models.load)?;
        let on = network.info();
        let mut info = SourceInfo {
            model: main.name.clone(),
            draft: "none".to_owned(),
            device: on.device.to_owned(),
            dtype: on.dtype.to_owned(),
            kernel: on.kernel.to_owned(),
            threads: on.threads,
            context: network.context(),
        };

        let mut drafter = None;
        if let Some(files) = &models.draft {
            let draft = Model::load(files)?;
            main.tokenizer.same_vocabulary(&draft.tokenizer).map_err(|why| SourceError::Vocabulary {
                main: main.name.clone(),
                draft: draft.name.clone(),
                why,
            })?;
            info.draft.clone_from(&draft.name);
            let network = backend::load(&draft, models.load)?;
            drafter = Some(Box::new(ModelDrafter::new(&draft.name, network)) as Box<dyn crate::engine::Drafter>);
        }
        let engine = Engine::new(network, main.tokenizer, main.eos, drafter);
        Self::with_engine(engine, info)
    }

    /// Puts a ready engine on a thread.
    pub fn with_engine(engine: Engine, info: SourceInfo) -> Result<Self, SourceError> {
        let (requests, work) = channel();
        std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || serve(engine, &work))
            .map_err(SourceError::Thread)?;
        Ok(Self { info, requests })
    }
}

impl Source for LocalSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn generate(&self, request: Request, sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let work = Work { request, sink, ticket: ticket.clone() };
        if let Err(refused) = self.requests.send(work) {
            let mut work = refused.0;
            (work.sink)(Event::Failed("the engine has stopped: start the program again".to_owned()));
        }
        ticket
    }
}

/// Answers requests until all handles are gone.
fn serve(mut engine: Engine, work: &Receiver<Work>) {
    while let Ok(Work { request, mut sink, ticket }) = work.recv() {
        let outcome = catch_unwind(AssertUnwindSafe(|| answer(&mut engine, &request, &ticket, &mut sink)));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(EngineError::Request(why))) => sink(Event::Refused(why)),
            Ok(Err(error)) => sink(Event::Failed(error.to_string())),
            // The sequences of the broken request stay allocated; the engine itself holds no state between requests.
            Err(_) => sink(Event::Failed("the engine failed on this request (an internal error)".to_owned())),
        }
    }
}

fn answer(engine: &mut Engine, request: &Request, ticket: &Ticket, sink: &mut EventSink) -> Result<(), EngineError> {
    let encoded;
    let prompt = match &request.prompt {
        Prompt::Ids(ids) => ids,
        Prompt::Text(text) if text.is_empty() => {
            return Err(EngineError::Request("the prompt is empty: there is nothing to complete".to_owned()));
        }
        Prompt::Text(text) => {
            encoded = engine.tokenizer().encode(text).map_err(|e| EngineError::Backend(e.into()))?;
            &encoded
        }
    };
    engine.generate(prompt, &request.options, &|i| ticket.is_cancelled(i), &mut |event| sink(event))?;
    Ok(())
}
