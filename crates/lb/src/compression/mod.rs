//! Compression of servers' responses: which ones, and with which coding.

mod accept;
mod acceptance;
mod encoder;
pub(crate) mod reply;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use proxying::http1::{Body, Framing, Request, Response};

use crate::config;
use crate::slot::Slot;
use accept::Wanted;
pub(crate) use acceptance::Acceptance;
use encoder::Encoder;

/// Fields that would no longer be true of a compressed response (RFC 9530, RFC 9421), or say that it is one.
const UNTOUCHED: [&[u8]; 6] = [
    b"content-encoding",
    b"content-range",
    b"content-digest",
    b"repr-digest",
    b"digest",
    b"content-md5",
];

/// The settings of a service.
#[derive(Debug)]
pub(crate) struct Settings {
    config: config::Compression,
    /// Responses of the service that are being compressed, of all threads.
    open: Arc<AtomicU32>,
    all: Streams,
}

/// The responses of all services that are being compressed.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    open: Arc<AtomicU32>,
    most: u32,
}

impl Streams {
    /// Responses at once: they take 3 GiB at most.
    const MOST: u32 = 1024;

    /// Those of a configuration, whose limit is that of the service with the highest one at least. `before`: the
    /// number goes on.
    pub(crate) fn of(config: &config::Config, before: Option<&Self>) -> Self {
        let services = config.virtual_services.iter();
        let limits = services.filter_map(|service| Some(service.compression.as_ref()?.streams));
        let open = before.map(|before| Arc::clone(&before.open)).unwrap_or_default();
        Self { open, most: limits.fold(Self::MOST, u32::max) }
    }
}

/// A response that is being compressed.
#[derive(Debug)]
pub(crate) struct Coded {
    /// As the server sends it.
    body: Body,
    /// It leaves in chunks.
    chunked: bool,
    encoder: Encoder,
    /// The encoder has ended.
    finished: bool,
    /// Places in the service and in the engine.
    _slots: [Slot; 2],
}

/// How a response leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// As it is, for all clients.
    Same,
    /// As it is; other clients would get it compressed.
    Varies,
    /// Compressed.
    Coded(config::Coding),
    /// Without content, to HEAD: with the head of the compressed one.
    Head(config::Coding),
    /// It tells the client that the compressed one, which it has, is still valid.
    Unmodified,
}

impl Settings {
    /// The settings; those before have the number of open streams.
    pub(crate) fn compile(
        config: &config::Compression,
        all: &Streams,
        before: Option<&Self>,
    ) -> Self {
        let open = before.map(|before| Arc::clone(&before.open)).unwrap_or_default();
        Self { config: config.clone(), open, all: all.clone() }
    }

    /// Those of all services.
    pub(crate) fn all(&self) -> &Streams {
        &self.all
    }

    /// What a request asks for; `None`: its response must not be transformed.
    pub(crate) fn acceptance(&self, request: &Request<'_>) -> Option<Acceptance> {
        let untouched = request.websocket
            || forbids_transformation(request.fields.iter().map(|f| (f.name, f.value)));
        let wanted = || Wanted::of(request, &self.config.algorithms);
        (!untouched).then(|| Acceptance::of(request, wanted()))
    }

