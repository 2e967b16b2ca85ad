//! `HttpRequest`: what scripts see of it is JavaScript, what it does goes through [`Outside`].

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rquickjs::{Array, Ctx, Exception, Function, Object, Value};
use stdx::clock::SharedClock;

use super::outside::{HttpAuth, HttpCall, Outside};
use super::{Budget, functions, ns};

/// Objects that one call of a script may make.
const REQUESTS_MAX: u64 = 10;

/// Longest answer that a script gets, bytes: it has to fit the engine's memory several times.
pub const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Makes the class out of the functions that send and count.
const CLASS: &str = r"(function (send, claim) {
    'use strict';
    var data = new WeakMap();
    function own(self) {
        var d = data.get(self);
        if (!d) throw new Error('cannot find native data attached to object');
        return d;
    }
    function HttpRequest() {
        if (!new.target) throw new TypeError('HttpRequest must be called with new');
        claim();
        data.set(this, {headers: [], proxy: '', auth: 0, user: '', password: '',
                        status: 0, answer: []});
    }
    function add(name, f) {
        Object.defineProperty(HttpRequest.prototype, name,
                              {value: f, writable: true, configurable: true});
    }
    function query(self, method, url, body) {
        var d = own(self);
        var got = send({method: method, url: String(url), body: body, headers: d.headers,
                        proxy: d.proxy, auth: d.auth, user: d.user, password: d.password});
        d.status = got.status;
        d.answer = got.headers;
        return got.body;
    }
    ['get', 'head', 'post', 'put', 'patch', 'delete', 'trace', 'options', 'connect'].forEach(
        function (name) {
            add(name, function (url, body) { return query(this, name.toUpperCase(), url, body); });
        });
    add('customRequest', function (method, url, body) {
        if (method === undefined || method === null) {
            throw new Error('HTTP method cannot be undefined or null');
        }
        return query(this, String(method), url, body);
    });
    add('addHeader', function (line) {
        var d = own(this);
        if (line !== undefined && line !== null) d.headers.push(String(line));
    });
    add('clearHeader', function () { own(this).headers = []; });
    add('getStatus', function () { return own(this).status; });
    add('getHeaders', function (all) {
        var found = {};
        own(this).answer.forEach(function (h) {
            if (!all) found[h[0]] = h[1];
            else if (Object.prototype.hasOwnProperty.call(found, h[0])) found[h[0]].push(h[1]);
            else found[h[0]] = [h[1]];
        });
        return found;
    });
    add('setProxy', function (proxy) {
        own(this).proxy = proxy === undefined || proxy === null ? '' : String(proxy);
    });
    add('setHttpAuth', function (how, user, password) {
        var d = own(this);
        d.auth = Number(how) || 0;
        d.user = user === undefined || user === null ? '' : String(user);
        d.password = password === undefined || password === null ? '' : String(password);
    });
    return HttpRequest;
})";

/// Puts `HttpRequest` and the names of the ways to prove oneself into the context.
pub(super) fn install(
    ctx: &Ctx<'_>,
    budget: &Arc<Budget>,
    clock: &SharedClock,
    outside: Option<&Arc<dyn Outside>>,
) -> Result<(), rquickjs::Error> {
    let globals = ctx.globals();
    for (name, number) in [
        ("HTTPAUTH_NONE", 0),
        ("HTTPAUTH_BASIC", 1),
        ("HTTPAUTH_DIGEST", 2),
        ("HTTPAUTH_NEGOTIATE", 4),
        ("HTTPAUTH_NTLM", 8),
    ] {
        globals.set(name, number)?;
    }
    let (left, clock, outside) = (Arc::clone(budget), Arc::clone(clock), outside.cloned());
    let send = tied(move |ctx, call| {
        let deadline = Duration::from_nanos(left.deadline_ns.load(Ordering::Relaxed));
        let timeout = deadline.saturating_sub(clock.monotonic());
        send(ctx, &call, timeout, outside.as_deref())
    });
    let made = Arc::clone(budget);
    let claim = move |ctx: Ctx<'_>| -> Result<(), rquickjs::Error> {
        if made.requests.fetch_add(1, Ordering::Relaxed) < REQUESTS_MAX {
            return Ok(());
        }
        Err(Exception::throw_message(&ctx, "maximum count of HttpRequest objects was reached"))
    };
    let class: Function<'_> = ctx.eval(CLASS)?;
    let claim = Function::new(ctx.clone(), claim)?;
    let class: Value<'_> = class.call((Function::new(ctx.clone(), send)?, claim))?;
    globals.set("HttpRequest", class)
}

