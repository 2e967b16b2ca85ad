//! One request over one connection, as senders do it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::Context as _;
use wire::sender::{Outcome, SendAnswer};
use wire::zbxd::{Decoder, Frame, Limits, Progress};

/// A server that says nothing for so long has failed.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Why a request has no answer. Its values may have been stored or not.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// Refused, broken, or silent.
    #[error("connection to the server's trapper port: {0}")]
    Connection(#[from] std::io::Error),
    /// Not what a trapper port answers.
    #[error("cannot parse the trapper port's response: {0}")]
    Answer(String),
}

/// The address of a server given as `HOST:PORT`.
pub(crate) fn address(server: &str) -> anyhow::Result<SocketAddr> {
    server
        .to_socket_addrs()
        .with_context(|| format!("\"{server}\" is not a valid address, such as 127.0.0.1:10051"))?
        .next()
        .with_context(|| format!("\"{server}\" has no address"))
}

/// Sends a framed request and reads what became of its values.
pub(crate) fn send(server: SocketAddr, request: &[u8]) -> Result<Outcome, SendError> {
    let text = ask(server, request)?;
    outcome(&text).ok_or_else(|| SendError::Answer(text.chars().take(200).collect()))
}

/// Sends a framed request and reads the answer.
pub(crate) fn ask(server: SocketAddr, request: &[u8]) -> Result<String, SendError> {
    let mut connection = TcpStream::connect(server)?;
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(SILENCE_MAX))?;
    connection.set_write_timeout(Some(SILENCE_MAX))?;
    connection.write_all(request)?;
    Ok(read_frame(&mut connection)?.text().into_owned())
}

/// What an answer to values tells; `None` = it is none.
pub(crate) fn outcome(answer: &str) -> Option<Outcome> {
    let answer = SendAnswer::parse(answer).ok()?;
    answer.success.then(|| Outcome::parse_info(&answer.info))?
}

fn read_frame(connection: &mut TcpStream) -> Result<Frame, SendError> {
    let mut decoder = Decoder::new(Limits::ANSWER);
    let mut buffer = [0; 4096];
    loop {
        let n = connection.read(&mut buffer)?;
        if n == 0 {
            return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        match decoder.feed(&buffer[..n]).and_then(Progress::only) {
            Ok(Some(frame)) => return Ok(frame),
            Ok(None) => {}
            Err(error) => return Err(SendError::Answer(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers one connection with `answer`, after it has read something.
    fn served(answer: &'static [u8]) -> Result<Outcome, SendError> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let n = connection.read(&mut [0; 100]).unwrap();
            connection.write_all(answer).unwrap();
            n
        });
        let result = send(server, b"request");
        assert_eq!(thread.join().unwrap(), 7);
        result
    }

    #[test]
    fn answers() {
        let good = br#"ZBXD    f       {"response":"success","info":"processed: 9; failed: 1; total: 10; seconds spent: 0.000100"}"#;
        let mut good = good.to_vec();
        let length = u32::try_from(good.len() - 13).unwrap();
        good[4] = 1;
        good[5..9].copy_from_slice(&length.to_le_bytes());
        good[9..13].fill(0);
        let outcome = served(good.leak()).unwrap();
        assert_eq!((outcome.processed, outcome.failed), (9, 1));
        let refused = b"ZBXD\x01\x15\0\0\0\0\0\0\0{\"response\":\"failed\"}";
        assert!(matches!(served(refused), Err(SendError::Answer(_))));
        assert!(matches!(served(b"HTTP/1.1 400"), Err(SendError::Answer(_))));
        assert!(matches!(served(b""), Err(SendError::Connection(_))));
        assert!(matches!(served(b"ZBXD\x01\x15\0\0\0"), Err(SendError::Connection(_))));
    }

    #[test]
    fn addresses() {
        assert_eq!(address("127.0.0.1:5").unwrap(), "127.0.0.1:5".parse().unwrap());
        for wrong in ["", "127.0.0.1", "127.0.0.1:x"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
