//! What types alone do not exclude. An error names the member and the remedy.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use crate::syntax::{FIXED, PATH, has_control, is_host_name, is_path, is_token};
use crate::{
    Algorithm, Authentication, ClientAuth, HTTP3, Kind, PersistenceKind, Pool, Protocol, Rule,
    Script, Then, Tls, VirtualService,
};

/// A head must fit in a buffer together with the fields that the balancer adds.
const HEAD_MAX: usize = 24_576;

/// Longest slow start.
const SLOW_START_MAX: Duration = Duration::from_secs(86_400);

const SERVERS_MAX: usize = 65_535;

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
        self.check_monitors()?;
        if self.slow_start.is_some_and(|time| time.0 > SLOW_START_MAX) {
            return Err("'slow_start' is at most 1d".to_owned());
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
            return Err(format!("'tls.sni': '{}' is not a host name", tls.sni));
        }
        let mut names = HashSet::new();
        match self.servers.iter().find(|server| !names.insert(&server.name)) {
            Some(server) => Err(format!("server '{}' exists twice", server.name)),
            None => Ok(()),
        }
    }
}

impl VirtualService {
    /// Whether clients may use HTTP/3.
    #[must_use]
    pub fn has_http3(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.alpn.iter().any(|name| name == HTTP3))
    }

    /// What tells clients of HTTP/3 on a port (RFC 7838, 3); `None`: nothing does.
    #[must_use]
    pub fn alt_svc(&self, port: u16) -> Option<String> {
        let given = self.tls.as_ref().filter(|_| self.has_http3())?.alt_svc.clone();
        let value = given.unwrap_or_else(|| format!("h3=\":{port}\"; ma=86400"));
        (!value.is_empty()).then_some(value)
    }

    /// Checks the virtual service by itself: pools and certificates are not looked up.
    ///
    /// # Errors
    /// The first problem, without the service's name.
    pub fn check(&self) -> Result<(), String> {
        if self.limits.header_bytes > HEAD_MAX {
            return Err(format!("'limits.header_bytes' is limited to {HEAD_MAX}"));
        }
        if self.h2c.is_some() && (self.tls.is_some() || self.kind != Kind::Http) {
            return Err("'h2c' is for services of type http without TLS; with TLS, add h2 to \
                        'tls.alpn'"
                .to_owned());
        }
        if self.has_http3() && (self.kind != Kind::Http || self.accept_proxy) {
            return Err("'h3' in 'tls.alpn' is for services of type http without 'accept_proxy': \
                        datagrams have no PROXY header"
                .to_owned());
        }
        if self.limits.h2_streams == 0 {
            return Err("'limits.h2_streams' is at least 1".to_owned());
        }
        if self.kind == Kind::Udp {
            self.check_udp()?;
        }
        if self.kind != Kind::Http && !self.rules.is_empty() {
            return Err("'rules' need type http".to_owned());
        }
        if let Some(limit) = &self.rate_limit {
            if self.kind != Kind::Http {
                return Err("'rate_limit' needs type http".to_owned());
            }
            limit.check()?;
        }
        self.check_policies()?;
        if self.forwarded.via.as_deref().is_some_and(|name| !is_token(name)) {
            return Err(
                "'forwarded.via' is not a name; use letters, digits, '-' and '.'".to_owned()
            );
        }
        for (at, rule) in self.rules.iter().enumerate() {
            rule.check().map_err(|problem| format!("rule {}: {problem}", at + 1))?;
        }
        self.tls.as_ref().map_or(Ok(()), Tls::check)
    }

    /// Checks compression, cache, mirror and authentication.
    fn check_policies(&self) -> Result<(), String> {
        let given = self.compression.is_some()
            || self.cache.is_some()
            || self.authentication.is_some()
            || self.mirror.is_some();
        if self.kind != Kind::Http && given {
            return Err(
                "'compression', 'cache', 'authentication' and 'mirror' need type http".to_owned()
            );
        }
        self.check_mirrors()?;
        if let Some(compression) = &self.compression {
            compression.check()?;
        }
        if let Some(cache) = &self.cache {
            cache.check()?;
        }
        self.authentication.as_ref().unwrap_or(&Authentication::default()).check(&self.rules)
    }

    /// Refuses mirrors that send copies to the servers that get the requests.
    fn check_mirrors(&self) -> Result<(), String> {
        if let Some(mirror) = &self.mirror {
            mirror.check()?;
            mirror.check_beside(&self.pool)?;
        }
        for (at, then) in self.rules.iter().map(|rule| &rule.then).enumerate() {
            let pool = then.pool.as_ref().unwrap_or(&self.pool);
            let chosen = then.script.as_ref().map(|script| &*script.pools).unwrap_or_default();
            let mut pools = chosen.iter().chain([pool]);
            let checked = then
                .mirror
                .as_ref()
                .map_or(Ok(()), |mirror| pools.try_for_each(|pool| mirror.check_beside(pool)));
            checked.map_err(|problem| format!("rule {}: {problem}", at + 1))?;
        }
        Ok(())
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
        if self.alt_svc.as_deref().is_some_and(has_control) {
            return Err("'tls.alt_svc' contains a control character".to_owned());
        }
        if self.client_auth != ClientAuth::None && self.client_ca.is_none() {
            return Err("'tls.client_auth' needs 'tls.client_ca'".to_owned());
        }
        if self.client_auth == ClientAuth::None && self.client_crl.is_some() {
            return Err("'tls.client_crl' needs 'tls.client_auth'".to_owned());
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
            return Err(
                "'then' has several of pool, redirect, deny, respond, script; keep one".to_owned()
            );
        }
        if let Some(redirect) = &then.redirect {
            if ![301, 302, 303, 307, 308].contains(&redirect.status) {
                return Err(format!("{} is not a status of a redirect", redirect.status));
            }
            if !redirect.location.bytes().all(|b| b.is_ascii_graphic()) {
                return Err("'redirect.location' has characters that no URL has".to_owned());
            }
        }
        then.check_mirror()?;
        then.script.as_ref().map_or(Ok(()), Script::check)?;
        let statuses = [then.deny, then.respond.as_ref().map(|respond| respond.status)];
        if statuses.into_iter().flatten().any(|status| !(200..600).contains(&status)) {
            return Err("the status of a response is between 200 and 599".to_owned());
        }
        if then.rewrite.as_ref().is_some_and(|rewrite| !is_path(&rewrite.with)) {
            return Err(format!("'rewrite.with' is not a path; {PATH}"));
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
    fn check_mirror(&self) -> Result<(), String> {
        let Some(mirror) = &self.mirror else { return Ok(()) };
        let forwards = self.pool.is_some() || self.script.is_some();
        if self.verdicts() > usize::from(forwards) {
            return Err("'then' has 'mirror' and one of redirect, deny, respond, whose requests are not copied; \
                        keep one"
                .to_owned());
        }
        mirror.check()
    }

    fn verdicts(&self) -> usize {
        let Self { pool, redirect, deny, respond, script, .. } = self;
        let given = [
            pool.is_some(),
            redirect.is_some(),
            deny.is_some(),
            respond.is_some(),
            script.is_some(),
        ];
        given.into_iter().filter(|given| *given).count()
    }
}

fn check_edits(set: &BTreeMap<String, String>, remove: &[String]) -> Result<(), String> {
    for name in set.keys().chain(remove) {
        if !is_token(name) {
            return Err(format!("'{name}' is not a header name"));
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
