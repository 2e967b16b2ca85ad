//! Bounded queues with gauges: the only way by which crates of one layer meet.
//!
//! A full queue makes the sender wait (back-pressure), never drops and never grows. Length and
//! limit are readable by anybody who holds the [`Gauge`], which is what self-monitoring shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::mpsc;

/// What self-monitoring reads of a queue. All counters only grow but `len`.
#[derive(Debug)]
pub struct Gauge {
    name: &'static str,
    limit: usize,
    bytes_max: usize,
    bytes: AtomicUsize,
    len: AtomicUsize,
    entered: AtomicU64,
    full: AtomicU64,
}

impl Gauge {
    /// The name under which graphs show this queue.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Messages that fit; a sender waits beyond.
    pub fn limit(&self) -> usize {
        self.limit
    }
    /// Messages waiting now.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
    /// Bytes of the messages waiting now; 0 for a queue that does not weigh them.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Messages that ever entered.
    pub fn entered(&self) -> u64 {
        self.entered.load(Ordering::Relaxed)
    }
    /// How often a sender found the queue full.
    pub fn full(&self) -> u64 {
        self.full.load(Ordering::Relaxed)
    }
}

/// Bytes of a message.
pub type Weigh<T> = fn(&T) -> usize;

/// The sending end; clones share the queue.
#[derive(Debug)]
pub struct Sender<T> {
    inner: mpsc::Sender<T>,
    gauge: Arc<Gauge>,
    weigh: Weigh<T>,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), gauge: Arc::clone(&self.gauge), weigh: self.weigh }
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct Receiver<T> {
    inner: mpsc::Receiver<T>,
    gauge: Arc<Gauge>,
    weigh: Weigh<T>,
}

/// The other end is gone: the process is shutting down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server is shutting down")
    }
}

impl std::error::Error for Closed {}

/// Why [`Sender::try_send`] gave the message back.
#[derive(Debug)]
pub enum TrySend<T> {
    /// The queue is full: wait, or refuse with an error that says so.
    Full(T),
    /// The other end is gone.
    Closed(T),
}

/// A queue of at most `limit` messages.
pub fn bounded<T>(name: &'static str, limit: usize) -> (Sender<T>, Receiver<T>) {
    weighing(name, limit, usize::MAX, |_| 0)
}

/// A queue of at most `limit` messages for senders that use [`Sender::try_send`]: it is also full
/// where the messages that wait and the new one have more than `bytes_max`. One message always fits.
pub fn weighing<T>(
    name: &'static str,
    limit: usize,
    bytes_max: usize,
    weigh: Weigh<T>,
) -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = mpsc::channel(limit);
    let gauge = Arc::new(Gauge {
        name,
        limit,
        bytes_max,
        bytes: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        entered: AtomicU64::new(0),
        full: AtomicU64::new(0),
    });
    (Sender { inner: tx, gauge: Arc::clone(&gauge), weigh }, Receiver { inner: rx, gauge, weigh })
}

impl<T> Sender<T> {
    /// Waits while the queue is full.
    pub async fn send(&self, message: T) -> Result<(), Closed> {
        if self.inner.capacity() == 0 {
            self.gauge.full.fetch_add(1, Ordering::Relaxed);
        }
        let permit = self.inner.reserve().await.map_err(|_| Closed)?;
        self.count_in(&message);
        permit.send(message);
        Ok(())
    }

    /// For threads without a runtime: blocks while the queue is full.
    pub fn blocking_send(&self, message: T) -> Result<(), Closed> {
        match self.try_send(message) {
            Ok(()) => Ok(()),
            Err(TrySend::Closed(_)) => Err(Closed),
            Err(TrySend::Full(message)) => {
                self.count_in(&message);
                self.inner.blocking_send(message).map_err(|_| Closed)
            }
        }
    }

