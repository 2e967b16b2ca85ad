//! HTTP agent items: one request, and what is wanted of its answer as text.

mod client;
mod connect;
mod failure;
mod kerberos;
mod pool;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tls;
mod way;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use config::snapshot::source::{Http, Source};
use wire::http::cookies::Jar;
use wire::http::{content, request, with_query};

pub(crate) use client::{Auth, Call, Client, Fetched};
pub(crate) use failure::Failure;
pub(crate) use tls::TlsWish;

use super::check::Check;
use super::reply::CheckReply;
use crate::checks::check::Shared;

thread_local! {
    /// Connections belong to the runtime of the thread that made them.
    static CLIENT: RefCell<Option<(Weak<Shared>, Rc<Client>)>> = const { RefCell::new(None) };
}

/// The client of this thread.
pub(crate) fn client(shared: &Arc<Shared>) -> Rc<Client> {
    CLIENT.with_borrow_mut(|known| {
        if let Some((of, client)) = known
            && of.as_ptr() == Arc::as_ptr(shared)
        {
            return Rc::clone(client);
        }
        let client = Rc::new(new_client(shared));
        *known = Some((Arc::downgrade(shared), Rc::clone(&client)));
        client
    })
}

/// A client, for the thread that makes it.
pub(crate) fn new_client(shared: &Shared) -> Client {
    let config = &shared.config;
    let (clock, resolver) = (shared.context.clock.clone(), shared.context.resolver.clone());
    Client::new(clock, resolver, shared.tickets.clone(), config.source_ip, config.web.clone())
}

/// Checks once.
pub(crate) async fn check(check: &Check<'_>) -> CheckReply {
    let source = check.item.extra.as_ref().map(|extra| &extra.source);
    let Some(Source::Http(http)) = source else {
        return CheckReply::ConfigError(String::from("The item has no URL."));
    };
    let client = client(check.shared);
    let headers = headers(http);
    let fields = http.query_fields.iter().map(|(name, value)| (&**name, &**value));
    let (method, body) = match http.method {
        1 => ("POST", Some(http.posts.as_bytes())),
        2 => ("PUT", Some(http.posts.as_bytes())),
        3 => ("HEAD", None),
        _ => ("GET", Some(http.posts.as_bytes()).filter(|posts| !posts.is_empty())),
    };
    let call = Call {
        url: &with_query(&http.url, fields),
        method,
        headers: &headers,
        body,
        agent: None,
        auth: Auth::from_api(http.authtype, &http.username, &http.password),
        proxy: &http.proxy,
        tls: TlsWish {
            verify_peer: http.verify_peer,
            verify_host: http.verify_host,
            cert_file: &http.ssl_cert_file,
            key_file: &http.ssl_key_file,
            key_password: &http.ssl_key_password,
        },
        follow: http.follow_redirects,
        timeout: check.timeout,
    };
    match client.fetch(&call, &mut Jar::default()).await {
        Ok(fetched) => reply(http, fetched),
        Err(Failure::Local(why)) => CheckReply::LocalError(why),
        Err(failure) => CheckReply::NotSupported(format!("Cannot perform request: {failure}")),
    }
}

/// The headers of the configuration, and what the type of the body says.
fn headers(http: &Http) -> Vec<(String, String)> {
    let named = http.headers.iter().filter_map(|(name, value)| request::header(name, value));
    let mut headers: Vec<_> = named.collect();
    let kind = match http.post_type {
        2 => "application/json",
        3 => "application/xml",
        _ => return headers,
    };
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Content-Type")) {
        headers.push(("Content-Type".to_owned(), kind.to_owned()));
    }
    headers
}

/// What the item gets of an answer.
fn reply(http: &Http, fetched: Fetched) -> CheckReply {
    let status = fetched.answer.status;
    let text = wanted(http, fetched);
    if accepts(&http.status_codes, status) {
        return CheckReply::Value(text);
    }
    CheckReply::NotSupported(format!(
        "Response code \"{status}\" did not match any of the required status codes \"{}\"\n{text}",
        http.status_codes
    ))
}

fn wanted(http: &Http, fetched: Fetched) -> String {
    let (with_head, with_body) = (http.retrieve_mode != 0, http.retrieve_mode != 1);
    let kind = fetched.answer.header("content-type").last().map(str::to_owned);
    let head = if with_head { content::head_text(&fetched.head) } else { String::new() };
    let some = with_body && !fetched.answer.body.is_empty();
    let body = match with_body {
        true => content::text(fetched.answer.body, kind.as_deref()),
        false => String::new(),
    };
    if http.output_format == 0 {
        return if with_head { head + &body } else { body };
    }
    let mut members = Vec::new();
    if with_head {
        members.push(format!("\"header\":{}", content::head_json(&head)));
    }
    if some {
        members.push(format!("\"body\":{}", content::body_json(&body, kind.as_deref())));
    }
    format!("{{{}}}", members.join(","))
}

/// Whether a status code is in one of the ranges; none at all take every code.
pub(crate) fn accepts(ranges: &str, status: u16) -> bool {
    ranges.trim().is_empty()
        || ranges.split(',').any(|range| {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            let from: Option<u16> = from.trim().parse().ok();
            // An open end is the begin.
            let to = to.trim().parse().ok().or(from);
            from.zip(to).is_some_and(|(from, to)| (from..=to).contains(&status))
        })
}
