//! The session of a client's HTTP/2 connection: it reads frames, whose streams become sessions of their
//! own, and writes theirs.

use proxying::http2::connection::{Connection, Limits, OUTPUT_MAX, Role};
use proxying::http2::frame::Code;

use crate::buffer::Buffer;
use crate::carrier::Carrier;
use crate::core::Core;
use crate::mux::{Mux, Owner};
use crate::session::{Session, Stage, State, Step};

impl Session {
    /// HTTP/2 begins.
    pub(crate) fn start_http2(&mut self, core: &mut Core) -> Step {
        let limits = Limits {
            streams: self.service.h2_streams,
            list: u32::try_from(self.service.limits.head).unwrap_or(u32::MAX),
        };
        let (place, _) = core.hub.muxes.reserve();
        let connection = Connection::new(Role::Server, limits, core.now_ms());
        let mux = Mux::new(Carrier::Http2(Box::new(connection)), Owner::Client(self.entry));
        core.hub.muxes.put(place, mux);
        self.state = State::Http2(place);
        Step::Again
    }

    /// Frames arrive and leave.
    pub(crate) fn http2(&mut self, place: usize, core: &mut Core) -> Step {
        if let Some(mux) = core.hub.muxes.get_mut(place) {
            // It runs: its streams need not wake it.
            mux.woken = true;
        }
        let Ok(read) = self.client.fill(&mut self.input, &mut core.hub) else { return Step::Close };
        let mut input = std::mem::take(&mut self.input);
        take_frames(place, &mut input, core);
        self.input = input;
        if self.leaves(core)
            && let Some(connection) = core.hub.http2(place)
        {
            connection.drain();
        }
        let Some(conn) = self.client.socket_mut() else { return Step::Close };
        let Ok(written) = core.hub.write_frames(conn, place) else { return Step::Close };
        let Some(connection) = core.hub.http2(place) else { return Step::Close };
        if connection.output.is_empty() {
            if connection.is_closed() {
                core.hub.abandon(place);
                self.state = State::Linger;
                return Step::Again;
            }
            if connection.is_drained() {
                connection.close(Code::NoError);
                return Step::Again;
            }
        }
        // The client has closed the connection and reads no responses.
        if self.client.eof() {
            return Step::Close;
        }
        Step::again_if(read > 0 || written > 0)
    }

    /// The stage of this connection. Its streams have their own.
    pub(crate) fn stage_http2(&self, place: usize, core: &mut Core) -> (Stage, u64) {
        let times = &self.service.timeouts;
        match core.hub.muxes.get_mut(place) {
            Some(mux) if mux.has_output() => (Stage::ClientBody, times.client_body),
            Some(mux) if mux.connection.http2().is_some_and(Connection::has_block) => {
                (Stage::Head, times.client_header)
            }
            Some(mux) if !mux.streams.is_empty() => (Stage::Streams, u64::MAX),
            _ if !self.input.is_empty() => (Stage::Head, times.client_header),
            _ => (Stage::Idle, times.keepalive),
        }
    }

    /// Says goodbye to a client whose connection is about to be closed.
    pub(crate) fn close_http2(&mut self, place: usize, core: &mut Core) {
        if let Some(mux) = core.hub.muxes.get_mut(place) {
            mux.connection.close(Code::NoError);
            if let Some(conn) = self.client.socket_mut() {
                let _gone = core.hub.write_frames(conn, place);
            }
        }
        core.hub.abandon(place);
    }
}

fn take_frames(place: usize, input: &mut Buffer, core: &mut Core) {
    let now_ms = core.now_ms();
    loop {
        let Some(connection) = core.hub.http2(place) else { return };
        // What frames are answered with must leave first.
        if connection.output.len() > 2 * OUTPUT_MAX {
            return;
        }
        match connection.receive(input.data(), now_ms) {
            Ok((0, _)) => return,
            Ok((length, event)) => {
                if let Some(event) = event {
                    core.hub.deliver(place, event);
                }
                input.consume(length);
            }
            Err(_) => {
                core.hub.lose(place);
                input.consume(input.data().len());
                return;
            }
        }
    }
}
