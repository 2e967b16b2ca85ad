//! The history service as its clients speak it, a connection at a time.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::stream::unfold;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::http::uri::PathAndQuery;
use hyper_util::rt::{TokioExecutor, TokioIo};
use stdx::clock::SharedClock;
use tokio::net::TcpStream;
use tonic::client::Grpc;
use tonic_prost::ProstCodec;
use tower::util::BoxCloneService;
use wire::history_service::{NewestRequest, RangeRequest, Samples, WriteReply, WriteRequest};

/// Batches of a stream that are sent before the first is acknowledged: the server always has the
/// next one.
const IN_FLIGHT: usize = 4;

/// Address of the service, and the token.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    /// `HOST:PORT` of gRPC.
    pub(super) grpc: String,
    /// `HOST:PORT` of HTTP.
    pub(super) http: String,
    pub(super) token: String,
}

#[derive(Debug, Clone)]
pub(super) enum Read {
    Range(RangeRequest),
    Newest(NewestRequest),
}

type Channel =
    BoxCloneService<hyper::Request<tonic::body::Body>, hyper::Response<Incoming>, hyper::Error>;

async fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address)
        .await
        .with_context(|| format!("cannot connect to {address}: does the server run there?"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// One connection that speaks gRPC.
pub(super) struct OverGrpc {
    client: Grpc<Channel>,
    token: String,
}

fn path(call: &str) -> anyhow::Result<PathAndQuery> {
    Ok(format!("/vedette.history.v1.History/{call}").parse()?)
}

impl OverGrpc {
    pub(super) async fn open(peer: &Peer) -> anyhow::Result<Self> {
        let stream = connect(&peer.grpc).await.context("the server needs --history-service")?;
        let shake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (sender, connection) = shake?;
        tokio::spawn(connection);
        let channel = BoxCloneService::new(tower::service_fn(move |request| {
            let mut sender = sender.clone();
            async move { sender.send_request(request).await }
        }));
        let origin = format!("http://{}", peer.grpc).parse()?;
        Ok(Self { client: Grpc::with_origin(channel, origin), token: peer.token.clone() })
    }

    fn signed<M>(&self, message: M) -> anyhow::Result<tonic::Request<M>> {
        let mut request = tonic::Request::new(message);
        let bearer = format!("Bearer {}", self.token).parse()?;
        request.metadata_mut().insert("authorization", bearer);
        Ok(request)
    }

    /// Sends batches over one stream until there are no more; `done` gets each reply with the time
    /// that it took.
    pub(super) async fn write(
        mut self,
        clock: &SharedClock,
        mut next: impl FnMut() -> Option<WriteRequest>,
        mut done: impl FnMut(WriteReply, Duration),
    ) -> anyhow::Result<()> {
        let (to, from) = tokio::sync::mpsc::channel(IN_FLIGHT);
        let batches = unfold(from, |mut from| async move {
            from.recv().await.map(|batch: WriteRequest| (batch, from))
        });
        let request = self.signed(batches)?;
        self.client.ready().await?;
        let codec = ProstCodec::<WriteRequest, WriteReply>::default();
        let answer = self.client.streaming(request, path("Write")?, codec).await?;
        let mut replies = answer.into_inner();
        let mut sent = VecDeque::new();
        loop {
            while sent.len() < IN_FLIGHT {
                let Some(batch) = next() else { break };
                sent.push_back(clock.monotonic());
                to.send(batch).await.context("the stream has ended")?;
            }
            let Some(at) = sent.pop_front() else { return Ok(()) };
            let reply = replies.message().await?.context("the stream has ended")?;
            done(reply, clock.monotonic() - at);
        }
    }

    /// Rows of an answer.
    pub(super) async fn read(&mut self, read: &Read) -> anyhow::Result<u64> {
        self.client.ready().await?;
        let answer = match read {
            Read::Range(range) => {
                let request = self.signed(range.clone())?;
                let codec = ProstCodec::<RangeRequest, Samples>::default();
                self.client.server_streaming(request, path("Range")?, codec).await?
            }
            Read::Newest(newest) => {
                let request = self.signed(newest.clone())?;
                let codec = ProstCodec::<NewestRequest, Samples>::default();
                self.client.server_streaming(request, path("Newest")?, codec).await?
            }
        };
        let mut pages = answer.into_inner();
        let mut rows = 0;
        while let Some(page) = pages.message().await? {
            rows += page.samples.len() as u64;
        }
        Ok(rows)
    }
}

/// One connection that speaks HTTP with JSON.
pub(super) struct OverHttp {
    sender: http1::SendRequest<String>,
    peer: Peer,
}

impl OverHttp {
    pub(super) async fn open(peer: &Peer) -> anyhow::Result<Self> {
        let stream = connect(&peer.http).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, peer: peer.clone() })
    }

    async fn post(&mut self, call: &str, body: String) -> anyhow::Result<Vec<u8>> {
        let request = hyper::Request::post(format!("/api/history/{call}"))
            .header(HOST, &self.peer.http)
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {}", self.peer.token))
            .body(body)?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            bail!("HTTP status {status}: {}", String::from_utf8_lossy(&bytes));
        }
        Ok(bytes.into())
    }

    pub(super) async fn write_once(&mut self, batch: &WriteRequest) -> anyhow::Result<WriteReply> {
        let bytes = self.post("write", serde_json::to_string(batch)?).await?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// As [`OverGrpc::write`], one batch after the other.
    pub(super) async fn write(
        mut self,
        clock: &SharedClock,
        mut next: impl FnMut() -> Option<WriteRequest>,
        mut done: impl FnMut(WriteReply, Duration),
    ) -> anyhow::Result<()> {
        while let Some(batch) = next() {
            let at = clock.monotonic();
            let reply = self.write_once(&batch).await?;
            done(reply, clock.monotonic() - at);
        }
        Ok(())
    }

    /// Rows of an answer.
    pub(super) async fn read(&mut self, read: &Read) -> anyhow::Result<u64> {
        let bytes = match read {
            Read::Range(range) => self.post("range", serde_json::to_string(range)?).await?,
            Read::Newest(newest) => self.post("newest", serde_json::to_string(newest)?).await?,
        };
        let mut rows = 0;
        for page in serde_json::Deserializer::from_slice(&bytes).into_iter::<Samples>() {
            rows += page.context("the answer broke off")?.samples.len() as u64;
        }
        Ok(rows)
    }
}
