//! HTTP/2 connections to servers. A thread's requests to a server share them; each request is a stream.

use std::io;

use proxying::http2::connection::{Connection, Limits, OUTPUT_MAX, Role};
use proxying::http2::frame::Code;

use crate::buffer::Buffer;
use crate::carrier::Carrier;
use crate::core::{Core, Place, Route};
use crate::mux::{Mux, Owner, Stall, Uplink};
use crate::origin::Facts;
use crate::peer::Stream;
use crate::pool::Pool;
use crate::wheel::Entry;

/// Streams at once of one connection, unless the server accepts fewer.
const STREAMS: u32 = 100;
/// Largest header list of a response, in bytes.
const LIST_MAX: u32 = 32_768;
/// How long a connection without streams is kept, in milliseconds.
const IDLE_MS: u64 = 30_000;

/// The head of a request for a server of HTTP/2.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// The header block.
    pub(crate) block: Vec<u8>,
    /// Nothing follows it.
    pub(crate) end: bool,
    /// How long the server may take, in milliseconds.
    pub(crate) patience_ms: u64,
}

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Connecting,
    Open,
    Lost,
}

impl Uplink {
    /// Reads and writes what is possible.
    fn run(&mut self, mux: usize, core: &mut Core) -> io::Result<()> {
        if !self.established && !self.establish(mux, core)? {
            return Ok(());
        }
        loop {
            let read = self.conn.fill(&mut self.input, &mut core.hub.buffers)?;
            let taken = self.take_frames(mux, core)?;
            let written = core.hub.write_frames(&mut self.conn, mux)?;
            if written > 0 {
                self.stall.end(core.now_ms());
            }
            if self.conn.eof {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if read == 0 && !taken && written == 0 {
                self.input.rest(&mut core.hub.buffers);
                return Ok(());
            }
        }
    }

    fn establish(&mut self, mux: usize, core: &mut Core) -> io::Result<bool> {
        if !self.conn.writable && !self.conn.readable {
            return Ok(false);
        }
        if let Some(error) = self.conn.failure() {
            return Err(error);
        }
        if !self.conn.handshake()? {
            return Ok(false);
        }
        if self.conn.tls().is_some_and(|tls| tls.alpn_protocol() != Some(b"h2")) {
            return Err(io::Error::other("the server does not accept HTTP/2 (ALPN h2)"));
        }
        self.established = true;
        // Frames may have arrived with the end of a handshake.
        (self.conn.readable, self.conn.writable) = (true, true);
        if let Some(mux) = core.hub.muxes.get_mut(mux) {
            core.hub.again.extend(mux.children());
        }
        Ok(true)
    }

    /// Whether any frame was complete.
    fn take_frames(&mut self, place: usize, core: &mut Core) -> io::Result<bool> {
        let now_ms = core.now_ms();
        let mut taken = false;
        loop {
            let Some(connection) = core.hub.http2(place) else { return Ok(taken) };
            if connection.output.len() > 2 * OUTPUT_MAX {
                return Ok(taken);
            }
            let received = connection.receive(self.input.data(), now_ms);
            let (length, event) =
                received.map_err(|code| io::Error::other(format!("HTTP/2: {code:?}")))?;
            if length == 0 {
                return Ok(taken);
            }
            taken = true;
            if let Some(event) = event {
                core.hub.deliver(place, event);
            }
            self.input.consume(length);
        }
    }
}

impl Core {
    /// Begins a stream to a server with the header block of a request.
    pub(crate) fn open_stream(
        &mut self,
        pool: &Pool,
        server: u16,
        head: &Opening,
        child: Entry,
    ) -> io::Result<(Stream, bool)> {
        let known =
            self.sockets.uplinks.get(&Route::of(pool, server)).into_iter().flatten().copied();
        let free = known.into_iter().find(|place| {
            let connection = self.hub.muxes.get(*place).and_then(|mux| mux.connection.http2());
            connection.is_some_and(Connection::accepts_streams)
        });
        let reused = free.is_some();
        let place = match free {
            Some(place) => place,
            None => self.connect_uplink(pool, server)?,
        };
        let now_ms = self.now_ms();
        let mux = self.hub.muxes.get_mut(place).ok_or(io::ErrorKind::NotConnected)?;
        let connection = mux.connection.http2_mut();
        let number = connection.and_then(|connection| connection.open(&head.block, head.end));
        let number = number.ok_or(io::ErrorKind::NotConnected)?;
        mux.begin(number, Some(child));
        if let Owner::Server(Some(uplink)) = &mut mux.owner {
            uplink.used_ms = now_ms;
            uplink.stall.allow(head.patience_ms);
        }
        self.hub.wake(place);
        let mut stream = Stream::new(place, number, 0, Facts::default());
        stream.shut = head.end;
        Ok((stream, reused))
    }

