//! How a stored response is validated while clients get it.

use std::sync::Arc;

use proxying::http1::Request;

use super::copy::Limits;
use super::{Copy, Launch, Refresh, Shape, Source};
use crate::cache::Course;
use crate::core::Core;
use crate::policy::Forward;
use crate::request;
use crate::session::Session;

/// Bytes of a response beside its content.
const HEAD_MAX: usize = 64 << 10;

impl Session {
    /// Sends this request, whose client gets a stored response, to a server, too.
    pub(crate) fn validate_meanwhile(
        &self,
        request: &Request<'_>,
        forward: &Forward,
        course: Course,
        core: &mut Core,
    ) {
        let (pool, content) = (Arc::clone(&forward.pool), course.content_max());
        let mut head = Vec::new();
        request::compose(&mut head, pool.protocol, request, forward, self, false);
        let most = content.saturating_add(HEAD_MAX);
        let Some(source) = Source::without_stake(head.len(), most) else { return };
        let copy = Copy {
            wish: self.known(request).wish(&pool),
            pool,
            head,
            shape: Shape { to_head: false, idempotent: true, framing: request.framing },
            limits: Limits { body: 0, concurrent: 0, until_ms: 0 },
            source,
        };
        core.hub.launches.push(Launch {
            copy: Box::new(copy),
            listener: self.listener,
            service: Arc::clone(&self.service),
            ends: (self.source, self.destination),
            refresh: Some(Refresh { course, applied: forward.applied.without_response() }),
        });
    }
}
