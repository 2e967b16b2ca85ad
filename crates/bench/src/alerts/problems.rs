//! Values that open a problem each.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::bail;
use serde_json::{Value, json};
use stdx::clock::SharedClock;

use super::objects::{key, problem};
use super::sink::Sink;
use crate::send::send;

/// Between two requests at a fixed rate.
const PAUSE: Duration = Duration::from_millis(10);
/// Values of a request, where they are sent as fast as possible.
const BATCH: u64 = 1_000;

/// Items in turn, over all hosts.
pub(super) struct Problems<'a> {
    pub(super) server: SocketAddr,
    pub(super) hosts: &'a [String],
    pub(super) items: usize,
    pub(super) clock: SharedClock,
    /// Number of the next value.
    pub(super) next: usize,
}

impl Problems<'_> {
    /// The next item: one host after the other, then the next item of each.
    fn item(&self, number: usize) -> (&str, usize) {
        let host = &self.hosts[number % self.hosts.len()];
        (host, number / self.hosts.len() % self.items)
    }

    /// Opens problems with one request.
    pub(super) fn open(&mut self, count: u64, sink: &Sink) -> anyhow::Result<()> {
        let numbers = self.next..self.next + usize::try_from(count)?;
        self.next = numbers.end;
        let items: Vec<(&str, usize)> = numbers.map(|number| self.item(number)).collect();
        let value = |(host, item): &(&str, usize)| -> Value {
            json!({ "host": host, "key": key(*item), "value": "1" })
        };
        let data: Vec<Value> = items.iter().map(value).collect();
        let request = json!({ "request": "sender data", "data": data }).to_string();
        let request = wire::zbxd::encode(request.as_bytes(), wire::zbxd::PROTOCOL);
        let now = self.clock.monotonic();
        sink.with(|ledger| {
            items.iter().for_each(|(host, item)| ledger.sends(problem(host, *item), now));
        });
        let outcome = send(self.server, &request)?;
        if outcome.failed > 0 {
            bail!("the server refused {} values", outcome.failed);
        }
        Ok(())
    }

    /// Opens problems as fast as the server accepts values; returns the time.
    pub(super) fn burst(&mut self, count: u64, sink: &Sink) -> anyhow::Result<Duration> {
        let start = self.clock.monotonic();
        let mut left = count;
        while left > 0 {
            let batch = left.min(BATCH);
            self.open(batch, sink)?;
            left -= batch;
        }
        Ok(self.clock.monotonic() - start)
    }

    /// Opens problems at a fixed rate.
    pub(super) fn at_rate(&mut self, rate: u64, time: Duration, sink: &Sink) -> anyhow::Result<()> {
        let start = self.clock.monotonic();
        let total = rate * time.as_secs();
        let mut opened = 0;
        while opened < total {
            let spent = self.clock.monotonic() - start;
            let due = (spent.as_secs_f64() * rate as f64) as u64;
            let due = due.min(total).saturating_sub(opened);
            if due > 0 {
                self.open(due, sink)?;
                opened += due;
            }
            sleep(PAUSE.saturating_sub(self.clock.monotonic() - start - spent));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use stdx::clock::RealClock;

    use super::*;

    #[test]
    fn hosts_take_turns() {
        let hosts = ["a".to_owned(), "b".to_owned()];
        let server = "127.0.0.1:1".parse().unwrap();
        let problems =
            Problems { server, hosts: &hosts, items: 2, clock: RealClock::shared(), next: 0 };
        let found: Vec<_> = (0..5).map(|number| problems.item(number)).collect();
        assert_eq!(found, [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 0)]);
    }
}
