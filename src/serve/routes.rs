//! The routes: the handler of each path.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::answer::{self, Answer, Refusal};
use super::ask::{self, CompletionRequest, Fields, Form};
use super::{MOST_REQUESTS, Serving, candidates, connection, native, writing};
use crate::engine::MAX_CANDIDATES;

/// The paths and their methods.
const PATHS: &[(&str, Method)] = &[
    ("/health", Method::GET),
    ("/metrics", Method::GET),
    ("/v1/models", Method::GET),
    ("/v1/completions", Method::POST),
    ("/v1/chat/completions", Method::POST),
    ("/v1/fim/completions", Method::POST),
    ("/infill", Method::POST),
    ("/completion", Method::POST),
    ("/props", Method::GET),
    ("/v1/candidates", Method::POST),
];

/// Name of all unknown paths in the metrics.
const OTHER: &str = "other";

/// Answers any request.
pub async fn answer(serving: &Arc<Serving>, request: Request<Incoming>) -> Response<Answer> {
    let known = PATHS.iter().find(|(path, _)| *path == request.uri().path());
    let (path, method) = known.map_or((OTHER, None), |(path, method)| (*path, Some(method)));
    let response = route(serving, (path, method), request).await.unwrap_or_else(Into::into);
    serving.metrics.answered(path, response.status().as_u16());
    response
}

async fn route(
    serving: &Arc<Serving>,
    (path, method): (&str, Option<&Method>),
    request: Request<Incoming>,
) -> Result<Response<Answer>, Refusal> {
    serving.access.check(request.headers(), path == "/health")?;
    // What is asked with HEAD is answered without a body.
    let asked = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    if let Some(expected) = method.filter(|&expected| asked != expected) {
        return Err(Refusal::method(expected.as_str()));
    }
    match path {
        "/health" => Ok(answer::json(&json!({ "status": "ok" }))),
        "/metrics" => {
            let requests = MOST_REQUESTS - serving.places.available_permits();
            let text = serving.metrics.text(serving.source.load(), requests);
            Ok(answer::text("text/plain; version=0.0.4; charset=utf-8", text))
        }
        "/v1/models" => Ok(answer::json(&json!({ "object": "list", "data": [serving.model()] }))),
        "/v1/completions" => {
            complete(serving, |fields, serving| ask::read(Form::Completion, fields, serving), request).await
        }
        "/v1/chat/completions" => {
            complete(serving, |fields, serving| ask::read(Form::Chat, fields, serving), request).await
        }
        "/v1/fim/completions" => {
            complete(serving, |fields, serving| ask::read(Form::Fim, fields, serving), request).await
        }
        "/infill" => complete(serving, |fields, serving| native::read(fields, serving, true), request).await,
        "/completion" => complete(serving, |fields, serving| native::read(fields, serving, false), request).await,
        "/props" => Ok(answer::json(&serving.props())),
        "/v1/candidates" => {
            let (request, place) = taken(serving, request, candidates::read).await?;
            candidates::answer(serving, request, place).await
        }
        _ => match request.uri().path().strip_prefix("/v1/models/") {
            Some(name) if name == serving.info.model => Ok(answer::json(&serving.model())),
            _ => Err(Refusal::unknown("unknown_path", unknown(request.uri().path()))),
        },
    }
}

/// The sentence about an unknown path. Addresses of clients often lack `/v1`.
fn unknown(path: &str) -> String {
    let longer = PATHS.iter().map(|(known, _)| *known).find(|known| known.strip_prefix("/v1") == Some(path));
    let meant = longer.map(|known| format!("; {known} is there: the base address of a client ends in /v1"));
    "there is nothing at this path".to_owned() + &meant.unwrap_or_default()
}

async fn complete(
    serving: &Arc<Serving>,
    read: fn(&Fields, &Serving) -> Result<CompletionRequest, Refusal>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Refusal> {
    let (request, mut place) = taken(serving, request, read).await?;
    // Each prompt is a separate request to the engine.
    if let Some(more) = request.requests.len().checked_sub(1).filter(|&more| more > 0) {
        place.merge(serving.places_for(more)?);
    }
    writing::answer(serving, request, place).await
}

/// Reads a request and takes its place.
async fn taken<T: Send + 'static>(
    serving: &Arc<Serving>,
    request: Request<Incoming>,
    read: impl FnOnce(&Fields, &Serving) -> Result<T, Refusal> + Send + 'static,
) -> Result<(T, OwnedSemaphorePermit), Refusal> {
    let place = serving.places_for(1)?;
    let fields = Fields::read(&connection::read(request.into_body(), serving.limits).await?)?;
    let shared = serving.clone();
    // Chat templates, files and tests may block.
    let read = tokio::task::spawn_blocking(move || read(&fields, &shared)).await;
    let read = read.map_err(|_| Refusal::failed("the request could not be read (an internal error)"))?;
    Ok((read?, place))
}

impl Serving {
    /// Places for so many requests, if available.
    fn places_for(&self, count: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let places = self.places.clone().try_acquire_many_owned(count as u32);
        places.map_err(|_| Refusal::busy(MOST_REQUESTS))
    }

    /// The description of the model, with its context under the names that clients read.
    fn model(&self) -> Value {
        let context = self.window.context;
        json!({ "id": self.info.model, "object": "model", "created": self.since, "owned_by": "bass-tui",
                "max_model_len": context, "context_length": context, "context_window": context,
                "meta": { "n_ctx": context, "n_ctx_train": context, "n_params": self.window.weights } })
    }

    /// Facts about the server, for clients of llama.cpp.
    fn props(&self) -> Value {
        json!({ "default_generation_settings": { "n_ctx": self.window.context }, "total_slots": MAX_CANDIDATES,
                "model_alias": self.info.model, "modalities": { "vision": false, "audio": false } })
    }
}
