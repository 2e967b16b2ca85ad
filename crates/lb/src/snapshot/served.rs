//! A virtual service at one of its addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use proxying::http1;

use crate::acme::Challenges;
use crate::auth::Policies;
use crate::cache::{Cache, Line};
use crate::compression;
use crate::config::{self, Forwarded, Kind, Network};
use crate::form::Form;
use crate::mirror::{Copies, Mirror};
use crate::policy::Rule;
use crate::pool::group::Target;
use crate::rate::Limit;
use crate::tally::Tally;
use crate::udp_settings::UdpSettings;

/// Times of the stages in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) client_header: u64,
    pub(crate) client_body: u64,
    pub(crate) keepalive: u64,
    pub(crate) server: u64,
    pub(crate) connect: u64,
    pub(crate) queue: u64,
    pub(crate) tunnel: u64,
}

/// A virtual service.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) listen: SocketAddr,
    pub(crate) target: Target,
    pub(crate) accept_proxy: bool,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    /// The same for HTTP/3, if the service has it.
    pub(crate) quic: Option<Arc<quinn_proto::ServerConfig>>,
    /// What responses of other versions say about HTTP/3.
    pub(crate) alt_svc: Option<String>,
    /// Checks of an authority that are answered before anything else.
    pub(crate) challenges: Arc<Challenges>,
    pub(crate) h2c: Option<config::H2c>,
    /// Requests at once of an HTTP/2 connection.
    pub(crate) h2_streams: u32,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: http1::Limits,
    pub(crate) body_max: u64,
    pub(crate) rate_limit: Option<Limit>,
    pub(crate) policies: Option<Arc<Policies>>,
    pub(crate) compression: Option<Arc<compression::Settings>>,
    pub(crate) cache: Option<Arc<Cache>>,
    /// This cache and those before.
    pub(crate) caches: Arc<Line>,
    pub(crate) mirror: Option<Arc<Mirror>>,
    pub(crate) copies: Arc<Copies>,
    /// Only of type `udp`.
    pub(crate) udp: Option<UdpSettings>,
    pub(crate) connections_max: u32,
    /// Open client connections or UDP sessions of all threads.
    pub(crate) connections: Arc<AtomicU32>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) forwarded: Forwarded,
    pub(crate) rules: Vec<Rule>,
    pub(super) allow: Vec<Network>,
    pub(super) deny: Vec<Network>,
}

/// An address of services, with the kind of its sockets: datagrams or connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    pub(crate) datagrams: bool,
    pub(crate) address: SocketAddr,
}

impl Service {
    /// Where it listens.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = Endpoint> + use<> {
        let at = |datagrams| Endpoint { datagrams, address: self.listen };
        let quic = self.quic.as_ref().map(|_| at(true));
        [at(self.kind == Kind::Udp)].into_iter().chain(quic)
    }

    /// Tells a client of another version about HTTP/3.
    pub(crate) fn announce(&self, form: Form, out: &mut Vec<u8>) {
        if let Some(value) = self.alt_svc.as_ref().filter(|_| form != Form::Http3) {
            form.field(out, b"Alt-Svc", value.as_bytes());
        }
    }

    /// Whether a rule has a script.
    pub(crate) fn runs_scripts(&self) -> bool {
        self.rules.iter().any(Rule::runs_script)
    }

    /// Whether a client may connect.
    pub(crate) fn admits(&self, client: IpAddr) -> bool {
        !self.deny.iter().any(|network| network.contains(client))
            && (self.allow.is_empty() || self.allow.iter().any(|network| network.contains(client)))
    }
}
