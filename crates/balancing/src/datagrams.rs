//! What UDP services, and the monitors that send datagrams, exclude.

use std::net::IpAddr;

use crate::syntax::is_host_name;
use crate::{
    Algorithm, DnsMonitor, Kind, PersistenceKind, Pool, Protocol, UdpMonitor, VirtualService,
};

/// Longest datagram of a monitor: it fits in a packet of the smallest MTU of IPv6.
const MONITOR_MAX: usize = 1_200;

impl UdpMonitor {
    pub(crate) fn check(&self) -> Result<(), String> {
        if (1..=MONITOR_MAX).contains(&self.send.0.len()) {
            return Ok(());
        }
        Err(format!("'health.udp.send' has 1 to {MONITOR_MAX} bytes"))
    }
}

impl DnsMonitor {
    pub(crate) fn check(&self) -> Result<(), String> {
        // A name of addresses, such as 1.0.0.127.in-addr.arpa, is a host name by its last label.
        let name = self.name.strip_suffix('.').unwrap_or(&self.name);
        if self.name != "." && (name.parse::<IpAddr>().is_ok() || !is_host_name(name)) {
            return Err(format!("'health.dns.name': '{}' is not a name of DNS", self.name));
        }
        if self.rcodes.is_empty() {
            return Err("'health.dns.rcodes' is empty; leave it out for NOERROR".to_owned());
        }
        Ok(())
    }
}

impl VirtualService {
    /// Refuses what datagrams do not have.
    pub(crate) fn check_udp(&self) -> Result<(), String> {
        let needs_stream = |member: &str| Err(format!("'{member}' needs type http or tcp"));
        if self.tls.is_some() {
            return needs_stream("tls");
        }
        if self.accept_proxy {
            return needs_stream("accept_proxy");
        }
        if self.limits.sessions == 0 || self.limits.client_sessions == 0 {
            return Err("'limits.sessions' and 'limits.client_sessions' are at least 1".to_owned());
        }
        Ok(())
    }

    /// Checks whether the service can use a pool.
    ///
    /// # Errors
    /// The member of the pool that does not suit, and the remedy.
    pub fn check_pool(&self, pool: &Pool) -> Result<(), String> {
        let refuse = |member: &str| {
            Err(format!(
                "a service of type udp needs a pool without {member}; change pool '{}' or use another",
                pool.name
            ))
        };
        match self.kind {
            Kind::Http => Ok(()),
            Kind::Tcp | Kind::Udp if pool.protocol == Protocol::Http2 => {
                let kind = if self.kind == Kind::Tcp { "tcp" } else { "udp" };
                Err(format!("a service of type {kind} needs a pool without 'protocol'"))
            }
            Kind::Tcp => Ok(()),
            Kind::Udp if pool.tls.is_some() => refuse("'tls'"),
            Kind::Udp if pool.send_proxy.is_some() => refuse("'send_proxy'"),
            Kind::Udp => match (pool.algorithm, pool.persistence.as_ref().map(|p| p.kind)) {
                (Algorithm::UriHash | Algorithm::HeaderHash, _) => {
                    refuse("the algorithms 'uri_hash' and 'header_hash'")
                }
                (_, Some(PersistenceKind::Cookie | PersistenceKind::Header)) => {
                    refuse("persistence by 'cookie' or 'header'")
                }
                _ => Ok(()),
            },
        }
    }
}
