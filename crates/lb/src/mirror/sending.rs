//! How the session of a request makes its copy, and the session that sends it.

use std::sync::Arc;

use proxying::http1::{Framing, Request};

use super::copies::{Loss, Stake};
use super::copy::Limits;
use super::{Copy, Launch, Refresh, Shape, Source};
use crate::config::Protocol;
use crate::core::Core;
use crate::exchange::Exchange;
use crate::peer::Peer;
use crate::policy::Forward;
use crate::request;
use crate::route::Route;
use crate::session::{Session, State};
use crate::uplink::Opening;
use crate::wheel::Entry;

/// How long a request may take to arrive after its head, in milliseconds. Open uploads and dialogues would take memory
/// without end.
const ARRIVAL_MS: u64 = 10_000;

impl Session {
    /// Begins the copy of a request, if a mirror chooses it. The head is the one that the server gets.
    pub(crate) fn begin_copy(
        &self,
        request: &Request<'_>,
        forward: &Forward,
        core: &mut Core,
    ) -> Option<Box<Copy>> {
        let service = &self.service;
        let mirror = forward.mirror.as_ref().or(service.mirror.as_ref())?;
        let possible = !request.websocket && !request::is_copy(request);
        if !possible || !mirror.chooses(core.random()) {
            return None;
        }
        let known = self.known(request);
        let pool = Arc::clone(known.pool_of(&mirror.target, core.now_ms()));
        if pool.name == forward.pool.name {
            return None;
        }
        let thread = core.recorder.as_ref().map(|recorder| recorder.thread);
        let mut stake = Stake::new(&service.copies, &service.tally, thread);
        if matches!(request.framing, Framing::Length(length) if length > mirror.max_body as u64) {
            stake.loss = Some(Loss::Large);
            return None;
        }
        if service.copies.are_full(mirror.concurrent) {
            stake.loss = Some(Loss::Full);
            return None;
        }
        let mut head = Vec::new();
        request::compose(&mut head, pool.protocol, request, forward, self, true);
        Some(Box::new(Copy {
            wish: known.wish(&pool),
            pool,
            source: Source::new(stake, head.len())?,
            head,
            shape: Shape {
                to_head: request.method == b"HEAD",
                idempotent: request.is_idempotent(),
                framing: request.framing,
            },
            limits: Limits {
                body: mirror.max_body,
                concurrent: mirror.concurrent,
                until_ms: core.now_ms() + ARRIVAL_MS,
            },
        }))
    }

    /// Sends the copy of this session's request if all of it has arrived.
    pub(crate) fn launch_copy(&mut self, core: &mut Core) {
        let Some(exchange) = &mut self.exchange else { return };
        if let Some(mut copy) = exchange.complete_copy()
            && copy.begin()
        {
            let (listener, service) = (self.listener, Arc::clone(&self.service));
            let ends = (self.source, self.destination);
            core.hub.launches.push(Launch { copy, listener, service, ends, refresh: None });
        }
    }

    /// The session of a copy; `None`: its head is too large.
    pub(crate) fn of_copy(entry: Entry, launch: Launch, core: &mut Core) -> Option<Box<Self>> {
        let Launch { copy, listener, service, ends, refresh } = launch;
        let Copy { pool, wish, head, shape, source, .. } = *copy;
        pool.count_request(core.now_ms());
        let http2 = pool.protocol == Protocol::Http2;
        let mut exchange = Exchange::of_copy(&shape, http2);
        if let Some(Refresh { course, applied }) = refresh {
            exchange.plan.applied = applied;
            exchange.plan.caching.course = Some(course);
        }
        let mut route = Route::new(pool, wish);
        if http2 {
            let patience_ms = service.timeouts.server;
            route.opening = Opening { block: head, end: exchange.is_sent(), patience_ms };
        } else if !route.to_server.push(&head, &mut core.hub.buffers) {
            return None;
        }
        let client = Peer::Copy(Box::new(source));
        let mut session = Box::new(Self::new(entry, client, listener, service, ends));
        session.exchange = Some(Box::new(exchange));
        session.route = Some(Box::new(route));
        session.state = State::Exchange;
        Some(session)
    }
}
