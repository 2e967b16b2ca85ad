//! What the schemes of authentication have in common.

use std::path::Path;

use proxying::http1::Request;

use super::checks::Task;

/// What a scheme makes of the credentials.
pub(super) enum Judged {
    Passed(Passed),
    /// With the value of WWW-Authenticate.
    Refused(String),
    Check(Box<Task>),
}

/// Whom a scheme has recognised.
pub(super) struct Passed {
    /// The name that the credentials prove; empty: they have none.
    pub(super) user: String,
    /// Headers for the server.
    pub(super) set: Vec<(String, String)>,
}

/// What a client sends to prove who it is (RFC 9110, 11.4).
#[derive(Debug, Clone, Copy)]
pub(super) struct Credentials<'a> {
    pub(super) scheme: &'a [u8],
    pub(super) text: &'a [u8],
}

impl<'a> Credentials<'a> {
    /// Those of a request. Of several fields none counts.
    pub(super) fn of(request: &Request<'a>) -> Option<Self> {
        let mut fields =
            request.fields.iter().filter(|f| f.name.eq_ignore_ascii_case(b"authorization"));
        let (value, None) = (fields.next()?.value, fields.next()) else { return None };
        let end = memchr::memchr(b' ', value)?;
        Some(Self { scheme: &value[..end], text: value[end..].trim_ascii() })
    }
}

/// A text file of bounded size.
pub(super) fn read(path: &Path, most: u64) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let length = std::fs::metadata(path).map_err(cannot)?.len();
    if length > most {
        return Err(format!("{} has {length} bytes, the limit is {most}", path.display()));
    }
    std::fs::read_to_string(path).map_err(cannot)
}
