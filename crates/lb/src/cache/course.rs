//! What a cache has to do with a request that goes to a server.

use std::sync::Arc;

use proxying::caching::{
    Arrival, Asker, RequestDirectives, Terms, Use, Validators, http_date, names,
};
use proxying::http1::{Field, Framing, Response, Version};

use super::fields::Fields;
use super::fill::Fill;
use super::flights::{Follow, Joined, Lead, Resume, Verdict};
use super::key::Key;
use super::line::Change;
use super::object::{Head, Object, Origin, Variant};
use super::serving::{Serving, Shape};
use super::settings::Cache;
use super::store::Mark;
use crate::slot::Slot;

/// The time at which a response arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Monotonic microseconds.
    pub(crate) now_us: u64,
    /// Unix time in seconds.
    pub(crate) unix_s: u64,
}

/// The first line of a response.
struct Line<'r> {
    status: u16,
    reason: &'r [u8],
}

/// What follows from a server's response.
#[derive(Debug)]
pub(crate) enum Reaction {
    /// The client gets it.
    Forward,
    /// The client gets the stored one, which the server has confirmed.
    Confirmed(Serving),
    /// The client gets the stored one instead of an error.
    StandIn(Serving),
}

/// What a request that goes to a server means for the cache.
#[derive(Debug)]
pub(crate) enum Course {
    /// Its response may be stored.
    Fetch(Box<Fetch>),
    /// It changes a resource, so its stored responses are removed if the server does not refuse it.
    Change(Change),
}

/// What a request means for equal ones.
#[derive(Debug)]
pub(super) enum Part {
    Alone,
    /// They wait for its response. One without a client has a place.
    Lead {
        lead: Lead,
        _place: Option<Slot>,
    },
    /// It waits for that of another one.
    Follow(Follow),
}

/// What a request that waits for the response to an equal one does next.
#[derive(Debug)]
pub(crate) enum Awaited {
    /// It waits.
    Waiting,
    /// The client gets the stored response.
    Serve(Serving),
    /// The client gets an expired one, because the server has failed.
    StandIn(Serving),
    /// It goes to a server.
    Go,
}

/// A request whose response may be stored.
#[derive(Debug)]
pub(crate) struct Fetch {
    pub(super) cache: Arc<Cache>,
    pub(super) key: Key,
    pub(super) mark: Mark,
    pub(super) asked: RequestDirectives,
    pub(super) asker: Asker,
    /// Of the client's request.
    pub(super) fields: Fields,
    /// The stored response that is no longer fresh.
    pub(super) stale: Option<Arc<Object>>,
    /// The method is HEAD: the response is not stored, and changes nothing that is.
    pub(super) to_head: bool,
    /// There was one.
    pub(super) was_stale: bool,
    /// Monotonic microseconds.
    pub(super) began_us: u64,
    pub(super) fill: Option<Fill>,
    pub(super) part: Part,
}

impl Course {
    /// Looks at the final response of a server. `writes`: whether the balancer, and not the client, decides about the
    /// value of a request field.
    pub(crate) fn react(
        &mut self,
        response: &Response<'_>,
        at: Moment,
        writes: &dyn Fn(&str) -> bool,
    ) -> Reaction {
        match self {
            Self::Fetch(fetch) => fetch.react(response, at, writes),
            Self::Change(change) => {
                if (200..400).contains(&response.status) {
                    change.invalidate();
                }
                Reaction::Forward
            }
        }
    }

    /// The stored response for a client whose request no server has answered.
    pub(crate) fn stand_in(&mut self, now_us: u64) -> Option<Serving> {
        match self {
            Self::Fetch(fetch) => {
                fetch.end(Verdict::Failed);
                fetch.stand_in(now_us)
            }
            Self::Change(..) => None,
        }
    }

    /// Whether the request waits for the response to an equal one.
    pub(crate) fn waits(&self) -> bool {
        matches!(self, Self::Fetch(fetch) if matches!(fetch.part, Part::Follow(_)))
    }

    /// What a request that [waits](Self::waits) does next.
    pub(crate) fn awaited(&mut self, now_us: u64, resume: &dyn Fn() -> Resume) -> Awaited {
        match self {
            Self::Fetch(fetch) => fetch.awaited(now_us, resume),
            Self::Change(..) => Awaited::Go,
        }
    }