    /// Whether a response may be compressed at all. One to HEAD, or 304, is treated like the one with content, as far
    /// as its head describes it.
    fn suits(&self, response: &Response<'_>, accepted: &Acceptance) -> bool {
        let fields = || response.fields.iter().map(|field| (field.name, field.value));
        let value = |name: &[u8]| {
            fields().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let unmodified = response.status == 304;
        let described = accepted.to_head || unmodified;
        let empty = match described {
            true => response.length == Some(0),
            false => Body::new(response.framing).has_ended(),
        };
        if empty || matches!(response.status, ..200 | 204..=206) {
            return false;
        }
        let announced = |value: &[u8]| {
            value.split(|byte| *byte == b',').any(|name| is_untouched(name.trim_ascii()))
        };
        let untouched = |(name, value): (&[u8], &[u8])| {
            is_untouched(name) || (name.eq_ignore_ascii_case(b"trailer") && announced(value))
        };
        if fields().any(untouched) || forbids_transformation(fields()) {
            return false;
        }
        let media_type = value(b"content-type");
        // A response 304 need not have it.
        let unknown = unmodified && media_type.is_none();
        let media_type = media_type.unwrap_or_default();
        let end = memchr::memchr(b';', media_type).unwrap_or(media_type.len());
        let media_type = media_type[..end].trim_ascii();
        if is_grpc(media_type) {
            return false;
        }
        if unknown || matches!(accepted.wanted, Wanted::Only(_)) {
            return true;
        }
        let length = match response.framing {
            Framing::Length(length) => Some(length),
            _ => response.length.filter(|_| described),
        };
        let long = length.is_none_or(|length| length >= self.config.min_length);
        long && self.config.types.iter().any(|range| matches(range.as_bytes(), media_type))
    }

    fn offer(&self, response: &Response<'_>, accepted: &Acceptance) -> Offer {
        if !self.suits(response, accepted) {
            return Offer::Same;
        }
        let coding = match accepted.wanted {
            Wanted::Identity => return Offer::Varies,
            Wanted::Coding(coding) | Wanted::Only(coding) => coding,
        };
        let is_tag = |name: &[u8]| name.eq_ignore_ascii_case(b"etag");
        let tag = response.fields.iter().find(|field| is_tag(field.name)).map(|field| field.value);
        match response.status {
            304 if tag.is_none_or(|tag| accepted.may_have_coded(tag)) => Offer::Unmodified,
            304 => Offer::Varies,
            _ if accepted.to_head => Offer::Head(coding),
            _ => Offer::Coded(coding),
        }
    }

    fn slots(&self) -> Option<[Slot; 2]> {
        let own = Slot::take(&self.open, self.config.streams)?;
        Some([own, Slot::take(&self.all.open, self.all.most)?])
    }
}

impl Coded {
    /// It leaves in chunks.
    pub(crate) fn in_chunks(mut self: Box<Self>, chunked: bool) -> Box<Self> {
        self.chunked = chunked;
        self
    }
}

impl Offer {
    /// The compression of the content, also if it is not sent.
    pub(crate) fn coding(self) -> Option<config::Coding> {
        match self {
            Self::Coded(coding) | Self::Head(coding) => Some(coding),
            Self::Same | Self::Varies | Self::Unmodified => None,
        }
    }

    /// Whether the response has the same head as a compressed one.
    fn describes_coded(self) -> bool {
        matches!(self, Self::Coded(_) | Self::Head(_) | Self::Unmodified)
    }

    /// Whether the length that the server has announced is still true.
    pub(crate) fn keeps_length(self) -> bool {
        !self.describes_coded()
    }

    /// Whether a field of the server is left out.
    pub(crate) fn drops(self, name: &[u8]) -> bool {
        self.describes_coded() && name.eq_ignore_ascii_case(b"accept-ranges")
    }

    /// Whether a field of the server is an entity tag that becomes a weak one: other bytes stand for the same
    /// content (RFC 9110, 8.8.3.3).
    pub(crate) fn weakens(self, name: &[u8], value: &[u8]) -> bool {
        self.describes_coded() && name.eq_ignore_ascii_case(b"etag") && value.starts_with(b"\"")
    }

    /// Whether Vary must name Accept-Encoding and does not. `dropped`: a rule removes that of the server.
    pub(crate) fn adds_vary(self, response: &Response<'_>, dropped: bool) -> bool {
        let is_vary = |name: &[u8]| !dropped && name.eq_ignore_ascii_case(b"vary");
        let vary = response.fields.iter().filter(|field| is_vary(field.name));
        let mut members = vary.flat_map(|field| field.value.split(|byte| *byte == b','));
        self != Self::Same
            && !members.any(|member| {
                let member = member.trim_ascii();
                member == b"*" || member.eq_ignore_ascii_case(b"accept-encoding")
            })
    }
}

/// Whether a field, also one among trailers, is not true of a compressed response.
fn is_untouched(name: &[u8]) -> bool {
    UNTOUCHED.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// `Cache-Control: no-transform` (RFC 9111, 5.2.1.6 and 5.2.2.6).
fn forbids_transformation<'f>(fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> bool {
    let mut fields = fields.filter(|(name, _)| name.eq_ignore_ascii_case(b"cache-control"));
    fields.any(|(_, value)| {
        let mut directives = value.split(|byte| *byte == b',');
        directives.any(|directive| directive.trim_ascii().eq_ignore_ascii_case(b"no-transform"))
    })
}

fn is_grpc(media_type: &[u8]) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    media_type.get(..GRPC.len()).is_some_and(|start| start.eq_ignore_ascii_case(GRPC))
}

