//! What the history service does, whatever it is asked through: HTTP or gRPC.
//!
//! A request: HTTP or gRPC → [`Gate`] (places, figures; the message is read there) → [`Service`].

mod answer;
mod gate;

use std::net::IpAddr;

use wire::history_service::{Failure, Page, ReadRequest, WriteReply, WriteRequest};

pub use answer::Answer;
pub use gate::{Counters, Figures, Gate, Limits, Open};

/// The caller.
#[derive(Debug, Clone)]
pub struct Asker {
    /// API token, as it came; `None` = there was none.
    pub token: Option<String>,
    /// Address of the client.
    pub peer: IpAddr,
}

/// Writes and reads for other programs, with the rights of the user whose token they have. The
/// methods block; rights are looked at with each call.
pub trait Service: Send + Sync {
    /// Whether the token is a good one: what is said to others before anything is read of them.
    fn known(&self, asker: &Asker) -> Result<(), Failure>;

    /// Keeps values. The reply acknowledges what the log of writes has, and with `synced` what
    /// the disk has.
    fn write(&self, asker: &Asker, request: WriteRequest) -> WriteReply;

    /// Begins a read.
    fn read(&self, asker: &Asker, request: ReadRequest) -> Result<Box<dyn Pages>, Failure>;
}

/// An answer in parts: the next one is read when it is asked for, so that memory is bounded by one.
pub trait Pages: Send {
    /// The next part; `None` = that was all. Blocks. After a failure there is nothing more.
    fn next(&mut self) -> Result<Option<Page>, Failure>;
}
