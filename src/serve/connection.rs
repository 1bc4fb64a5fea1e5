//! One connection, with its time and size limits.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::answer::Refusal;
use super::{Serving, routes};

/// Time and size limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest wait for the headers of a request, the first or a later one.
    pub headers: Duration,
    /// Most bytes of headers.
    pub most_headers: usize,
    /// Longest wait for the body of a request.
    pub body: Duration,
    /// Most bytes of a body.
    pub most_body: usize,
    /// Bytes above the limit that are read and dropped, so that the client can read the error.
    pub dropped: usize,
    /// Longest time in which the client may read nothing while data is waiting.
    pub stalled: Duration,
}

impl Limits {
    /// The limits in use.
    pub const USUAL: Self = Self {
        headers: Duration::from_secs(15),
        most_headers: 64 << 10,
        body: Duration::from_secs(30),
        most_body: 8 << 20,
        dropped: 64 << 20,
        stalled: Duration::from_secs(30),
    };
}

/// Answers the requests of a connection until it or the server ends.
pub async fn serve(stream: TcpStream, serving: Arc<Serving>) {
    // Sends small pieces without delay.
    let _ = stream.set_nodelay(true);
    let mut stop = serving.stop.clone();
    let service = service_fn(|request| {
        let serving = serving.clone();
        async move { Ok::<_, Infallible>(routes::answer(&serving, request).await) }
    });
    let mut http = http1::Builder::new();
    let limits = serving.limits;
    http.timer(TokioTimer::new()).header_read_timeout(limits.headers).max_buf_size(limits.most_headers);
    let mut connection = pin!(http.serve_connection(Patient::new(stream, limits.stalled), service));
    // A broken connection affects no other.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|&stop| stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Reads the body of a request.
pub async fn read(mut body: Incoming, limits: Limits) -> Result<Vec<u8>, Refusal> {
    let all = async {
        let (mut bytes, mut dropped) = (Vec::new(), 0);
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let frame = frame.map_err(|error| Refusal::bad(format!("the request breaks off: {error}")))?;
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() <= limits.most_body && dropped == 0 {
                bytes.extend_from_slice(data);
            } else {
                dropped += data.len();
            }
            if dropped > limits.dropped {
                break;
            }
        }
        if dropped > 0 { Err(Refusal::large(limits.most_body)) } else { Ok(bytes) }
    };
    timeout(limits.body, all).await.unwrap_or_else(|_| Err(Refusal::slow(limits.body.as_secs())))
}

/// A connection that is closed when the client takes no data for too long.
struct Patient {
    stream: TokioIo<TcpStream>,
    /// Longest time without taken data.
    patience: Duration,
    /// Set while data is waiting that is not taken.
    end: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream: TokioIo::new(stream), patience, end: None }
    }

    /// The result of a write, or an error when the time is up.
    fn watch<T>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.end = None;
            return sent;
        }
        let patience = self.patience;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(end.as_mut().poll(context));
        end.as_mut().reset(Instant::now() + patience);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Read for Patient {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, to)
    }
}

impl Write for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, sent)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.watch(context, sent)
    }
}
