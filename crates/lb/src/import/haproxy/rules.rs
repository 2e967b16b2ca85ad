//! `http-request`, `http-response`, `redirect`, `use_backend` and `tcp-request` as rules and networks
//! of a service.

use super::Import;
use super::condition::{Acls, Entry, Term};
use crate::config::{ForwardedFor, Network, Redirect, Respond, Rewrite, Rule, Then};
use crate::import::Directive;

/// What the directives of a proxy become for one service.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) allow: Vec<Network>,
    pub(super) deny: Vec<Network>,
    /// `X-Forwarded-Port` is wanted.
    pub(super) forwarded_port: bool,
    /// What happens to `X-Forwarded-For`, where a rule says so.
    pub(super) forwarded_for: Option<ForwardedFor>,
    /// `X-Forwarded-Proto` is wanted.
    pub(super) forwarded_proto: bool,
    /// Backends that rules choose.
    pub(super) pools: Vec<String>,
}

/// What a directive does when its condition holds.
enum Action {
    Then(Box<Then>),
    /// Refuse the client.
    Refuse(Box<Then>),
    /// Something that the engine does anyway.
    Always,
    ForwardedProto,
    ForwardedPort,
    ForwardedFor(ForwardedFor),
}

impl Rules {
    /// Adds a directive of the phase of requests, or of the choice of a backend.
    pub(super) fn add(
        &mut self,
        import: &mut Import,
        at: &Directive,
        acls: &Acls<'_>,
        entry: Entry,
    ) {
        let condition = at.words.iter().position(|word| word == "if" || word == "unless");
        let (action, condition) = at.words.split_at(condition.unwrap_or(at.words.len()));
        let converted =
            action_of(action).and_then(|action| Ok((action, acls.term(condition, entry)?)));
        let problem = match converted {
            Ok((action, term)) => self.apply(action, term).err(),
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            import.report.missing(at, problem);
        }
    }

    fn apply(&mut self, action: Action, term: Term) -> Result<(), String> {
        match (action, term) {
            (Action::ForwardedProto, _) => self.forwarded_proto = true,
            (_, Term::Constant(false)) | (Action::Always, _) => {}
            (Action::ForwardedPort, Term::Constant(true)) => self.forwarded_port = true,
            (Action::ForwardedFor(what), Term::Constant(true)) => self.forwarded_for = Some(what),
            (Action::Refuse(_), Term::Source(networks, true)) => self.deny.extend(networks),
            (Action::Refuse(_), Term::Source(networks, false)) if self.allow.is_empty() => {
                self.allow = networks;
            }
            (_, Term::Source(..)) => {
                return Err("the client's address can only allow or deny".to_owned());
            }
            (Action::Then(then) | Action::Refuse(then), term) => self.push(*then, term),
            (Action::ForwardedPort | Action::ForwardedFor(_), Term::Any(_)) => {
                return Err(
                    "a header that names the client cannot depend on a condition".to_owned()
                );
            }
        }
        Ok(())
    }

    fn push(&mut self, then: Then, term: Term) {
        self.pools.extend(then.pool.clone());
        let alternatives = match term {
            Term::Any(alternatives) => alternatives,
            _ => vec![Default::default()],
        };
        self.rules.extend(
            alternatives.into_iter().map(|conditions| Rule { conditions, then: then.clone() }),
        );
    }
}

fn action_of(words: &[String]) -> Result<Action, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let then = |then| Ok(Action::Then(Box::new(then)));
    match words.as_slice() {
        ["use_backend", name] if name.contains('%') => {
            Err("a backend that is computed from the request is not supported".to_owned())
        }
        ["use_backend", name] => then(Then { pool: Some((*name).to_owned()), ..Then::default() }),
        ["redirect", rest @ ..] | ["http-request", "redirect", rest @ ..] => {
            then(Then { redirect: Some(redirect(rest)?), ..Then::default() })
        }
        ["http-request", "deny" | "tarpit" | "reject", rest @ ..] => {
            let status = after(rest, "deny_status").or_else(|| after(rest, "status"));
            let status = status.map_or(Ok(403), |status| {
                status.parse().map_err(|_| "its status is not a number")
            })?;
            refuse(status)
        }
        ["tcp-request", "connection" | "content", "reject"] => refuse(403),
        ["http-request", "return", rest @ ..] => {
            then(Then { respond: Some(respond(rest)?), ..Then::default() })
        }
        ["http-request", "disable-l7-retry"] => Ok(Action::Always),
        ["http-request", "set-header", "X-Forwarded-Proto", ..] => Ok(Action::ForwardedProto),
        ["http-request", "set-header", "X-Forwarded-Port", "%[dst_port]"] => {
            Ok(Action::ForwardedPort)
        }
        ["http-request", "set-header", name, "%[src]"] if is_forwarded_for(name) => {
            Ok(Action::ForwardedFor(ForwardedFor::Replace))
        }
        ["http-request", "del-header", name] if is_forwarded_for(name) => {
            Ok(Action::ForwardedFor(ForwardedFor::Remove))
        }
        ["http-request", "replace-path", pattern, with] => {
            then(Then { rewrite: Some(rewrite(pattern, with)?), ..Then::default() })
        }
        ["http-request", "set-header", name, value] => {
            then(Then { set_header: [constant(name, value)?].into(), ..Then::default() })
        }
        ["http-request", "del-header", name] => {
            then(Then { del_header: vec![(*name).to_owned()], ..Then::default() })
        }
        ["http-response", "set-header", name, value] => {
            then(Then { set_response_header: [constant(name, value)?].into(), ..Then::default() })
        }
        ["http-response", "del-header", name] => {
            then(Then { del_response_header: vec![(*name).to_owned()], ..Then::default() })
        }
        _ => Err("this rule has no equal".to_owned()),
    }
}