/// Ties the lifetimes of a closure's arguments and result together.
fn tied<F>(f: F) -> F
where
    F: for<'js> Fn(Ctx<'js>, Object<'js>) -> Result<Object<'js>, rquickjs::Error>,
{
    f
}

fn send<'js>(
    ctx: Ctx<'js>,
    call: &Object<'js>,
    timeout: Duration,
    outside: Option<&dyn Outside>,
) -> Result<Object<'js>, rquickjs::Error> {
    let Some(outside) = outside else {
        return Err(Exception::throw_message(&ctx, "HttpRequest cannot be used here"));
    };
    let failed = |e: &str| Exception::throw_message(&ctx, &format!("cannot get URL: {e}"));
    if ns(timeout) == 0 {
        return Err(failed("the script's time is used up"));
    }
    let call = read(call, timeout)?;
    let answer = outside.http(&call).map_err(|e| failed(&e))?;
    if answer.body.len() > ANSWER_BYTES_MAX {
        return Err(failed("the answer is too long"));
    }
    let found = Object::new(ctx.clone())?;
    found.set("status", answer.status)?;
    let headers = Array::new(ctx.clone())?;
    for (at, (name, value)) in answer.headers.into_iter().enumerate() {
        let pair = Array::new(ctx.clone())?;
        pair.set(0, name)?;
        pair.set(1, value)?;
        headers.set(at, pair)?;
    }
    found.set("headers", headers)?;
    found.set("body", String::from_utf8_lossy(&answer.body).into_owned())?;
    Ok(found)
}

fn read(call: &Object<'_>, timeout: Duration) -> Result<HttpCall, rquickjs::Error> {
    let text = |name: &str| call.get::<_, String>(name).map(functions::up_to_nul);
    let lines: Vec<String> = call.get("headers")?;
    let lines: Vec<String> = lines.into_iter().map(functions::up_to_nul).collect();
    let body = functions::bytes_of(&call.get::<_, Value<'_>>("body")?);
    // What is no header is left away, as the field's server does.
    let split = |line: &String| {
        line.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
    };
    let mut headers: Vec<(String, String)> = lines.iter().filter_map(split).collect();
    let typed = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if let Some(body) = &body
        && !typed
    {
        let json =
            || std::str::from_utf8(body).is_ok_and(|b| crate::json::parse_container(b).is_ok());
        let kind = match lines.is_empty() {
            false => "application/x-www-form-urlencoded",
            true if json() => "application/json",
            true => "text/plain",
        };
        headers.push(("Content-Type".to_owned(), kind.to_owned()));
    }
    let proxy = text("proxy")?;
    let (user, password) = (text("user")?, text("password")?);
    let auth = match call.get::<_, f64>("auth")? {
        1.0 => HttpAuth::Basic(user, password),
        2.0 => HttpAuth::Digest(user, password),
        4.0 => HttpAuth::Negotiate,
        8.0 => HttpAuth::Ntlm(user, password),
        _ => HttpAuth::None,
    };
    Ok(HttpCall {
        method: text("method")?,
        url: text("url")?,
        headers,
        body,
        proxy: Some(proxy).filter(|p| !p.is_empty()),
        auth,
        timeout,
    })
}
