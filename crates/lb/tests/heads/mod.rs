//! Heads of messages of HTTP/1.

use std::io::Read;
use std::net::TcpStream;

/// The next head on a connection, up to its empty line; `None`: the connection has ended.
pub(crate) fn read_head(socket: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    String::from_utf8(head).ok()
}
