//! Exchanges in which the cache has a part.

use std::borrow::Cow;
use std::sync::Arc;

use proxying::caching::{Asker, is_safe};
use proxying::engine_link::analytics::Counter;
use proxying::http1::{Body, Framing, Request};
use transactions::Cached;

use super::{Exchange, Outcome, Plan, trailers};
use crate::cache::{Approach, Awaited, Course, Question, Resume, Serving};
use crate::compression::Acceptance;
use crate::config::{PersistenceKind, Protocol};
use crate::core::Core;
use crate::own;
use crate::policy::Forward;
use crate::pool::Wish;
use crate::request;
use crate::route::{Route, Upstream};
use crate::session::{Session, Step};

impl Exchange {
    /// The stored response for a client whose request no server has answered.
    pub(super) fn stand_in(&mut self, now_us: u64) -> Option<Serving> {
        self.plan.caching.course.as_mut()?.stand_in(now_us)
    }

    /// Whether all of the request was sent to the server.
    pub(crate) fn has_left(&self, route: &Route) -> bool {
        self.complete && !self.refused && self.sent == route.to_server.data().len()
    }

    /// No server gets anything of the request any more.
    pub(crate) fn end_upload(&mut self) {
        (self.sent, self.intact, self.refused) = (0, false, false);
    }
}

/// What the cache has to do with a request.
#[derive(Debug, Default)]
pub(crate) struct Caching {
    pub(crate) course: Option<Course>,
    /// Value of Cache-Status, if the client gets it.
    pub(crate) status: Option<String>,
}

impl Session {
    /// What happens to a request that may go to a server. `keep`: whether the connection outlives a response of the
    /// balancer.
    pub(super) fn by_cache(
        &mut self,
        request: &Request<'_>,
        mut forward: Forward,
        keep: bool,
        core: &mut Core,
    ) -> Outcome {
        let course = match self.look_up(request, &forward, core) {
            Approach::Respond(local) => {
                self.note_cached(Cached::Miss);
                let to_head = request.method == b"HEAD";
                return Outcome::Respond(if to_head { local.for_head() } else { local }, keep);
            }
            Approach::Serve(serving) => return self.serve(request, forward, serving),
            Approach::Refresh(serving, course) => {
                forward.conditions = course.conditions();
                self.validate_meanwhile(request, &forward, course, core);
                return self.serve(request, forward, serving);
            }
            Approach::Forward(course, cached) => {
                self.note_cached(cached);
                course
            }
        };
        let waits = course.as_ref().is_some_and(Course::waits);
        forward.conditions = course.as_ref().map(Course::conditions).unwrap_or_default();
        core.scratch.clear();
        let protocol = forward.pool.protocol;
        request::compose(&mut core.scratch, protocol, request, &forward, self, false);
        let wish = self.known(request).wish(&forward.pool);
        let accepted = self.acceptance(request, &forward);
        // The equal request has a copy.
        let copy = if waits { None } else { self.begin_copy(request, &forward, core) };
        let status = self.cache_status(|| "vedette; fwd=bypass".to_owned());
        let caching = Caching { course, status };
        let http2 = protocol == Protocol::Http2;
        let plan = Plan { accepted, caching, ..Plan::of(request, forward.applied, http2) };
        let exchange = Exchange { copy, ..Exchange::new(plan, trailers::content(request, http2)) };
        let mut route = Route::new(forward.pool, wish);
        if waits {
            route.upstream = Upstream::Equal;
        }
        Outcome::Forward(Box::new(exchange), Box::new(route))
    }

    /// Whether the request waits for the response to an equal one.
    pub(super) fn awaits_equal(&self) -> bool {
        self.route.as_ref().is_some_and(|route| matches!(route.upstream, Upstream::Equal))
    }

    /// Looks whether that response is there; `None`: the request still waits, or goes to a server.
    pub(super) fn look_again(&mut self, core: &mut Core) -> Option<Step> {
        let (entry, mailbox) = (self.entry, core.checks.mailbox());
        let resume = || Resume { entry, mailbox: Arc::clone(mailbox) };
        let course = self.exchange.as_mut()?.plan.caching.course.as_mut();
        let awaited = course.map_or(Awaited::Go, |course| course.awaited(core.now_us, &resume));
        match awaited {
            Awaited::Waiting => {}
            Awaited::Go => self.go(core),
            Awaited::StandIn(serving) => return Some(self.stand_in(serving, core)),
            Awaited::Serve(serving) => {
                core.count(&self.service.tally, Counter::CacheCollapsed);
                self.note_cached(Cached::Hit);
                let status = self.cache_status(|| "vedette; fwd=miss; collapsed".to_owned());
                self.exchange.as_mut()?.plan.caching.status = status;
                return Some(self.turn_to_stored(serving, false, core));
            }
        }
        None
    }

