//! Orders to remove stored responses, from the API to engines and back.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use balancing::Order;
use stdx::sync::lock;
use tokio::sync::mpsc;

/// Orders to one engine that wait.
const WAITING: usize = 16;
/// How long engines may take to carry an order out.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What an engine did: how many responses were removed, or why none.
type Purged = Result<u64, String>;

/// An order on its way to an engine.
struct Ask {
    text: String,
    outcome: Outcome,
}

/// Where its outcome goes.
struct Outcome {
    engine: u64,
    sender: SyncSender<(u64, Purged)>,
}

impl Outcome {
    fn send(self, purged: Purged) {
        // The call may have timed out.
        let _late = self.sender.try_send((self.engine, purged));
    }
}

/// The connected engines that take orders.
#[derive(Default)]
pub(crate) struct Purges(Mutex<HashMap<u64, mpsc::Sender<Ask>>>);

/// The side of an engine's connection.
pub(crate) struct Desk {
    asks: mpsc::Receiver<Ask>,
    sent: HashMap<u64, Outcome>,
    last: u64,
    /// The engine knows such orders.
    able: bool,
}

impl Purges {
    /// The connection of an engine begins to take orders.
    pub(crate) fn enter(&self, engine: u64) -> Desk {
        let (sender, asks) = mpsc::channel(WAITING);
        let mut engines = lock(&self.0);
        engines.retain(|_, sender| !sender.is_closed());
        engines.insert(engine, sender);
        Desk { asks, sent: HashMap::new(), last: 0, able: false }
    }

    /// Gives an order to engines and waits for them. The result has all of them, in their order.
    pub(crate) fn purge(&self, engines: &[u64], order: &Order) -> Vec<(u64, Purged)> {
        let text = match serde_json::to_string(order) {
            Ok(text) => text,
            Err(error) => {
                return engines.iter().map(|engine| (*engine, Err(error.to_string()))).collect();
            }
        };
        let (sender, outcomes) = sync_channel(engines.len());
        for engine in engines {
            let outcome = Outcome { engine: *engine, sender: sender.clone() };
            let line = lock(&self.0).get(engine).cloned();
            let Some(line) = line else {
                outcome.send(Err("the engine is not connected".to_owned()));
                continue;
            };
            if let Err(error) = line.try_send(Ask { text: text.clone(), outcome }) {
                let (reason, ask) = match error {
                    mpsc::error::TrySendError::Full(ask) => ("too many orders wait", ask),
                    mpsc::error::TrySendError::Closed(ask) => ("the engine is not connected", ask),
                };
                ask.outcome.send(Err(reason.to_owned()));
            }
        }
        drop(sender);
        let mut purged = HashMap::new();
        // It ends when all have responded, also if connections end.
        while let Ok((engine, result)) = outcomes.recv_timeout(TIMEOUT) {
            purged.insert(engine, result);
        }
        let silent = || Err("the engine has not responded".to_owned());
        let all =
            engines.iter().map(|engine| (*engine, purged.remove(engine).unwrap_or_else(silent)));
        all.collect()
    }
}

impl Desk {
    /// Waits for the next order: its number and text.
    pub(crate) async fn next(&mut self) -> (u64, String) {
        loop {
            let Some(Ask { text, outcome }) = self.asks.recv().await else {
                // A newer connection of the engine takes them.
                return std::future::pending().await;
            };
            if self.able {
                self.last += 1;
                self.sent.insert(self.last, outcome);
                return (self.last, text);
            }
            outcome.send(Err("the engine has an older release, which cannot do that".to_owned()));
        }
    }

    /// The engine has carried an order out. Number 0: it knows such orders.
    pub(crate) fn done(&mut self, number: u64, count: u64, error: &str) {
        self.able = true;
        if let Some(outcome) = self.sent.remove(&number) {
            outcome.send(if error.is_empty() { Ok(count) } else { Err(error.to_owned()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use balancing::Purge;

    use super::*;

    #[tokio::test]
    async fn orders_reach_the_engines_that_know_them() {
        let purges = Arc::new(Purges::default());
        let (mut able, mut old, gone) = (purges.enter(1), purges.enter(2), purges.enter(3));
        able.done(0, 0, "");
        drop(gone);
        let order = Order { service: Some("web".to_owned()), purge: Purge::All };
        let asked = {
            let (purges, order) = (Arc::clone(&purges), order.clone());
            tokio::task::spawn_blocking(move || purges.purge(&[4, 3, 2, 1], &order))
        };
        let (number, text) = able.next().await;
        assert_eq!(serde_json::from_str::<Order>(&text).unwrap(), order);
        able.done(number + 1, 9, "");
        able.done(number, 7, "");
        tokio::select! {
            _ = old.next() => panic!("an engine of an older release gets nothing"),
            purged = asked => {
                let purged = purged.unwrap();
                let engines: Vec<u64> = purged.iter().map(|(engine, _)| *engine).collect();
                assert_eq!(engines, [4, 3, 2, 1]);
                assert_eq!(purged[3].1, Ok(7));
                assert!(purged[2].1.as_ref().unwrap_err().contains("older release"));
                for (_, purged) in &purged[..2] {
                    assert!(purged.as_ref().unwrap_err().contains("not connected"));
                }
            }
        }
    }
}
