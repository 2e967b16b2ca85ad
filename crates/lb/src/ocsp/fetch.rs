//! A request to a responder: HTTP, bounded in size and time, a connection each (RFC 6960, appendix A).

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Time for a request with its response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a response.
pub(super) const RESPONSE_MAX: usize = 64 << 10;

/// Sends the question to a responder.
///
/// # Errors
/// What went wrong, with the responder.
pub(super) async fn fetch(url: &str, question: &[u8]) -> Result<Vec<u8>, String> {
    let result = match tokio::time::timeout(TIMEOUT, exchange(url, question)).await {
        Ok(result) => result,
        Err(_) => Err(format!("no response within {} s", TIMEOUT.as_secs())),
    };
    result.map_err(|problem| format!("{url}: {problem}"))
}

async fn exchange(url: &str, question: &[u8]) -> Result<Vec<u8>, String> {
    let uri: Uri = url.parse().map_err(|error| format!("this is not a URL: {error}"))?;
    let host = uri.host().ok_or("the URL has no host")?.trim_matches(['[', ']']).to_owned();
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let request = Request::builder()
        .method(Method::POST)
        .uri(target)
        .header(header::HOST, authority)
        .header(header::CONTENT_TYPE, HeaderValue::from_static("application/ocsp-request"))
        .body(Full::new(Bytes::copy_from_slice(question)))
        .map_err(|error| error.to_string())?;
    let connect = TcpStream::connect((host, uri.port_u16().unwrap_or(80)));
    let stream = connect.await.map_err(|error| format!("cannot connect: {error}"))?;
    let failed = |error: hyper::Error| format!("the request failed: {error}");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(failed)?;
    if response.status() != StatusCode::OK {
        return Err(format!("status {}", response.status()));
    }
    let body = Limited::new(response.into_body(), RESPONSE_MAX).collect().await;
    connection.abort();
    let body = body.map_err(|error| format!("the response cannot be read: {error}"))?;
    Ok(body.to_bytes().to_vec())
}
