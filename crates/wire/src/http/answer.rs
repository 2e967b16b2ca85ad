//! A server's answer, from fragments of any size, with its head kept as it came.
//!
//! `httparse` reads status lines, headers and the sizes of chunks; what stands here is how long a
//! head and a body are, and what people see of both.

use std::ops::Range;

use httparse::{EMPTY_HEADER, ParserConfig, Response, Status};

use super::{HEAD_BYTES_MAX, HttpError};

/// Bytes of one header line, before it ends.
const LINE_BYTES_MAX: usize = 100 << 10;
/// Interim answers (`103 Early Hints`) before the real one.
const INTERIM_MAX: u32 = 32;
/// Headers that are read without asking for memory: more than nearly all answers have.
const HEADERS_USUAL: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
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
    /// The line between chunks, as far as it has come.
    line: Vec<u8>,
    head: Vec<u8>,
    /// Where the last status line begins.
    last: usize,
    /// Where the line begins that is being read.
    line_at: usize,
    fields: Vec<Field>,
    interim: u32,
    status: u16,
    old: bool,
    chunked: bool,
    length: Option<u64>,
    body: Vec<u8>,
}

/// Where a header's name and value are in the head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: Range<usize>,
    value: Range<usize>,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Status line and headers as they came, with those of interim answers and trailers.
    pub head: Vec<u8>,
    /// Those of the last status line.
    fields: Vec<Field>,
    /// The body without transfer coding, still packed if `Content-Encoding` says so.
    pub body: Vec<u8>,
    /// The connection may be used again.
    pub keeps_open: bool,
}

impl Answer {
    /// The values of a header, in their order.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        values(&self.head, &self.fields, name)
    }
}

fn values<'a>(head: &'a [u8], fields: &'a [Field], name: &'a str) -> impl Iterator<Item = &'a str> {
    let named = |field: &&Field| {
        head.get(field.name.clone()).is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    };
    fields.iter().filter(named).map(|field| {
        let value = head.get(field.value.clone()).unwrap_or_default();
        // What old servers continue on the next line is another line to the field's servers.
        let first = value.split(|byte| matches!(byte, b'\r' | b'\n')).next();
        str::from_utf8(first.unwrap_or_default().trim_ascii()).unwrap_or_default()
    })
}

impl Decoder {
    /// For one answer with at most `body_max` bytes of body.
    pub fn new(asked: Asked, body_max: usize) -> Self {
        Self {
            asked,
            body_max,
            state: State::Head,
            line: Vec::new(),
            head: Vec::new(),
            last: 0,
            line_at: 0,
            fields: Vec::new(),
            interim: 0,
            status: 0,
            old: false,
            chunked: false,
            length: None,
            body: Vec::new(),
        }
    }

