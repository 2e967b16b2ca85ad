//! What a request says about the form of its response.

use proxying::http1::Request;

use super::accept::Wanted;

/// What a request says about the form of its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acceptance {
    pub(super) wanted: Wanted,
    /// The response has no content, but the head of the one that has (RFC 9110, 9.3.2).
    pub(super) to_head: bool,
    /// If-None-Match: the client has responses with these entity tags; `None`: it names none.
    tags: Option<Box<[u8]>>,
}

impl Acceptance {
    pub(super) fn of(request: &Request<'_>, wanted: Wanted) -> Self {
        let fields = request.fields.iter();
        let tags = fields.filter(|field| field.name.eq_ignore_ascii_case(b"if-none-match"));
        let tags: Vec<_> = tags.map(|field| field.value).collect();
        let names = tags.iter().any(|value| value.trim_ascii() != b"*");
        let tags = names.then(|| tags.join(&b", "[..]).into());
        Self { wanted, to_head: request.method == b"HEAD", tags }
    }

    /// Whether the client may have the response with an entity tag compressed: it names the weak form of the tag, or
    /// none at all.
    pub(super) fn may_have_coded(&self, tag: &[u8]) -> bool {
        let opaque = tag.strip_prefix(b"W/").unwrap_or(tag);
        let weak = [b"W/", opaque].concat();
        self.tags.as_ref().is_none_or(|tags| memchr::memmem::find(tags, &weak).is_some())
    }
}
