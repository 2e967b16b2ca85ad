//! Requests that stream values and events to receivers of connectors, with the client of HTTP agent items.

use collect::resolver::Resolver;
use config::snapshot::connector::{ConnectorAuth, Receiver};
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use wire::http::cookies::Jar;

use crate::checks::http::{Auth, Call, Client, Failure, TlsWish};
use crate::settings::WebFiles;

/// Why a request brought no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct PostError {
    /// The reason, in libcurl's words.
    pub text: String,
    /// The settings are wrong: the same request fails again.
    pub is_permanent: bool,
}

/// Sends requests; belongs to the thread that makes it. Connections are used again.
pub struct Poster(Client);

impl std::fmt::Debug for Poster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Poster")
    }
}

impl Poster {
    /// `files`: folders of certificates and keys.
    pub fn new(clock: SharedClock, files: WebFiles) -> Self {
        let (resolver, tickets) = (Resolver::new(clock.clone()), Tickets::new(clock.clone()));
        Self(Client::new(clock, resolver, tickets, None, files))
    }

    /// Sends newline-delimited JSON; returns the status of the response.
    pub async fn post(&self, receiver: &Receiver, body: &[u8]) -> Result<u16, PostError> {
        let mut headers = vec![("Content-Type".to_owned(), "application/x-ndjson".to_owned())];
        let auth = match &receiver.auth {
            ConnectorAuth::Http { number, user, password } => {
                Auth::from_api(*number, user, password)
            }
            ConnectorAuth::Bearer(token) => {
                headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
                Auth::None
            }
        };
        let call = Call {
            url: &receiver.url,
            method: "POST",
            headers: &headers,
            body: Some(body),
            agent: None,
            auth,
            proxy: &receiver.proxy,
            tls: TlsWish {
                verify_peer: receiver.verify_peer,
                verify_host: receiver.verify_host,
                cert_file: &receiver.cert_file,
                key_file: &receiver.key_file,
                key_password: &receiver.key_password,
            },
            follow: false,
            timeout: receiver.timeout,
        };
        let fetched = self.0.fetch(&call, &mut Jar::default()).await;
        fetched.map(|fetched| fetched.answer.status).map_err(|failure| PostError {
            text: failure.to_string(),
            is_permanent: matches!(failure, Failure::Url(_) | Failure::ProxyScheme(_)),
        })
    }
}