fn refuse(status: u16) -> Result<Action, String> {
    Ok(Action::Refuse(Box::new(Then { deny: Some(status), ..Then::default() })))
}

fn is_forwarded_for(name: &str) -> bool {
    name.eq_ignore_ascii_case("x-forwarded-for")
}

fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == name)?;
    words.get(at + 1).copied()
}

fn constant(name: &str, value: &str) -> Result<(String, String), String> {
    if value.contains("%[") || value.contains("%{") {
        return Err("a value that is computed from the request is not supported".to_owned());
    }
    Ok((name.to_owned(), value.replace("%%", "%")))
}

fn redirect(words: &[&str]) -> Result<Redirect, String> {
    let code = after(words, "code")
        .map_or(Ok(302), |code| code.parse().map_err(|_| "its code is not a number"))?;
    if words
        .iter()
        .any(|word| ["drop-query", "append-slash", "set-cookie", "clear-cookie"].contains(word))
    {
        return Err("options of redirects other than 'code' are not supported".to_owned());
    }
    let location = match words {
        ["scheme", scheme, ..] => format!("{scheme}://{{host}}{{uri}}"),
        ["prefix", prefix, ..] => format!("{prefix}{{uri}}"),
        ["location", location, ..] => (*location).to_owned(),
        _ => return Err("a redirect names scheme, prefix or location".to_owned()),
    };
    let known = [
        ("%[hdr(host)]", "{host}"),
        ("%[req.hdr(host)]", "{host}"),
        ("%[req.hdr(Host)]", "{host}"),
        ("%[req.hdr(host),host_only]", "{host}"),
        ("%[path]", "{path}"),
        ("%[capture.req.uri]", "{uri}"),
        ("%[pathq]", "{uri}"),
    ];
    let location = known.iter().fold(location, |text, (theirs, ours)| text.replace(theirs, ours));
    if location.contains("%[") {
        return Err(
            "the location is computed from parts of the request that have no equal".to_owned()
        );
    }
    Ok(Redirect { status: code, location })
}

/// `^/old/(.*)` and `/new/\1`: the start of a path.
fn rewrite(pattern: &str, with: &str) -> Result<Rewrite, String> {
    let plain =
        |text: &&str| !text.contains(['(', ')', '[', ']', '*', '+', '?', '|', '\\', '$', '.']);
    let prefix = pattern.strip_prefix('^').and_then(|text| text.strip_suffix("(.*)")).filter(plain);
    let with = with.strip_suffix("\\1").filter(|text| !text.contains(['\\', '%']));
    match (prefix, with) {
        (Some(prefix), Some(with)) => {
            Ok(Rewrite { prefix: prefix.to_owned(), with: with.to_owned() })
        }
        _ => Err("only the start of a path can be replaced: '^/old/(.*) /new/\\1'".to_owned()),
    }
}

fn respond(words: &[&str]) -> Result<Respond, String> {
    let status = after(words, "status")
        .map_or(Ok(200), |status| status.parse().map_err(|_| "its status is not a number"))?;
    let computed = ["file", "lf-file", "errorfile", "errorfiles", "default-errorfiles", "hdr"];
    if let Some(word) = words.iter().find(|word| computed.contains(word)) {
        return Err(format!("'{word}' is not supported in a response"));
    }
    let body = after(words, "string").or_else(|| after(words, "lf-string")).unwrap_or_default();
    let (_, body) = constant("", body)?;
    Ok(Respond { status, content_type: after(words, "content-type").map(str::to_owned), body })
}
