//! What a stored response is found by.

use proxying::http1::Request;

use super::question::Question;

/// The resource, and what else of a request decides which of its responses may be used.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Port of the service, host and target as the client sent them, but for the case of the host. Equal URIs in
    /// different spellings are different here: a server may tell them apart, and could be made to answer one with the
    /// content of another.
    pub(super) resource: Box<[u8]>,
    /// Pool, rules and header fields that the request was subject to: they change what the server gets.
    pub(super) selector: Box<[u8]>,
}

impl Key {
    /// That of a request with a host.
    pub(super) fn of(question: &Question<'_>, headers: &[String]) -> Self {
        let Question { request, forward, seen, port, .. } = *question;
        // Neither hosts nor targets nor names nor values contain a zero byte.
        let mut selector = forward.pool.name.clone().into_bytes();
        let numbers = forward.applied.rules.iter().copied();
        let rewrite = forward.rewrite.map_or(u64::MAX, |(_, rule)| rule as u64);
        selector.push(0);
        selector.extend(rewrite.to_be_bytes());
        selector.extend(numbers.flat_map(u16::to_be_bytes));
        if let Some(scripted) = &forward.applied.scripted {
            // What a script sends is as good as what the client has sent.
            for part in [""].into_iter().chain(scripted.request.parts()) {
                selector.push(0);
                selector.extend_from_slice(part.as_bytes());
            }
            selector.push(0);
            selector.extend_from_slice(scripted.target.as_deref().unwrap_or_default());
            selector.push(0);
        }
        for name in headers {
            for field in seen {
                if field.name.eq_ignore_ascii_case(name.as_bytes()) {
                    selector.push(0);
                    selector.extend_from_slice(name.as_bytes());
                    selector.push(0);
                    selector.extend_from_slice(field.value);
                }
            }
        }
        Self { resource: resource(request, port), selector: selector.into() }
    }
}

/// Bytes of a resource before its host: the port.
pub(super) const PORT: usize = 2;

/// The resource of a request: the port in network byte order, the host, a zero byte, and the target.
pub(super) fn resource(request: &Request<'_>, port: u16) -> Box<[u8]> {
    let target = request.target.path_and_query;
    let mut resource = Vec::with_capacity(request.host.len() + target.len() + 8);
    resource.extend(port.to_be_bytes());
    resource.extend(request.host.iter().map(u8::to_ascii_lowercase));
    resource.push(0);
    if request.target.missing_root {
        resource.push(b'/');
    }
    resource.extend_from_slice(target);
    resource.into()
}
