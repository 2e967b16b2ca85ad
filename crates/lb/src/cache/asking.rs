//! What the cache does with a request.

use std::sync::Arc;

use proxying::caching::{RequestDirectives, Use, is_condition};
use proxying::http1::{Field, Framing, Request};
use transactions::Cached;

use super::course::{Course, Fetch, Part};
use super::fields::Fields;
use super::flights::Joined;
use super::key::Key;
use super::object::Object;
use super::question::Question;
use super::serving::{Serving, Shape};
use super::settings::Cache;
use crate::local::Local;
use crate::slot::Slot;
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

/// Expired responses of a cache that are validated at once while clients get them.
const REFRESHES_MAX: u32 = 256;

/// What happens to a request.
#[derive(Debug)]
pub(crate) enum Approach {
    /// The balancer responds.
    Respond(Local),
    /// The client gets a stored response.
    Serve(Serving),
    /// The client gets a stored response that has expired, and a request without a client validates it.
    Refresh(Serving, Course),
    /// It goes to a server.
    Forward(Option<Course>, Cached),
}

/// What the store has for a request.
enum Found {
    Fresh(Serving),
    /// The server must confirm it.
    Stale(Arc<Object>),
    Nothing,
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
        let to_head = request.method == b"HEAD";
        let found = match self.find(&key, question, &asked) {
            Found::Fresh(serving) => return Approach::Serve(serving),
            Found::Stale(object) => Some(object),
            Found::Nothing if to_head => return Approach::Forward(None, Cached::Miss),
            Found::Nothing => None,
        };
        let joined = match self.collapses(question, found.as_deref()) {
            true => self.flights.join(&key, now_us),
            false => Joined::Alone,
        };
        // Another one may have ended between the search and this one.
        if matches!(joined, Joined::Lead(_))
            && let Found::Fresh(serving) = self.find(&key, question, &asked)
        {
            return Approach::Serve(serving);
        }
        let slot = || Slot::take(&self.refreshes, REFRESHES_MAX);
        let mut fetch = Fetch {
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
            part: Part::Alone,
        };
        let meanwhile = fetch.meanwhile(now_us);
        match (joined, meanwhile) {
            // Another request validates it already.
            (Joined::Follow(_), Some(serving)) => return Approach::Serve(serving),
            (Joined::Follow(follow), None) => fetch.part = Part::Follow(follow),
            (Joined::Lead(lead), Some(serving)) => match slot() {
                Some(slot) => {
                    fetch.part = Part::Lead { lead, _place: Some(slot) };
                    return Approach::Refresh(serving, Course::Fetch(Box::new(fetch)));
                }
                None => fetch.part = Part::Lead { lead, _place: None },
            },
            (Joined::Lead(lead), None) => fetch.part = Part::Lead { lead, _place: None },
            (Joined::Alone, _) => {}
        }
        Approach::Forward(Some(Course::Fetch(Box::new(fetch))), Cached::Miss)
    }

    fn find(&self, key: &Key, question: &Question<'_>, asked: &RequestDirectives) -> Found {
        let Question { request, asker, now_us, .. } = *question;
        let found = self.store.find(key, &request.fields);
        let suits = |own: &Arc<Object>| own.head.terms.suits(asker, own.head.varies_by("cookie"));
        let Some(object) = found.filter(suits) else { return Found::Nothing };
        let age_s = object.head.age_s(now_us);
        if object.head.terms.usable(age_s, asked) == Use::Validate {
            return Found::Stale(object);
        }
        let shape = Shape::of(&object, &request.fields, request.method == b"HEAD");
        Found::Fresh(Serving::new(object, shape, age_s))
    }

    /// Whether equal requests need one response only. `found`: the stored one that has expired.
    fn collapses(&self, question: &Question<'_>, found: Option<&Object>) -> bool {
        let Question { request, asker, .. } = *question;
        // What is not known to be for all users is unlikely to be stored for one of them.
        let for_all = found.is_some() || !(asker.credentials || asker.cookies);
        // The response to the client's own condition is the client's.
        let validated = found.is_some_and(Object::has_validators);
        let own = request.fields.iter().any(|field| is_condition(field.name));
        // Each request validates it.
        let never_fresh = found.is_some_and(|found| found.head.terms.is_never_fresh());
        request.method == b"GET" && for_all && !never_fresh && (validated || !own)
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
