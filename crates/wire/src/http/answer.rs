//! A server's answer, from fragments of any size, with its head kept as it came.

use super::{HEAD_BYTES_MAX, HttpError};

/// Bytes of one header line, before it ends.
const LINE_BYTES_MAX: usize = 100 << 10;
/// Interim answers (`103 Early Hints`) before the real one.
const INTERIM_MAX: u32 = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Status,
    Headers,
    /// Bytes of the body that are still to come.
    Length(u64),
    UntilClose,
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    Done,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// Complete; so many bytes of the last fragment belonged to it.
    Done(usize),
}

/// What the answered request was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// `HEAD`: headers announce a body that does not come.
    Head,
    /// `CONNECT`: after success follows a tunnel.
    Connect,
    /// Everything else.
    Other,
}

/// Reads one answer. Feed it until it is [`Progress::Done`], or [`Decoder::end`] it when the
/// connection has.
#[derive(Debug)]
pub struct Decoder {
    asked: Asked,
    body_max: usize,
    state: State,
    /// A line of which the end is missing.
    line: Vec<u8>,
    head: Vec<u8>,
    /// Where the headers of the last status line begin.
    last: usize,
    interim: u32,
    status: u16,
    old: bool,
    length: Option<u64>,
    body: Vec<u8>,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Status line and headers as they came, with those of interim answers and trailers.
    pub head: Vec<u8>,
    /// Where the last status line begins.
    last: usize,
    /// The body without transfer coding, still packed if `Content-Encoding` says so.
    pub body: Vec<u8>,
    /// The connection may be used again.
    pub keeps_open: bool,
}

impl Answer {
    /// The values of a header, in their order.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        values(&self.head[self.last..], name)
    }
}

