//! `location` blocks as rules. nginx takes an exact match first, then the longest prefix; rules are
//! tried in order, so they are sorted that way.

use super::Import;
use super::blocks::Block;
use super::mirror::mirror;
use crate::config::{Conditions, Redirect, Respond, Rewrite, Rule, Then};
use crate::import::Directive;

/// Directives of a location that are read, or that change nothing here.
const KNOWN: [&str; 27] = [
    "internal",
    "mirror",
    "mirror_request_body",
    "proxy_hide_header",
    "proxy_pass_header",
    "proxy_next_upstream_tries",
    "proxy_ssl_trusted_certificate",
    "proxy_ssl_name",
    "proxy_ssl_server_name",
    "proxy_pass",
    "return",
    "proxy_set_header",
    "add_header",
    "proxy_http_version",
    "proxy_buffering",
    "proxy_buffers",
    "proxy_buffer_size",
    "proxy_request_buffering",
    "proxy_busy_buffers_size",
    "proxy_redirect",
    "access_log",
    "error_log",
    "log_not_found",
    "proxy_connect_timeout",
    "proxy_read_timeout",
    "proxy_send_timeout",
    "proxy_next_upstream",
];

/// Headers for servers that the engine sets or passes on by itself.
const OWN_HEADERS: [&str; 6] =
    ["host", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "connection", "upgrade"];

/// Where a location applies.
enum Place {
    /// `= /path`
    Exact(String),
    /// `/path` or `^~ /path`
    Prefix(String),
}

/// Rules of a `server`, the most special first.
pub(super) fn rules(import: &mut Import, server: &Block) -> Vec<Rule> {
    let mut locations: Vec<(Place, &Block)> = Vec::new();
    for location in server.all("location") {
        let words: Vec<&str> = location.at.parameters().iter().map(String::as_str).collect();
        match words.as_slice() {
            ["=", path] => locations.push((Place::Exact((*path).to_owned()), location)),
            ["^~", path] => locations.push((Place::Prefix((*path).to_owned()), location)),
            [path] if path.starts_with('/') => {
                locations.push((Place::Prefix((*path).to_owned()), location));
            }
            _ => import
                .report
                .missing(&location.at, "locations by regular expression are not supported"),
        }
    }
    locations.sort_by_key(|(place, _)| match place {
        Place::Exact(_) => (0, 0),
        Place::Prefix(path) => (1, usize::MAX - path.len()),
    });
    for (_, location) in &locations {
        for block in location.inside.iter().filter(|block| !KNOWN.contains(&block.name())) {
            import.report.missing(&block.at, "the directive is not supported in a location");
        }
    }
    // `return` of a server is done before any location is looked at.
    if server.first("return").is_some() {
        locations.insert(0, (Place::Prefix("/".to_owned()), server));
    }
    locations.into_iter().filter_map(|(place, block)| rule(import, server, place, block)).collect()
}

fn rule(import: &mut Import, server: &Block, place: Place, location: &Block) -> Option<Rule> {
    let mut then = Then::default();
    // `proxy_set_header` and `add_header` are inherited unless the location has its own.
    for name in ["proxy_set_header", "add_header"] {
        let from = if location.first(name).is_some() { location } else { server };
        from.all(name).for_each(|block| header(import, &block.at, &mut then));
    }
    let hidden = location.all("proxy_hide_header").map(|block| block.at.parameter(0).to_owned());
    then.del_response_header.extend(hidden);
    let prefix = match &place {
        Place::Exact(path) | Place::Prefix(path) => path.clone(),
    };
    if location.first("internal").is_some() {
        then = Then { deny: Some(404), ..Then::default() };
    } else if let Some(block) = location.first("return") {
        returned(import, &block.at, &mut then)?;
    } else if let Some(block) = location.first("proxy_pass") {
        proxy_pass(import, &block.at, &prefix, &mut then)?;
        import.encrypt([location, server], &block.at, then.pool.as_ref());
        then.mirror = mirror(import, server, location, &then);
    } else {
        import
            .report
            .missing(&location.at, "it neither forwards nor returns; files are not served");
        then = Then { deny: Some(404), ..Then::default() };
    }
    let conditions = match place {
        Place::Exact(path) => Conditions { path: Some(path), ..Conditions::default() },
        Place::Prefix(path) if path == "/" => Conditions::default(),
        Place::Prefix(path) => Conditions { path_prefix: Some(path), ..Conditions::default() },
    };
    Some(Rule { conditions, then })
}

fn proxy_pass(import: &mut Import, at: &Directive, prefix: &str, then: &mut Then) -> Option<()> {
    let (scheme, rest) = at.parameter(0).split_once("://").unwrap_or(("", ""));
    let (target, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    if at.parameter(0).contains('$') {
        import.report.missing(at, "a target with variables is not supported");
        return None;
    }
    let Some(pool) = import.pool_of(target, if scheme == "https" { 443 } else { 80 }) else {
        import.report.missing(at, "no upstream of this name, and no address");
        return None;
    };
    then.pool = Some(pool);
    if !path.is_empty() && path != prefix {
        then.rewrite = Some(Rewrite { prefix: prefix.to_owned(), with: path.to_owned() });
    }
    Some(())
}

/// `return CODE [TEXT]`, `return URL`.
fn returned(import: &mut Import, at: &Directive, then: &mut Then) -> Option<()> {
    let (code, text) = match at.parameter(0).parse::<u16>() {
        Ok(code) => (code, at.parameter(1)),
        Err(_) => (302, at.parameter(0)),
    };
    let known = [
        ("$host", "{host}"),
        ("$http_host", "{host}"),
        ("$request_uri", "{uri}"),
        ("$uri", "{path}"),
        ("$scheme", if text.starts_with("https") { "https" } else { "http" }),
    ];
    let converted =
        known.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours));
    if converted.contains('$') {
        import.report.missing(at, "a text with variables that have no equal");
        return None;
    }
    *then = match code {
        301 | 302 | 303 | 307 | 308 => {
            let redirect = Some(Redirect { status: code, location: converted });
            Then { redirect, ..Then::default() }
        }
        444 => Then { deny: Some(403), ..Then::default() },
        code if text.is_empty() => Then { deny: Some(code), ..Then::default() },
        code => {
            let respond = Respond {
                status: code,
                content_type: Some("text/plain".to_owned()),
                body: converted,
            };
            Then { respond: Some(respond), ..Then::default() }
        }
    };
    if code == 444 {
        import.report.differs(at, "the client gets 403; nginx closes the connection");
    }
    Some(())
}

/// `proxy_set_header NAME VALUE`, `add_header NAME VALUE [always]`.
fn header(import: &mut Import, at: &Directive, then: &mut Then) {
    let (name, value) = (at.parameter(0).to_owned(), at.parameter(1).to_owned());
    let to_server = at.name() == "proxy_set_header";
    let lower = name.to_ascii_lowercase();
    if to_server && OWN_HEADERS.contains(&lower.as_str()) {
        if lower == "host" && !["$host", "$http_host"].contains(&value.as_str()) {
            import.report.differs(at, "servers get the Host header of the client");
        } else if value.is_empty() {
            import.report.differs(at, "the engine writes this header itself");
        }
        return;
    }
    if value.contains('$') {
        import.report.missing(at, "a value with variables is not supported");
    } else if to_server && value.is_empty() {
        then.del_header.push(name);
    } else if to_server {
        then.set_header.insert(name, value);
    } else {
        then.set_response_header.insert(name, value);
    }
}
