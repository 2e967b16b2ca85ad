//! How a client's connection begins: PROXY header, TLS, version of HTTP.

use std::sync::Arc;

use proxying::engine_link::analytics::Counter;
use proxying::http2::frame::PREFACE;
use proxying::proxy_header;

use crate::acme::ACME_TLS;
use crate::client::Known;
use crate::config::{H2c, Kind};
use crate::core::Core;
use crate::route::Route;
use crate::session::{Session, State, Step};

impl Session {
    pub(crate) fn proxy_header(&mut self, core: &mut Core) -> Step {
        if self.service.accept_proxy {
            match proxy_header::parse(self.input.data()) {
                Err(_) if !self.input.is_empty() => return Step::Close,
                Ok(Some((length, addresses))) => {
                    self.input.consume(length);
                    if let Some(addresses) = addresses {
                        (self.source, self.destination) = (addresses.source, addresses.destination);
                    }
                }
                _ => return self.read(core),
            }
        }
        if !self.service.admits(self.source.ip()) {
            core.count(&self.service.tally, Counter::Rejected);
            return Step::Close;
        }
        if self.service.tls.is_none() {
            return self.begin(core);
        }
        // The header is read once: what follows is the client's.
        self.state = State::Hello;
        Step::Again
    }

    /// Begins TLS. While an authority checks host names, the whole first message decides with which
    /// configuration.
    pub(crate) fn hello(&mut self, core: &mut Core) -> Step {
        let Some(config) = &self.service.tls else { return Step::Close };
        let Some(config) = self.service.challenges.tls(config, self.input.data()) else {
            return self.read(core);
        };
        let Ok(tls) = rustls::ServerConnection::new(config) else {
            return Step::Close;
        };
        let Some(conn) = self.client.socket_mut() else { return Step::Close };
        let started = conn.start_tls(tls.into(), self.input.data());
        self.input.clear(&mut core.hub.buffers);
        if started.is_err() {
            return Step::Close;
        }
        self.state = State::Handshake;
        Step::Again
    }

    pub(crate) fn handshake(&mut self, core: &mut Core) -> Step {
        let Some(conn) = self.client.socket_mut() else { return Step::Close };
        match conn.handshake() {
            Err(_) => return Step::Close,
            Ok(false) => return Step::Wait,
            Ok(true) => {}
        }
        core.count(&self.service.tally, Counter::Handshakes);
        let certificates = conn.tls().and_then(|tls| tls.peer_certificates());
        let first = certificates.and_then(|certificates| certificates.first());
        self.client_name = first.and_then(crate::tls::common_name).map(Arc::from);
        self.sni = conn.server_name().map(Arc::from);
        // Application data may have arrived with the end of the handshake.
        conn.readable = true;
        conn.writable = true;
        let protocol = conn.tls().and_then(|tls| tls.alpn_protocol());
        if protocol == Some(ACME_TLS) {
            return Step::Close;
        }
        if protocol == Some(b"h2") && self.service.kind == Kind::Http {
            self.start_http2(core)
        } else {
            self.begin(core)
        }
    }

    pub(crate) fn detect(&mut self, core: &mut Core) -> Step {
        let data = self.input.data();
        if data.starts_with(PREFACE) {
            return self.start_http2(core);
        }
        if PREFACE.starts_with(data) {
            return self.read(core);
        }
        self.state = State::Request;
        Step::Again
    }

    fn begin(&mut self, core: &mut Core) -> Step {
        self.state = match self.service.kind {
            Kind::Http => match self.service.h2c {
                None => State::Request,
                Some(H2c::Both) => State::Detect,
                Some(H2c::Only) => return self.start_http2(core),
            },
            // Datagrams have no connections.
            Kind::Udp => return Step::Close,
            Kind::Tcp => {
                let client = Known { address: self.source.ip(), request: None };
                let pool = Arc::clone(client.pool_of(&self.service.target, core.now_ms()));
                let wish = client.wish(&pool);
                self.route = Some(Box::new(Route::new(pool, wish)));
                self.note_begin(core);
                self.note_tcp();
                State::Tunnel
            }
        };
        Step::Again
    }
}