fn values<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a str> {
    head.split(|byte| *byte == b'\n').filter_map(move |line| {
        let (found, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        found.eq_ignore_ascii_case(name.as_bytes()).then_some(())?;
        Some(str::from_utf8(value.trim_ascii()).unwrap_or_default())
    })
}

impl Decoder {
    /// For one answer with at most `body_max` bytes of body.
    pub fn new(asked: Asked, body_max: usize) -> Self {
        Self {
            asked,
            body_max,
            state: State::Status,
            line: Vec::new(),
            head: Vec::new(),
            last: 0,
            interim: 0,
            status: 0,
            old: false,
            length: None,
            body: Vec::new(),
        }
    }

    /// Whether anything came yet.
    pub fn is_untouched(&self) -> bool {
        self.head.is_empty() && self.line.is_empty()
    }

    /// Bytes of the body so far, and how many are announced.
    pub fn received(&self) -> (usize, Option<u64>) {
        (self.body.len(), self.length)
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, HttpError> {
        let mut rest = bytes;
        while self.state != State::Done {
            if rest.is_empty() {
                return Ok(Progress::More);
            }
            match self.state {
                State::Length(left) => {
                    let left = self.take(&mut rest, left)?;
                    self.state = if left == 0 { State::Done } else { State::Length(left) };
                }
                State::Chunk(left) => {
                    let left = self.take(&mut rest, left)?;
                    self.state = if left == 0 { State::ChunkEnd } else { State::Chunk(left) };
                }
                State::UntilClose => drop(self.take(&mut rest, u64::MAX)?),
                _ => match rest.iter().position(|byte| *byte == b'\n') {
                    None => {
                        self.keep_part(rest)?;
                        return Ok(Progress::More);
                    }
                    Some(end) => {
                        let (line, after) = rest.split_at(end + 1);
                        rest = after;
                        if self.line.is_empty() {
                            self.line(line)?;
                        } else {
                            self.keep_part(line)?;
                            let whole = std::mem::take(&mut self.line);
                            self.line(&whole)?;
                        }
                    }
                },
            }
        }
        Ok(Progress::Done(bytes.len() - rest.len()))
    }

    /// The connection has ended.
    pub fn end(&mut self) -> Result<(), HttpError> {
        match self.state {
            State::Done => {}
            State::UntilClose => self.state = State::Done,
            _ if self.is_untouched() => return Err(HttpError::Empty),
            State::Status
                if !"HTTP/".as_bytes().starts_with(&self.line[..self.line.len().min(5)]) =>
            {
                return Err(HttpError::NotHttp);
            }
            State::Length(left) => return Err(HttpError::Missing(left)),
            _ => return Err(HttpError::Cut),
        }
        Ok(())
    }

    /// The answer, when it is complete.
    pub fn finish(self) -> Answer {
        let keeps_open = self.keeps_open();
        let Self { status, head, last, body, .. } = self;
        Answer { status, head, last, body, keeps_open }
    }

    fn keeps_open(&self) -> bool {
        let mut words = values(&self.head[self.last..], "connection")
            .chain(values(&self.head[self.last..], "proxy-connection"))
            .flat_map(|value| value.split(','))
            .map(str::trim);
        let delimited = self.length.is_some() || self.is_chunked() || !self.has_body();
        delimited
            && match self.old {
                true => words.any(|word| word.eq_ignore_ascii_case("keep-alive")),
                false => !words.any(|word| word.eq_ignore_ascii_case("close")),
            }
    }

    fn is_chunked(&self) -> bool {
        values(&self.head[self.last..], "transfer-encoding")
            .flat_map(|value| value.split(','))
            .any(|word| word.trim().eq_ignore_ascii_case("chunked"))
    }

    fn has_body(&self) -> bool {
        let success = (200..300).contains(&self.status);
        match self.asked {
            Asked::Head => false,
            Asked::Connect if success => false,
            _ => !matches!(self.status, 100..200 | 204 | 304),
        }
    }

    /// Moves at most `left` bytes to the body; returns how many are left.
    fn take(&mut self, rest: &mut &[u8], left: u64) -> Result<u64, HttpError> {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        if self.body.len() + count > self.body_max {
            return Err(HttpError::TooLarge(self.body_max));
        }
        let (mine, after) = rest.split_at(count);
        self.body.extend_from_slice(mine);
        *rest = after;
        Ok(left - count as u64)
    }

    fn keep_part(&mut self, part: &[u8]) -> Result<(), HttpError> {
        if self.line.len() + part.len() > LINE_BYTES_MAX {
            return Err(HttpError::LargeHead(self.head.len() + self.line.len() + part.len()));
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// A whole line with its end.
    fn line(&mut self, line: &[u8]) -> Result<(), HttpError> {
        match self.state {
            State::ChunkSize => {
                let size = chunk_size(line)?;
                self.state = if size == 0 { State::Trailers } else { State::Chunk(size) };
                return Ok(());
            }
            State::ChunkEnd => {
                self.state = State::ChunkSize;
                return match line {
                    b"\r\n" | b"\n" => Ok(()),
                    _ => Err(HttpError::Chunk),
                };
            }
            State::Trailers if line.trim_ascii().is_empty() => {
                self.state = State::Done;
                return Ok(());
            }
            _ => {}
        }
        let size = self.head.len() + line.len();
        if size > HEAD_BYTES_MAX {
            return Err(HttpError::LargeHead(size));
        }
        if line.contains(&0) {
            return Err(HttpError::Nul);
        }
        match self.state {
            State::Status => self.status_line(line)?,
            _ if line.trim_ascii().is_empty() => {
                self.head.extend_from_slice(line);
                return self.begin_body();
            }
            // Old servers continue a header on the next line.
            _ if line.starts_with(b" ") || line.starts_with(b"\t") => {}
            _ if !line.contains(&b':') => return Err(HttpError::NoColon),
            _ => {}
        }
        self.head.extend_from_slice(line);
        Ok(())
    }

    fn status_line(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let rest = line.strip_prefix(b"HTTP/").ok_or(HttpError::NotHttp)?;
        let (old, rest) = match rest {
            [b'1', b'.', b'0', b' ', rest @ ..] => (true, rest),
            [b'1', b'.', b'1', b' ', rest @ ..] => (false, rest),
            _ => return Err(HttpError::Version),
        };
        let digits = rest.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit));
        let digits = digits.ok_or(HttpError::Version)?;
        let status = digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
        if status < 100 {
            return Err(HttpError::Version);
        }
        (self.old, self.status, self.last) = (old, status, self.head.len());
        self.state = State::Headers;
        Ok(())
    }

    /// The headers are complete: what follows?
    fn begin_body(&mut self) -> Result<(), HttpError> {
        if matches!(self.status, 100 | 102..200) {
            self.interim += 1;
            if self.interim > INTERIM_MAX {
                return Err(HttpError::LargeHead(self.head.len()));
            }
            self.state = State::Status;
            return Ok(());
        }
        let chunked = self.is_chunked();
        let mut lengths = values(&self.head[self.last..], "content-length");
        self.length = match lengths.next() {
            None => None,
            Some(_) if chunked => None,
            Some(text) => {
                let good = text.bytes().all(|byte| byte.is_ascii_digit());
                let length = text.parse().ok().filter(|_| good);
                if length.is_none() || lengths.any(|other| other != text) {
                    return Err(HttpError::Length);
                }
                length
            }
        };
        self.state = match self.length {
            _ if !self.has_body() => State::Done,
            _ if chunked => State::ChunkSize,
            Some(0) => State::Done,
            Some(length) if length > self.body_max as u64 => {
                return Err(HttpError::TooLarge(self.body_max));
            }
            Some(length) => {
                // Believed up to a size that costs nothing.
                self.body.reserve_exact(usize::try_from(length).unwrap_or(0).min(64 << 10));
                State::Length(length)
            }
            None => State::UntilClose,
        };
        Ok(())
    }
}

fn chunk_size(line: &[u8]) -> Result<u64, HttpError> {
    let text = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if let Some(bad) = text.iter().find(|byte| !byte.is_ascii_hexdigit()) {
        return Err(HttpError::ChunkDigit(*bad));
    }
    let text = str::from_utf8(text).unwrap_or_default();
    u64::from_str_radix(text, 16).map_err(|_| HttpError::Chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1000;

    /// The answer in fragments of several sizes: always the same.
    fn read(text: &[u8], asked: Asked) -> Result<(Answer, usize), HttpError> {
        let whole = read_in(text, asked, text.len().max(1));
        for size in [1, 2, 7] {
            assert_eq!(read_in(text, asked, size), whole, "in fragments of {size}");
        }
        whole
    }

    fn read_in(text: &[u8], asked: Asked, size: usize) -> Result<(Answer, usize), HttpError> {
        let mut decoder = Decoder::new(asked, MAX);
        let mut consumed = 0;
        for fragment in text.chunks(size) {
            match decoder.feed(fragment)? {
                Progress::More => consumed += fragment.len(),
                Progress::Done(count) => return Ok((decoder.finish(), consumed + count)),
            }
        }
        decoder.end()?;
        Ok((decoder.finish(), consumed))
    }

    fn text(answer: &Answer) -> (u16, &str, bool) {
        (answer.status, str::from_utf8(&answer.body).unwrap(), answer.keeps_open)
    }

    #[test]
    fn answers() {
        for (said, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", (200, "ok", true)),
            ("HTTP/1.1 200\r\ncontent-length:2\r\nConnection: Close\r\n\r\nok", (200, "ok", false)),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", (200, "ok", false)),
            ("HTTP/1.0 200 OK\nConnection: keep-alive\nContent-Length: 2\n\nok", (200, "ok", true)),
            ("HTTP/1.1 404 No\r\n\r\nuntil the end", (404, "until the end", false)),
            ("HTTP/1.1 204 X\r\nA: b\r\n\r\n", (204, "", true)),
            (
                "HTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                (200, "", true),
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n\
                 5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\nX-T: 1\r\n\r\n",
                (200, "hello, world", true),
            ),
        ] {
            let (answer, consumed) = read(said.as_bytes(), Asked::Other).unwrap();
            assert_eq!((text(&answer), consumed), (expected, said.len()), "{said}");
        }
        let twice = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n";
        assert_eq!(read(twice.as_bytes(), Asked::Other).unwrap().1, 40);
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        for asked in [Asked::Head, Asked::Connect] {
            let (answer, _) = read(head.as_bytes(), asked).unwrap();
            assert_eq!((answer.status, answer.body.len(), answer.keeps_open), (200, 0, true));
        }
        let refused = "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno";
        assert_eq!(text(&read(refused.as_bytes(), Asked::Connect).unwrap().0), (407, "no", true));
    }

    #[test]
    fn the_head_is_kept_as_it_came() {
        let head = "HTTP/1.1 103 E\r\nA: 0\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\nx-a:d \r\nX-E:\r\n\r\n";
        let (answer, _) = read(format!("{head}body").as_bytes(), Asked::Other).unwrap();
        assert_eq!(str::from_utf8(&answer.head).unwrap(), head);
        assert_eq!(answer.header("X-A").collect::<Vec<_>>(), ["b", "d"]);
        assert_eq!(answer.header("a").count(), 0);
        assert_eq!(answer.header("x-e").collect::<Vec<_>>(), [""]);
        // Trailers stand behind the empty line.
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let whole = format!("{chunked}0\r\nX-T: 1\r\n\r\n");
        let (answer, _) = read(whole.as_bytes(), Asked::Other).unwrap();
        assert_eq!(str::from_utf8(&answer.head).unwrap(), format!("{chunked}X-T: 1\r\n"));
    }

    #[test]
    fn what_is_wrong_has_a_name() {
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(LINE_BYTES_MAX));
        let ok = "HTTP/1.1 200 OK\r\n";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (said, error) in [
            (String::new(), HttpError::Empty),
            ("SSH-2.0\r\n".into(), HttpError::NotHttp),
            ("SSH".into(), HttpError::NotHttp),
            ("HTTP/1.1 2".into(), HttpError::Cut),
            ("HTTP/1.1 abc OK\r\n".into(), HttpError::Version),
            ("HTTP/1.1 099 OK\r\n".into(), HttpError::Version),
            ("HTTP/2 200 OK\r\n".into(), HttpError::Version),
            (format!("{ok}no header\r\n"), HttpError::NoColon),
            (format!("{ok}a: \0\r\n"), HttpError::Nul),
            (format!("{ok}Content-Length: x\r\n\r\n"), HttpError::Length),
            (format!("{ok}Content-Length: +1\r\n\r\n"), HttpError::Length),
            (format!("{ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), HttpError::Length),
            (format!("{ok}Content-Length: 100\r\n\r\nonly this"), HttpError::Missing(91)),
            (format!("{ok}Content-Length: 1001\r\n\r\n"), HttpError::TooLarge(MAX)),
            (format!("{ok}\r\n{}", "x".repeat(MAX + 1)), HttpError::TooLarge(MAX)),
            (format!("{chunked}zz\r\n"), HttpError::ChunkDigit(b'z')),
            (format!("{chunked}\r\n"), HttpError::Chunk),
            (format!("{chunked}11111111111111111\r\n"), HttpError::Chunk),
            (format!("{chunked}1\r\nab\r\n"), HttpError::Chunk),
            (format!("{chunked}5\r\nab"), HttpError::Cut),
            (format!("{ok}A: b\r\n"), HttpError::Cut),
            (long, HttpError::LargeHead(0)),
            (ok.replace("200", "100").replace('\n', "\n\r\n").repeat(33), HttpError::LargeHead(0)),
            (
                format!("{ok}{}", format!("A: {}\r\n", "x".repeat(1000)).repeat(310)),
                HttpError::LargeHead(0),
            ),
        ] {
            let found = read_in(said.as_bytes(), Asked::Other, said.len().max(1)).unwrap_err();
            let found = match found {
                HttpError::LargeHead(_) => HttpError::LargeHead(0),
                found => found,
            };
            assert_eq!(found, error, "{:.60}", said);
        }
    }
}
