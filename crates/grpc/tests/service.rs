//! Calls over a real connection, answered by a service that tells what it was asked.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use futures_util::{StreamExt, stream};
use history::service::{Asker, Pages, Service};
use hyper::http::uri::PathAndQuery;
use hyper_util::rt::{TokioExecutor, TokioIo};
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
    fn write(&self, asker: &Asker, request: WriteRequest) -> WriteReply {
        let mut shut = self.shut.lock().unwrap();
        while *shut {
            shut = self.opened.wait(shut).unwrap();
        }
        drop(shut);
        self.written.lock().unwrap().push(request.sequence);
        let failure = match (asker.token.as_deref(), request.sequence) {
            (Some("good"), 13) => Some(Reason::NotKept.with("the disk is full")),
            (Some("good"), 99) => panic!("a bug"),
            (Some("good"), _) => None,
            _ => Some(Reason::NotSignedIn.with("who is it?")),
        };
        let kept = request.values.len() as u64;
        WriteReply { sequence: request.sequence, kept, failure, ..WriteReply::default() }
    }

    fn read(&self, asker: &Asker, request: ReadRequest) -> Result<Box<dyn Pages>, Failure> {
        if asker.token.as_deref() != Some("good") {
            return Err(Reason::NotSignedIn.with("who is it?"));
        }
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

struct Rig {
    fake: Arc<Fake>,
    channel: Channel,
}

async fn connect(address: SocketAddr) -> Channel {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
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
    async fn start(config: grpc::Config) -> Self {
        let fake = Arc::new(Fake::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Arc::clone(&fake) as Arc<dyn Service>;
        let server = grpc::Server::new(service, config);
        tokio::spawn(async move {
            let (stream, peer) = listener.accept().await.unwrap();
            server.connection(stream, peer).await;
        });
        Self { fake, channel: connect(address).await }
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
    let rig = Rig::start(grpc::Config::default()).await;
    let codec = ProstCodec::<WriteRequest, WriteReply>::default();
    let batches = signed("good", stream::iter((0..100).map(batch)));
    let answer = rig.client().await.streaming(batches, path("Write"), codec).await.unwrap();
    let replies: Vec<WriteReply> = answer.into_inner().map(|reply| reply.unwrap()).collect().await;
    assert_eq!(replies.len(), 100);
    for (n, reply) in (0..).zip(&replies) {
        assert_eq!((reply.sequence, reply.kept), (n, u64::from(n != 99)));
        // What cannot be kept is told, and the stream goes on.
        let reason = reply.failure.as_ref().map(|failure| &*failure.reason);
        let expected = match n {
            13 => Some("not_kept"),
            99 => Some("internal"),
            _ => None,
        };
        assert_eq!(reason, expected, "{n}");
    }
    let failure = replies[99].failure.as_ref().unwrap();
    assert_eq!((&*failure.reason, failure.retry), ("internal", false), "a panic is no silence");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_statuses_with_trailers() {
    let rig = Rig::start(grpc::Config::default()).await;
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
    let answer = rig.client().await.streaming(endless, path("Write"), codec).await.unwrap();
    let status = answer.into_inner().next().await.unwrap().unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unauthenticated, "not_signed_in"));

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
async fn nobody_is_sent_more_than_they_take() {
    let rig = Rig::start(grpc::Config { reads_max: 2, ..grpc::Config::default() }).await;
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
    let mut second = rig.range(3).await.unwrap();
    let status = rig.range(1).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::ResourceExhausted, "busy"));
    while second.next().await.is_some() {}
    drop(first);
    while rig.range(1).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_waits_while_the_server_does() {
    let rig = Rig::start(grpc::Config::default()).await;
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
