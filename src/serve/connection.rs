//! One connection: how long it may take, and how much it may send.

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

/// Longest wait for the headers of a request, the first one and those that follow it.
const HEADERS: Duration = Duration::from_secs(15);
/// Most bytes of headers.
const MOST_HEADERS: usize = 64 << 10;
/// Longest wait for the body of a request.
const BODY: Duration = Duration::from_secs(30);
/// Most bytes of a body.
pub const MOST_BODY: usize = 8 << 20;
/// So much more is read and dropped, so that who sends too much can read why.
const DROPPED: usize = 64 << 20;
/// Longest that whoever asked may read nothing while there is something to read.
const STALLED: Duration = Duration::from_secs(30);

/// Answers the requests of a connection until it ends, or the server does.
pub async fn serve(stream: TcpStream, serving: Arc<Serving>) {
    // Small pieces are sent as they come.
    let _ = stream.set_nodelay(true);
    let mut stop = serving.stop.clone();
    let service = service_fn(|request| {
        let serving = serving.clone();
        async move { Ok::<_, Infallible>(routes::answer(&serving, request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(MOST_HEADERS);
    let mut connection = pin!(http.serve_connection(Patient::new(stream), service));
    // A connection that breaks concerns nobody else.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|&stop| stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Reads the body of a request.
pub async fn read(mut body: Incoming) -> Result<Vec<u8>, Refusal> {
    let all = async {
        let (mut bytes, mut dropped) = (Vec::new(), 0);
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let frame = frame.map_err(|error| Refusal::bad(format!("the request breaks off: {error}")))?;
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() <= MOST_BODY && dropped == 0 {
                bytes.extend_from_slice(data);
            } else {
                dropped += data.len();
            }
            if dropped > DROPPED {
                break;
            }
        }
        if dropped > 0 { Err(Refusal::large(MOST_BODY)) } else { Ok(bytes) }
    };
    timeout(BODY, all).await.unwrap_or_else(|_| Err(Refusal::slow(BODY.as_secs())))
}

/// A connection that breaks when nothing of what is sent is taken for too long.
struct Patient {
    stream: TokioIo<TcpStream>,
    /// Set while there is something to send that is not taken.
    end: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream) -> Self {
        Self { stream: TokioIo::new(stream), end: None }
    }

    /// What came of sending, or the end of all patience.
    fn watch<T>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.end = None;
            return sent;
        }
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        ready!(end.as_mut().poll(context));
        end.as_mut().reset(Instant::now() + STALLED);
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
