//! HTTP/2 as an intermediary needs it (RFC 9113), without sockets and clocks.
//!
//! [`connection`] is the state of a client's connection, [`frame`] the framing with its sizes, [`hpack`]
//! the compression of header fields, [`message`] the rules for the fields of a request, which becomes
//! one of HTTP/1.1.

pub mod connection;
pub mod frame;
pub mod hpack;
mod huffman;
pub mod message;

#[cfg(test)]
mod tests {
    /// The bytes of hexadecimal digits.
    pub(super) fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    }
}
