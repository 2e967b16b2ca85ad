//! Rules of a virtual service: choice of the pool, redirects, local responses, header edits.

use std::borrow::Cow;
use std::sync::Arc;

use proxying::http1::Request;

use crate::config;
use crate::edits::Edits;
use crate::identity::{Guard, Identity};
use crate::local::Local;
use crate::mirror::Mirror;
use crate::pool::Pool;
use crate::pool::group::Target;
use crate::script::{Choice, Outcome, Script, Scripted};

/// What the rules make of a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Respond without a server.
    Respond(Local),
    Forward(Forward),
    /// A script has failed, and the client gets an error.
    Fail,
}

/// How a request is forwarded.
#[derive(Debug)]
pub(crate) struct Forward {
    pub(crate) pool: Arc<Pool>,
    /// The path without the prefix that is replaced, and what replaces it: lengths and rule.
    pub(crate) rewrite: Option<(usize, usize)>,
    /// What rules and scripts change.
    pub(crate) applied: Applied,
    /// The response may be compressed.
    pub(crate) compresses: bool,
    /// Its response is neither stored nor taken from the cache.
    pub(crate) no_cache: bool,
    /// Conditions of the request to the server, which replace those of the client.
    pub(crate) conditions: Vec<(&'static [u8], Box<[u8]>)>,
    /// Where its copy may go, instead of the service's mirror.
    pub(crate) mirror: Option<Arc<Mirror>>,
    /// What the server learns of the client.
    pub(crate) identity: Identity,
}

/// Header edits that apply to a request. Those of scripts replace those of rules for the same name.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Rules with edits or scripts that match, by number.
    pub(crate) rules: Vec<u16>,
    pub(crate) scripted: Option<Box<Scripted>>,
}

#[derive(Debug)]
enum Verdict {
    Forward(Target),
    Respond(Local),
    Redirect { status: u16, location: String },
    Script(Arc<Script>),
}

/// A compiled rule.
#[derive(Debug)]
pub(crate) struct Rule {
    conditions: config::Conditions,
    /// Its paths in the only spelling, if it says something about authentication.
    guarded: Guarded,
    verdict: Option<Verdict>,
    rewrite: Option<config::Rewrite>,
    /// What it says about authentication.
    pub(crate) guard: Option<Guard>,
    mirror: Option<Arc<Mirror>>,
    no_compression: bool,
    no_cache: bool,
    pub(crate) request: Edits,
    pub(crate) response: Edits,
}

impl Rule {
    /// Of a rule that has been checked.
    pub(crate) fn compile(
        rule: &config::Rule,
        name: &str,
        target: &dyn Fn(&String) -> Result<Target, String>,
    ) -> Result<Self, String> {
        let then = &rule.then;
        let verdict = if let Some(name) = &then.pool {
            Some(Verdict::Forward(target(name)?))
        } else if let Some(redirect) = &then.redirect {
            let location = redirect.location.clone();
            Some(Verdict::Redirect { status: redirect.status, location })
        } else if let Some(script) = &then.script {
            let script = Script::compile(script, name.to_owned(), target)?;
            Some(Verdict::Script(Arc::new(script)))
        } else if let Some(status) = then.deny {
            Some(Verdict::Respond(Local { status, ..Local::default() }))
        } else {
            then.respond.as_ref().map(|respond| {
                Verdict::Respond(Local {
                    status: respond.status,
                    content_type: respond.content_type.clone(),
                    body: respond.body.clone().into_bytes(),
                    ..Local::default()
                })
            })
        };
        let mirror = then.mirror.as_ref().map(|mirror| Mirror::compile(mirror, target));
        Ok(Self {
            guarded: Guarded::of(&rule.conditions),
            conditions: rule.conditions.clone(),
            verdict,
            rewrite: then.rewrite.clone(),
            guard: then.authentication.as_deref().map(Guard::of),
            mirror: mirror.transpose()?.map(Arc::new),
            no_compression: then.no_compression,
            no_cache: then.no_cache,
            request: Edits::compile(&then.set_header, &then.del_header),
            response: Edits::compile(&then.set_response_header, &then.del_response_header),
        })
    }

    /// Whether it has a script.
    pub(crate) fn runs_script(&self) -> bool {
        matches!(self.verdict, Some(Verdict::Script(_)))
    }

    /// Whether it changes more than where a request goes.
    fn is_noted(&self) -> bool {
        self.runs_script() || !self.request.is_empty() || !self.response.is_empty()
    }

    /// What replaces the start of the path.
    pub(crate) fn replacement(&self) -> &str {
        self.rewrite.as_ref().map_or("", |rewrite| &rewrite.with)
    }

    /// Whether all of its conditions hold.
    pub(crate) fn matches(&self, request: &Request<'_>) -> bool {
        let (c, path) = (&self.conditions, request.target.split().0);
        c.path.as_ref().is_none_or(|wanted| path == wanted.as_bytes())
            && c.path_prefix.as_ref().is_none_or(|wanted| path.starts_with(wanted.as_bytes()))
            && self.matches_without_path(request)
    }

