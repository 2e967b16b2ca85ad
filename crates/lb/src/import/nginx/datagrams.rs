//! Servers of a `stream` block that listen for datagrams.

use std::net::SocketAddr;

use super::Import;
use super::blocks::Block;
use crate::config::{Forwarded, Kind, Limits, Timeouts, VirtualService};

impl Import {
    /// Converts one address of a server.
    pub(super) fn datagrams(
        &mut self,
        server: &Block,
        timeouts: Timeouts,
        address: SocketAddr,
    ) -> Result<(), String> {
        let pass = server.first("proxy_pass").ok_or("it has no proxy_pass")?;
        let pool = self.pool_of(pass.at.parameter(0), 0);
        let pool = pool.ok_or("proxy_pass names no upstream, and no address")?;
        if !self.taken_by_datagrams.insert(address) {
            return Err(format!("{address} is in use"));
        }
        if let Some(block) = server.first("proxy_protocol").filter(|at| at.at.parameter(0) == "on")
        {
            self.report.missing(&block.at, "datagrams have no PROXY header");
        }
        if let Some(block) = server.first("proxy_requests") {
            let reason = "a session ends by its responses and by time, not by its requests";
            self.report.differs(&block.at, reason);
        }
        let responses = server.first("proxy_responses");
        let responses = responses.and_then(|block| block.at.parameter(0).parse().ok());
        let (allow, deny) = self.networks(server);
        self.config.virtual_services.push(VirtualService {
            name: self.names.unique(&format!("{pool}-{}", address.port())),
            kind: Kind::Udp,
            listen: address.into(),
            pool,
            accept_proxy: false,
            h2c: None,
            tls: None,
            timeouts: Timeouts { session: timeouts.tunnel, ..Timeouts::default() },
            limits: Limits { responses: responses.unwrap_or(0), ..Limits::default() },
            rate_limit: None,
            authentication: None,
            compression: None,
            cache: None,
            mirror: None,
            forwarded: Forwarded::default(),
            rules: Vec::new(),
            allow,
            deny,
        });
        Ok(())
    }
}
