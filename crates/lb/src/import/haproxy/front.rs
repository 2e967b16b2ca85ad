//! `frontend` and the listening side of `listen`.

use super::condition::{Acls, Entry};
use super::rules::Rules;
use super::sections::{Kind, Section};
use super::{Import, NOT_NEEDED, is_http, option, timeout};
use crate::config::{Forwarded, Kind as ServiceKind, Limits, Timeouts, VirtualService};
use crate::import::Directive;

/// Directives that become rules, in the order in which HAProxy applies their kinds.
const RULES: [&[&str]; 3] =
    [&["tcp-request"], &["http-request", "redirect", "http-response"], &["use_backend"]];

/// Directives that are read elsewhere.
const READ: [&str; 7] = ["bind", "acl", "default_backend", "mode", "timeout", "maxconn", "option"];

/// Options that change nothing here: the engine always or never does what they ask for.
const OPTIONS: [&str; 18] = [
    "dontlog-normal",
    "dontlognull",
    "httplog",
    "tcplog",
    "log-health-checks",
    "log-separate-errors",
    "logasap",
    "http-keep-alive",
    "http-server-close",
    "httpclose",
    "redispatch",
    "splice-auto",
    "tcpka",
    "clitcpka",
    "srvtcpka",
    "http-ignore-probes",
    "tcp-smart-accept",
    "contstats",
];

impl Import {
    /// Adds a service for each address; a `listen` forwards to its own servers.
    pub(super) fn front(&mut self, section: &Section, all: &[Section]) {
        let mut acls = Acls::default();
        section.directives().filter(|at| at.name() == "acl").for_each(|acl| acls.add(acl));
        let default = match section.kind {
            Kind::Listen => Some(section.name.clone()),
            _ => section.last("default_backend").map(|at| at.parameter(0).to_owned()),
        };
        let exists =
            |name: &str| all.iter().any(|other| other.name == name && other.kind != Kind::Frontend);
        for bind in section.own.iter().filter(|at| at.name() == "bind") {
            let found = self.bind(bind);
            for listen in found.addresses {
                let entry = Entry { tls: found.tls.is_some(), port: listen.port() };
                let mut rules = Rules::default();
                for kind in RULES {
                    for at in section.directives().filter(|at| kind.contains(&at.name())) {
                        rules.add(self, at, &acls, entry);
                    }
                }
                let lost = rules.pools.iter().find(|pool| !exists(pool)).cloned();
                let Some(pool) = default.clone().or_else(|| rules.pools.first().cloned()) else {
                    self.report.missing(bind, "no backend is chosen; nothing listens here");
                    continue;
                };
                if let Some(lost) = lost.or_else(|| (!exists(&pool)).then(|| pool.clone())) {
                    self.report.missing(bind, format!("the backend '{lost}' does not exist"));
                    continue;
                }
                if default.is_none() {
                    let reason = "no default_backend: the first backend gets what no rule chooses";
                    self.report.differs(bind, reason);
                }
                self.used.insert(pool.clone());
                self.used.extend(rules.pools.iter().cloned());
                let back =
                    all.iter().find(|other| other.name == pool && other.kind != Kind::Frontend);
                let service = VirtualService {
                    name: self.names.unique(&section.name),
                    kind: if is_http(section) { ServiceKind::Http } else { ServiceKind::Tcp },
                    listen: listen.into(),
                    pool,
                    accept_proxy: found.accept_proxy,
                    tls: found.tls.clone(),
                    h2c: found.h2c,
                    timeouts: timeouts(section, back.unwrap_or(section)),
                    limits: limits(section),
                    rate_limit: None,
                    authentication: None,
                    compression: None,
                    cache: None,
                    mirror: None,
                    forwarded: self.forwarded(section, &rules),
                    rules: rules.rules,
                    allow: rules.allow,
                    deny: rules.deny,
                };
                self.config.virtual_services.push(service);
            }
        }
        self.unread(section);
    }

    fn forwarded(&mut self, section: &Section, rules: &Rules) -> Forwarded {
        if let Some(at) = option(section, "forwardfor").filter(|at| at.words.len() > 2) {
            self.report.differs(at, "X-Forwarded-For is appended to for all clients");
        }
        let appended = option(section, "forwardfor").is_some() || rules.forwarded_for.is_some();
        let missing: Vec<&str> =
            [("X-Forwarded-For", appended), ("X-Forwarded-Proto", rules.forwarded_proto)]
                .into_iter()
                .filter_map(|(name, written)| (!written).then_some(name))
                .collect();
        if is_http(section) && !missing.is_empty() {
            let at = section.last("bind").cloned().unwrap_or_default();
            let at = Directive { words: vec![section.name.clone()], ..at };
            let missing = missing.join(" and ");
            self.report
                .differs(&at, format!("{missing}: written, where HAProxy passes the client's"));
        }
        Forwarded {
            x_forwarded_for: rules.forwarded_for.unwrap_or_default(),
            x_forwarded_port: rules.forwarded_port,
            ..Forwarded::default()
        }
    }

    /// Reports directives that no part of the import has read.
    fn unread(&mut self, section: &Section) {
        let rules = RULES.concat();
        for at in section.directives() {
            let name = at.name();
            let read = READ.contains(&name) || rules.contains(&name) || NOT_NEEDED.contains(&name);
            let of_servers = super::back::DIRECTIVES.contains(&name);
            if name == "option" {
                let option = at.parameter(0);
                let read = option == "forwardfor" || super::back::OPTIONS.contains(&option);
                if !read && !OPTIONS.contains(&option) {
                    self.report.missing(at, "the option is not supported");
                }
            } else if !read && !of_servers && name != "no" {
                self.report.missing(at, "the directive is not supported");
            }
        }
    }
}

fn limits(section: &Section) -> Limits {
    let connections = section.last("maxconn").and_then(|at| at.parameter(0).parse().ok());
    let default = Limits::default();
    Limits { connections: connections.unwrap_or(default.connections), ..default }
}

/// HAProxy waits in the queue as long as for a connection unless told otherwise.
fn timeouts(front: &Section, back: &Section) -> Timeouts {
    let default = Timeouts::default();
    let client = timeout(front, "client");
    let server = timeout(back, "server");
    let connect = timeout(back, "connect").unwrap_or(default.connect);
    let between = if is_http(front) { None } else { client.or(server) };
    Timeouts {
        client_header: timeout(front, "http-request").or(client).unwrap_or(default.client_header),
        client_body: client.unwrap_or(default.client_body),
        keepalive: timeout(front, "http-keep-alive")
            .or_else(|| timeout(front, "http-request"))
            .or(client)
            .unwrap_or(default.keepalive),
        server: server.unwrap_or(default.server),
        connect,
        queue: timeout(back, "queue").unwrap_or(connect),
        tunnel: timeout(back, "tunnel").or(between).unwrap_or(default.tunnel),
        ..default
    }
}
