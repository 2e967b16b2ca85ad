//! The end of a head, found while its bytes arrive.

use super::{Limits, Refusal};

/// Finds the empty line that ends a head. It continues where it stopped, so that a head in many
/// pieces is not searched again from its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeadEnd {
    /// Start of the line that has not ended.
    line: usize,
    /// Bytes that contain no further line end.
    seen: usize,
}

impl HeadEnd {
    /// Length of the head that `bytes` begin with, its empty line included; `None`: more bytes are
    /// needed. `bytes` are those of the call before and what arrived since.
    ///
    /// # Errors
    /// A line without CR before LF, or a head beyond the limits.
    pub fn find(&mut self, bytes: &[u8], limits: &Limits) -> Result<Option<usize>, Refusal> {
        /// Method, version and spaces beside the target.
        const BESIDE_TARGET: usize = 64;
        while let Some(at) = bytes.get(self.seen..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            let end = self.seen + at;
            if end > limits.head {
                break;
            }
            if end == self.line || bytes[end - 1] != b'\r' {
                return Err(Refusal::LineEnd);
            }
            if end - 1 == self.line {
                return Ok(Some(end + 1));
            }
            (self.line, self.seen) = (end + 1, end + 1);
        }
        self.seen = bytes.len();
        if self.line == 0 && bytes.len() > limits.target.saturating_add(BESIDE_TARGET) {
            return Err(Refusal::TargetTooLong);
        }
        if bytes.len() > limits.head { Err(Refusal::HeadTooLarge) } else { Ok(None) }
    }
}

/// The lines of a complete head without their CR LF; the empty line at the end is left out.
pub(super) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_suffix(b"\r\n").unwrap_or(head);
    let mut rest = head;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest)?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_in_single_bytes_ends_where_it_ends_in_one_piece() {
        let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
        let whole = HeadEnd::default().find(bytes, &Limits::default());
        assert_eq!(whole, Ok(Some(27)));
        let mut end = HeadEnd::default();
        for length in 0..27 {
            assert_eq!(end.find(&bytes[..length], &Limits::default()), Ok(None), "{length}");
        }
        assert_eq!(end.find(&bytes[..27], &Limits::default()), Ok(Some(27)));
    }

    #[test]
    fn lines_end_with_both_characters() {
        for bytes in [&b"GET / HTTP/1.1\n"[..], b"\n", b"GET / HTTP/1.1\r\nA: b\n\n"] {
            let found = HeadEnd::default().find(bytes, &Limits::default());
            assert_eq!(found, Err(Refusal::LineEnd));
        }
    }

    #[test]
    fn the_limits_hold_before_the_head_is_complete() {
        let limits = Limits { target: 10, head: 200, fields: 10 };
        let long = vec![b'a'; 100];
        assert_eq!(HeadEnd::default().find(&long, &limits), Err(Refusal::TargetTooLong));
        let mut head = b"GET / HTTP/1.1\r\n".to_vec();
        head.extend(vec![b'a'; 200]);
        assert_eq!(HeadEnd::default().find(&head, &limits), Err(Refusal::HeadTooLarge));
    }
}
