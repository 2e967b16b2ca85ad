//! One side of a connection of HTTP/2, a client or a server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use proxying::http2::connection::{Connection, Event, Limits, Role};
use proxying::http2::hpack;

/// How long anything may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// One side of a connection of HTTP/2.
pub(crate) struct Side {
    socket: TcpStream,
    pub(crate) connection: Connection,
    input: Vec<u8>,
}

/// What has happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The fields, and whether nothing follows.
    Head(u32, Vec<(String, String)>, bool),
    Data(u32, Vec<u8>, bool),
    Trailers(u32, Vec<(String, String)>),
    Reset(u32, u32),
    GoAway(u32),
    Closed,
}

pub(crate) fn pairs(list: &hpack::List) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    list.fields.iter().map(|field| (text(&field.name), text(&field.value))).collect()
}

pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        hpack::encode(&mut out, name.as_bytes(), value.as_bytes());
    }
    out
}

pub(crate) fn request<'a>(method: &'a str, path: &'a str, more: &[(&'a str, &'a str)]) -> Vec<u8> {
    let head =
        [(":method", method), (":scheme", "http"), (":authority", "a.test"), (":path", path)];
    block(&[&head[..], more].concat())
}

impl Side {
    fn new(socket: TcpStream, role: Role) -> Self {
        socket.set_read_timeout(Some(TIMEOUT)).expect("a socket that works");
        let limits = Limits { streams: 100, list: 16_384 };
        Self { socket, connection: Connection::new(role, limits, 0), input: Vec::new() }
    }

    pub(crate) fn client(address: SocketAddr) -> Self {
        Self::new(TcpStream::connect(address).expect("a socket that works"), Role::Client)
    }

    pub(crate) fn server(listener: &TcpListener) -> Self {
        Self::new(listener.accept().expect("a socket that works").0, Role::Server)
    }

    pub(crate) fn flush(&mut self) {
        self.socket.write_all(&self.connection.output).expect("a socket that works");
        self.connection.output.clear();
    }

    /// Sends what is ready; false: the peer has closed the connection.
    pub(crate) fn write(&mut self) -> bool {
        let written = self.socket.write_all(&self.connection.output);
        self.connection.output.clear();
        written.is_ok()
    }

    /// Begins a stream; returns its number.
    pub(crate) fn open(&mut self, block: &[u8], end: bool) -> u32 {
        let stream = self.connection.open(block, end).expect("the server accepts streams");
        self.flush();
        stream
    }

    pub(crate) fn send(&mut self, stream: u32, data: &[u8], end: bool) {
        assert_eq!(self.connection.send_data(stream, data, end), data.len());
        self.flush();
    }

    pub(crate) fn head(&mut self, stream: u32, fields: &[(&str, &str)], end: bool) {
        self.connection.send_headers(stream, &block(fields), end);
        self.flush();
    }

    /// The next thing that happens, beside windows.
    pub(crate) fn next(&mut self) -> Seen {
        loop {
            let (length, event) = self.connection.receive(&self.input, 0).expect("valid frames");
            let seen = event.and_then(|event| match event {
                Event::Head { stream, list, end, .. } => {
                    Some((Seen::Head(stream, pairs(&list), end), 0))
                }
                Event::Data { stream, data, counted, end } => {
                    Some((Seen::Data(stream, data.to_vec(), end), counted))
                }
                Event::Trailers { stream, list } => Some((Seen::Trailers(stream, pairs(&list)), 0)),
                Event::Reset { stream, code } => Some((Seen::Reset(stream, code), 0)),
                Event::GoAway { last } => Some((Seen::GoAway(last), 0)),
                Event::Window { .. } => None,
            });
            self.input.drain(..length);
            if let Some((seen, counted)) = seen {
                if let Seen::Data(stream, ..) = &seen {
                    self.connection.consumed(*stream, counted);
                }
                self.flush_if_open();
                return seen;
            }
            if length > 0 {
                continue;
            }
            self.flush_if_open();
            let mut piece = [0; 16_384];
            match self.socket.read(&mut piece).expect("something happens in time") {
                0 => return Seen::Closed,
                length => self.input.extend_from_slice(&piece[..length]),
            }
        }
    }

    /// The peer may have closed its socket after what it sent last.
    fn flush_if_open(&mut self) {
        let _closed = self.write();
    }

    /// The fields of the next head, which must be this stream's.
    pub(crate) fn fields(&mut self, stream: u32) -> Vec<(String, String)> {
        match self.next() {
            Seen::Head(of, fields, _) if of == stream => fields,
            other => panic!("no head: {other:?}"),
        }
    }
}

pub(crate) fn value<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(other, _)| other == name).map(|(_, value)| &value[..])
}

/// A listener whose port stays free after it is dropped.
pub(crate) fn listener() -> (TcpListener, SocketAddr) {
    let address = stdx::listening::free_address().expect("a free port");
    (TcpListener::bind(address).expect("a free port"), address)
}

/// The next request of HTTP/1 on a connection, up to its empty line.
pub(crate) fn read_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("a socket that works");
        head.extend(byte);
    }
    String::from_utf8(head).expect("a socket that works")
}
