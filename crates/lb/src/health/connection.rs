//! Checks by a connection: monitors of the types `tcp`, `http` and `smtp`.

use std::io;
use std::sync::Arc;

use mio::net::TcpStream;
use mio::{Interest, Poll, Token};
use proxying::http1::{HeadEnd, Limits, Response};
use proxying::proxy_header;

use super::outcome::{Outcome, quoted};
use super::smtp;
use crate::buffer::{Buffer, Buffers};
use crate::config::{Health, HealthKind};
use crate::conn::Conn;
use crate::pool::Pool;

/// One check in progress.
pub(super) struct Probe {
    conn: Conn,
    /// The server has accepted the connection.
    connected: bool,
    /// Not sent yet: the PROXY header, then the request.
    preface: Vec<u8>,
    request: Vec<u8>,
    /// What follows by turns, for a mail server.
    dialogue: Option<smtp::Dialogue>,
    received: Buffer,
}

impl Probe {
    pub(super) fn start(
        pool: &Pool,
        server: u16,
        health: &Health,
        poll: &Poll,
        token: Token,
    ) -> io::Result<Self> {
        let server = pool.server(server);
        let mut stream = TcpStream::connect(server.address)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, token, interest)?;
        let (mut request, mut tls) = (Vec::new(), None);
        if health.kind == HealthKind::Http {
            let host = pool.tls.as_ref().map(|tls| tls.name.to_str().into_owned());
            let host = host.unwrap_or_else(|| server.address.to_string());
            request = format!(
                "GET {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: vedette\r\nConnection: close\r\n\r\n",
                health.path
            )
            .into_bytes();
        }
        let dialogue = match health.kind {
            HealthKind::Smtp => Some(smtp::Dialogue::new(stream.local_addr()?.ip())),
            _ => None,
        };
        if health.kind != HealthKind::Tcp
            && let Some(side) = &pool.tls
        {
            let config = Arc::clone(&side.config);
            let connection = rustls::ClientConnection::new(config, side.name.clone());
            tls = Some(connection.map_err(io::Error::other)?.into());
        }
        let preface: &[u8] = match pool.send_proxy {
            None => b"",
            Some(proxy_header::Version::V1) => b"PROXY UNKNOWN\r\n",
            // LOCAL: a connection of the proxy itself.
            Some(proxy_header::Version::V2) => b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
        };
        let conn = Conn::new(stream, tls);
        let (preface, received) = (preface.to_vec(), Buffer::default());
        Ok(Self { conn, connected: false, preface, request, dialogue, received })
    }

    pub(super) fn note(&mut self, event: &mio::event::Event) {
        self.conn.note(event);
    }

    pub(super) fn clear(&mut self, buffers: &mut Buffers) {
        self.received.clear(buffers);
    }

    /// What the server has not done in time.
    pub(super) fn missing(&self) -> &'static str {
        match () {
            () if !self.connected => "no connection",
            () if self.received.data().is_empty() => "no response",
            () => "no complete response",
        }
    }

    /// Goes on; the result, if there is one.
    pub(super) fn advance(&mut self, health: &Health, buffers: &mut Buffers) -> Option<Outcome> {
        if let Some(error) = self.conn.failure() {
            return Some(error.into());
        }
        if !self.conn.writable && !self.conn.readable {
            return None;
        }
        self.connected = true;
        self.talk(health, buffers).unwrap_or_else(|error| Some(error.into()))
    }

    fn talk(&mut self, health: &Health, buffers: &mut Buffers) -> io::Result<Option<Outcome>> {
        if !self.preface.is_empty() {
            let sent = self.conn.write_plain(&self.preface)?;
            self.preface.drain(..sent);
        }
        if health.kind == HealthKind::Tcp {
            return Ok(Some(Outcome::Passed));
        }
        if !self.preface.is_empty() || !self.conn.handshake()? {
            return Ok(None);
        }
        loop {
            let sent = self.conn.write(&self.request)?;
            self.request.drain(..sent);
            self.conn.flush()?;
            while self.conn.fill(&mut self.received, buffers)? > 0 {}
            let all = self.conn.eof || self.received.room() == 0;
            let Some(dialogue) = &mut self.dialogue else {
                return Ok(judge(self.received.data(), health, all));
            };
            match dialogue.next(self.received.data(), all) {
                smtp::Next::Read => return Ok(None),
                smtp::Next::Done(outcome) => return Ok(Some(outcome)),
                smtp::Next::Send(length, line) => {
                    self.received.consume(length);
                    self.request.extend(line);
                }
            }
        }
    }
}

/// The result of a check by what has been received; `None`: more is needed.
fn judge(received: &[u8], health: &Health, all: bool) -> Option<Outcome> {
    let limits = Limits { target: 16_384, head: 16_384, fields: 256 };
    let malformed = || Some(Outcome::failed("malformed response"));
    let end = match HeadEnd::default().find(received, &limits) {
        Ok(Some(end)) => end,
        Ok(None) if !all => return None,
        Ok(None) if received.is_empty() => {
            return Some(Outcome::failed("connection closed without a response"));
        }
        Ok(None) | Err(_) => return malformed(),
    };
    let Ok(response) = Response::parse(&received[..end], false, &limits) else {
        return malformed();
    };
    if response.status != health.status {
        return Some(Outcome::Failed(format!(
            "status {} instead of {}",
            response.status, health.status
        )));
    }
    let Some(text) = &health.body else { return Some(Outcome::Passed) };
    if memchr::memmem::find(&received[end..], text.as_bytes()).is_some() {
        return Some(Outcome::Passed);
    }
    let received = received.len() - end;
    let complete = response.length.is_some_and(|length| received as u64 >= length);
    let missing = || Outcome::Failed(format!("the body does not contain '{}'", quoted(text)));
    (all || complete).then(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(body: &str) -> Health {
        serde_saphyr::from_str(&format!("type: http\nbody: {body}\n")).unwrap()
    }

    #[test]
    fn a_check_waits_for_the_text_and_fails_at_the_end_of_the_body() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
        let with = |body: &[u8]| [&head[..], body].concat();
        let judge = |received: &[u8], all| {
            judge(received, &health("health"), all).map(|outcome| outcome.reason().to_owned())
        };
        let failed = |reason: &str| Some(reason.to_owned());
        assert_eq!(judge(&with(b"hea"), false), None);
        assert_eq!(judge(&with(b"health"), false), failed(""));
        assert_eq!(judge(&with(b"sickly"), false), failed("the body does not contain 'health'"));
        assert_eq!(judge(b"HTTP/1.1 503 X\r\n\r\n", false), failed("status 503 instead of 200"));
        assert_eq!(judge(b"HTTP/1.1 200", true), failed("malformed response"));
        assert_eq!(judge(b"", true), failed("connection closed without a response"));
    }
}
