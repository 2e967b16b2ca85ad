//! Authentication of clients by policies of the service, before rules decide about a request.

mod basic;
mod checks;
mod hash;
mod jwt;
mod scheme;
mod waiting;

use std::borrow::Cow;

use proxying::http1::Request;

use crate::config;
use crate::identity::{Guard, Identity};
use crate::local::Local;
use crate::policy::Rule;
use crate::variable::same_variable;
use basic::Users;
pub(crate) use checks::{Awaited, Checkers, Checks, Now, Task};
use jwt::Tokens;
use scheme::{Credentials, Judged, Passed};

/// The policies of a service.
#[derive(Debug)]
pub(crate) struct Policies {
    list: Vec<Policy>,
    /// Place of the policy that applies where no rule names one.
    require: Option<usize>,
    /// Headers that only the balancer sets: a client could name another user in them.
    own_headers: Vec<String>,
}

#[derive(Debug)]
struct Policy {
    name: String,
    scheme: Scheme,
    pass_authorization: bool,
}

#[derive(Debug)]
enum Scheme {
    Basic(Users),
    Jwt(Box<Tokens>),
}

/// Why a request is not forwarded yet, or not at all.
#[derive(Debug)]
pub(crate) enum Halt {
    Respond(Local),
    /// A password must be checked by another thread first.
    Check(Box<Task>),
    /// A script has failed.
    Fail,
}

impl Policies {
    /// Compiles the policies of a checked service, and reads their files.
    ///
    /// # Errors
    /// A file that cannot be read, or a key that is none.
    pub(crate) fn compile(config: &config::Authentication) -> Result<Self, String> {
        let at = |name: &str, problem: String| format!("policy '{name}': {problem}");
        let mut list = Vec::new();
        let mut own_headers = Vec::new();
        for policy in &config.basic {
            let users = Users::compile(policy).map_err(|problem| at(&policy.name, problem))?;
            own_headers.extend(policy.user_header.clone());
            list.push(Policy {
                name: policy.name.clone(),
                scheme: Scheme::Basic(users),
                pass_authorization: policy.pass_authorization,
            });
        }
        for policy in &config.jwt {
            let tokens = Tokens::compile(policy).map_err(|problem| at(&policy.name, problem))?;
            own_headers.extend(policy.claims.values().cloned());
            list.push(Policy {
                name: policy.name.clone(),
                scheme: Scheme::Jwt(Box::new(tokens)),
                pass_authorization: policy.pass_authorization,
            });
        }
        let place = |name: &String| list.iter().position(|policy| policy.name == *name);
        let require = config.require.as_ref().and_then(place);
        Ok(Self { list, require, own_headers })
    }

    /// Whether a header tells servers who the client is.
    pub(crate) fn owns(&self, name: &[u8]) -> bool {
        self.own_headers.iter().any(|own| same_variable(own.as_bytes(), name))
    }

    /// The policy that a request must satisfy.
    ///
    /// # Errors
    /// Rules decide by the path, and servers may take this path for another one.
    fn of(&self, request: &Request<'_>, rules: &[Rule]) -> Result<Option<&Policy>, Local> {
        let guards = || rules.iter().filter(|rule| rule.guard.is_some());
        let mut path = Cow::Borrowed("");
        if guards().any(Rule::names_path) {
            let text = std::str::from_utf8(request.target.split().0).ok();
            path = text.and_then(config::canonical_path).ok_or_else(|| Local::text(400))?;
        }
        let named = guards().find(|rule| rule.guards(request, &path));
        Ok(match named.and_then(|rule| rule.guard.as_ref()) {
            Some(Guard::Open) => None,
            Some(Guard::Policy(name)) => self.list.iter().find(|policy| policy.name == *name),
            None => self.require.and_then(|at| self.list.get(at)),
        })
    }

    /// Authenticates the client of a request.
    pub(crate) fn authenticate(
        &self,
        request: &Request<'_>,
        rules: &[Rule],
        checks: &Checks,
        now: Now,
    ) -> Result<Identity, Halt> {
        let policy = self.of(request, rules).map_err(Halt::Respond)?;
        let Some(policy) = policy else { return Ok(Identity::default()) };
        let given = Credentials::of(request);
        let judged = match &policy.scheme {
            Scheme::Basic(users) => users.judge(given, checks, now),
            Scheme::Jwt(tokens) => tokens.judge(given, now),
        };
        match judged {
            Judged::Passed(Passed { user, set }) => {
                Ok(Identity { user, set, hides_authorization: !policy.pass_authorization })
            }
            Judged::Refused(challenge) => {
                let fields = vec![("WWW-Authenticate".to_owned(), challenge)];
                Err(Halt::Respond(Local { fields, ..Local::text(401) }))
            }
            Judged::Check(task) => Err(Halt::Check(task)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the policy that applies; "open": none.
    fn policy_of(rules: &[&str], require: Option<&str>, target: &str) -> Result<String, u16> {
        let hash = "$2y$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe";
        let text = format!("{{basic: [{{name: staff, users: {{a: '{hash}'}}}}]}}");
        let mut config: config::Authentication = serde_saphyr::from_str(&text).unwrap();
        config.require = require.map(str::to_owned);
        let policies = Policies::compile(&config).unwrap();
        let rules: Vec<Rule> = rules
            .iter()
            .map(|rule| {
                Rule::compile(&serde_saphyr::from_str(rule).unwrap(), "rule", &|_| {
                    Err(String::new())
                })
            })
            .collect::<Result<_, _>>()
            .unwrap();
        let (host, path) = target.split_at(target.find('/').unwrap());
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let request = Request::parse(head.as_bytes(), &Default::default()).unwrap();
        let policy = policies.of(&request, &rules).map_err(|local| local.status)?;
        Ok(policy.map_or("open", |policy| &policy.name).to_owned())
    }

    #[test]
    fn other_spelling_of_a_path_has_the_same_policy() {
        let open = "{if: {path_prefix: /public/}, then: {authentication: none}}";
        let policy = |path: &str| policy_of(&[open], Some("staff"), &format!("a.test{path}"));
        assert_eq!(policy("/public/a%20b/c.d?../x//"), Ok("open".to_owned()));
        assert_eq!(policy("/admin"), Ok("staff".to_owned()));
        for path in ["/public/../admin", "/public/%2e%2e/admin", "/public/..%2fadmin", "/public//"]
        {
            assert_eq!(policy(path), Err(400), "{path}");
        }
        let closed = "{if: {path_prefix: /admin}, then: {authentication: staff}}";
        let policy = |path: &str| policy_of(&[closed], None, &format!("a.test{path}"));
        assert_eq!(policy("/"), Ok("open".to_owned()));
        assert_eq!(policy("/%61dmi%6E/x"), Ok("staff".to_owned()));
        for path in ["//admin", "/./admin", "/x/..;/admin", "/%5cadmin"] {
            assert_eq!(policy(path), Err(400), "{path}");
        }
        let host = "{if: {host: api.example.com}, then: {authentication: staff}}";
        for target in ["api.example.com/", "API.example.com.:80/", "api.example.com./a//../b"] {
            assert_eq!(policy_of(&[host], None, target), Ok("staff".to_owned()), "{target}");
        }
        assert_eq!(policy_of(&[], Some("staff"), "a.test//x%2Fy"), Ok("staff".to_owned()));
    }
}
