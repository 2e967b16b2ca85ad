//! SNMP: values, walks and discovery of devices, thousands of them from a few sockets.
//!
//! [`plan`] reads what an item asks for, [`batch`], [`walk`] and [`by_name`] ask for it and read the
//! answers without a socket, [`session`] knows the engines of version 3, and [`engine`] sends,
//! waits, repeats and gives up. [`poller`] puts that into the schedule: one request at a time for
//! each interface.

mod asker;
mod batch;
mod by_name;
mod cursor;
mod engine;
mod once;
mod plan;
mod question;
mod session;
mod walk;

use std::net::SocketAddr;
use std::sync::Arc;

use config::snapshot::source::Snmp;
use wire::snmp::{ErrorStatus, Oid};

use super::reply::CheckReply;
pub(crate) use asker::Asker;
pub(crate) use engine::Engine;
pub(crate) use once::{NO_INTERFACE, Plans, check_once, peer, resolve};
pub(crate) use question::{Ended, Question};

/// A device.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// Address or name, as it is configured, for texts.
    pub(crate) shown: Arc<str>,
    pub(crate) snmp: Arc<Snmp>,
}

impl Peer {
    /// `127.0.0.1:161`, `[::1]:161`
    fn at(&self) -> String {
        let (shown, port) = (&self.shown, self.address.port());
        if shown.contains(':') { format!("[{shown}]:{port}") } else { format!("{shown}:{port}") }
    }
}

/// What a device says is wrong, in the words of the field.
fn status_text(status: ErrorStatus) -> String {
    match status.text() {
        Some(text) => format!("SNMP error: {text}"),
        None => format!("SNMP error: [{}]", status.0),
    }
}

/// Why no answer came.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Failure {
    /// Nothing in time.
    TimedOut {
        /// The engine of a device of version 3 was found before.
        probed: bool,
        /// The engine was asked for when nothing came.
        probing: bool,
    },
    /// The device refuses us, or the system does.
    Refused(String),
}

impl Failure {
    /// The reply of an item; `walk` = it is a `get[]` or `walk[]` of that OID, whose errors read
    /// otherwise.
    fn reply(&self, peer: &Peer, walk: Option<&Oid>) -> CheckReply {
        let at = peer.at();
        CheckReply::NetworkError(match (self, walk) {
            (Self::TimedOut { probed, .. }, Some(oid)) => {
                let (shown, port) = (&peer.shown, peer.address.port());
                let before = if *probed { "Probe successful, " } else { "" };
                format!("{before}cannot retrieve OID: '{oid}' from [[{shown}]:{port}]: timed out")
            }
            (Self::TimedOut { probing: true, .. }, None) => {
                format!("Cannot connect to \"{at}\": Timeout.")
            }
            (Self::TimedOut { .. }, None) => format!("Timeout while connecting to \"{at}\"."),
            (Self::Refused(why), _) => format!("Cannot connect to \"{at}\": {why}."),
        })
    }
}
