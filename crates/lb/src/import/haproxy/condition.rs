//! Conditions of HAProxy (`acl`, `if`, `unless`) as alternatives of our conditions. Source: HAProxy's
//! configuration manual, section 7, "Using ACLs and fetching samples".

use std::collections::BTreeMap;

use crate::config::{Conditions, Network, Pair};
use crate::import::Directive;

/// Alternatives beyond this number are not written out.
const ALTERNATIVES_MAX: usize = 64;

/// What a condition becomes.
#[derive(Debug, Clone)]
pub(super) enum Term {
    /// Known before a request comes.
    Constant(bool),
    /// One of these holds.
    Any(Vec<Conditions>),
    /// The client's address is in one of these networks, or (`false`) in none.
    Source(Vec<Network>, bool),
}

/// What is known of the connection when a condition is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// The service ends TLS.
    pub(super) tls: bool,
    /// Port that the service listens on.
    pub(super) port: u16,
}

/// The named conditions of a proxy.
#[derive(Debug, Default)]
pub(super) struct Acls<'a>(BTreeMap<&'a str, Vec<&'a [String]>>);

impl<'a> Acls<'a> {
    /// Adds `acl NAME TEST`; a second one of the name is an alternative.
    pub(super) fn add(&mut self, acl: &'a Directive) {
        if let [_, name, test @ ..] = acl.words.as_slice() {
            self.0.entry(name.as_str()).or_default().push(test);
        }
    }

    /// The condition of a directive: its words from `if` or `unless` on, or none.
    ///
    /// # Errors
    /// Why it cannot be expressed.
    pub(super) fn term(&self, words: &[String], entry: Entry) -> Result<Term, String> {
        match words.split_first() {
            None => Ok(Term::Constant(true)),
            Some((word, rest)) if word == "if" => self.alternatives(rest, entry),
            Some((word, rest)) if word == "unless" => negate(self.alternatives(rest, entry)?),
            Some((word, _)) => Err(format!("'{word}' is not understood here")),
        }
    }

    fn alternatives(&self, words: &[String], entry: Entry) -> Result<Term, String> {
        let parts = words.split(|word| word == "||" || word == "or");
        parts
            .map(|part| self.all(part, entry))
            .try_fold(Term::Constant(false), |sum, term| or(sum, term?))
    }

    fn all(&self, words: &[String], entry: Entry) -> Result<Term, String> {
        let mut product = Term::Constant(true);
        let mut negated = false;
        let mut rest = words;
        while let Some((word, tail)) = rest.split_first() {
            rest = tail;
            let bare = word.trim_start_matches('!');
            negated ^= (word.len() - bare.len()) % 2 == 1;
            let term = match bare {
                "" => continue,
                "{" => {
                    let end = rest.iter().position(|word| word == "}");
                    let end = end.ok_or("a '{' has no '}'")?;
                    let term = test(&rest[..end], entry)?;
                    rest = &rest[end + 1..];
                    term
                }
                name => self.named(name, entry)?,
            };
            product = and(product, if negated { negate(term)? } else { term })?;
            negated = false;
        }
        Ok(product)
    }

    fn named(&self, name: &str, entry: Entry) -> Result<Term, String> {
        if let Some(tests) = self.0.get(name) {
            let terms = tests.iter().map(|words| test(words, entry));
            return terms.into_iter().try_fold(Term::Constant(false), |sum, term| or(sum, term?));
        }
        let methods: &[&str] = match name {
            "TRUE" => return Ok(Term::Constant(true)),
            "FALSE" => return Ok(Term::Constant(false)),
            "METH_GET" => &["GET", "HEAD"],
            "METH_CONNECT" | "METH_DELETE" | "METH_HEAD" | "METH_OPTIONS" | "METH_POST"
            | "METH_PUT" | "METH_TRACE" => &[&name["METH_".len()..]],
            _ => return Err(format!("the condition '{name}' is not understood")),
        };
        let method = |method: &&str| Conditions { method: Some((*method).to_owned()), ..none() };
        Ok(Term::Any(methods.iter().map(method).collect()))
    }
}

fn none() -> Conditions {
    Conditions::default()
}

/// One test: a sample, flags, values.
fn test(words: &[String], entry: Entry) -> Result<Term, String> {
    let (sample, mut rest) = words.split_first().ok_or("a condition is empty")?;
    let sample = Sample::parse(sample);
    let mut how = sample.how;
    while let Some((flag, tail)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        rest = tail;
        match flag.as_str() {
            "-i" => {}
            "--" => break,
            "-m" => {
                let (method, tail) = rest.split_first().ok_or("'-m' has no method")?;
                (how, rest) = (method, tail);
            }
            flag => return Err(format!("the flag '{flag}' is not supported")),
        }
    }
    let constant = match sample.name {
        "always_true" => Some(true),
        "always_false" => Some(false),
        "ssl_fc" => Some(entry.tls),
        "dst_port" => Some(rest.iter().any(|port| *port == entry.port.to_string())),
        _ => None,
    };
    if let Some(constant) = constant {
        return Ok(Term::Constant(constant));
    }
    if rest.is_empty() {
        return Err(format!("the condition '{}' has no value", words.join(" ")));
    }
    if sample.name == "src" {
        let network = |text: &String| text.parse::<Network>();
        return Ok(Term::Source(rest.iter().map(network).collect::<Result<_, _>>()?, true));
    }
    let alternatives = rest.iter().map(|value| sample.conditions(how, value));
    Ok(Term::Any(alternatives.collect::<Result<_, _>>()?))
}