    /// Whether anything came yet.
    pub fn is_untouched(&self) -> bool {
        self.head.is_empty()
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
                State::Head => {
                    if self.take_line(&mut rest)? {
                        self.head_line()?;
                    }
                }
                State::ChunkSize | State::ChunkEnd | State::Trailers | State::Done => {
                    if self.take_line(&mut rest)? {
                        let line = std::mem::take(&mut self.line);
                        self.line_between(&line)?;
                    }
                }
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
            State::Head if self.line_at == self.last => {
                let line = self.head.get(self.last..).unwrap_or_default();
                let like = line.iter().zip(b"HTTP/").all(|(byte, wanted)| byte == wanted);
                return Err(if like { HttpError::Cut } else { HttpError::NotHttp });
            }
            State::Length(left) => return Err(HttpError::Missing(left)),
            _ => return Err(HttpError::Cut),
        }
        Ok(())
    }

    /// The answer, when it is complete.
    pub fn finish(self) -> Answer {
        let keeps_open = self.keeps_open();
        let Self { status, head, fields, body, .. } = self;
        Answer { status, head, fields, body, keeps_open }
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        values(&self.head, &self.fields, name)
    }

    fn keeps_open(&self) -> bool {
        let mut words = self
            .values("connection")
            .chain(self.values("proxy-connection"))
            .flat_map(|value| value.split(','))
            .map(str::trim);
        let delimited = self.length.is_some() || self.chunked || !self.has_body();
        delimited
            && match self.old {
                true => words.any(|word| word.eq_ignore_ascii_case("keep-alive")),
                false => !words.any(|word| word.eq_ignore_ascii_case("close")),
            }
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

    /// Moves a line, or what there is of it, to where it belongs; `true` = it is complete.
    fn take_line(&mut self, rest: &mut &[u8]) -> Result<bool, HttpError> {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (mine, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        let in_head = self.state == State::Head;
        let before = if in_head { self.head.len() - self.line_at } else { self.line.len() };
        let size = self.head.len() + self.line.len() + mine.len();
        if before + mine.len() > LINE_BYTES_MAX || size > HEAD_BYTES_MAX {
            return Err(HttpError::LargeHead(size));
        }
        if in_head && self.head.capacity() == 0 {
            // Nearly always the whole head comes at once.
            self.head.reserve(rest.len().min(4 << 10));
        }
        let to = if in_head { &mut self.head } else { &mut self.line };
        to.extend_from_slice(mine);
        *rest = after;
        Ok(end.is_some())
    }

    /// A line of the head has come.
    fn head_line(&mut self) -> Result<(), HttpError> {
        let line = self.head.get(self.line_at..).unwrap_or_default();
        if line.contains(&0) {
            return Err(HttpError::Nul);
        }
        let first = self.line_at == self.last;
        self.line_at = self.head.len();
        if first {
            if !line.starts_with(b"HTTP/") {
                return Err(HttpError::NotHttp);
            }
            let mut response = Response::new(&mut []);
            // Without its headers a good one is not complete.
            return match config().parse_response(&mut response, line) {
                Ok(_) if response.code >= Some(100) => Ok(()),
                _ => Err(HttpError::Version),
            };
        }
        match line {
            b"\r\n" | b"\n" => self.begin_body(),
            // Old servers continue a header on the next line.
            [b' ' | b'\t', ..] => Ok(()),
            _ if line.contains(&b':') => Ok(()),
            _ => Err(HttpError::NoColon),
        }
    }

    /// A line between chunks or behind the last.
    fn line_between(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let empty = line.trim_ascii().is_empty();
        match self.state {
            State::ChunkSize => {
                let size = chunk_size(line)?;
                self.state = if size == 0 { State::Trailers } else { State::Chunk(size) };
            }
            State::ChunkEnd if empty => self.state = State::ChunkSize,
            State::ChunkEnd => return Err(HttpError::Chunk),
            _ if empty => self.state = State::Done,
            _ if line.contains(&0) => return Err(HttpError::Nul),
            _ if !line.contains(&b':') => return Err(HttpError::NoColon),
            _ => self.head.extend_from_slice(line),
        }
        Ok(())
    }

    /// Status and headers of a head that is complete.
    fn parse_head(&mut self) -> Result<(), HttpError> {
        let head = self.head.get(self.last..).unwrap_or_default();
        let usual = parse(head, &mut [EMPTY_HEADER; HEADERS_USUAL], self.last);
        let parsed = usual.or_else(|error| match error {
            httparse::Error::TooManyHeaders => {
                let lines = head.iter().filter(|byte| **byte == b'\n').count();
                parse(head, &mut vec![EMPTY_HEADER; lines], self.last)
            }
            error => Err(error),
        });
        let Ok((status, old, fields)) = parsed else { return Err(HttpError::Version) };
        (self.status, self.old, self.fields) = (status, old, fields);
        Ok(())
    }

    /// The headers are complete: what follows?
    fn begin_body(&mut self) -> Result<(), HttpError> {
        self.parse_head()?;
        if matches!(self.status, 100 | 102..200) {
            self.interim += 1;
            if self.interim > INTERIM_MAX {
                return Err(HttpError::LargeHead(self.head.len()));
            }
            self.last = self.head.len();
            return Ok(());
        }
        let chunked = self
            .values("transfer-encoding")
            .flat_map(|value| value.split(','))
            .any(|word| word.trim().eq_ignore_ascii_case("chunked"));
        self.chunked = chunked;
        self.length = self.announced()?;
        self.state = match self.length {
            _ if !self.has_body() => State::Done,
            _ if self.chunked => State::ChunkSize,
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

    /// The body's length, if a header says it.
    fn announced(&self) -> Result<Option<u64>, HttpError> {
        let mut lengths = self.values("content-length");
        let Some(text) = lengths.next().filter(|_| !self.chunked) else { return Ok(None) };
        let good = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(length) if good && lengths.all(|other| other == text) => Ok(Some(length)),
            _ => Err(HttpError::Length),
        }
    }
}

/// As generous as the field's servers: a header that is none of RFC 9110's is shown, and means
/// nothing.
fn config() -> ParserConfig {
    let mut config = ParserConfig::default();
    config
        .allow_multiple_spaces_in_response_status_delimiters(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_space_before_first_header_name(true)
        .ignore_invalid_headers_in_responses(true);
    config
}

/// Status code, whether HTTP is that of old, and the headers of a head that begins at `at`.
fn parse<'a>(
    head: &'a [u8],
    room: &mut [httparse::Header<'a>],
    at: usize,
) -> Result<(u16, bool, Vec<Field>), httparse::Error> {
    let mut response = Response::new(room);
    let Status::Complete(_) = config().parse_response(&mut response, head)? else {
        return Err(httparse::Error::Status);
    };
    let begin = head.as_ptr() as usize;
    let place = |part: &[u8]| {
        let from = at + (part.as_ptr() as usize).saturating_sub(begin);
        from..from + part.len()
    };
    let fields = response
        .headers
        .iter()
        .map(|header| Field { name: place(header.name.as_bytes()), value: place(header.value) });
    let fields = fields.collect();
    let status = response.code.unwrap_or_default();
    Ok((status, response.version == Some(0), fields))
}

fn chunk_size(line: &[u8]) -> Result<u64, HttpError> {
    // Some servers end the line with a line feed alone.
    let line = [line.trim_ascii_end(), b"\r\n"].concat();
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    match (digits, httparse::parse_chunk_size(&line)) {
        (1.., Ok(Status::Complete((_, size)))) => Ok(size),
        _ => match line.get(digits).filter(|byte| !byte.is_ascii_whitespace()) {
            Some(bad) => Err(HttpError::ChunkDigit(*bad)),
            None => Err(HttpError::Chunk),
        },
    }
}

#[cfg(test)]
mod tests;
