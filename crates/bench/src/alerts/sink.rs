//! The receiver of the messages: an HTTP server on one thread that counts requests and measures how long
//! ago the value was sent that each is about.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use stdx::clock::SharedClock;
use stdx::sync::lock;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::stats::Histogram;

/// The body of a message.
#[derive(Debug, Deserialize)]
struct Message {
    /// Name of the event; of a summary that of one of its events.
    name: String,
    subject: String,
}

impl Message {
    /// Problems that it reports: a summary has `[N new]` in front of its subject.
    fn problems(&self) -> u64 {
        let counts = self.subject.strip_prefix('[').and_then(|rest| rest.split_once(" new"));
        counts.and_then(|(new, _)| new.parse().ok()).unwrap_or(1)
    }
}

/// What was sent, and what came of it.
#[derive(Default)]
pub(super) struct Ledger {
    /// When values were sent whose messages have not come, by the name of the event.
    sent: HashMap<String, VecDeque<Duration>>,
    /// From value to message.
    pub(super) latency: Histogram,
    pub(super) messages: u64,
    /// Problems that the messages report.
    pub(super) problems: u64,
    /// When the last message came, monotonic.
    pub(super) last: Duration,
}

impl Ledger {
    /// A value that opens the problem `name` is sent now.
    pub(super) fn sends(&mut self, name: String, now: Duration) {
        self.sent.entry(name).or_default().push_back(now);
    }

    fn comes(&mut self, message: &Message, now: Duration) {
        self.messages += 1;
        self.problems += message.problems();
        self.last = now;
        if let Some(sent) = self.sent.get_mut(&message.name).and_then(VecDeque::pop_front) {
            self.latency.add(now.saturating_sub(sent));
        }
    }
}

/// A running receiver; it ends when this is dropped.
pub(super) struct Sink {
    pub(super) address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    /// False: responses wait.
    gate: watch::Sender<bool>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Sink {
    pub(super) fn start(listen: SocketAddr, clock: SharedClock) -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime
            .block_on(TcpListener::bind(listen))
            .with_context(|| format!("cannot listen on {listen}"))?;
        let address = listener.local_addr()?;
        let ledger = Arc::<Mutex<Ledger>>::default();
        let (gate, open) = watch::channel(true);
        let (stop, mut stopped) = watch::channel(false);
        let receiver = Receiver { ledger: Arc::clone(&ledger), open, clock };
        let thread = std::thread::Builder::new().name("sink".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = receiver.accept(&listener) => {}
                    _ = stopped.changed() => {}
                }
            });
        })?;
        Ok(Self { address, ledger, gate, stop, thread: Some(thread) })
    }

    /// Nothing was sent and nothing has come; returns what was until now.
    pub(super) fn reset(&self) -> Ledger {
        std::mem::take(&mut lock(&self.ledger))
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Ledger) -> T) -> T {
        work(&mut lock(&self.ledger))
    }

    /// Responds to messages, or lets them wait.
    pub(super) fn respond(&self, responds: bool) {
        self.gate.send_replace(responds);
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

#[derive(Clone)]
struct Receiver {
    ledger: Arc<Mutex<Ledger>>,
    open: watch::Receiver<bool>,
    clock: SharedClock,
}

impl Receiver {
    async fn accept(&self, listener: &TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            // Slower without, and correct.
            let _ = stream.set_nodelay(true);
            let receiver = self.clone();
            tokio::spawn(async move {
                let service = service_fn(|request| {
                    let receiver = receiver.clone();
                    async move { Ok::<_, Infallible>(receiver.respond(request).await) }
                });
                // A connection that breaks shows in the messages that are missing.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn respond(mut self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let body = request.into_body().collect().await.map(|body| body.to_bytes());
        let message = body.ok().and_then(|body| serde_json::from_slice::<Message>(&body).ok());
        // An error: the measurement ends.
        drop(self.open.wait_for(|open| *open).await);
        let mut response = Response::new(Full::from("{}"));
        match message {
            Some(message) => lock(&self.ledger).comes(&message, self.clock.monotonic()),
            None => *response.status_mut() = StatusCode::BAD_REQUEST,
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use stdx::clock::RealClock;

    use super::*;

    fn post(stream: &mut TcpStream, body: &str) -> String {
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut response = [0; 500];
        let len = stream.read(&mut response).unwrap();
        String::from_utf8_lossy(&response[..len]).into_owned()
    }

    #[test]
    fn messages_are_counted_and_timed() {
        let clock = RealClock::shared();
        let sink = Sink::start("127.0.0.1:0".parse().unwrap(), Arc::clone(&clock)).unwrap();
        sink.with(|ledger| ledger.sends("a problem 1".to_owned(), clock.monotonic()));
        let mut stream = TcpStream::connect(sink.address).unwrap();
        for (body, status) in [
            (r#"{"name":"a problem 1","subject":"Problem: a problem 1"}"#, "200"),
            (r#"{"name":"a problem 1","subject":"[499 new] a"}"#, "200"),
            (r#"{"name":"a problem 1","subject":"[1 new, 2 resolved] a"}"#, "200"),
            ("nonsense", "400"),
        ] {
            let response = post(&mut stream, body);
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        }
        let ledger = sink.reset();
        assert_eq!((ledger.messages, ledger.problems), (3, 501));
        assert!(ledger.latency.percentile_ms(1.0) > 0.0);
        assert_eq!(sink.with(|ledger| ledger.messages), 0);
    }

    #[test]
    fn responses_wait_until_they_may_go() {
        let sink = Sink::start("127.0.0.1:0".parse().unwrap(), RealClock::shared()).unwrap();
        sink.respond(false);
        let mut stream = TcpStream::connect(sink.address).unwrap();
        let response =
            std::thread::spawn(move || post(&mut stream, r#"{"name":"a","subject":"b"}"#));
        assert_eq!(sink.with(|ledger| ledger.messages), 0);
        sink.respond(true);
        assert!(response.join().unwrap().starts_with("HTTP/1.1 200 "));
        assert_eq!(sink.with(|ledger| ledger.messages), 1);
    }
}
