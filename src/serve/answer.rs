//! Responses: whole texts, streams of events, and errors in the form of `OpenAI`.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

/// The body of a response.
pub enum Answer {
    /// The whole body; `None` once it has been sent.
    Whole(Option<Bytes>),
    /// Pieces from a channel, until it is closed.
    Stream(Receiver<Bytes>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(pieces) => pieces.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// A response with this text.
pub fn text(kind: &'static str, text: String) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(Some(text.into())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A response in JSON.
pub fn json(value: &Value) -> Response<Answer> {
    text("application/json", value.to_string())
}

/// A stream of events.
pub fn stream(pieces: Receiver<Bytes>) -> Response<Answer> {
    let mut response = Response::new(Answer::Stream(pieces));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// An event of a stream, as text. (JSON holds no line ends.)
pub fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// The last event of a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    kind: &'static str,
    code: Option<&'static str>,
    message: String,
}

impl Refusal {
    fn new(status: StatusCode, kind: &'static str, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { status, kind, code, message: message.into() }
    }

    /// The request is invalid.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", None, message)
    }

    /// Nothing has this name.
    pub fn unknown(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", Some(code), message)
    }

    /// The path requires another method.
    pub fn method(expected: &str) -> Self {
        let message = format!("this path is asked with {expected}");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", None, message)
    }

    /// The body is too large.
    pub fn large(most: usize) -> Self {
        let message = format!("the request has more than {} MiB, the most that is read", most >> 20);
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request_error", None, message)
    }

    /// The body did not come in time.
    pub fn slow(seconds: u64) -> Self {
        let message = format!("the request was not there after {seconds} s");
        Self::new(StatusCode::REQUEST_TIMEOUT, "invalid_request_error", None, message)
    }

    /// The token is missing or wrong.
    pub fn unauthorized() -> Self {
        let message = "the token of this server is missing or wrong: send it as `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "invalid_request_error", Some("invalid_api_key"), message)
    }

    /// The client has no access.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "invalid_request_error", Some("forbidden"), message)
    }

    /// Too many requests are waiting already.
    pub fn busy(most: usize) -> Self {
        let message =
            format!("{most} requests are being answered or wait for it, the most there can be: ask again in a second");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", Some("rate_limit_exceeded"), message)
    }

    /// The server failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", None, message)
    }

    /// The server is stopping.
    pub fn stopping() -> Self {
        let message = "the server was ended before this request was answered";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", Some("stopping"), message)
    }

    /// The client reads too slowly.
    pub fn reader() -> Self {
        let message = "the answer was read more slowly than it was written, and has been ended";
        Self::new(StatusCode::REQUEST_TIMEOUT, "server_error", Some("slow_reader"), message)
    }

    /// The JSON that clients of that protocol expect.
    pub fn json(&self) -> Value {
        json!({ "error": { "message": self.message, "type": self.kind, "param": null, "code": self.code } })
    }
}

impl From<Refusal> for Response<Answer> {
    fn from(refusal: Refusal) -> Self {
        let mut response = json(&refusal.json());
        *response.status_mut() = refusal.status;
        let headers = response.headers_mut();
        if matches!(refusal.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if refusal.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