    /// The request waits no longer.
    pub(crate) fn go(&mut self, now_us: u64) {
        if let Self::Fetch(fetch) = self {
            fetch.part = Part::Alone;
            fetch.begin_at(now_us);
        }
    }

    /// Adds content of the response that goes to the client.
    pub(crate) fn keep(course: &mut Option<Self>, data: &[u8]) {
        if let Some(Self::Fetch(fetch)) = course
            && fetch.fill.take_if(|fill| !fill.add(data)).is_some()
        {
            fetch.remove_stale();
            fetch.end_private();
        }
    }

    /// Bytes of content that are stored at most.
    pub(crate) fn content_max(&self) -> usize {
        match self {
            Self::Fetch(fetch) => fetch.cache.max_object,
            Self::Change(..) => 0,
        }
    }

    /// Whether content of the response may be kept.
    pub(crate) fn keeps(&self) -> bool {
        matches!(self, Self::Fetch(_))
    }

    /// The response went to the client completely.
    pub(crate) fn complete(self) {
        if let Self::Fetch(fetch) = self {
            let Fetch { cache, key, mark, fill, part, .. } = *fetch;
            if let Some(fill) = fill.filter(Fill::is_whole) {
                let Fill { head, body, .. } = fill;
                cache.store.add(&key, mark, head, body);
                if let Part::Lead { lead, .. } = part {
                    lead.end(Verdict::Stored);
                }
            }
        }
    }

    /// Value of Cache-Status for a response of the server (RFC 9211).
    pub(crate) fn forwarded(&self) -> &'static str {
        match self {
            Self::Change(..) => "vedette; fwd=method",
            Self::Fetch(fetch) => match (&fetch.fill, fetch.was_stale) {
                (Some(_), false) => "vedette; fwd=miss; stored",
                (None, false) => "vedette; fwd=miss",
                (Some(_), true) => "vedette; fwd=stale; stored",
                (None, true) => "vedette; fwd=stale",
            },
        }
    }

    /// The condition under which the server need not send the content again.
    pub(crate) fn conditions(&self) -> Vec<(&'static [u8], Box<[u8]>)> {
        let Self::Fetch(fetch) = self else { return Vec::new() };
        let Some(stale) = fetch.stale.as_ref().filter(|_| !fetch.to_head) else {
            return Vec::new();
        };
        let fields = stale.head.fields.list();
        let validators = Validators::of(&fields);
        let etag = validators.and_then(|own| own.etag).map(|etag| (&b"If-None-Match"[..], etag));
        let date = validators.and_then(|own| own.last_modified);
        let date = date.map(|date| (&b"If-Modified-Since"[..], date));
        [etag, date].into_iter().flatten().map(|(name, value)| (name, value.into())).collect()
    }
}

impl Fetch {
    fn react(
        &mut self,
        response: &Response<'_>,
        at: Moment,
        writes: &dyn Fn(&str) -> bool,
    ) -> Reaction {
        // Without validators, the condition was the client's own, and so is the response to it.
        let is_ours = |stale: &mut Arc<Object>| {
            response.status == 304 && Validators::of(&stale.head.fields.list()).is_some()
        };
        if !self.to_head
            && let Some(stale) = self.stale.take_if(is_ours)
        {
            let confirmed = self.confirm(&stale, response, at, writes);
            self.end(Verdict::Stored);
            return confirmed;
        }
        if matches!(response.status, 500 | 502..=504) {
            self.end(Verdict::Failed);
            if let Some(serving) = self.stand_in(at.now_us) {
                return Reaction::StandIn(serving);
            }
        }
        if self.to_head {
            return Reaction::Forward;
        }
        self.fill = self.begin(response, at, writes);
        if self.fill.is_none() {
            if tells_of_resource(response.status) {
                self.remove_stale();
                self.end_private();
            }
            self.end(Verdict::Private);
        }
        Reaction::Forward
    }

    /// Equal requests go on.
    fn end(&mut self, verdict: Verdict) {
        if let Part::Lead { lead, .. } = std::mem::replace(&mut self.part, Part::Alone) {
            lead.end(verdict);
        }
    }

