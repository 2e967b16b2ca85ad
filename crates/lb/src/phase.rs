//! The phases in which an engine ends.

/// How long threads wait before they look again what is left, in milliseconds.
pub(crate) const LOOK_MS: u64 = 50;

/// How far an engine is with its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    #[default]
    Serving,
    /// The response to the next request of each connection is its last one.
    Leaving,
    /// No connection is begun: clients that try repeat it a second later, elsewhere.
    Quiet,
    /// Connections without a request in progress are closed.
    Resting,
    /// Others accept connections.
    Closed,
}

/// What a thread still has to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Connections of clients.
    pub(crate) connections: usize,
    /// Requests in progress, and those that clients who have just connected are about to send.
    pub(crate) requests: usize,
}

/// What a thread has seen of the engine's end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) phase: Phase,
    /// When it last looked what is left, in monotonic milliseconds.
    pub(crate) looked_ms: u64,
}
