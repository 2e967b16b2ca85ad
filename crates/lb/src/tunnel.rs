//! Bytes in both directions: TCP services, and WebSocket connections.

use std::io;

use crate::core::Core;
use crate::relay::{pull, push};
use crate::route::{Failure, Upstream};
use crate::session::{Session, Step};
use transactions::End;

impl Session {
    /// Moves what has arrived.
    pub(crate) fn tunnel(&mut self, core: &mut Core) -> Step {
        let (entry, ends) = (self.entry, (self.source, self.destination));
        let Some(route) = &mut self.route else { return Step::Close };
        match route.advance(core, entry, ends) {
            Ok(true) => {}
            Ok(false) => return Step::Wait,
            Err(failure) => return self.tunnel_failed(failure, core),
        }
        if let Some(draft) = &mut self.draft {
            draft.served_by(route);
        }
        let Upstream::Ready(link) = &mut route.upstream else { return Step::Close };
        let server = &mut link.peer;
        let mut moved = 0;
        // What was read before the tunnel began goes first.
        if !self.input.is_empty() && route.to_server.is_empty() {
            std::mem::swap(&mut self.input, &mut route.to_server);
        }
        let mut relay = || -> io::Result<()> {
            if self.input.is_empty() {
                moved += pull(&mut self.client, &mut route.to_server, server, &mut core.hub)?;
            }
            moved += push(&mut route.to_server, server, &mut core.hub)?;
            if !route.from_server.is_empty() && self.output.is_empty() {
                std::mem::swap(&mut self.output, &mut route.from_server);
            }
            if route.from_server.is_empty() {
                moved += pull(server, &mut self.output, &self.client, &mut core.hub)?;
            }
            moved += push(&mut self.output, &mut self.client, &mut core.hub)?;
            self.client.flush()?;
            server.flush()?;
            Ok(())
        };
        if relay().is_err() {
            return Step::Close;
        }
        if self.client.eof() && route.to_server.is_empty() && self.input.is_empty() {
            server.shut(&mut core.hub);
        }
        if server.eof() && self.output.is_empty() && route.from_server.is_empty() {
            self.client.shut(&mut core.hub);
            if self.client.eof() && route.to_server.is_empty() {
                self.note_end(End::Complete);
                return Step::Close;
            }
        }
        Step::again_if(moved > 0)
    }

    /// The server of a connection did not do its part.
    pub(crate) fn tunnel_failed(&mut self, failure: Failure, core: &mut Core) -> Step {
        let Some(route) = &mut self.route else { return Step::Close };
        if let Some(link) = route.take_link() {
            route.wish.tried.push(link.server);
            route.pool.failed(link.server, core.now_ms());
            core.release(*link, false);
        }
        let repeated = u8::try_from(route.wish.tried.len().saturating_sub(1)).unwrap_or(u8::MAX);
        let repeat = failure == Failure::Connect
            && route.pool.may_repeat(crate::config::RetryOn::Connect, repeated);
        if let Some(draft) = &mut self.draft {
            draft.failed(failure);
        }
        if repeat { Step::Again } else { Step::Close }
    }
}