    /// They go on, and following ones do not wait.
    fn end_private(&mut self) {
        if let Part::Lead { lead, .. } = std::mem::replace(&mut self.part, Part::Alone) {
            lead.end_private(self.began_us);
        }
    }

    /// The expired response that a client gets while it is validated.
    pub(super) fn meanwhile(&self, now_us: u64) -> Option<Serving> {
        let stale = self.stale.as_ref()?;
        let age_s = stale.head.age_s(now_us);
        let usable = stale.head.terms.serves_meanwhile(age_s, &self.asked);
        usable.then(|| self.serve(Arc::clone(stale), age_s))
    }

    /// It goes to a server now: what is invalidated from now on is not stored.
    fn begin_at(&mut self, now_us: u64) {
        self.mark = self.cache.store.mark(&self.key.resource);
        self.began_us = now_us;
    }

    fn awaited(&mut self, now_us: u64, resume: &dyn Fn() -> Resume) -> Awaited {
        while let Part::Follow(follow) = &mut self.part {
            let Some(verdict) = follow.verdict(resume) else { return Awaited::Waiting };
            self.part = Part::Alone;
            self.begin_at(now_us);
            if let Some(awaited) = self.after(verdict, now_us) {
                return awaited;
            }
            match self.cache.flights.join(&self.key, now_us) {
                Joined::Lead(lead) => self.part = Part::Lead { lead, _place: None },
                Joined::Follow(follow) => self.part = Part::Follow(follow),
                Joined::Alone => {}
            }
        }
        Awaited::Go
    }

    /// What follows from the end of a flight; `None`: the next one decides.
    fn after(&self, verdict: Verdict, now_us: u64) -> Option<Awaited> {
        match verdict {
            Verdict::Stored => {
                let found = self.cache.store.find(&self.key, &self.fields.list());
                let suits = |own: &Arc<Object>| {
                    own.head.terms.suits(self.asker, own.head.varies_by("cookie"))
                };
                // A missing one is a variant for others.
                let found = found.filter(suits)?;
                let age_s = found.head.age_s(now_us);
                Some(match found.head.terms.usable(age_s, &self.asked) {
                    Use::Fresh => Awaited::Serve(self.serve(found, age_s)),
                    Use::Validate => Awaited::Go,
                })
            }
            Verdict::Failed => self.stand_in(now_us).map(Awaited::StandIn),
            Verdict::Private | Verdict::Full => Some(Awaited::Go),
            Verdict::Lost => None,
        }
    }

    /// The resource has changed, and nothing replaces what is stored.
    fn remove_stale(&mut self) {
        if let Some(stale) = self.stale.take() {
            self.cache.store.remove(&self.key, &stale);
        }
    }

    fn stand_in(&self, now_us: u64) -> Option<Serving> {
        let stale = self.stale.as_ref()?;
        let age_s = stale.head.age_s(now_us);
        let usable = stale.head.terms.stands_in(age_s, &self.asked);
        usable.then(|| self.serve(Arc::clone(stale), age_s))
    }

    /// A stored response for the client of this request.
    fn serve(&self, object: Arc<Object>, age_s: u64) -> Serving {
        let shape = Shape::of(&object, &self.fields.list(), self.to_head);
        Serving::new(object, shape, age_s)
    }

    /// When a response arrived that does so now.
    fn arrival(&self, at: Moment) -> Arrival {
        let delay_us = at.now_us.saturating_sub(self.began_us);
        Arrival { at_s: at.unix_s, delay_s: delay_us.div_ceil(1_000_000) }
    }

