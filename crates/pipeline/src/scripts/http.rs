//! The world as scripts see it: requests over the network, and time that passes.

use std::time::Duration;

use base64::Engine as _;
use eval::script::{ANSWER_BYTES_MAX, HttpAnswer, HttpAuth, HttpCall, Outside};
use ureq::http::Request;
use ureq::tls::{TlsConfig, TlsProvider};
use ureq::{Agent, Error, Proxy};

/// Redirects that one request follows.
const REDIRECTS_MAX: u32 = 10;

/// The network and the thread's own sleep.
#[derive(Debug)]
pub(crate) struct World;

impl Outside for World {
    fn http(&self, call: &HttpCall) -> Result<HttpAnswer, String> {
        send(call)
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Certificates are not checked: the field's scripts reach devices with their own, and have no way
/// to name one.
fn agent(call: &HttpCall) -> Result<Agent, String> {
    let proxy = match &call.proxy {
        Some(address) => Some(Proxy::new(address).map_err(|e| said(&e))?),
        None => None,
    };
    let tls = TlsConfig::builder().provider(TlsProvider::NativeTls).disable_verification(true);
    Ok(Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .timeout_global(Some(call.timeout))
        .max_redirects(REDIRECTS_MAX)
        .max_redirects_will_error(false)
        .user_agent("")
        .proxy(proxy)
        .tls_config(tls.build())
        .build()
        .new_agent())
}

fn send(call: &HttpCall) -> Result<HttpAnswer, String> {
    let mut request = Request::builder().method(call.method.as_str()).uri(call.url.as_str());
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    match &call.auth {
        HttpAuth::None => {}
        HttpAuth::Basic(user, password) => {
            let proof =
                base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
            request = request.header("Authorization", format!("Basic {proof}"));
        }
        HttpAuth::Digest(..) => return Err("Digest authentication is not supported".to_owned()),
        HttpAuth::Other(name) => return Err(format!("{name} authentication is not supported")),
    }
    let bad_url = |e: ureq::http::Error| said(&Error::Http(e));
    let agent = agent(call)?;
    let answer = match &call.body {
        Some(body) => agent.run(request.body(&body[..]).map_err(bad_url)?),
        None => agent.run(request.body(()).map_err(bad_url)?),
    };
    let mut answer = answer.map_err(|e| said(&e))?;
    let text = |value: &ureq::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
    let headers = answer.headers().iter().map(|(n, v)| (n.as_str().to_owned(), text(v))).collect();
    let status = answer.status().as_u16();
    let limit = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
    let body = answer.body_mut().with_config().limit(limit).read_to_vec().map_err(|e| said(&e))?;
    Ok(HttpAnswer { status, headers, body })
}

/// What went wrong, in the words that the field's scripts look for.
fn said(error: &Error) -> String {
    match error {
        Error::HostNotFound => "Could not resolve hostname.".to_owned(),
        Error::ConnectionFailed => "Could not connect to server.".to_owned(),
        Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
            "Could not connect to server.".to_owned()
        }
        Error::Timeout(_) => "Timeout was reached.".to_owned(),
        Error::BadUri(_) | Error::Http(_) => {
            "URL using bad/illegal format or missing URL.".to_owned()
        }
        Error::Tls(_) | Error::NativeTls(_) => "SSL connect error.".to_owned(),
        other => other.to_string(),
    }
}
