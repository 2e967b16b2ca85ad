//! How many messages an address takes.

use eval::num::parse_seconds;
use serde_json::Value as Json;

use super::Tell;

/// Messages beyond the limit are gathered for at least this long.
const GATHER_S: i64 = 60;

/// So many messages in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    messages: i64,
    period_ms: i64,
}

impl Limit {
    /// From the column of a media type; `None` = it has none, or one of a later version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let all: Json = serde_json::from_str(text).ok()?;
        let messages = all.get("messages")?;
        let messages = messages.as_i64().or_else(|| messages.as_str()?.parse().ok())?;
        let period = i64::from(parse_seconds(all.get("period")?.as_str()?)?);
        (messages > 0 && period > 0).then_some(Self { messages, period_ms: period * 1_000 })
    }

    /// After this time there is room for one more.
    const fn cost_ms(self) -> i64 {
        self.period_ms / self.messages
    }
}

/// What an address has taken of its limit: a bucket of tokens, known by when it is full again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Brake {
    /// Milliseconds since 1970.
    pub(crate) full_ms: i64,
    /// Messages wait.
    pub(crate) waiting: bool,
    /// When to look at it.
    pub(crate) due: i64,
}

impl Brake {
    /// A message comes: whether it may go. While others wait, it waits, too.
    pub(crate) fn pass(self, now: i64, limit: Limit) -> (bool, Self) {
        let due = self.room_at(now, limit).max(now.saturating_add(GATHER_S));
        if self.waiting {
            // The limit may be higher than when the first one was held back.
            return (false, Self { due: self.due.min(due), ..self });
        }
        match self.take(now, limit) {
            Some(next) => (true, next),
            None => (false, Self { waiting: true, due, ..self }),
        }
    }

    /// What is due, and what follows once it is done. Without a limit, all that waits is told. `None` = there is nothing
    /// to remember.
    pub(crate) fn look(self, now: i64, waiting: u64, limit: Option<Limit>) -> (Tell, Option<Self>) {
        let Some(limit) = limit else { return (Tell::of(waiting), None) };
        if waiting == 0 {
            let rests = self.full_ms > now.saturating_mul(1_000);
            let rest = Self { waiting: false, due: up_to_seconds(self.full_ms), ..self };
            return (Tell::Nothing, rests.then_some(rest));
        }
        match self.take(now, limit) {
            Some(next) => (Tell::of(waiting), Some(next)),
            None => {
                let due = self.room_at(now, limit).max(now + 1);
                (Tell::Nothing, Some(Self { waiting: true, due, ..self }))
            }
        }
    }

    /// Takes a token. `None` = there is none.
    fn take(self, now: i64, limit: Limit) -> Option<Self> {
        let full = self.full_at(now, limit).saturating_add(limit.cost_ms());
        let fits = full - now.saturating_mul(1_000) <= limit.period_ms;
        fits.then(|| Self { full_ms: full, waiting: false, due: up_to_seconds(full) })
    }

    /// The second in which there is a token.
    fn room_at(self, now: i64, limit: Limit) -> i64 {
        up_to_seconds(self.full_at(now, limit) + limit.cost_ms() - limit.period_ms)
    }

    /// When it is full again. A bucket is never emptier than empty, though its limit was lower.
    fn full_at(self, now: i64, limit: Limit) -> i64 {
        let now = now.saturating_mul(1_000);
        self.full_ms.clamp(now, now.saturating_add(limit.period_ms))
    }
}

fn up_to_seconds(ms: i64) -> i64 {
    ms.saturating_add(999) / 1_000
}
