//! Messages on their way out of a shard. A shard never waits for another: what does not fit into
//! a queue stays here, and while much stays here the shard takes no new values.

use std::collections::VecDeque;

use stdx::queue::{Sender, TrySend, Weigh};

/// Messages that wait for room in one queue.
#[derive(Debug)]
pub(crate) struct Outbox<T> {
    to: Sender<T>,
    waiting: VecDeque<T>,
    weigh: Weigh<T>,
    /// Of the messages that wait.
    bytes: usize,
    closed: bool,
}

impl<T> Outbox<T> {
    /// For messages of a few bytes.
    pub(crate) fn new(to: Sender<T>) -> Self {
        Self::weighing(to, |_| 0)
    }

    pub(crate) fn weighing(to: Sender<T>, weigh: Weigh<T>) -> Self {
        Self { to, waiting: VecDeque::new(), weigh, bytes: 0, closed: false }
    }

    /// Sends now if nothing waits and there is room; otherwise keeps the message.
    pub(crate) fn send(&mut self, message: T) {
        if self.closed {
            return;
        }
        if !self.waiting.is_empty() {
            self.keep(message);
            return;
        }
        match self.to.try_send(message) {
            Ok(()) => {}
            Err(TrySend::Full(message)) => self.keep(message),
            Err(TrySend::Closed(_)) => self.closed = true,
        }
    }

    fn keep(&mut self, message: T) {
        self.bytes += (self.weigh)(&message);
        self.waiting.push_back(message);
    }

    /// Sends what there is room for now.
    pub(crate) fn flush(&mut self) {
        while let Some(message) = self.waiting.pop_front() {
            let bytes = (self.weigh)(&message);
            match self.to.try_send(message) {
                Ok(()) => self.bytes -= bytes,
                Err(TrySend::Full(message)) => {
                    self.waiting.push_front(message);
                    return;
                }
                Err(TrySend::Closed(_)) => {
                    // The receiver ends only when the process does.
                    self.closed = true;
                    self.waiting = VecDeque::new();
                    self.bytes = 0;
                    return;
                }
            }
        }
        debug_assert_eq!(self.bytes, 0, "BUG: an empty outbox counts bytes");
        if self.waiting.capacity() > 1024 {
            self.waiting = VecDeque::new();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of the messages that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::queue::bounded;

    #[test]
    fn order_holds_and_nothing_is_lost() {
        let (tx, mut rx) = bounded("test", 2);
        let mut outbox = Outbox::new(tx);
        for n in 0..5 {
            outbox.send(n);
        }
        assert_eq!(outbox.len(), 3);
        let mut got = Vec::new();
        while let Some(n) = rx.try_recv() {
            got.push(n);
            outbox.flush();
        }
        assert_eq!((got, outbox.len()), (vec![0, 1, 2, 3, 4], 0));
    }

    #[test]
    fn bytes_are_those_of_waiting_messages() {
        let (tx, mut rx) = bounded("test", 1);
        let mut outbox = Outbox::weighing(tx, String::len);
        let mut bytes = Vec::new();
        for text in ["sent at once", "abc", "", "defgh"] {
            outbox.send(text.to_owned());
            bytes.push(outbox.bytes());
        }
        assert_eq!(bytes, [0, 3, 3, 8]);
        bytes.clear();
        outbox.flush();
        while rx.try_recv().is_some() {
            outbox.flush();
            bytes.push(outbox.bytes());
        }
        assert_eq!((bytes, outbox.len()), (vec![5, 5, 0, 0], 0));
        outbox.send("fills the queue".to_owned());
        outbox.send("waits".to_owned());
        assert_eq!(outbox.bytes(), 5);
        drop(rx);
        outbox.flush();
        assert_eq!(outbox.bytes(), 0, "nothing waits for a gone receiver");
    }

    #[test]
    fn a_gone_receiver_ends_it() {
        let (tx, rx) = bounded("test", 1);
        let mut outbox = Outbox::new(tx);
        outbox.send(1);
        outbox.send(2);
        drop(rx);
        outbox.flush();
        outbox.send(3);
        assert_eq!(outbox.len(), 0);
    }
}
