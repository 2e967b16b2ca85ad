//! What a peer may cost this side without bringing it anything.

/// Frames without use (SETTINGS, PING, PRIORITY, empty DATA) and resets that a peer may send at once.
const BURST: u64 = 500;
/// As many are added per second.
const PER_SECOND: u64 = 100;
/// What a stream costs that the client resets, or whose error makes the server reset it.
pub(crate) const RESET_COST: u64 = 4;

/// The peer has spent all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent;

/// A token bucket: frames that cost the peer little may come as fast as it fills.
#[derive(Debug)]
pub(crate) struct Budget {
    tokens: u64,
    at_ms: u64,
}

impl Budget {
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { tokens: BURST, at_ms: now_ms }
    }

    /// The peer has sent a head or content, or has got content: it may send as many frames beside
    /// them. Clients of gRPC send a PING with the content of each round trip, browsers a priority with
    /// each request.
    pub(crate) fn earn(&mut self) {
        self.tokens = (self.tokens + 1).min(BURST);
    }

    pub(crate) fn spend(&mut self, cost: u64, now_ms: u64) -> Result<(), Spent> {
        let gained = now_ms.saturating_sub(self.at_ms).saturating_mul(PER_SECOND) / 1000;
        if gained > 0 {
            self.tokens = self.tokens.saturating_add(gained).min(BURST);
            self.at_ms = now_ms;
        }
        let rest = self.tokens.checked_sub(cost);
        self.tokens = rest.ok_or(Spent)?;
        Ok(())
    }
}

/// A budget at a time.
pub(crate) struct Purse<'b> {
    pub(crate) budget: &'b mut Budget,
    pub(crate) now_ms: u64,
}

impl Purse<'_> {
    pub(crate) fn spend(&mut self, cost: u64) -> Result<(), Spent> {
        self.budget.spend(cost, self.now_ms)
    }
}
