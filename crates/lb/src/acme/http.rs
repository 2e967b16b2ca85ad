//! Requests to the authority: HTTPS only, bounded in size and time, a connection each.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use stdx::clock::SharedClock;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::config::Pem;

/// Time for one request with its response.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a response; certificates with their chain are the largest.
const BODY_MAX: usize = 256 << 10;
/// Characters of a response that an error shows.
const SHOWN_MAX: usize = 200;
const AGENT: &str = concat!("vedette-engine/", env!("CARGO_PKG_VERSION"));

/// What the responses said beside their content.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// Seconds of `Retry-After` in the last response that refused something; 0 = none.
    retry_after_s: AtomicU64,
    /// The authority could not be reached or could not serve.
    down: AtomicBool,
}

impl Signs {
    /// Seconds that the authority wants no such request.
    pub(super) fn retry_after_s(&self) -> Option<u64> {
        Some(self.retry_after_s.load(Relaxed)).filter(|seconds| *seconds > 0)
    }

    /// Whether requests for other certificates would fail, too.
    pub(super) fn is_down(&self) -> bool {
        self.down.load(Relaxed)
    }

    fn note<B>(&self, response: &Response<B>, now_s: u64) {
        let status = response.status();
        if status.is_server_error() {
            self.down.store(true, Relaxed);
        }
        if status.is_server_error() || status.is_client_error() {
            let value = response.headers().get(header::RETRY_AFTER);
            let seconds = value.and_then(|value| retry_after_s(value, now_s)).unwrap_or(0);
            self.retry_after_s.store(seconds, Relaxed);
        }
    }
}

/// Seconds of a `Retry-After` (RFC 9110, 10.2.3).
fn retry_after_s(value: &HeaderValue, now_s: u64) -> Option<u64> {
    let text = value.to_str().ok()?.trim();
    text.parse().ok().or_else(|| {
        let date = jiff::fmt::rfc2822::parse(text).ok()?;
        u64::try_from(date.timestamp().as_second()).ok()?.checked_sub(now_s)
    })
}

/// A client for one attempt.
#[derive(Clone)]
pub(super) struct Client {
    connector: TlsConnector,
    signs: Arc<Signs>,
    clock: SharedClock,
}

impl Client {
    /// One that trusts the machine's authorities and these.
    ///
    /// # Errors
    /// The authorities cannot be read, or there are none.
    pub(super) fn new(extra: Option<&Pem>, clock: &SharedClock) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for certificate in extra.map(authorities).transpose()?.unwrap_or_default() {
            roots.add(certificate).map_err(|error| format!("'acme.ca': {error}"))?;
        }
        if roots.is_empty() {
            return Err("this machine has no authorities for TLS; install the package \
                        ca-certificates or set 'acme.ca'"
                .to_owned());
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self { connector, signs: Arc::default(), clock: Arc::clone(clock) })
    }

    pub(super) fn signs(&self) -> Arc<Signs> {
        Arc::clone(&self.signs)
    }
}

/// The certificates of a file or a text.
///
/// # Errors
/// The file cannot be read, or has none.
pub(crate) fn authorities(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, String> {
    let problem = |error: &dyn std::fmt::Display| format!("'acme.ca': {pem}: {error}");
    let text = match pem {
        Pem::Text(text) => text.clone().into_bytes(),
        Pem::File(path) => std::fs::read(path).map_err(|error| problem(&error))?,
    };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(problem(&"there is no certificate in PEM format")),
        Ok(found) => Ok(found),
        Err(error) => Err(problem(&error)),
    }
}

impl HttpClient for Client {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let (connector, signs) = (self.connector.clone(), self.signs());
        let now_s = self.clock.unix_s();
        Box::pin(async move {
            let asked = format!("{} {}", request.method(), request.uri());
            let response = match tokio::time::timeout(TIMEOUT, exchange(connector, request)).await {
                Ok(result) => result,
                Err(_) => Err(format!("no response within {} s", TIMEOUT.as_secs())),
            };
            let response = response.map_err(|problem| {
                signs.down.store(true, Relaxed);
                Error::Other(format!("{asked}: {problem}").into())
            })?;
            signs.note(&response, now_s);
            understandable(&response)
                .map_err(|problem| Error::Other(format!("{asked}: {problem}").into()))?;
            Ok(BytesResponse::from(response.map(Full::new)))
        })
    }
}

/// An error response that is no problem document (RFC 8555, 6.7) is shown as it is.
fn understandable(response: &Response<Bytes>) -> Result<(), String> {
    let status = response.status();
    let refused = status.is_client_error() || status.is_server_error();
    if refused && serde_json::from_slice::<instant_acme::Problem>(response.body()).is_err() {
        let text = String::from_utf8_lossy(response.body());
        let shown: String = text.trim().chars().take(SHOWN_MAX).collect();
        return Err(format!("status {status}: {shown:?}"));
    }
    Ok(())
}

async fn exchange(
    connector: TlsConnector,
    mut request: Request<BodyWrapper<Bytes>>,
) -> Result<Response<Bytes>, String> {
    let uri = request.uri().clone();
    if uri.scheme_str() != Some("https") {
        return Err("the URL is not one of https".to_owned());
    }
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host.clone()).map_err(|error| format!("{host}: {error}"))?;
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let authority = HeaderValue::try_from(authority).map_err(|error| error.to_string())?;
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    *request.uri_mut() = target.parse::<Uri>().map_err(|error| error.to_string())?;
    request.headers_mut().insert(header::HOST, authority);
    request.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static(AGENT));
    let connect = TcpStream::connect((host, uri.port_u16().unwrap_or(443)));
    let stream = connect.await.map_err(|error| format!("cannot connect: {error}"))?;
    let stream = connector.connect(name, stream).await;
    let stream = stream.map_err(|error| format!("TLS failed: {error}"))?;
    let failed = |error: hyper::Error| format!("the request failed: {error}");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(failed)?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, BODY_MAX).collect().await;
    connection.abort();
    let body = body.map_err(|error| format!("the response cannot be read: {error}"))?;
    Ok(Response::from_parts(parts, body.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_after_is_a_number_or_a_date() {
        let seconds = |text| retry_after_s(&HeaderValue::from_static(text), 946_684_700);
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds("Sat, 01 Jan 2000 00:00:00 GMT"), Some(100));
        assert_eq!(seconds("Fri, 31 Dec 1999 00:00:00 GMT"), None);
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("-3"), None);
    }

    #[test]
    fn errors_that_are_no_problem_documents_are_shown() {
        let response = |status, body: &'static str| {
            let built =
                Response::builder().status(status).body(Bytes::from_static(body.as_bytes()));
            understandable(&built.unwrap())
        };
        assert_eq!(response(200, "<html>"), Ok(()));
        assert_eq!(response(400, r#"{"type":"x","detail":"y"}"#), Ok(()));
        let shown = response(502, "<html>Bad Gateway</html>\n").unwrap_err();
        assert!(shown.contains("502") && shown.contains("<html>Bad Gateway"), "{shown}");
    }
}
