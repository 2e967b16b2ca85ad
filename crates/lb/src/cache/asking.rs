//! What the cache does with a request.

use std::sync::Arc;

use proxying::caching::{RequestDirectives, Use};
use proxying::http1::{Field, Framing, Request};
use transactions::Cached;

use super::course::{Course, Fetch};
use super::fields::Fields;
use super::key::Key;
use super::question::Question;
use super::serving::{Serving, Shape};
use super::settings::Cache;
use crate::local::Local;
use crate::variable::same_variable;

/// Request fields with which servers and frameworks are known to choose another resource, host or method. The key
/// does not have them, so the response could be one that other clients must not get.
const UNKEYED: [&str; 16] = [
    "front-end-https",
    "x-forwarded-host",
    "x-forwarded-path",
    "x-forwarded-prefix",
    "x-forwarded-scheme",
    "x-forwarded-server",
    "x-forwarded-ssl",
    "x-host",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-url",
    "x-rewrite-url",
    "x-script-name",
    "x-url-scheme",
];

/// Request fields that ask for a part of the content, or for a certain version of it: servers decide about them.
const PARTIAL: [&str; 4] = ["range", "if-range", "if-match", "if-unmodified-since"];

/// What happens to a request.
#[derive(Debug)]
pub(crate) enum Approach {
    /// The balancer responds.
    Respond(Local),
    /// The client gets a stored response.
    Serve(Serving),
    /// It goes to a server.
    Forward(Option<Course>, Cached),
}

impl Cache {
    /// Decides what happens to a request with a safe method.
    pub(crate) fn look_up(self: &Arc<Self>, question: &Question<'_>) -> Approach {
        let Question { request, forward, .. } = *question;
        let asked = RequestDirectives::of(&request.fields);
        let passes = forward.no_cache || asked.no_store || !self.describes(question);
        let approach = match passes {
            true => Approach::Forward(None, Cached::Passed),
            false => self.search(question, asked),
        };
        match approach {
            Approach::Forward(..) if asked.only_if_cached => Approach::Respond(Local::text(504)),
            approach => approach,
        }
    }

    fn search(self: &Arc<Self>, question: &Question<'_>, asked: RequestDirectives) -> Approach {
        let Question { request, asker, now_us, .. } = *question;
        let key = Key::of(question, &self.key_headers);
        // Before the search: a response that is removed meanwhile is not stored again.
        let mark = self.store.mark(&key.resource);
        let found = self.store.find(&key, &request.fields);
        let found = found.filter(|own| own.head.terms.suits(asker, own.head.varies_by("cookie")));
        let to_head = request.method == b"HEAD";
        if let Some(object) = &found {
            let age_s = object.head.age_s(now_us);
            if object.head.terms.usable(age_s, &asked) == Use::Fresh {
                let shape = Shape::of(object, &request.fields, to_head);
                return Approach::Serve(Serving::new(Arc::clone(object), shape, age_s));
            }
        }
        if to_head && found.is_none() {
            return Approach::Forward(None, Cached::Miss);
        }
        let fetch = Fetch {
            cache: Arc::clone(self),
            key,
            mark,
            asked,
            asker,
            fields: Fields::of(request.fields.iter().copied()),
            to_head,
            was_stale: found.is_some(),
            stale: found,
            began_us: now_us,
            fill: None,
        };
        Approach::Forward(Some(Course::Fetch(Box::new(fetch))), Cached::Miss)
    }

    /// Whether the key says all that matters about a request.
    fn describes(&self, question: &Question<'_>) -> bool {
        let request = question.request;
        let in_key = |name: &[u8]| {
            self.key_headers.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name))
        };
        let has = |name: &str| request.value(name.as_bytes()).is_some();
        let forwarded = question.passes_forwarded && has("forwarded");
        matches!(request.method, b"GET" | b"HEAD")
            && matches!(request.framing, Framing::None | Framing::Length(0))
            && !request.websocket
            && !request.host.is_empty()
            && !question.is_copy
            && !PARTIAL.iter().any(|name| has(name))
            && !request.fields.iter().any(|field| is_unkeyed(field.name) && !in_key(field.name))
            && (!forwarded || in_key(b"forwarded"))
            // Servers get other values than those of the client: each client's own.
            && !in_key(b"x-forwarded-for")
            && (question.passes_forwarded || !in_key(b"forwarded"))
            && request.fields.iter().all(|field| arrives(request, field))
    }
}

/// Whether a field is in [`UNKEYED`].
fn is_unkeyed(name: &[u8]) -> bool {
    UNKEYED.iter().any(|own| same_variable(own.as_bytes(), name))
}

/// Whether a field reaches the server, if fields like it do. What Connection names does not, so the client would choose
/// the variant of a response that the server has made without the field.
fn arrives(request: &Request<'_>, field: &Field<'_>) -> bool {
    field.known.is_hop_by_hop() || request.options.passes(field)
}