    /// Gives the message back instead of waiting.
    pub fn try_send(&self, message: T) -> Result<(), TrySend<T>> {
        let waiting = self.gauge.bytes();
        if waiting > 0 && waiting.saturating_add((self.weigh)(&message)) > self.gauge.bytes_max {
            self.gauge.full.fetch_add(1, Ordering::Relaxed);
            return Err(TrySend::Full(message));
        }
        match self.inner.try_reserve() {
            Ok(permit) => {
                self.count_in(&message);
                permit.send(message);
                Ok(())
            }
            Err(mpsc::error::TrySendError::Full(())) => {
                self.gauge.full.fetch_add(1, Ordering::Relaxed);
                Err(TrySend::Full(message))
            }
            Err(mpsc::error::TrySendError::Closed(())) => Err(TrySend::Closed(message)),
        }
    }

    /// The queue's gauge.
    pub fn gauge(&self) -> Arc<Gauge> {
        Arc::clone(&self.gauge)
    }

    fn count_in(&self, message: &T) {
        self.gauge.bytes.fetch_add((self.weigh)(message), Ordering::Relaxed);
        self.gauge.len.fetch_add(1, Ordering::Relaxed);
        self.gauge.entered.fetch_add(1, Ordering::Relaxed);
    }
}

impl<T> Receiver<T> {
    /// The next message, or `None` when all senders are gone.
    pub async fn recv(&mut self) -> Option<T> {
        let message = self.inner.recv().await;
        self.count_out(message.as_ref());
        message
    }

    /// For threads without a runtime.
    pub fn blocking_recv(&mut self) -> Option<T> {
        let message = self.inner.blocking_recv();
        self.count_out(message.as_ref());
        message
    }

    /// A message if one waits.
    pub fn try_recv(&mut self) -> Option<T> {
        let message = self.inner.try_recv().ok();
        self.count_out(message.as_ref());
        message
    }

    /// The queue's gauge.
    pub fn gauge(&self) -> Arc<Gauge> {
        Arc::clone(&self.gauge)
    }

    fn count_out(&self, message: Option<&T>) {
        if let Some(message) = message {
            self.gauge.bytes.fetch_sub((self.weigh)(message), Ordering::Relaxed);
            self.gauge.len.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_gives_the_message_back_and_counts() {
        let (tx, mut rx) = bounded("test", 2);
        assert!(tx.try_send(1).is_ok());
        assert!(tx.try_send(2).is_ok());
        assert!(matches!(tx.try_send(3), Err(TrySend::Full(3))));
        assert_eq!((tx.gauge().len(), tx.gauge().full(), tx.gauge().entered()), (2, 1, 2));
        assert_eq!(rx.blocking_recv(), Some(1));
        assert_eq!(tx.gauge().len(), 1);
        drop(rx);
        assert!(matches!(tx.try_send(4), Err(TrySend::Closed(4))));
    }

    #[test]
    fn bytes_are_limited_as_well_but_one_message_always_fits() {
        let (tx, mut rx) = weighing("test", 10, 100, Vec::<u8>::len);
        assert!(tx.try_send(vec![0; 500]).is_ok());
        assert!(matches!(tx.try_send(vec![0; 1]), Err(TrySend::Full(_))));
        assert_eq!((tx.gauge().len(), tx.gauge().bytes(), tx.gauge().full()), (1, 500, 1));
        assert_eq!(rx.try_recv().map(|message| message.len()), Some(500));
        assert!(tx.try_send(vec![0; 60]).is_ok() && tx.try_send(vec![0; 40]).is_ok());
        assert!(matches!(tx.try_send(vec![0; 1]), Err(TrySend::Full(_))));
        assert_eq!(rx.blocking_recv().map(|message| message.len()), Some(60));
        assert_eq!(tx.gauge().bytes(), 40);
    }

    #[tokio::test]
    async fn send_waits_for_room() {
        let (tx, mut rx) = bounded("test", 1);
        tx.send(1).await.unwrap();
        let second = tokio::spawn({
            let tx = tx.clone();
            async move { tx.send(2).await }
        });
        assert_eq!(rx.recv().await, Some(1));
        assert_eq!(rx.recv().await, Some(2));
        second.await.unwrap().unwrap();
        assert!(tx.gauge().is_empty());
    }
}
