//! Bytes between real sockets, in memory or through a pipe.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::*;
use crate::conn::Conn;

/// Enough for a pipe.
const MUCH: usize = 300 * 1024;

/// A far end, and the near one as an event has just made it.
fn pair() -> (TcpStream, Peer) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    far.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (near, _) = listener.accept().unwrap();
    near.set_nonblocking(true).unwrap();
    let mut conn = Conn::new(mio::net::TcpStream::from_std(near), None);
    (conn.readable, conn.writable) = (true, true);
    (far, Peer::Socket(Box::new(conn)))
}

/// Lets an event make both ends ready.
fn ready(peer: &mut Peer) {
    let conn = peer.socket_mut().unwrap();
    (conn.readable, conn.writable) = (true, true);
}

struct Line {
    from: Peer,
    to: Peer,
    held: Buffer,
    hub: Hub,
    /// Bytes went through a pipe.
    piped: bool,
}

impl Line {
    fn new(from: Peer, to: Peer, open_files: u64) -> Self {
        let mut hub = Hub::default();
        hub.buffers.pipes.share(open_files, 1);
        Self { from, to, held: Buffer::default(), hub, piped: false }
    }

    fn step(&mut self) -> io::Result<usize> {
        let mut moved = pull(&mut self.from, &mut self.held, &self.to, &mut self.hub)?;
        self.piped |= self.held.pipe().is_some_and(|pipe| pipe.held() > 0);
        moved += push(&mut self.held, &mut self.to, &mut self.hub)?;
        self.held.rest(&mut self.hub.buffers);
        Ok(moved)
    }

    /// Runs until `done`.
    fn until(&mut self, done: impl Fn(&Self) -> bool) {
        let (clock, limit) = (stdx::clock::RealClock::shared(), Duration::from_secs(60));
        let start = clock.monotonic();
        while !done(self) {
            assert!(clock.monotonic().saturating_sub(start) < limit, "nothing moves");
            ready(&mut self.from);
            ready(&mut self.to);
            if self.step().unwrap() == 0 {
                std::thread::yield_now();
            }
        }
    }

    fn sent(&self) -> usize {
        usize::try_from(self.to.counts().1).unwrap()
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Sends the bytes from a thread, and then the end.
fn send(mut far: TcpStream, bytes: Vec<u8>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || far.write_all(&bytes).unwrap())
}

fn receive(mut far: TcpStream, length: usize) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = vec![0; length];
        far.read_exact(&mut bytes).unwrap();
        bytes
    })
}

/// Whether a pipe was used for this many bytes, all of which must arrive.
fn carry(length: usize, open_files: u64) -> bool {
    let ((far_from, from), (far_to, to)) = (pair(), pair());
    let mut line = Line::new(from, to, open_files);
    let bytes = pattern(length);
    let sender = send(far_from, bytes.clone());
    let receiver = receive(far_to, length);
    line.until(|line| line.sent() == length && line.from.eof() && line.held.is_empty());
    sender.join().unwrap();
    assert!(receiver.join().unwrap() == bytes, "{length} bytes");
    assert_eq!(line.from.counts().0, length as u64);
    line.piped
}

#[test]
fn only_much_goes_through_a_pipe() {
    for length in [0, 1, 10_000, 256 * 1024] {
        assert!(!carry(length, 1024), "{length}");
    }
    // A sender that is slower than this thread fills no read.
    assert!((0..20).any(|_| carry(8 * MUCH, 1024)));
    for length in [256 * 1024 + 1, 257 * 1024, MUCH, 1_000_003] {
        carry(length, 1024);
    }
}

#[test]
fn without_a_pipe_bytes_are_copied() {
    assert!(!carry(8 * MUCH, 0));
}

/// A line whose pipe has bytes that the reader does not accept.
fn stalled() -> (Line, TcpStream, TcpStream, Vec<u8>) {
    let ((mut far_from, from), (far_to, to)) = (pair(), pair());
    let mut line = Line::new(from, to, ENDS_OF_ONE);
    far_from.set_nonblocking(true).unwrap();
    let mut sent = Vec::new();
    let chunk = pattern(64 * 1024);
    while line.held.pipe().is_none_or(|pipe| pipe.held() == 0) {
        if let Ok(length) = far_from.write(&chunk) {
            sent.extend_from_slice(&chunk[..length]);
        }
        ready(&mut line.from);
        line.to.socket_mut().unwrap().writable = true;
        line.step().unwrap();
    }
    far_from.set_nonblocking(false).unwrap();
    (line, far_from, far_to, sent)
}

/// So many files that one pipe may be open.
const ENDS_OF_ONE: u64 = 16;

#[test]
fn bytes_in_a_pipe_come_before_the_end() {
    let (mut line, far_from, far_to, sent) = stalled();
    far_from.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(!line.held.is_empty());
    let receiver = receive(far_to, sent.len());
    line.until(|line| line.from.eof() && line.held.is_empty());
    assert!(receiver.join().unwrap() == sent);
    assert_eq!(line.sent(), sent.len());
    assert_eq!(line.from.counts().0, sent.len() as u64);
}

#[test]
fn a_full_pipe_stops_reading() {
    let (mut line, far_from, _far_to, _) = stalled();
    let read = line.from.counts().0;
    ready(&mut line.from);
    line.step().unwrap();
    assert_eq!(line.from.counts().0, read);
    drop(far_from);
}

#[test]
fn a_second_flow_copies_while_the_pipe_is_used() {
    let (mut line, far_from, far_to, sent) = stalled();
    assert!(line.hub.buffers.pipes.take().is_none());
    line.held.clear(&mut line.hub.buffers);
    assert!(line.held.is_empty() && line.held.pipe().is_none());
    assert!(line.hub.buffers.pipes.take().is_some(), "a closed pipe makes place");
    assert!(line.sent() < sent.len());
    drop((far_from, far_to));
}

/// Closes a connection so that the peer sees a reset.
fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

#[test]
fn a_reset_of_the_reader_is_an_error() {
    let (mut line, _far_from, far_to, _) = stalled();
    reset(far_to);
    loop {
        ready(&mut line.to);
        if line.step().is_err() {
            break;
        }
        std::thread::yield_now();
    }
    assert!(!line.held.is_empty());
}

#[test]
fn a_reset_of_the_sender_is_an_error() {
    let ((mut far_from, from), (far_to, to)) = (pair(), pair());
    let mut line = Line::new(from, to, 1024);
    let receiver = std::thread::spawn(move || {
        let mut far_to = far_to;
        let mut sink = Vec::new();
        far_to.read_to_end(&mut sink).unwrap();
    });
    let chunk = pattern(MUCH);
    while !line.piped {
        far_from.set_nonblocking(true).unwrap();
        let _full = far_from.write(&chunk);
        ready(&mut line.from);
        ready(&mut line.to);
        line.step().unwrap();
    }
    reset(far_from);
    loop {
        ready(&mut line.from);
        ready(&mut line.to);
        if line.step().is_err() {
            break;
        }
        std::thread::yield_now();
    }
    drop(line);
    receiver.join().unwrap();
}
