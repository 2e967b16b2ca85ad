//! Responses of the balancer itself.

use proxying::http1;

/// A response that the balancer makes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) status: u16,
    pub(crate) location: Option<Vec<u8>>,
    /// Seconds after which the client may come again.
    pub(crate) retry_after: Option<u64>,
    pub(crate) content_type: Option<String>,
    /// Other fields.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Length of the body that a response to HEAD has left out.
    pub(crate) omitted: u32,
}

impl Local {
    /// The same response to HEAD.
    pub(crate) fn for_head(mut self) -> Self {
        self.omitted = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        self.body.clear();
        self
    }

    /// Length of the body in a response to GET.
    pub(crate) fn length(&self) -> u64 {
        u64::from(self.omitted) + self.body.len() as u64
    }

    /// A response that says no more than its status.
    pub(crate) fn text(status: u16) -> Self {
        let mut body = Vec::new();
        http1::number(&mut body, u64::from(status));
        body.push(b' ');
        body.extend_from_slice(reason(status));
        body.push(b'\n');
        let content_type = Some("text/plain; charset=utf-8".to_owned());
        Self { status, content_type, body, ..Self::default() }
    }

    /// Whether it refuses the request.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status >= 400
    }
}

/// RFC 9110, 15.
pub(crate) fn reason(status: u16) -> &'static [u8] {
    match status {
        200 => b"OK",
        204 => b"No Content",
        301 => b"Moved Permanently",
        302 => b"Found",
        303 => b"See Other",
        307 => b"Temporary Redirect",
        308 => b"Permanent Redirect",
        400 => b"Bad Request",
        401 => b"Unauthorized",
        403 => b"Forbidden",
        404 => b"Not Found",
        405 => b"Method Not Allowed",
        408 => b"Request Timeout",
        413 => b"Content Too Large",
        414 => b"URI Too Long",
        417 => b"Expectation Failed",
        429 => b"Too Many Requests",
        431 => b"Request Header Fields Too Large",
        500 => b"Internal Server Error",
        501 => b"Not Implemented",
        502 => b"Bad Gateway",
        503 => b"Service Unavailable",
        504 => b"Gateway Timeout",
        505 => b"HTTP Version Not Supported",
        _ => b"",
    }
}
