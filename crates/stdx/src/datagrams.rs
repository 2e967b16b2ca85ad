//! Datagrams that wait to be sent together.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use crate::sys::datagrams::{BATCH_MAX, Outgoing, send_datagrams};

/// Datagrams for one socket, gathered until a call of the system is worth it.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    list: Vec<Waiting>,
}

/// A datagram that waits.
#[derive(Debug)]
struct Waiting {
    /// Where its octets end.
    end: usize,
    to: SocketAddr,
    from: Option<IpAddr>,
    /// What it is to its sender.
    tag: u32,
}

impl Outbox {
    /// Adds a datagram; `tag` tells it apart if it cannot be sent.
    pub fn push(&mut self, to: SocketAddr, bytes: &[u8], tag: u32) {
        self.push_from(None, to, bytes, tag);
    }

    /// Adds a datagram that leaves from an address of this machine; `None`: the system chooses it.
    pub fn push_from(&mut self, from: Option<IpAddr>, to: SocketAddr, bytes: &[u8], tag: u32) {
        self.bytes.extend_from_slice(bytes);
        self.list.push(Waiting { end: self.bytes.len(), to, from, tag });
    }

    /// Forgets what waits; returns how many datagrams that are.
    pub fn clear(&mut self) -> usize {
        self.bytes.clear();
        let count = self.list.len();
        self.list.clear();
        count
    }

    /// Octets that wait.
    pub fn octets(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One call of the system would be full.
    pub fn is_full(&self) -> bool {
        self.list.len() >= BATCH_MAX
    }

    /// Sends all that the system takes now; `failed` hears of those that can never be sent. What
    /// is left waits for the next call.
    pub fn send(&mut self, socket: BorrowedFd<'_>, mut failed: impl FnMut(u32, io::Error)) {
        let mut done = 0;
        while done < self.list.len() {
            match send_datagrams(socket, &self.batch(done)) {
                Ok(sent) => done += sent.max(1),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    _ => {
                        if let Some(waiting) = self.list.get(done) {
                            failed(waiting.tag, error);
                        }
                        done += 1;
                    }
                },
            }
        }
        let from = self.begin(done);
        self.bytes.drain(..from);
        self.list.drain(..done);
        for row in &mut self.list {
            row.end -= from;
        }
    }

    /// Where the octets of a datagram begin.
    fn begin(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|before| self.list.get(before)).map_or(0, |row| row.end)
    }

    fn batch(&self, first: usize) -> Vec<Outgoing<'_>> {
        let mut from = self.begin(first);
        let rows = self.list.iter().skip(first).take(BATCH_MAX);
        rows.map(|row| {
            let bytes = self.bytes.get(from..row.end).unwrap_or_default();
            from = row.end;
            Outgoing { to: row.to, from: row.from, bytes }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::sys::datagrams::Inbox;

    fn pair() -> (UdpSocket, UdpSocket) {
        let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
        (bind(), bind())
    }

    fn received(socket: &UdpSocket, wanted: usize) -> Vec<Vec<u8>> {
        let mut inbox = Inbox::new(BATCH_MAX, 100);
        let mut all = Vec::new();
        while all.len() < wanted {
            if inbox.receive(socket.as_fd()).is_ok() {
                all.extend(inbox.datagrams().map(|one| one.bytes.to_vec()));
            }
        }
        all
    }

    #[test]
    fn many_at_once_and_in_order() {
        let (one, other) = pair();
        let mut out = Outbox::default();
        let to = other.local_addr().unwrap();
        for n in 0..150u32 {
            out.push(to, &n.to_be_bytes(), n);
        }
        assert!(out.is_full());
        out.send(one.as_fd(), |tag, error| panic!("{tag}: {error}"));
        assert!(out.is_empty());
        let wanted = (0..150u32).map(|n| n.to_be_bytes().to_vec());
        assert_eq!(received(&other, 150), wanted.collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_sent_keeps_nothing_back() {
        let (one, other) = pair();
        let to = other.local_addr().unwrap();
        let mut out = Outbox::default();
        out.push(to, b"a", 1);
        // Longer than any datagram.
        out.push(to, &[0; 70_000], 2);
        out.push(to, b"b", 3);
        let mut failed = Vec::new();
        out.send(one.as_fd(), |tag, _| failed.push(tag));
        assert_eq!(failed, [2]);
        assert_eq!(received(&other, 2), [b"a".to_vec(), b"b".to_vec()]);
    }
}
