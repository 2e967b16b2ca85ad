//! The calls of `docs/history-service.proto`, by their paths.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt, unfold};
use history::service::{Asker, Pages};
use hyper::body::Incoming;
use hyper::http;
use tokio::sync::OwnedSemaphorePermit;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;
use wire::history_service::{
    Failure, MESSAGE_BYTES_MAX, NewestRequest, Page, RangeRequest, ReadRequest, Reason, Samples,
    TrendRows, TrendsRequest, WriteReply, WriteRequest,
};

use crate::Server;
use crate::status::status;

/// One call, with who asks.
struct Call {
    server: Server,
    asker: Asker,
}

/// Answers one call.
pub(crate) async fn answer(
    server: Server,
    peer: SocketAddr,
    request: http::Request<Incoming>,
) -> http::Response<Body> {
    let asker = Asker { token: token(request.headers()), peer: peer.ip() };
    let call = Arc::new(Call { server, asker });
    let method = request.uri().path().strip_prefix("/vedette.history.v1.History/");
    match method.unwrap_or("") {
        "Write" => {
            let work = |request: Request<Streaming<WriteRequest>>| {
                let stream = call.write_all(request.into_inner());
                async { Ok(Response::new(stream)) }
            };
            codec::<WriteReply, WriteRequest>().streaming(service_fn(work), request).await
        }
        "WriteOnce" => {
            let work = |request: Request<WriteRequest>| {
                let call = Arc::clone(&call);
                async move {
                    let reply = call.write(request.into_inner()).await;
                    match reply.failure {
                        Some(failure) => Err(status(&failure)),
                        None => Ok(Response::new(reply)),
                    }
                }
            };
            codec::<WriteReply, WriteRequest>().unary(service_fn(work), request).await
        }
        "Range" => {
            let work = |request: Request<RangeRequest>| {
                call.read(ReadRequest::Range(request.into_inner()), samples)
            };
            codec::<Samples, RangeRequest>().server_streaming(service_fn(work), request).await
        }
        "Newest" => {
            let work = |request: Request<NewestRequest>| {
                call.read(ReadRequest::Newest(request.into_inner()), samples)
            };
            codec::<Samples, NewestRequest>().server_streaming(service_fn(work), request).await
        }
        "Trends" => {
            let work = |request: Request<TrendsRequest>| {
                call.read(ReadRequest::Trends(request.into_inner()), trends)
            };
            codec::<TrendRows, TrendsRequest>().server_streaming(service_fn(work), request).await
        }
        _ => {
            let text = format!("There is no call {}.", request.uri().path());
            status(&Reason::NoCall.with(text)).into_http()
        }
    }
}

fn codec<Out, In>() -> Grpc<ProstCodec<Out, In>>
where
    ProstCodec<Out, In>: tonic::codec::Codec + Default,
{
    Grpc::new(ProstCodec::default()).max_decoding_message_size(MESSAGE_BYTES_MAX)
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

fn broken(error: &tokio::task::JoinError) -> Failure {
    tracing::error!(%error, "a call of the history service broke");
    Reason::Internal.with("Internal error. See the server's log.")
}

fn stopping() -> Failure {
    Reason::Stopping.with("The server stops.")
}

impl Call {
    /// Writes a batch when it is its turn.
    async fn write(self: &Arc<Self>, request: WriteRequest) -> WriteReply {
        let sequence = request.sequence;
        let Ok(permit) = Arc::clone(&self.server.writes).acquire_owned().await else {
            return WriteReply { sequence, failure: Some(stopping()), ..WriteReply::default() };
        };
        let call = Arc::clone(self);
        let work = move || {
            let _permit = permit;
            call.server.service.write(&call.asker, request)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| WriteReply {
            sequence,
            failure: Some(broken(&error)),
            ..WriteReply::default()
        })
    }

    /// A reply per batch. A batch that fails does not end the stream: its reply says so, and the
    /// client may send it again. Who may not write at all is told by the status.
    fn write_all(self: &Arc<Self>, requests: Streaming<WriteRequest>) -> Answer<WriteReply> {
        let call = Arc::clone(self);
        let replies = requests.then(move |request| {
            let call = Arc::clone(&call);
            async move {
                let reply = call.write(request?).await;
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

    /// The messages of an answer, each read from history when there is room for it.
    fn read<M: Send + 'static>(
        self: &Arc<Self>,
        request: ReadRequest,
        of_page: fn(Page) -> Option<M>,
    ) -> impl Future<Output = Result<Response<Answer<M>>, Status>> + use<M> {
        let call = Arc::clone(self);
        async move {
            let Ok(permit) = Arc::clone(&call.server.reads).try_acquire_owned() else {
                let most = call.server.config.reads_max;
                let text = format!("{most} answers are sent at once already.");
                return Err(status(&Reason::Busy.with(text)));
            };
            let begin = move || call.server.service.read(&call.asker, request);
            let begun = tokio::task::spawn_blocking(begin).await;
            let pages =
                begun.unwrap_or_else(|error| Err(broken(&error))).map_err(|f| status(&f))?;
            let rest = Some(Rest { pages, _permit: permit });
            let messages = unfold(rest, move |rest| async move { rest?.next(of_page).await });
            Ok(Response::new(messages.boxed()))
        }
    }
}

type Answer<M> = BoxStream<'static, Result<M, Status>>;

/// What is to be sent of an answer.
struct Rest {
    pages: Box<dyn Pages>,
    /// The answer counts until its reader has all of it.
    _permit: OwnedSemaphorePermit,
}

impl Rest {
    /// The next message, and what is left after it; a failure is the last one.
    async fn next<M>(
        mut self,
        of_page: fn(Page) -> Option<M>,
    ) -> Option<(Result<M, Status>, Option<Self>)> {
        loop {
            match tokio::task::spawn_blocking(move || (self.pages.next(), self)).await {
                Ok((Ok(None), _)) => return None,
                Ok((Ok(Some(page)), rest)) => match of_page(page) {
                    Some(message) => return Some((Ok(message), Some(rest))),
                    None => self = rest,
                },
                Ok((Err(failure), _)) => return Some((Err(status(&failure)), None)),
                Err(error) => return Some((Err(status(&broken(&error))), None)),
            }
        }
    }
}
