//! Calls over a real connection, answered by a service that tells what it was asked.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use history::service::{Asker, Counters, Figures, Gate, Limits, Pages, Service};
use hyper::http::uri::PathAndQuery;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use tower::util::BoxCloneService;
use wire::history_service::{
    Failure, Page, RangeRequest, ReadRequest, Reason, Sample, Samples, TrendRows, TrendsRequest,
    Value, WriteReply, WriteRequest,
};

/// Writes wait while the gate is shut.
#[derive(Default)]
struct Fake {
    shut: Mutex<bool>,
    opened: Condvar,
    written: Mutex<Vec<u64>>,
    pages: Arc<AtomicUsize>,
}

impl Fake {
    fn shut(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.opened.notify_all();
    }
}

impl Service for Fake {
    fn known(&self, asker: &Asker) -> Result<(), Failure> {
        match asker.token.as_deref() {
            Some("good") => Ok(()),
            _ => Err(Reason::NotSignedIn.with("who is it?")),
        }
    }

    fn write(&self, asker: &Asker, request: WriteRequest) -> WriteReply {
        let mut shut = self.shut.lock().unwrap();
        while *shut {
            shut = self.opened.wait(shut).unwrap();
        }
        drop(shut);
        self.written.lock().unwrap().push(request.sequence);
        assert_eq!(asker.token.as_deref(), Some("good"));
        let failure = match request.sequence {
            13 => Some(Reason::NotKept.with("the disk is full")),
            66 => Some(Reason::NotSignedIn.with("no longer")),
            99 => panic!("a bug"),
            _ => None,
        };
        let kept = if failure.is_none() { request.values.len() as u64 } else { 0 };
        WriteReply { sequence: request.sequence, kept, failure, ..WriteReply::default() }
    }

    fn read(&self, asker: &Asker, request: ReadRequest) -> Result<Box<dyn Pages>, Failure> {
        assert_eq!(asker.token.as_deref(), Some("good"));
        Ok(match request {
            ReadRequest::Range(range) => {
                Box::new(Many { left: range.limit, asked: Arc::clone(&self.pages) })
            }
            ReadRequest::Newest(_) | ReadRequest::Trends(_) => Box::new(Broken(false)),
        })
    }
}

/// Pages of 64 KiB.
struct Many {
    left: u64,
    asked: Arc<AtomicUsize>,
}

impl Pages for Many {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        self.asked.fetch_add(1, Ordering::SeqCst);
        let sample = Sample { text: Some("x".repeat(64 << 10)), ..Sample::default() };
        Ok(Some(Page::Samples(Samples { itemid: left, samples: vec![sample] })))
    }
}

/// One page, then a failure.
struct Broken(bool);

impl Pages for Broken {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        if self.0 {
            return Err(Reason::NotRead.with("it is gone"));
        }
        self.0 = true;
        Ok(Some(Page::Trends(TrendRows { itemid: 1, ..TrendRows::default() })))
    }
}

type Channel =
    BoxCloneService<hyper::Request<Body>, hyper::Response<hyper::body::Incoming>, hyper::Error>;

/// Connections that a rig serves at the same time.
const CONNECTIONS: usize = 3;

struct Rig {
    fake: Arc<Fake>,
    counters: Arc<Counters>,
    address: SocketAddr,
    channel: Channel,
}

async fn connect(address: SocketAddr) -> Channel {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    BoxCloneService::new(tower::service_fn(move |request: hyper::Request<Body>| {
        let mut sender = sender.clone();
        async move { sender.send_request(request).await }
    }))
}

impl Rig {
    async fn start(config: grpc::Config, limits: Limits) -> Self {
        let fake = Arc::new(Fake::default());
        let counters = Arc::<Counters>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Arc::clone(&fake) as Arc<dyn Service>;
        let gate = Gate::new(service, limits, Arc::clone(&counters));
        let server = grpc::Server::new(gate, config);
        let places = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
        tokio::spawn(async move {
            loop {
                let place = Arc::clone(&places).acquire_owned().await;
                let (stream, peer) = listener.accept().await.unwrap();
                let server = server.clone();
                tokio::spawn(async move {
                    server.connection(stream, peer).await;
                    drop(place);
                });
            }
        });
        Self { fake, counters, address, channel: connect(address).await }
    }