    /// The request goes to a server, without the response to an equal one.
    pub(crate) fn go(&mut self, core: &Core) {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else { return };
        if let Some(course) = exchange.plan.caching.course.as_mut().filter(|course| course.waits())
        {
            course.go(core.now_us);
        }
        route.upstream = Upstream::Wanted;
    }

    /// Decides what the cache of the service does with a request.
    pub(super) fn look_up(
        &self,
        request: &Request<'_>,
        forward: &Forward,
        core: &Core,
    ) -> Approach {
        let own = self.service.cache.as_ref();
        if !is_safe(request.method) {
            let change = self.service.caches.change(own, request, self.port());
            let cached = own.map_or(Cached::Unused, |_| Cached::Passed);
            return Approach::Forward(Some(change), cached);
        }
        let Some(cache) = own else {
            return Approach::Forward(None, Cached::Unused);
        };
        let certified = self.client_name.as_deref();
        let seen = match cache.key_headers.is_empty() {
            true => Cow::Borrowed(request),
            false => own::seen(request, &self.service, &forward.identity, certified),
        };
        cache.look_up(&Question {
            request,
            forward,
            seen: &seen.fields,
            port: self.port(),
            asker: self.asker(request, forward),
            passes_forwarded: self.service.forwarded.forwarded.is_none(),
            is_copy: request::is_copy(request),
            now_us: core.now_us,
        })
    }

    /// The port that the server learns of, or that of the service.
    fn port(&self) -> u16 {
        match self.service.forwarded.x_forwarded_port {
            true => self.destination.port(),
            false => self.service.listen.port(),
        }
    }

    /// What the server learns of the client.
    fn asker(&self, request: &Request<'_>, forward: &Forward) -> Asker {
        let persistence = match &forward.pool.persistence {
            Some((PersistenceKind::Cookie, name)) => Some(name.as_bytes()),
            _ => None,
        };
        let asker = Asker::of(&request.fields, |name| Some(name) == persistence);
        let certified = self.service.forwarded.client_cert && self.client_name.is_some();
        let known = certified || !forward.identity.set.is_empty();
        Asker { credentials: asker.credentials || known, ..asker }
    }

    /// The exchange of a client that gets a stored response.
    pub(super) fn serve(
        &mut self,
        request: &Request<'_>,
        forward: Forward,
        serving: Serving,
    ) -> Outcome {
        self.note_cached(if serving.is_stale() { Cached::Stale } else { Cached::Hit });
        let status = self.cache_status(|| serving.hit());
        let caching = Caching { course: None, status };
        let accepted = self.acceptance(request, &forward);
        let plan = Plan { accepted, caching, ..Plan::of(request, forward.applied, false) };
        let exchange = Exchange::new(plan, Body::new(Framing::None));
        let mut route = Route::new(forward.pool, Wish::default());
        route.upstream = Upstream::Stored(Box::new(serving));
        Outcome::Forward(Box::new(exchange), Box::new(route))
    }

    /// The codings that the client accepts; `None`: its response is not compressed.
    pub(super) fn acceptance(
        &self,
        request: &Request<'_>,
        forward: &Forward,
    ) -> Option<Acceptance> {
        let compression = self.service.compression.as_ref().filter(|_| forward.compresses);
        compression.and_then(|settings| settings.acceptance(request))
    }

    /// Value of Cache-Status (RFC 9211), if clients of the service get it.
    pub(crate) fn cache_status(&self, status: impl FnOnce() -> String) -> Option<String> {
        let shown = self.service.cache.as_ref().is_some_and(|cache| cache.status_header);
        shown.then(status)
    }

    /// A stored response stands in for that of a server that failed.
    pub(super) fn stand_in(&mut self, serving: Serving, core: &mut Core) -> Step {
        self.note_cached(Cached::Stale);
        let status = self.cache_status(|| serving.stand_in(None));
        if let Some(exchange) = &mut self.exchange {
            exchange.plan.caching.status = status;
        }
        self.turn_to_stored(serving, false, core)
    }
}
