//! Bytes in both directions: TCP services, and WebSocket connections.

use std::io;

use crate::buffer::Buffer;
use crate::core::Core;
use crate::mux::Hub;
use crate::peer::Peer;
use crate::pipes::MOVE_MAX;
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

/// Reads once what goes to `to`: into a pipe if it is much and TLS is on neither side.
pub(crate) fn pull(
    from: &mut Peer,
    into: &mut Buffer,
    to: &Peer,
    hub: &mut Hub,
) -> io::Result<usize> {
    match pull_bulk(from, into, to, MOVE_MAX, hub) {
        Some(result) => result,
        None => from.fill(into, hub),
    }
}

/// Reads at most `limit` bytes for `to` into a pipe; `None`: they are few, TLS is on one side, or there
/// is no pipe.
pub(crate) fn pull_bulk(
    from: &mut Peer,
    into: &mut Buffer,
    to: &Peer,
    limit: usize,
    hub: &mut Hub,
) -> Option<io::Result<usize>> {
    let (Peer::Socket(source), Peer::Socket(target)) = (from, to) else { return None };
    if !source.is_bulk() || target.tls().is_some() {
        return None;
    }
    let pipe = into.empty_pipe(&mut hub.buffers)?;
    match source.fill_pipe(pipe, limit) {
        Err(error) if is_refused(&error) => {
            tracing::warn!("bytes are copied, as the system does not move them: {error}");
            hub.buffers.pipes.refuse();
            into.rest_pipe(&mut hub.buffers);
            None
        }
        result => Some(result),
    }
}

/// Writes as much as is accepted; returns the number of bytes.
pub(crate) fn push(from: &mut Buffer, to: &mut Peer, hub: &mut Hub) -> io::Result<usize> {
    if let (Some(pipe), Peer::Socket(conn)) = (from.pipe(), &mut *to)
        && pipe.held() > 0
    {
        return conn.drain_pipe(pipe);
    }
    let sent = to.write(from.data(), hub)?;
    from.consume(sent);
    Ok(sent)
}

/// Whether the system does not offer splice(2): it is filtered, or unknown for this kind of socket.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

#[cfg(test)]
mod tests;
