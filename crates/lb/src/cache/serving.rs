//! What a client gets of a stored response.

use std::sync::Arc;

use proxying::caching::{NOT_MODIFIED_FIELDS, is_not_modified};
use proxying::http1::{Field, Framing, Options, Response, Version};

use super::object::Object;
use crate::buffer::{Buffer, Buffers};

/// What a client gets of a stored response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Whole,
    /// To HEAD.
    HeadOnly,
    /// The client has the content already.
    NotModified,
}

impl Shape {
    /// For a request with these fields.
    pub(super) fn of(object: &Object, request: &[Field<'_>], to_head: bool) -> Self {
        match to_head {
            _ if has(object, request) => Self::NotModified,
            true => Self::HeadOnly,
            false => Self::Whole,
        }
    }
}

/// A stored response that a client gets.
#[derive(Debug)]
pub(crate) struct Serving {
    object: Arc<Object>,
    shape: Shape,
    /// Value of Age.
    age: String,
    /// Content that was sent or read.
    at: usize,
}

impl Serving {
    pub(super) fn new(object: Arc<Object>, shape: Shape, age_s: u64) -> Self {
        Self { object, shape, age: age_s.to_string(), at: 0 }
    }

    /// The response without its content.
    pub(crate) fn response<'s>(&'s self, fields: Vec<Field<'s>>) -> Response<'s> {
        let head = &self.object.head;
        let (status, reason) = match self.shape {
            Shape::NotModified => (304, &b"Not Modified"[..]),
            Shape::Whole | Shape::HeadOnly => (head.status, &*head.reason),
        };
        let length = self.object.length();
        let bodiless = status == 204 || self.shape != Shape::Whole;
        Response {
            version: Version::Http11,
            status,
            reason,
            fields,
            options: Options::default(),
            framing: if bodiless { Framing::None } else { Framing::Length(length) },
            length: (self.shape != Shape::NotModified).then_some(length),
            keep_alive: true,
        }
    }

    /// The response 304 with all that is known of the one that the client has; `None`: the client gets that one.
    pub(crate) fn validated(&self) -> Option<Response<'_>> {
        let validated = self.shape == Shape::NotModified;
        validated.then(|| Response {
            length: Some(self.object.length()),
            ..self.response(self.object.head.fields.list())
        })
    }

    /// Its fields for this client.
    pub(crate) fn fields(&self) -> Vec<Field<'_>> {
        let mut fields = self.object.head.fields.list();
        if self.shape == Shape::NotModified {
            let is =
                |field: &Field<'_>, name: &str| field.name.eq_ignore_ascii_case(name.as_bytes());
            let tagged = fields.iter().any(|field| is(field, "etag"));
            fields.retain(|field| {
                NOT_MODIFIED_FIELDS.iter().any(|name| is(field, name))
                    && !(tagged && is(field, "last-modified"))
            });
        }
        fields.push(Field::new(b"Age", self.age.as_bytes()));
        fields
    }

    /// What is left of the content.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.object.content.bytes[self.at..]
    }

    /// Copies content into the free space, for what transforms it.
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, buffers: &mut Buffers) {
        let unread = &self.object.content.bytes[self.at..];
        let part = &unread[..unread.len().min(buffer.room())];
        if !part.is_empty() && buffer.push(part, buffers) {
            self.at += part.len();
        }
    }

    /// Counts content that was sent or read.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Whether nothing of the content is left to be read.
    pub(crate) fn is_read(&self) -> bool {
        self.unread().is_empty()
    }

    /// Value of Cache-Status for a response that came without a server (RFC 9211).
    pub(crate) fn hit(&self) -> String {
        format!("vedette; hit; ttl={}", self.ttl_s())
    }

    /// The same for a response in place of a server's error with this status; `None`: no server has responded.
    pub(crate) fn stand_in(&self, status: Option<u16>) -> String {
        let status = status.map_or_else(String::new, |status| format!("; fwd-status={status}"));
        format!("vedette; fwd=stale{status}; ttl={}", self.ttl_s())
    }

    /// Whether it has expired.
    pub(crate) fn is_stale(&self) -> bool {
        self.ttl_s() <= 0
    }

    /// Seconds that the response is still fresh; negative: since it is not.
    fn ttl_s(&self) -> i64 {
        let age_s = self.age.parse::<i64>().unwrap_or(i64::MAX);
        let lifetime_s = i64::try_from(self.object.head.terms.lifetime_s).unwrap_or(i64::MAX);
        lifetime_s.saturating_sub(age_s)
    }
}

/// Whether a client with these fields has a stored response already.
fn has(object: &Object, request: &[Field<'_>]) -> bool {
    object.head.status == 200 && is_not_modified(request, &object.head.fields.list())
}