/// Whether a media type is in a range such as `text/html` or `text/*`.
fn matches(range: &[u8], media_type: &[u8]) -> bool {
    match range.strip_suffix(b"*") {
        Some(kind) => {
            media_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
        }
        None => range.eq_ignore_ascii_case(media_type),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use proxying::http1::Limits;

    use super::*;
    use crate::config::Coding;

    fn streams() -> Streams {
        Streams::of(&config::Config::default(), None)
    }

    fn settings() -> Settings {
        let config = config::Compression::with(vec![Coding::Gzip]);
        Settings::compile(&config, &streams(), None)
    }

    fn offer(status: &str, fields: &str, wanted: Wanted) -> Offer {
        offer_to("GET / HTTP/1.1\r\nHost: a\r\n", wanted, status, fields)
    }

    /// The offer for a response to a request with this head.
    fn offer_to(request: &str, wanted: Wanted, status: &str, fields: &str) -> Offer {
        let request = format!("{request}\r\n");
        let request = Request::parse(request.as_bytes(), &Limits::default()).unwrap();
        let accepted = Acceptance::of(&request, wanted);
        let head = format!("HTTP/1.1 {status}\r\n{fields}\r\n");
        let to_head = request.method == b"HEAD";
        let response = Response::parse(head.as_bytes(), to_head, &Limits::default()).unwrap();
        settings().offer(&response, &accepted)
    }

    #[test]
    fn only_responses_that_may_be_transformed_are_compressed() {
        let coded = Offer::Coded(Coding::Gzip);
        let html = "Content-Type: text/html; charset=utf-8\r\n";
        for (status, fields, expected) in [
            ("200 OK", format!("{html}Content-Length: 2000\r\n"), coded),
            ("200 OK", format!("{html}Transfer-Encoding: chunked\r\n"), coded),
            ("404 Not Found", format!("{html}Content-Length: 2000\r\n"), coded),
            ("200 OK", html.to_owned(), coded),
            ("200 OK", format!("{html}Content-Length: 511\r\n"), Offer::Same),
            ("200 OK", format!("{html}Content-Length: 0\r\n"), Offer::Same),
            ("200 OK", "Content-Length: 2000\r\n".to_owned(), Offer::Same),
            (
                "200 OK",
                "Content-Type: image/png\r\nContent-Length: 2000\r\n".to_owned(),
                Offer::Same,
            ),
            (
                "200 OK",
                "Content-Type: application/JSON\r\nContent-Length: 2000\r\n".to_owned(),
                coded,
            ),
            ("200 OK", "Content-Type: application/grpc+json\r\n".to_owned(), Offer::Same),
            ("200 OK", format!("{html}Content-Encoding: br\r\n"), Offer::Same),
            ("200 OK", format!("{html}Content-Encoding: identity\r\n"), Offer::Same),
            ("200 OK", format!("{html}Cache-Control: public, No-Transform\r\n"), Offer::Same),
            ("200 OK", format!("{html}Cache-Control: public\r\n"), coded),
            ("200 OK", format!("{html}Content-Digest: sha-256=:AA==:\r\n"), Offer::Same),
            ("200 OK", format!("{html}Trailer: X, content-digest\r\n"), Offer::Same),
            ("200 OK", format!("{html}Trailer: X-Digest\r\n"), coded),
            ("206 Partial Content", format!("{html}Content-Range: bytes 0-9/99\r\n"), Offer::Same),
            ("206 Partial Content", html.to_owned(), Offer::Same),
            ("204 No Content", html.to_owned(), Offer::Same),
        ] {
            assert_eq!(offer(status, &fields, Wanted::Coding(Coding::Gzip)), expected, "{fields}");
        }
        let fields = format!("{html}Content-Length: 2000\r\n");
        assert_eq!(offer("200 OK", &fields, Wanted::Identity), Offer::Varies);
    }

    #[test]
    fn responses_without_content_describe_the_compressed_one() {
        let gzip = Wanted::Coding(Coding::Gzip);
        let (html, png) = ("Content-Type: text/html\r\n", "Content-Type: image/png\r\n");
        let tag = "ETag: \"x\"\r\n";
        let head = Offer::Head(Coding::Gzip);
        for (fields, wanted, expected) in [
            (format!("{html}Content-Length: 2000\r\n"), gzip, head),
            (format!("{html}Transfer-Encoding: chunked\r\n"), gzip, head),
            (html.to_owned(), gzip, head),
            (format!("{html}Content-Length: 2000\r\n"), Wanted::Identity, Offer::Varies),
            (format!("{html}Content-Length: 511\r\n"), gzip, Offer::Same),
            (format!("{html}Content-Length: 0\r\n"), gzip, Offer::Same),
            (format!("{html}Content-Encoding: br\r\n"), gzip, Offer::Same),
            (format!("{png}Content-Length: 2000\r\n"), gzip, Offer::Same),
        ] {
            let request = "HEAD / HTTP/1.1\r\nHost: a\r\n";
            assert_eq!(offer_to(request, wanted, "200 OK", &fields), expected, "{fields}");
        }
        for (tags, fields, wanted, expected) in [
            ("W/\"x\"", tag.to_owned(), gzip, Offer::Unmodified),
            ("\"y\", W/\"x\"", format!("{tag}{html}"), gzip, Offer::Unmodified),
            ("\"x\"", tag.to_owned(), gzip, Offer::Varies),
            ("W/\"xy\", \"x\"", tag.to_owned(), gzip, Offer::Varies),
            ("*", tag.to_owned(), gzip, Offer::Unmodified),
            ("W/\"x\"", "ETag: W/\"x\"\r\n".to_owned(), gzip, Offer::Unmodified),
            ("W/\"x\"", tag.to_owned(), Wanted::Identity, Offer::Varies),
            ("W/\"x\"", format!("{tag}{png}"), gzip, Offer::Same),
            ("W/\"x\"", format!("{tag}Cache-Control: no-transform\r\n"), gzip, Offer::Same),
            ("W/\"x\"", format!("{tag}Content-Length: 20\r\n{html}"), gzip, Offer::Same),
        ] {
            let request = format!("GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: {tags}\r\n");
            let offer = offer_to(&request, wanted, "304 Not Modified", &fields);
            assert_eq!(offer, expected, "{tags} {fields}");
        }
    }

    #[test]
    fn client_that_accepts_one_coding_gets_it_for_all_types() {
        let only = Wanted::Only(Coding::Gzip);
        let fields = "Content-Type: image/png\r\nContent-Length: 10\r\n";
        assert_eq!(offer("200 OK", fields, only), Offer::Coded(Coding::Gzip));
        let fields = "Content-Type: image/png\r\nCache-Control: no-transform\r\n";
        assert_eq!(offer("200 OK", fields, only), Offer::Same);
    }

    #[test]
    fn streams_at_once_are_limited() {
        let config = config::Compression { streams: 2, ..config::Compression::with(vec![]) };
        let settings = Settings::compile(&config, &streams(), None);
        let (first, second) = (settings.slots().unwrap(), settings.slots().unwrap());
        assert!(settings.slots().is_none());
        drop(first);
        let newer = Settings::compile(&config, &settings.all, Some(&settings));
        let third = newer.slots().unwrap();
        assert!(settings.slots().is_none(), "a new configuration counts the same streams");
        drop((second, third));
        assert_eq!((newer.open.load(Relaxed), newer.all.open.load(Relaxed)), (0, 0));
    }

    #[test]
    fn streams_at_once_of_all_services_are_limited() {
        let all = streams();
        let services: Vec<Settings> = (0..50)
            .map(|_| Settings::compile(&config::Compression::with(vec![]), &all, None))
            .collect();
        let slots: Vec<_> =
            services.iter().flat_map(|one| std::iter::from_fn(|| one.slots())).collect();
        assert_eq!(slots.len(), Streams::MOST as usize);
        let refused = &services[49];
        assert!(refused.slots().is_none());
        assert_eq!(refused.open.load(Relaxed), 0, "a place of the service is given back");
        drop(slots);
        assert!(refused.slots().is_some());
    }

    #[test]
    fn vary_names_accept_encoding_once() {
        let adds = |fields: &str, dropped| {
            let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
            let response = Response::parse(head.as_bytes(), false, &Limits::default()).unwrap();
            Offer::Varies.adds_vary(&response, dropped)
        };
        assert!(adds("", false) && adds("Vary: Origin\r\n", false));
        assert!(!adds("Vary: Origin, accept-encoding\r\n", false) && !adds("Vary: *\r\n", false));
        assert!(adds("Vary: Accept-Encoding\r\n", true), "a rule removes it");
    }
}
