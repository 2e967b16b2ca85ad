//! Long bodies that pass unchanged: the kernel moves them from the server's socket to the client's.

use std::io;

use proxying::http1::Body;

use crate::cache::Course;
use crate::core::Core;
use crate::exchange::Reply;
use crate::pipes::MOVE_MAX;
use crate::relay::pull_bulk;
use crate::route::Upstream;
use crate::session::Session;

/// The part of a body that is worth a pipe, in bytes.
const PART_MIN: u64 = 64 * 1024;

impl Session {
    /// Moves the next part of a body with a known length into a pipe on its way to the client; `None`: it
    /// must be read. The part never reaches beyond the body.
    pub(super) fn move_body(&mut self, core: &mut Core) -> Option<io::Result<usize>> {
        let (exchange, route) = (self.exchange.as_mut()?, self.route.as_mut()?);
        let Upstream::Ready(link) = &mut route.upstream else { return None };
        let Reply::Body { body: Body::Length(remaining), chunked: false } = &mut exchange.reply
        else {
            return None;
        };
        let stored = exchange.plan.caching.course.as_ref().is_some_and(Course::keeps);
        if self.output.pipe().is_some_and(|pipe| pipe.held() > 0) {
            // What follows would have to be copied.
            return Some(Ok(0));
        }
        if *remaining < PART_MIN || stored || !route.from_server.is_empty() {
            return None;
        }
        let limit = usize::try_from(*remaining).unwrap_or(MOVE_MAX);
        let moved =
            pull_bulk(&mut link.peer, &mut self.output, &self.client, limit, &mut core.hub)?;
        if let Ok(length) = moved {
            *remaining -= length as u64;
        }
        Some(moved)
    }
}
