//! Load generators behind `vedette bench`.
//!
//! They speak only public protocols (sender, agent, JSON-RPC over HTTP), so the same command
//! measures Vedette and any Zabbix-compatible server. They share the machine with the server that
//! they measure: what is sent is built beforehand and only patched, threads block instead of
//! polling, and each report tells the generator's own CPU time beside the server's.
//!
//! * [`trapper`]: values by the sender protocol, optionally with a ledger of all acknowledged ones.
//! * [`ledger`]: the ledger, and its comparison with `history.get`.
//! * [`steps`]: CPU time of preprocessing steps.
//! * [`active`]: active agents that ask for their items and send values.
//! * [`alerts`]: problems and their messages, which a receiver of our own gets from a webhook.
//! * [`agents`]: passive checks and SNMP, answered by agents and devices of our own.
//! * [`configuration`]: many items; memory per item, and the time until a change is live.
//! * [`limit`]: more hosts step by step, until a limit is reached, which it names and narrows down.
//! * [`overload`]: more than the server can take, and what is left of rate, memory and values.
//! * [`blackout`]: most hosts stop answering for some minutes.
//! * [`read`]: history and graph queries, beside writes.
//! * [`service`]: the history service over gRPC and HTTP.
//! * [`picture`]: plots as PNG.
//! * [`balancers`]: `vedette engine`, HAProxy and nginx side by side.
//! * [`line`]: values written against the ideal line, for several numbers of targets.

pub mod active;
pub mod agents;
pub mod alerts;
mod api;
pub mod balancers;
pub mod blackout;
pub mod configuration;
mod fake_agent;
mod fake_snmp;
mod fake_web;
pub mod ledger;
pub mod limit;
pub mod line;
pub mod overload;
mod payload;
pub mod picture;
mod plot;
mod probe;
mod proc;
pub mod read;
mod readers;
mod register;
pub mod report;
mod send;
pub mod service;
mod shape;
mod stats;
pub mod steps;
pub mod trapper;

use std::io::Write;

use stdx::clock::SharedClock;

pub use payload::Order;
pub use register::{Through, clean};

/// Where the JSON-RPC API answers, and as whom.
#[derive(Debug, Clone)]
pub struct Login {
    /// `http://HOST:PORT/api_jsonrpc.php`; the path may be left out.
    pub url: String,
    /// User name.
    pub user: String,
    /// Password of that user.
    pub password: String,
}

/// What every command needs from its caller.
pub struct Context<'a> {
    /// The time.
    pub clock: SharedClock,
    /// Progress for people, a line at a time.
    pub progress: &'a mut dyn Write,
}

impl Context<'_> {
    /// Prints a line; a closed output is no error.
    fn say(&mut self, line: &str) {
        drop(writeln!(self.progress, "{line}"));
    }
}
