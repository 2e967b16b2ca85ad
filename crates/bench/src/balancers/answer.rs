//! The end of a response, found without keeping its body.

use anyhow::{Context as _, bail};

/// Bytes of a response's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// What has come of one response.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    head: Vec<u8>,
    /// Bytes of the body that are still to come; `None` before the head is complete.
    left: Option<usize>,
}

impl Answer {
    /// Takes bytes as they come; true once the response is complete. Only a response with status 200
    /// and `Content-Length` is accepted, and nothing after it.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> anyhow::Result<bool> {
        let body = match self.left {
            Some(_) => bytes.len(),
            None => match self.take_head(bytes)? {
                Some(body) => body,
                None => return Ok(false),
            },
        };
        let left = self.left.unwrap_or(0).checked_sub(body);
        self.left = Some(left.context("more bytes than the response's Content-Length")?);
        Ok(self.is_complete())
    }

    /// Whether all of the response has come.
    pub(crate) fn is_complete(&self) -> bool {
        self.left == Some(0)
    }

    /// For the next response.
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.left = None;
    }

    /// Bytes of the body that came with the end of the head; `None` = its end has not come.
    fn take_head(&mut self, bytes: &[u8]) -> anyhow::Result<Option<usize>> {
        self.head.extend_from_slice(bytes);
        let Some(end) = self.head.windows(HEAD_END.len()).position(|four| four == HEAD_END) else {
            if self.head.len() > HEAD_BYTES_MAX {
                bail!("a response with a head of more than {HEAD_BYTES_MAX} bytes");
            }
            return Ok(None);
        };
        let body = self.head.len() - end - HEAD_END.len();
        let head = String::from_utf8_lossy(&self.head[..end]);
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        if !status.starts_with("HTTP/1.1 200") {
            bail!("the response to a request was {status}");
        }
        let length = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, length)| length.trim().parse().ok());
        self.left = Some(length.context("a response without Content-Length")?);
        Ok(Some(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"HTTP/1.1 200 OK\r\nserver: x\r\ncontent-length: 3\r\n\r\nabc";

    #[test]
    fn the_end_is_found_wherever_the_bytes_are_cut() {
        for first in 0..TEXT.len() {
            for second in first..TEXT.len() {
                let mut answer = Answer::default();
                assert!(!answer.take(&TEXT[..first]).unwrap());
                assert!(!answer.take(&TEXT[first..second]).unwrap());
                assert!(answer.take(&TEXT[second..]).unwrap(), "{first} {second}");
                answer.clear();
                assert!(answer.take(TEXT).unwrap());
            }
        }
    }

    #[test]
    fn what_is_no_whole_success_is_an_error() {
        for (text, word) in [
            ("HTTP/1.1 503 Service Unavailable\r\n\r\n", "503"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "without Content-Length"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "more bytes"),
        ] {
            let error = Answer::default().take(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert!(Answer::default().take(&vec![b'x'; HEAD_BYTES_MAX + 1]).is_err());
    }
}