    /// Whether all of its conditions hold for a request whose path is this one in the only spelling.
    pub(crate) fn guards(&self, request: &Request<'_>, path: &str) -> bool {
        let Guarded { path: own, prefix } = &self.guarded;
        own.as_ref().is_none_or(|wanted| path == wanted)
            && prefix.as_ref().is_none_or(|wanted| path.starts_with(wanted))
            && self.matches_without_path(request)
    }

    /// Whether it is about some paths only.
    pub(crate) fn names_path(&self) -> bool {
        self.conditions.path.is_some() || self.conditions.path_prefix.is_some()
    }

    fn matches_without_path(&self, request: &Request<'_>) -> bool {
        let c = &self.conditions;
        let host = without_port(request.host);
        let query = request.target.split().1;
        let holds = |wanted: &Option<String>, test: &dyn Fn(&[u8]) -> bool| {
            wanted.as_ref().is_none_or(|wanted| test(wanted.as_bytes()))
        };
        holds(&c.host, &|wanted| host.eq_ignore_ascii_case(wanted))
            && holds(&c.host_suffix, &|wanted| {
                let tail = host.len().checked_sub(wanted.len()).map(|at| &host[at..]);
                tail.is_some_and(|tail| tail.eq_ignore_ascii_case(wanted))
            })
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

/// Paths in the only spelling.
#[derive(Debug)]
struct Guarded {
    path: Option<String>,
    prefix: Option<String>,
}

impl Guarded {
    fn of(conditions: &config::Conditions) -> Self {
        // Of rules with authentication all paths have one: the configuration was checked.
        let spelt = |path: &String| {
            config::canonical_path(path).map_or_else(|| path.clone(), Cow::into_owned)
        };
        let config::Conditions { path, path_prefix, .. } = conditions;
        Self { path: path.as_ref().map(spelt), prefix: path_prefix.as_ref().map(spelt) }
    }
}

/// The name of a host without its port and without the dot at its end, which means the same host.
fn without_port(host: &[u8]) -> &[u8] {
    if host.ends_with(b"]") {
        return host;
    }
    let name = &host[..memchr::memrchr(b':', host).unwrap_or(host.len())];
    name.strip_suffix(b".").unwrap_or(name)
}

type Runs<'m> = dyn Fn(&Arc<Script>, &mut Option<Box<Scripted>>) -> (Option<Choice>, Outcome) + 'm;

/// What rules depend on besides the request.
pub(crate) struct Means<'m, 't> {
    /// Chooses one of the pools of a target.
    pub(crate) choose: &'m dyn Fn(&'t Target) -> &'t Arc<Pool>,
    /// Runs the request part of a script.
    pub(crate) run: &'m Runs<'m>,
}

/// Applies the rules in their order.
pub(crate) fn decide<'t>(
    rules: &'t [Rule],
    default: &'t Target,
    request: &Request<'_>,
    means: &Means<'_, 't>,
) -> Decision {
    let (mut rewrite, mut applied) = (None, Applied::default());
    let (mut decided, mut compresses, mut no_cache, mut mirror) = (None, true, false, None);
    for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.matches(request)) {
        match &rule.verdict {
            Some(Verdict::Script(script)) => {
                let (choice, outcome) = (means.run)(script, &mut applied.scripted);
                match choice {
                    _ if outcome == Outcome::Refuse => return Decision::Fail,
                    Some(Choice::Respond(local)) if decided.is_none() => {
                        return Decision::Respond(local);
                    }
                    Some(Choice::Pool(at)) if decided.is_none() => decided = script.target(at),
                    _ => {}
                }
            }
            Some(_) if decided.is_some() => {}
            Some(Verdict::Respond(local)) => return Decision::Respond(local.clone()),
            Some(Verdict::Redirect { status, location }) => {
                let location = Some(expand(location, request));
                return Decision::Respond(Local { status: *status, location, ..Local::default() });
            }
            Some(Verdict::Forward(target)) => decided = Some(target),
            None => {}
        }
        compresses &= !rule.no_compression;
        no_cache |= rule.no_cache;
        mirror = mirror.or(rule.mirror.as_ref());
        if let Some(own) = &rule.rewrite
            && rewrite.is_none()
            && request.target.split().0.starts_with(own.prefix.as_bytes())
        {
            rewrite = Some((own.prefix.len(), at));
        }
        if rule.is_noted() {
            applied.rules.push(u16::try_from(at).unwrap_or(u16::MAX));
        }
    }
    let pool = Arc::clone((means.choose)(decided.unwrap_or(default)));
    Decision::Forward(Forward {
        pool,
        rewrite,
        applied,
        compresses,
        no_cache,
        conditions: Vec::new(),
        mirror: mirror.cloned(),
        identity: Identity::default(),
    })
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