    fn connect_uplink(&mut self, pool: &Pool, server: u16) -> io::Result<usize> {
        let (mux, _) = self.hub.muxes.reserve();
        let (place, conn) = match self.dial(pool, server, Place::Uplink(mux)) {
            Ok(dialled) => dialled,
            Err(error) => {
                self.hub.muxes.free(mux);
                return Err(error);
            }
        };
        let route = Route::of(pool, server);
        let limits = Limits { streams: STREAMS, list: LIST_MAX };
        let connection = Connection::new(Role::Client, limits, self.now_ms());
        let uplink = Uplink {
            conn: Box::new(conn),
            input: Buffer::default(),
            place,
            route,
            established: false,
            used_ms: self.now_ms(),
            stall: Stall::new(self.now_ms()),
        };
        self.hub.muxes.put(
            mux,
            Mux::new(Carrier::Http2(Box::new(connection)), Owner::Server(Some(Box::new(uplink)))),
        );
        self.sockets.uplinks.entry(route).or_default().push(mux);
        Ok(mux)
    }

    /// How far a stream's connection is.
    pub(crate) fn reach(&self, mux: usize) -> Reach {
        match self.hub.muxes.get(mux) {
            Some(mux) if !mux.connection.http2().is_none_or(Connection::is_closed) => {
                match &mux.owner {
                    Owner::Server(Some(uplink)) if !uplink.established => Reach::Connecting,
                    _ => Reach::Open,
                }
            }
            _ => Reach::Lost,
        }
    }

    /// An event of a connection to a server.
    pub(crate) fn uplink_event(&mut self, mux: usize, event: &mio::event::Event) {
        if let Some(Owner::Server(Some(uplink))) =
            self.hub.muxes.get_mut(mux).map(|mux| &mut mux.owner)
        {
            uplink.conn.note(event);
        }
        self.run_uplink(mux);
    }

    /// Lets a connection read and write. One that has failed takes its streams with it.
    pub(crate) fn run_uplink(&mut self, place: usize) {
        let Some(mux) = self.hub.muxes.get_mut(place) else { return };
        mux.woken = true;
        let Owner::Server(owner) = &mut mux.owner else { return };
        let Some(mut uplink) = owner.take() else { return };
        let result = uplink.run(place, self);
        let Some(mux) = self.hub.muxes.get_mut(place) else { return };
        mux.woken = false;
        match result {
            Ok(()) => mux.owner = Owner::Server(Some(uplink)),
            Err(error) => {
                mux.owner = Owner::Server(None);
                self.close_uplink(*uplink, place, &error);
            }
        }
    }

    /// Ends a connection that has failed; its streams fail.
    fn close_uplink(&mut self, uplink: Uplink, place: usize, error: &dyn std::fmt::Display) {
        tracing::debug!("a connection of HTTP/2 to a server: {error}");
        self.hub.abandon(place);
        self.forget_uplink(uplink, place);
    }

    fn forget_uplink(&mut self, mut uplink: Uplink, mux: usize) {
        uplink.input.clear(&mut self.hub.buffers);
        self.free_place(uplink.place);
        if let Some(list) = self.sockets.uplinks.get_mut(&uplink.route) {
            list.retain(|other| *other != mux);
        }
    }

    /// Closes connections that had no streams for too long, and those whose server reads nothing.
    pub(crate) fn sweep_uplinks(&mut self) {
        let now_ms = self.now_ms();
        let before = now_ms.saturating_sub(IDLE_MS);
        for place in self.hub.muxes.places() {
            let Some(mux) = self.hub.muxes.get_mut(place) else { continue };
            let Some(connection) = mux.connection.http2() else { continue };
            let (usable, waits) = (connection.accepts_streams(), mux.has_output());
            let Owner::Server(owner) = &mut mux.owner else { continue };
            if let Some(uplink) = owner.as_deref_mut().filter(|_| !waits) {
                uplink.stall.end(now_ms);
            }
            if let Some(uplink) = owner.take_if(|uplink| uplink.stall.is_over(now_ms)) {
                self.close_uplink(*uplink, place, &"the server does not read");
                continue;
            }
            let old = |uplink: &Uplink| uplink.used_ms < before || !usable;
            if !mux.streams.is_empty() || !owner.as_deref().is_some_and(old) {
                continue;
            }
            if let Some(mut uplink) = owner.take() {
                mux.connection.close(Code::NoError);
                let _goodbye = self.hub.write_frames(&mut uplink.conn, place);
                self.forget_uplink(*uplink, place);
            }
            self.hub.abandon(place);
        }
        self.sockets.uplinks.retain(|_, list| !list.is_empty());
    }
}