    async fn usual() -> Self {
        Self::start(grpc::Config::default(), Limits::default()).await
    }

    async fn client(&self) -> Grpc<Channel> {
        let origin = "http://localhost".parse().unwrap();
        let mut client = Grpc::with_origin(self.channel.clone(), origin);
        client.ready().await.unwrap();
        client
    }

    async fn once(&self, token: &str, request: WriteRequest) -> Result<WriteReply, Status> {
        let codec = ProstCodec::<WriteRequest, WriteReply>::default();
        let mut client = self.client().await;
        let answer = client.unary(signed(token, request), path("WriteOnce"), codec).await;
        answer.map(tonic::Response::into_inner)
    }

    async fn range(&self, limit: u64) -> Result<tonic::Streaming<Samples>, Status> {
        let request = RangeRequest { limit, ..RangeRequest::default() };
        let codec = ProstCodec::<RangeRequest, Samples>::default();
        let mut client = self.client().await;
        let answer = client.server_streaming(signed("good", request), path("Range"), codec).await;
        answer.map(tonic::Response::into_inner)
    }
}

fn path(call: &str) -> PathAndQuery {
    format!("/vedette.history.v1.History/{call}").parse().unwrap()
}

fn signed<M>(token: &str, message: M) -> Request<M> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
}

fn batch(sequence: u64) -> WriteRequest {
    WriteRequest { sequence, values: vec![Value::default()], ..WriteRequest::default() }
}