/// `req.hdr_end(host)`: what is looked at, its argument, how it is compared.
struct Sample<'a> {
    name: &'a str,
    argument: &'a str,
    how: &'a str,
    /// Converters after the sample, such as `,lower`.
    converters: &'a str,
}

impl<'a> Sample<'a> {
    fn parse(text: &'a str) -> Self {
        let (name, argument) = text.split_once('(').unwrap_or((text, ""));
        let (argument, converters) = argument.split_once(')').unwrap_or((argument, ""));
        let name = name.strip_prefix("req.").unwrap_or(name);
        let ways = ["_beg", "_end", "_dom", "_dir", "_sub", "_reg", "_len", "_cnt", "_ip"];
        let way = ways.iter().find_map(|way| Some((name.strip_suffix(way)?, &way[1..])));
        let (name, how) = way.unwrap_or((name, "str"));
        Self { name, argument, how, converters }
    }

    fn conditions(&self, how: &str, value: &str) -> Result<Conditions, String> {
        let text = || Some(value.to_owned());
        let pair = || Some(Pair { name: self.argument.to_owned(), value: value.to_owned() });
        let host = self.name == "hdr" && self.argument.eq_ignore_ascii_case("host");
        // Hosts are compared without port and case anyway.
        let harmless = |converter: &str| ["", "lower", "host_only"].contains(&converter);
        if !self.converters.split(',').all(harmless) || (!host && !self.converters.is_empty()) {
            return Err(format!("the converters '{}' are not supported", self.converters));
        }
        let conditions = match (self.name, how) {
            ("hdr", "str") if host => {
                let name = value.rsplit_once(':').map_or(value, |(name, _)| name);
                Conditions { host: Some(name.to_owned()), ..none() }
            }
            ("hdr", "end") if host => Conditions { host_suffix: text(), ..none() },
            ("hdr", "str") => Conditions { header: pair(), ..none() },
            ("cook", "str") => Conditions { cookie: pair(), ..none() },
            ("url_param" | "urlp", "str") => Conditions { query: pair(), ..none() },
            ("path", "str") => Conditions { path: text(), ..none() },
            ("path" | "url", "beg") => Conditions { path_prefix: text(), ..none() },
            ("method", "str") => Conditions { method: text(), ..none() },
            (name, how) => return Err(format!("'{name}' compared by '{how}' is not supported")),
        };
        Ok(conditions)
    }
}

fn negate(term: Term) -> Result<Term, String> {
    match term {
        Term::Constant(value) => Ok(Term::Constant(!value)),
        Term::Source(networks, inside) => Ok(Term::Source(networks, !inside)),
        Term::Any(_) => Err("negated conditions are not supported".to_owned()),
    }
}

fn or(a: Term, b: Term) -> Result<Term, String> {
    Ok(match (a, b) {
        (Term::Constant(true), _) | (_, Term::Constant(true)) => Term::Constant(true),
        (Term::Constant(false), term) | (term, Term::Constant(false)) => term,
        (Term::Any(mut a), Term::Any(b)) => {
            a.extend(b);
            Term::Any(few(a)?)
        }
        (Term::Source(mut a, true), Term::Source(b, true)) => {
            a.extend(b);
            Term::Source(a, true)
        }
        _ => return Err(SOURCE.to_owned()),
    })
}

fn and(a: Term, b: Term) -> Result<Term, String> {
    Ok(match (a, b) {
        (Term::Constant(false), _) | (_, Term::Constant(false)) => Term::Constant(false),
        (Term::Constant(true), term) | (term, Term::Constant(true)) => term,
        (Term::Any(a), Term::Any(b)) => {
            let mut product = Vec::new();
            for a in &a {
                for b in &b {
                    product.extend(both(a, b)?);
                }
            }
            Term::Any(few(product)?)
        }
        _ => return Err(SOURCE.to_owned()),
    })
}

const SOURCE: &str = "the client's address together with other conditions is not supported";

fn few(alternatives: Vec<Conditions>) -> Result<Vec<Conditions>, String> {
    match alternatives.len() {
        0..=ALTERNATIVES_MAX => Ok(alternatives),
        number => Err(format!("it has {number} alternatives, more than {ALTERNATIVES_MAX}")),
    }
}

/// Both sets of conditions; none if they contradict each other.
fn both(a: &Conditions, b: &Conditions) -> Result<Option<Conditions>, String> {
    let mut contradiction = false;
    let mut exact = |a: &Option<String>, b: &Option<String>| {
        contradiction |= a.is_some() && b.is_some() && a != b;
        a.clone().or_else(|| b.clone())
    };
    let (host, path) = (exact(&a.host, &b.host), exact(&a.path, &b.path));
    let method = exact(&a.method, &b.method);
    let merged = Conditions {
        host,
        host_suffix: one(&a.host_suffix, &b.host_suffix)?,
        path,
        path_prefix: one(&a.path_prefix, &b.path_prefix)?,
        method,
        header: one(&a.header, &b.header)?,
        query: one(&a.query, &b.query)?,
        cookie: one(&a.cookie, &b.cookie)?,
    };
    Ok((!contradiction).then_some(merged))
}

fn one<T: Clone + PartialEq>(a: &Option<T>, b: &Option<T>) -> Result<Option<T>, String> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => {
            Err("two conditions of one kind that must both hold are not supported".to_owned())
        }
        _ => Ok(a.clone().or_else(|| b.clone())),
    }
}
