//! What types alone do not exclude. An error names the member and the remedy.

use std::collections::{BTreeMap, HashSet};

use crate::{
    Algorithm, ClientAuth, Kind, PersistenceKind, Pool, Protocol, Rule, Then, Tls, VirtualService,
};

/// A head must fit in a buffer together with the fields that the balancer adds.
const HEAD_MAX: usize = 24_576;

const SERVERS_MAX: usize = 65_535;

/// Header fields that the balancer itself writes.
const FIXED: [&str; 5] = ["host", "connection", "content-length", "transfer-encoding", "upgrade"];

impl Pool {
    /// Checks the pool by itself.
    ///
    /// # Errors
    /// The first problem, without the pool's name.
    pub fn check(&self) -> Result<(), String> {
        if self.servers.is_empty() {
            return Err("it has no servers; add at least one to 'servers'".to_owned());
        }
        if self.servers.len() > SERVERS_MAX {
            return Err(format!("it has {} servers, the limit is 65,535", self.servers.len()));
        }
        if self.algorithm == Algorithm::HeaderHash
            && !self.hash_key.as_deref().is_some_and(is_token)
        {
            return Err("'header_hash' needs 'hash_key', the name of a header".to_owned());
        }
        if let Some(health) = self.health.as_ref().filter(|health| !is_path(&health.path)) {
            return Err(format!("'health.path': '{}' is no path; {PATH}", health.path));
        }
        if let Some(persistence) = &self.persistence
            && persistence.kind != PersistenceKind::SourceIp
            && !persistence.name.as_deref().is_some_and(is_token)
        {
            return Err("'persistence' needs 'name', that of the cookie or the header".to_owned());
        }
        if self.protocol == Protocol::Http2 && self.send_proxy.is_some() {
            return Err(
                "'send_proxy' needs connections of one client each; remove it or 'protocol'"
                    .to_owned(),
            );
        }
        if let Some(tls) = self.tls.as_ref().filter(|tls| !is_host_name(&tls.sni)) {
            return Err(format!("'tls.sni': '{}' is no host name", tls.sni));
        }
        let mut names = HashSet::new();
        match self.servers.iter().find(|server| !names.insert(&server.name)) {
            Some(server) => Err(format!("server '{}' exists twice", server.name)),
            None => Ok(()),
        }
    }
}

impl VirtualService {
    /// Checks the virtual service by itself: pools and certificates are not looked up.
    ///
    /// # Errors
    /// The first problem, without the service's name.
    pub fn check(&self) -> Result<(), String> {
        if self.limits.header_bytes > HEAD_MAX {
            return Err(format!("'limits.header_bytes' is limited to {HEAD_MAX}"));
        }
        if self.h2c.is_some() && (self.tls.is_some() || self.kind == Kind::Tcp) {
            return Err("'h2c' is for services of type http without TLS; with TLS, add h2 to \
                        'tls.alpn'"
                .to_owned());
        }
        if self.limits.h2_streams == 0 {
            return Err("'limits.h2_streams' is at least 1".to_owned());
        }
        if self.kind == Kind::Tcp && !self.rules.is_empty() {
            return Err("'rules' need type http".to_owned());
        }
        if self.forwarded.via.as_deref().is_some_and(|name| !is_token(name)) {
            return Err("'forwarded.via' is no name; use letters, digits, '-' and '.'".to_owned());
        }
        for (at, rule) in self.rules.iter().enumerate() {
            rule.check().map_err(|problem| format!("rule {}: {problem}", at + 1))?;
        }
        self.tls.as_ref().map_or(Ok(()), Tls::check)
    }
}

impl Tls {
    fn check(&self) -> Result<(), String> {
        if self.certificates.is_empty() {
            return Err("'tls.certificates' is empty; name at least one certificate".to_owned());
        }
        if self.alpn.iter().any(|name| !(1..=255).contains(&name.len())) {
            return Err("'tls.alpn' has a name of no or more than 255 bytes".to_owned());
        }
        if self.client_auth != ClientAuth::None && self.client_ca.is_none() {
            return Err("'tls.client_auth' needs 'tls.client_ca'".to_owned());
        }
        Ok(())
    }
}

impl Rule {
    /// Checks the rule by itself.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        let then = &self.then;
        if then.verdicts() > 1 {
            return Err("'then' has several of pool, redirect, deny, respond; keep one".to_owned());
        }
        if let Some(redirect) = &then.redirect {
            if ![301, 302, 303, 307, 308].contains(&redirect.status) {
                return Err(format!("{} is no status of a redirect", redirect.status));
            }
            if !redirect.location.bytes().all(|b| b.is_ascii_graphic()) {
                return Err("'redirect.location' has characters that no URL has".to_owned());
            }
        }
        let statuses = [then.deny, then.respond.as_ref().map(|respond| respond.status)];
        if statuses.into_iter().flatten().any(|status| !(200..600).contains(&status)) {
            return Err("the status of a response is between 200 and 599".to_owned());
        }
        if then.rewrite.as_ref().is_some_and(|rewrite| !is_path(&rewrite.with)) {
            return Err(format!("'rewrite.with' is no path; {PATH}"));
        }
        let media_type = then.respond.as_ref().and_then(|respond| respond.content_type.as_deref());
        if media_type.is_some_and(has_control) {
            return Err("'respond.type' contains a control character".to_owned());
        }
        check_edits(&then.set_header, &then.del_header)?;
        check_edits(&then.set_response_header, &then.del_response_header)
    }
}

impl Then {
    fn verdicts(&self) -> usize {
        [self.pool.is_some(), self.redirect.is_some(), self.deny.is_some(), self.respond.is_some()]
            .into_iter()
            .filter(|given| *given)
            .count()
    }
}

fn check_edits(set: &BTreeMap<String, String>, remove: &[String]) -> Result<(), String> {
    for name in set.keys().chain(remove) {
        if !is_token(name) {
            return Err(format!("'{name}' is no header name"));
        }
        if FIXED.iter().any(|fixed| fixed.eq_ignore_ascii_case(name)) {
            return Err(format!("the header '{name}' cannot be edited"));
        }
    }
    match set.values().find(|value| has_control(value)) {
        Some(value) => Err(format!("the header value {value:?} contains a control character")),
        None => Ok(()),
    }
}

fn has_control(text: &str) -> bool {
    text.bytes().any(|b| b < b' ' || b == 127)
}

const PATH: &str = "it begins with / and has no spaces";

/// Whether the text can be the target of a request: it becomes a part of the request line.
pub fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic())
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Whether a certificate can be checked against the name: a DNS name without a dot at the end, or an
/// address.
pub fn is_host_name(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last_is_number =
        text.rsplit('.').next().is_some_and(|label| label.bytes().all(|b| b.is_ascii_digit()));
    text.parse::<std::net::IpAddr>().is_ok()
        || (text.len() <= 253 && !last_is_number && text.split('.').all(label))
}