    /// The head of a response with these fields, if it may be stored.
    fn head(
        &self,
        line: &Line<'_>,
        fields: &[Field<'_>],
        at: Moment,
        writes: &dyn Fn(&str) -> bool,
    ) -> Option<Head> {
        let arrival = self.arrival(at);
        let terms = Terms::of(line.status, fields, self.asker, arrival, self.cache.stale)?;
        let names = names(fields).filter(|names| !names.iter().any(|name| writes(name)))?;
        Some(Head {
            status: line.status,
            reason: line.reason.into(),
            fields: Fields::of(fields.iter().filter(|field| is_kept(field)).copied()),
            terms,
            variant: Variant::of(&self.key.selector, names, &self.fields.list()),
            origin: Origin { age_s: arrival.age_s(fields), at_us: at.now_us },
        })
    }

    /// Begins to store a response, if it may be.
    fn begin(
        &self,
        response: &Response<'_>,
        at: Moment,
        writes: &dyn Fn(&str) -> bool,
    ) -> Option<Fill> {
        let length = match response.framing {
            Framing::None => Some(0),
            Framing::Length(length) => Some(length),
            Framing::Chunked => None,
            // A stream of HTTP/2 tells its end from its loss.
            Framing::UntilClose if response.version == Version::Http2 => None,
            Framing::UntilClose => return None,
        };
        let date = http_date(at.unix_s);
        let fields = dated(response, &date);
        let head = self.head(
            &Line { status: response.status, reason: response.reason },
            &fields,
            at,
            writes,
        )?;
        Fill::new(head, length, self.cache.max_object, &self.cache.store.budget)
    }

    /// The server has confirmed the stored response: the newer fields replace those of it (RFC 9111, 3.2).
    fn confirm(
        &self,
        stale: &Arc<Object>,
        response: &Response<'_>,
        at: Moment,
        writes: &dyn Fn(&str) -> bool,
    ) -> Reaction {
        let (date, own) = (http_date(at.unix_s), stale.head.fields.list());
        let mut fields = dated(response, &date);
        let agrees = Validators::of(&own).is_none_or(|validators| validators.agree(&fields));
        if !agrees {
            // The server was asked about this response only, but names another one: nothing of it is trusted beyond
            // this request. Some servers change entity tags when they compress.
            self.cache.store.remove(&self.key, stale);
            let age_s = stale.head.age_s(at.now_us);
            return Reaction::Confirmed(self.serve(Arc::clone(stale), age_s));
        }
        fields.retain(|field| !is_about_content(field.name));
        let newer = fields.len();
        for field in own {
            let replaced = |newer: &Field<'_>| newer.name.eq_ignore_ascii_case(field.name);
            if !fields[..newer].iter().any(replaced) {
                fields.push(field);
            }
        }
        let line = Line { status: stale.head.status, reason: &stale.head.reason };
        let renewed = self
            .head(&line, &fields, at, writes)
            .and_then(|head| self.cache.store.renew(&self.key, self.mark, head, stale));
        let object = renewed.unwrap_or_else(|| {
            // Not for others any more, or there is no room.
            self.cache.store.remove(&self.key, stale);
            let head = Head {
                status: stale.head.status,
                reason: stale.head.reason.clone(),
                fields: Fields::of(fields.iter().filter(|field| is_kept(field)).copied()),
                terms: stale.head.terms,
                variant: stale.head.variant.clone(),
                origin: Origin { age_s: self.arrival(at).age_s(&fields), at_us: at.now_us },
            };
            Object::once(head, &stale.content)
        });
        let age_s = object.head.age_s(at.now_us);
        Reaction::Confirmed(self.serve(object, age_s))
    }
}

/// Whether a response with this status is about the resource, and not about this client or its request: what is stored
/// is older then.
fn tells_of_resource(status: u16) -> bool {
    matches!(status, 200..=303 | 305..=399 | 404 | 410)
}

/// The end-to-end fields of a response, with the date of its arrival if it has none (RFC 9110, 6.6.1).
fn dated<'r>(response: &'r Response<'r>, date: &'r str) -> Vec<Field<'r>> {
    let mut fields: Vec<_> = response.end_to_end().copied().collect();
    if !fields.iter().any(|field| field.name.eq_ignore_ascii_case(b"date")) {
        fields.push(Field::new(b"Date", date.as_bytes()));
    }
    fields
}

/// Whether a field is stored: the age is computed, and trailers are not stored.
fn is_kept(field: &Field<'_>) -> bool {
    !["age", "trailer"].iter().any(|name| field.name.eq_ignore_ascii_case(name.as_bytes()))
}

/// Whether a field describes the stored content, which a response 304 does not change.
fn is_about_content(name: &[u8]) -> bool {
    const ABOUT: [&str; 4] =
        ["content-encoding", "content-type", "content-range", "content-language"];
    ABOUT.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
}