fn reason(status: &Status) -> &str {
    status.metadata().get("vedette-reason").map_or("", |reason| reason.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_gets_a_reply_for_each_batch_in_order() {
    let rig = Rig::usual().await;
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let batches = signed("good", stream::iter((0..101).filter(|n| *n != 66).map(batch)));
    let answer = rig.client().await.streaming(batches, path("Write"), codec).await.unwrap();
    let replies: Vec<WriteReply> = answer.into_inner().map(|reply| reply.unwrap()).collect().await;
    assert_eq!(replies.len(), 100);
    for (n, reply) in (0..101).filter(|n| *n != 66).zip(&replies) {
        assert_eq!((reply.sequence, reply.kept), (n, u64::from(n != 13 && n != 99)));
        // Values that cannot be stored are reported, and the stream stays open.
        let reason = reply.failure.as_ref().map(|failure| &*failure.reason);
        let expected = match n {
            13 => Some("not_kept"),
            99 => Some("internal"),
            _ => None,
        };
        assert_eq!(reason, expected, "{n}");
    }
    let failure = replies[98].failure.as_ref().unwrap();
    assert_eq!((&*failure.reason, failure.retry), ("internal", false), "a panic is no silence");
    let figures = rig.counters.read();
    assert_eq!((figures.writes, figures.kept, figures.failed), (100, 98, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_statuses_with_trailers() {
    let rig = Rig::usual().await;
    assert_eq!(rig.once("good", batch(7)).await.unwrap().sequence, 7);
    for (token, sequence, code, expected) in [
        ("bad", 1, Code::Unauthenticated, "not_signed_in"),
        ("good", 13, Code::Unavailable, "not_kept"),
        ("good", 99, Code::Internal, "internal"),
    ] {
        let status = rig.once(token, batch(sequence)).await.unwrap_err();
        assert_eq!((status.code(), reason(&status)), (code, expected));
    }
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let endless = signed("bad", stream::iter((0..10_000).map(batch)));
    let answer = rig.client().await.streaming(endless, path("Write"), codec).await;
    let status = answer.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unauthenticated, "not_signed_in"));
    // A token that is good no longer ends the stream.
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let revoked = signed("good", stream::iter((60..10_000).map(batch)));
    let answer = rig.client().await.streaming(revoked, path("Write"), codec).await.unwrap();
    let replies: Vec<_> = answer.into_inner().collect().await;
    let status = replies.last().unwrap().as_ref().unwrap_err();
    assert_eq!((replies.len(), reason(status)), (7, "not_signed_in"));
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let nowhere = signed("good", batch(1));
    let status = rig.client().await.unary(nowhere, path("Erase"), codec).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unimplemented, "no_call"));

    let codec = ProstCodec::<TrendsRequest, TrendRows>::default();
    let request = signed("good", TrendsRequest::default());
    let answer = rig.client().await.server_streaming(request, path("Trends"), codec).await;
    let mut rows = answer.unwrap().into_inner();
    assert_eq!(rows.next().await.unwrap().unwrap().itemid, 1);
    let status = rows.next().await.unwrap().unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unavailable, "not_read"));

    let large = WriteRequest {
        values: vec![Value { text: Some("x".repeat(17 << 20)), ..Value::default() }],
        ..WriteRequest::default()
    };
    assert_eq!(rig.once("good", large).await.unwrap_err().code(), Code::OutOfRange);
    assert_eq!(rig.once("good", batch(8)).await.unwrap().sequence, 8, "the connection goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn senders_respect_the_receivers_limits() {
    let rig =
        Rig::start(grpc::Config::default(), Limits { answers_max: 2, ..Limits::default() }).await;
    let mut first = rig.range(u64::MAX).await.unwrap();
    for n in 1..=5 {
        assert_eq!(first.next().await.unwrap().unwrap().itemid, u64::MAX - n);
    }
    // While others are served, the pages that nobody takes are not read: the windows of HTTP/2 and
    // the kernel hold a few megabytes, which are 64 pages.
    for n in 0..200 {
        assert_eq!(rig.once("good", batch(1_000 + n)).await.unwrap().kept, 1);
    }
    let pages = rig.fake.pages.load(Ordering::SeqCst);
    assert!(pages < 500, "{pages} pages were read for 5 taken");
    // Places for answers are bounded, and come back with an answer's end.
    let second = rig.range(u64::MAX).await.unwrap();
    let status = rig.range(1).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::ResourceExhausted, "busy"));
    assert_eq!(rig.counters.read().answers, 2);
    drop((first, second));
    while rig.range(1).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unread_response_loses_its_place() {
    let patience = Duration::from_millis(1);
    let limits = Limits { answers_max: 1, patience, ..Limits::default() };
    let rig = Rig::start(grpc::Config::default(), limits).await;
    let mut stopped = rig.range(u64::MAX).await.unwrap();
    while rig.range(1).await.is_err() {
        tokio::task::yield_now().await;
    }
    // Its reader gets what was on the way, and why there is no more.
    let status = loop {
        if let Err(status) = stopped.next().await.unwrap() {
            break status;
        }
    };
    assert_eq!((status.code(), reason(&status)), (Code::ResourceExhausted, "busy"));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_wait_for_room_and_give_it_back() {
    let config = grpc::Config { messages_bytes_max: 17 << 20, ..grpc::Config::default() };
    let rig = Rig::start(config, Limits::default()).await;
    let large = |sequence: u64| WriteRequest {
        sequence,
        values: vec![Value { text: Some("x".repeat(15 << 20)), ..Value::default() }],
        ..WriteRequest::default()
    };
    // One at a time has room: the others wait, and all are served.
    let calls = (1_000..1_003).map(|n| rig.once("good", large(n)));
    let replies = futures_util::future::join_all(calls).await;
    let replies: Vec<u64> = replies.into_iter().map(|reply| reply.unwrap().sequence).collect();
    assert_eq!(replies, [1_000, 1_001, 1_002]);
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let batches = signed("good", stream::iter((1_000..1_002).map(large)));
    let answer = rig.client().await.streaming(batches, path("Write"), codec).await.unwrap();
    let replies: Vec<_> = answer.into_inner().map(|reply| reply.unwrap().sequence).collect().await;
    assert_eq!(replies, [1_000, 1_001]);
    let expected = Figures { writes: 5, kept: 5, ..Figures::default() };
    assert_eq!(rig.counters.read(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_long_batch_is_reported_and_the_stream_continues() {
    let rig = Rig::usual().await;
    let many = WriteRequest { values: vec![Value::default(); 10_001], ..WriteRequest::default() };
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let batches = signed("good", stream::iter([batch(1), many, batch(2)]));
    let answer = rig.client().await.streaming(batches, path("Write"), codec).await.unwrap();
    let replies: Vec<_> = answer.into_inner().map(|reply| reply.unwrap()).collect().await;
    let of = |n: usize| replies[n].failure.as_ref().map_or("", |failure| &*failure.reason);
    assert_eq!([of(0), of(1), of(2)], ["", "invalid", ""]);
    assert_eq!(rig.fake.written.lock().unwrap().as_slice(), [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_waits_while_the_server_does() {
    let rig = Rig::usual().await;
    rig.fake.shut(true);
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let batches = stream::iter(0..200_u64).map(move |sequence| {
        counted.fetch_add(1, Ordering::SeqCst);
        let text = Some("x".repeat(1 << 20));
        WriteRequest {
            sequence: 1_000 + sequence,
            values: vec![Value { text, ..Value::default() }],
            ..WriteRequest::default()
        }
    });
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let mut client = rig.client().await;
    let call = tokio::spawn(async move {
        let answer = client.streaming(signed("good", batches), path("Write"), codec).await;
        answer.unwrap().into_inner().map(|reply| reply.unwrap().sequence).collect::<Vec<_>>().await
    });
    // The connection itself goes on while the stream waits.
    for _ in 0..50 {
        drop(rig.range(0).await.unwrap());
    }
    let waiting = sent.load(Ordering::SeqCst);
    assert!(waiting < 50, "{waiting} MiB were taken of a stream that nobody reads");
    assert!(rig.fake.written.lock().unwrap().is_empty());
    rig.fake.shut(false);
    assert_eq!(call.await.unwrap(), (1_000..1_200).collect::<Vec<_>>());
    assert_eq!(*rig.fake.written.lock().unwrap(), (1_000..1_200).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_end() {
    // Longer than a busy machine needs until the next call.
    let idle = Duration::from_secs(2);
    let config = grpc::Config { first_call: idle, idle, ..grpc::Config::default() };
    let mut rig = Rig::start(config, Limits::default()).await;
    // A stream that is open is a call, however long nothing is sent on it.
    let (to, batches) = tokio::sync::mpsc::channel(1);
    let batches =
        stream::unfold(batches, async |mut batches| Some((batches.recv().await?, batches)));
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let batches = signed("good", batches);
    let answer = rig.client().await.streaming(batches, path("Write"), codec).await.unwrap();
    let mut replies = answer.into_inner();
    // The other places are taken: by who says nothing, and by who begins and says nothing more.
    let mut silent = Vec::new();
    for n in 0..=CONNECTIONS {
        let mut stream = TcpStream::connect(rig.address).await.unwrap();
        if n % 2 == 0 {
            stream.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
        }
        silent.push(stream);
    }
    // A stranger's calls keep none either.
    let stream = TcpStream::connect(rig.address).await.unwrap();
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let stranger = tokio::spawn(connection);
    let asks = tokio::spawn(async move {
        let mut sender = sender;
        while sender.ready().await.is_ok() {
            let request = hyper::Request::post("http://localhost/").body(Body::empty()).unwrap();
            drop(sender.send_request(request).await);
        }
    });
    for stream in &mut silent {
        // Whatever is said to them, then nothing.
        drop(stream.read_to_end(&mut Vec::new()).await);
    }
    drop(stranger.await.unwrap());
    asks.await.unwrap();
    to.send(batch(5)).await.unwrap();
    assert_eq!(replies.next().await.unwrap().unwrap().sequence, 5);
    drop(to);
    assert!(replies.next().await.is_none());
    // So is an answer, until all of it was taken.
    let mut answer = rig.range(500).await.unwrap();
    tokio::time::sleep(idle * 2).await;
    for n in (0..500).rev() {
        assert_eq!(answer.next().await.unwrap().unwrap().itemid, n);
    }
    drop(answer);
    // Behind its last call this one ends too, and the next starts over.
    while rig.once("good", batch(6)).await.is_ok() {
        tokio::time::sleep(idle * 2).await;
    }
    rig.channel = connect(rig.address).await;
    assert_eq!(rig.once("good", batch(7)).await.unwrap().sequence, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_never_begins_is_not_waited_for() {
    let message_timeout = Duration::from_millis(50);
    let config = grpc::Config { message_timeout, ..grpc::Config::default() };
    let rig = Rig::start(config, Limits::default()).await;
    for call in ["WriteOnce", "Range"] {
        let codec = ProstCodec::<WriteRequest, WriteReply>::default();
        let never = signed("good", stream::pending());
        let answer = rig.client().await.streaming(never, path(call), codec).await;
        let status = answer.map(drop).unwrap_err();
        assert_eq!((status.code(), reason(&status)), (Code::InvalidArgument, "invalid"), "{call}");
    }
}
