//! Rules of a virtual service: choice of the pool, redirects, local responses, header edits.

use std::sync::Arc;

use proxying::http1::Request;

use crate::config;
use crate::pool::Pool;

/// A response that the balancer makes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) status: u16,
    pub(crate) location: Option<Vec<u8>>,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// What the rules make of a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Respond without a server.
    Respond(Local),
    /// Forward.
    Forward(Forward),
}

/// How a request is forwarded.
#[derive(Debug)]
pub(crate) struct Forward {
    pub(crate) pool: Arc<Pool>,
    /// The path without the prefix that is replaced, and what replaces it: lengths and rule.
    pub(crate) rewrite: Option<(usize, usize)>,
    /// Rules that match, by number; their header edits apply.
    pub(crate) matched: Vec<u16>,
}

#[derive(Debug)]
enum Verdict {
    Pool(Arc<Pool>),
    Respond(Local),
    Redirect { status: u16, location: String },
}

/// Set and removed fields of one direction; set ones replace those of the message.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    pub(crate) set: Vec<(String, String)>,
    remove: Vec<String>,
}

impl Edits {
    /// Whether a field of the message is dropped.
    pub(crate) fn drops(&self, name: &[u8]) -> bool {
        let same = |own: &String| own.as_bytes().eq_ignore_ascii_case(name);
        self.remove.iter().any(same) || self.set.iter().any(|(own, _)| same(own))
    }

    fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }

    fn compile(set: &std::collections::BTreeMap<String, String>, remove: &[String]) -> Self {
        let set = set.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { set, remove: remove.to_vec() }
    }
}

/// A compiled rule.
#[derive(Debug)]
pub(crate) struct Rule {
    conditions: config::Conditions,
    verdict: Option<Verdict>,
    rewrite: Option<config::Rewrite>,
    pub(crate) request: Edits,
    pub(crate) response: Edits,
}

impl Rule {
    /// Of a rule that has been checked.
    pub(crate) fn compile(
        rule: &config::Rule,
        pool: &dyn Fn(&String) -> Result<Arc<Pool>, String>,
    ) -> Result<Self, String> {
        let then = &rule.then;
        let verdict = if let Some(name) = &then.pool {
            Some(Verdict::Pool(pool(name)?))
        } else if let Some(redirect) = &then.redirect {
            let location = redirect.location.clone();
            Some(Verdict::Redirect { status: redirect.status, location })
        } else if let Some(status) = then.deny {
            Some(Verdict::Respond(Local { status, ..Local::default() }))
        } else {
            then.respond.as_ref().map(|respond| {
                Verdict::Respond(Local {
                    status: respond.status,
                    content_type: respond.content_type.clone(),
                    body: respond.body.clone().into_bytes(),
                    location: None,
                })
            })
        };
        Ok(Self {
            conditions: rule.conditions.clone(),
            verdict,
            rewrite: then.rewrite.clone(),
            request: Edits::compile(&then.set_header, &then.del_header),
            response: Edits::compile(&then.set_response_header, &then.del_response_header),
        })
    }

    /// What replaces the start of the path.
    pub(crate) fn replacement(&self) -> &str {
        self.rewrite.as_ref().map_or("", |rewrite| &rewrite.with)
    }

    fn matches(&self, request: &Request<'_>) -> bool {
        let c = &self.conditions;
        let host = without_port(request.host);
        let (path, query) = request.target.split();
        let holds = |wanted: &Option<String>, test: &dyn Fn(&[u8]) -> bool| {
            wanted.as_ref().is_none_or(|wanted| test(wanted.as_bytes()))
        };
        holds(&c.host, &|wanted| host.eq_ignore_ascii_case(wanted))
            && holds(&c.host_suffix, &|wanted| {
                let tail = host.len().checked_sub(wanted.len()).map(|at| &host[at..]);
                tail.is_some_and(|tail| tail.eq_ignore_ascii_case(wanted))
            })
            && holds(&c.path, &|wanted| path == wanted)
            && holds(&c.path_prefix, &|wanted| path.starts_with(wanted))
            && holds(&c.method, &|wanted| request.method == wanted)
            && c.header.as_ref().is_none_or(|pair| {
                request.value(pair.name.as_bytes()) == Some(pair.value.as_bytes())
            })
            && c.query.as_ref().is_none_or(|pair| {
                let mut pairs = query.unwrap_or_default().split(|byte| *byte == b'&');
                pairs.any(|text| {
                    let value = text.strip_prefix(pair.name.as_bytes());
                    value.and_then(|text| text.strip_prefix(b"=")) == Some(pair.value.as_bytes())
                })
            })
            && c.cookie.as_ref().is_none_or(|pair| {
                request.cookie(pair.name.as_bytes()) == Some(pair.value.as_bytes())
            })
    }
}

fn without_port(host: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b':', host).unwrap_or(host.len());
    if host.ends_with(b"]") { host } else { &host[..end] }
}

/// Applies the rules in their order.
pub(crate) fn decide(rules: &[Rule], default: &Arc<Pool>, request: &Request<'_>) -> Decision {
    let mut forward = Forward { pool: Arc::clone(default), rewrite: None, matched: Vec::new() };
    let mut decided = false;
    for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.matches(request)) {
        match &rule.verdict {
            Some(_) if decided => {}
            Some(Verdict::Respond(local)) => return Decision::Respond(local.clone()),
            Some(Verdict::Redirect { status, location }) => {
                let location = Some(expand(location, request));
                return Decision::Respond(Local { status: *status, location, ..Local::default() });
            }
            Some(Verdict::Pool(pool)) => {
                forward.pool = Arc::clone(pool);
                decided = true;
            }
            None => {}
        }
        if let Some(rewrite) = &rule.rewrite
            && forward.rewrite.is_none()
            && request.target.split().0.starts_with(rewrite.prefix.as_bytes())
        {
            forward.rewrite = Some((rewrite.prefix.len(), at));
        }
        if !rule.request.is_empty() || !rule.response.is_empty() {
            forward.matched.push(u16::try_from(at).unwrap_or(u16::MAX));
        }
    }
    Decision::Forward(forward)
}

fn expand(location: &str, request: &Request<'_>) -> Vec<u8> {
    let (path, query) = request.target.split();
    let mut uri = path.to_vec();
    if let Some(query) = query {
        uri.push(b'?');
        uri.extend_from_slice(query);
    }
    let mut out = Vec::new();
    let mut rest = location;
    while let Some(at) = rest.find('{') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let values: [(&str, &[u8]); 3] =
            [("{host}", request.host), ("{path}", path), ("{uri}", &uri)];
        rest = &rest[at..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.extend_from_slice(value);
                rest = &rest[name.len()..];
            }
            None => {
                out.push(b'{');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    out
}
