//! Bytes from one side of a session to the other, in memory or through a pipe.

use std::io;

use crate::buffer::Buffer;
use crate::mux::Hub;
use crate::peer::Peer;
use crate::pipes::MOVE_MAX;

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
        Err(error) if is_refused(&error) && !hub.buffers.pipes.proven => {
            tracing::warn!("bytes are copied, as the system does not move them: {error}");
            into.rest_pipe(&mut hub.buffers);
            hub.buffers.pipes.refuse();
            None
        }
        result => {
            hub.buffers.pipes.proven |= result.is_ok();
            Some(result)
        }
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
