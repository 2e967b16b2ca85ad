//! The side of other layers that listeners need.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use collect::queue::QueueReport;
use model::SeenAgent;

/// An answer that takes its time.
pub type Answer<T = String> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request of the trapper port that the trapper cannot answer alone: everything that carries a
/// session id (`history.push`, `queue.get`, `item.test`, `expressions.evaluate`, `status.get`,
/// `command`, `alert.send`, …) and the statistics of `zabbix.stats`.
///
/// `wire::trapper::Request::parse` reads `text`.
#[derive(Debug)]
pub struct Request {
    /// The member `request`.
    pub name: String,
    /// The whole message.
    pub text: String,
    /// Address of the client.
    pub peer: IpAddr,
}

/// Requests for the layers beside this one.
pub trait Backend: Send + Sync + 'static {
    /// Answers one request; `None` = no such request. The answer is the JSON text,
    /// with `response` and, for `failed`, `info`.
    fn request(&self, request: Request) -> Option<Answer>;

    /// The items that are late now, without details.
    fn queue(&self) -> Answer<QueueReport>;

    /// A host asked for active checks over an allowed connection: an unknown one, or one that
    /// tells of itself what it has not told since the start. Must not block.
    fn autoregister(&self, _seen: SeenAgent) {}
}
