//! The answer of a web server: any status will do, as long as it is HTTP.

use super::Verdict;

/// Bytes of an answer's head.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Asks for a resource without its content.
pub(super) fn request(host: &str, path: &str) -> Vec<u8> {
    // Neither may end its line.
    let plain = |text: &str| -> String { text.chars().filter(|c| !c.is_control()).collect() };
    let (host, path) = (plain(host), plain(path).replace(' ', "%20"));
    format!(
        "HEAD /{} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Vedette\r\nAccept: */*\r\n\
         Connection: close\r\n\r\n",
        path.trim_start_matches('/')
    )
    .into_bytes()
}

/// Reads until the head of the final answer is complete.
#[derive(Debug, Default)]
pub(super) struct Head {
    line: Vec<u8>,
    seen: usize,
    /// Of the answer whose lines are being read.
    status: Option<u16>,
}

impl Head {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Verdict {
        self.seen += bytes.len();
        if self.seen > HEAD_BYTES_MAX {
            return Verdict::Down;
        }
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            match self.status {
                None => match status(line) {
                    Some(status) => self.status = Some(status),
                    None => return Verdict::Down,
                },
                // An interim answer: the final one follows.
                Some(100..200) if line.is_empty() => self.status = None,
                Some(_) if line.is_empty() => return Verdict::Up,
                Some(_) => {}
            }
        }
        Verdict::Open
    }
}

/// `HTTP/1.1 200 OK` (RFC 9112, 4)
fn status(line: &[u8]) -> Option<u16> {
    let line = line.strip_prefix(b"HTTP/")?;
    let versions: [&[u8]; 4] = [b"1.0 ", b"1.1 ", b"2 ", b"3 "];
    let rest = versions.iter().find_map(|version| line.strip_prefix(*version))?;
    let (digits, rest) = rest.split_first_chunk::<3>()?;
    let ends = rest.first().is_none_or(|byte| *byte == b' ');
    let status = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (ends && status >= 100).then_some(status)
}
