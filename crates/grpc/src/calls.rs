//! The calls of `docs/history-service.proto`, by their paths.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt, unfold};
use history::service::Asker;
use hyper::body::Incoming;
use hyper::http;
use tokio::sync::OwnedSemaphorePermit;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::{Request, Response, Status, Streaming};
use tower::service_fn;
use wire::history_service::{
    Failure, MESSAGE_BYTES_MAX, NewestRequest, Page, RangeRequest, ReadRequest, Reason, Samples,
    TrendRows, TrendsRequest, WriteReply,
};

use crate::Server;
use crate::connections::{OpenCall, Usage};
use crate::incoming::{Arriving, Messages, Raw, RawCodec, arriving};
use crate::status::status;

/// One call and its caller.
struct Call {
    server: Server,
    asker: Asker,
    /// Of all connections' calls.
    _place: OwnedSemaphorePermit,
    _open: OpenCall,
}

/// Answers one call.
pub(crate) async fn answer(
    server: Server,
    peer: SocketAddr,
    request: http::Request<Incoming>,
    usage: &Usage,
) -> http::Response<Body> {
    let refuse = |failure: Failure| status(&failure).into_http();
    let Ok(place) = Arc::clone(&server.calls).try_acquire_owned() else {
        let text = format!("{} calls are open already.", server.config.calls_max);
        return refuse(Reason::Busy.with(text));
    };
    let asker = Asker { token: token(request.headers()), peer: peer.ip() };
    // Nothing is read of strangers.
    if let Err(failure) = server.gate.admit(&asker).await {
        return refuse(failure);
    }
    let call = Arc::new(Call { server, asker, _place: place, _open: usage.call() });
    let method = request.uri().path().strip_prefix("/vedette.history.v1.History/");
    match method.unwrap_or("") {
        "Write" => {
            let work = |request: Request<Streaming<Raw>>| {
                let stream = call.write_all(request.into_inner());
                async { Ok(Response::new(stream)) }
            };
            let (mut grpc, request) = call.serve::<WriteReply>(request, Messages::Many);
            grpc.streaming(service_fn(work), request).await
        }
        "WriteOnce" => {
            let work = |request: Request<Raw>| {
                let call = Arc::clone(&call);
                async move {
                    let reply = call.write(request.into_inner()).await;
                    match reply.failure {
                        Some(failure) => Err(status(&failure)),
                        None => Ok(Response::new(reply)),
                    }
                }
            };
            let (mut grpc, request) = call.serve::<WriteReply>(request, Messages::One);
            grpc.unary(service_fn(work), request).await
        }
        "Range" => {
            let read = |raw: &Raw| raw.read::<RangeRequest>().map(ReadRequest::Range);
            let work = |request| call.read(request, read, samples);
            let (mut grpc, request) = call.serve::<Samples>(request, Messages::One);
            grpc.server_streaming(service_fn(work), request).await
        }
        "Newest" => {
            let read = |raw: &Raw| raw.read::<NewestRequest>().map(ReadRequest::Newest);
            let work = |request| call.read(request, read, samples);
            let (mut grpc, request) = call.serve::<Samples>(request, Messages::One);
            grpc.server_streaming(service_fn(work), request).await
        }
        "Trends" => {
            let read = |raw: &Raw| raw.read::<TrendsRequest>().map(ReadRequest::Trends);
            let work = |request| call.read(request, read, trends);
            let (mut grpc, request) = call.serve::<TrendRows>(request, Messages::One);
            grpc.server_streaming(service_fn(work), request).await
        }
        _ => {
            let text = format!("There is no call {}.", request.uri().path());
            refuse(Reason::NoCall.with(text))
        }
    }
}

fn token(headers: &http::HeaderMap) -> Option<String> {
    let value = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ").map(|token| token.trim().to_owned())
}

fn samples(page: Page) -> Option<Samples> {
    match page {
        Page::Samples(samples) => Some(samples),
        Page::Trends(_) => None,
    }
}

fn trends(page: Page) -> Option<TrendRows> {
    match page {
        Page::Trends(trends) => Some(trends),
        Page::Samples(_) => None,
    }
}

impl Call {
    /// What speaks gRPC for the call, and its request with a bounded body.
    fn serve<Out: prost::Message + 'static>(
        &self,
        request: http::Request<Incoming>,
        messages: Messages,
    ) -> (Grpc<RawCodec<Out>>, http::Request<Arriving>) {
        let (head, body) = request.into_parts();
        let room = (&self.server.messages, self.server.config.message_timeout);
        let (body, codec) = arriving(body, messages, room);
        let grpc = Grpc::new(codec).max_decoding_message_size(MESSAGE_BYTES_MAX);
        (grpc, http::Request::from_parts(head, body))
    }

    async fn write(&self, raw: Raw) -> WriteReply {
        self.server.gate.write(&self.asker, move || raw.read()).await
    }

    /// A reply per batch. A batch that fails does not end the stream: its reply says so, and the
    /// client may send it again. A client that may not write at all gets this as the status.
    fn write_all(self: &Arc<Self>, batches: Streaming<Raw>) -> Answer<WriteReply> {
        let (call, open) = (Arc::clone(self), self.server.gate.stream());
        let replies = batches.then(move |raw| {
            let _ = &open;
            let call = Arc::clone(&call);
            async move {
                let reply = call.write(raw?).await;
                let never = |failure: &&Failure| {
                    matches!(failure.reason(), Reason::NotSignedIn | Reason::Denied)
                };
                match reply.failure.as_ref().filter(never) {
                    Some(failure) => Err(status(failure)),
                    None => Ok(reply),
                }
            }
        });
        replies.boxed()
    }

    /// The messages of an answer.
    fn read<M: Send + 'static>(
        self: &Arc<Self>,
        request: Request<Raw>,
        message: fn(&Raw) -> Result<ReadRequest, Failure>,
        of_page: fn(Page) -> Option<M>,
    ) -> impl Future<Output = Result<Response<Answer<M>>, Status>> + use<M> {
        let call = Arc::clone(self);
        async move {
            let raw = request.into_inner();
            let answer = call.server.gate.read(&call.asker, move || message(&raw)).await;
            let answer = answer.map_err(|failure| status(&failure))?;
            // The call is open until its answer has been sent.
            let messages = unfold((answer, call), move |(mut answer, call)| async move {
                let message = match answer.next().await? {
                    Ok(page) => of_page(page).ok_or_else(|| Status::internal("a page of others")),
                    Err(failure) => Err(status(&failure)),
                };
                Some((message, (answer, call)))
            });
            Ok(Response::new(messages.boxed()))
        }
    }
}

type Answer<M> = BoxStream<'static, Result<M, Status>>;
