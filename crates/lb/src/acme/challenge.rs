//! Challenges in progress: how the authority's checks are recognised and passed.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::store::{Check, Posting, Responder};
use super::wanted::Wanted;

/// The application protocol of a handshake that checks a host name (RFC 8737, 6.2).
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";
/// Start of the path of a check (RFC 8555, 8.3).
const PATH: &[u8] = b"/.well-known/acme-challenge/";
/// Bytes of a TLS record's content and its header: a longer first message is no check.
const HELLO_MAX: usize = 16_384 + 5;

/// What the authority's checks must find. All of it belongs to one order, so it is bounded by the number
/// of host names in a certificate.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    http: ArcSwap<Vec<Response>>,
    tls: ArcSwapOption<ServerConfig>,
}

/// The response to one request.
#[derive(Debug)]
struct Response {
    token: String,
    text: String,
}

impl Challenges {
    /// Lets these checks pass and no others.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn replace(&self, checks: &[Check]) -> Result<(), String> {
        let (mut responses, mut keys) = (Vec::new(), HashMap::new());
        for check in checks {
            match check {
                Check::Http { token, authorization } => {
                    responses.push(Response { token: token.clone(), text: authorization.clone() })
                }
                Check::Tls { name, digest } => {
                    keys.insert(name.to_ascii_lowercase(), Arc::new(certified(name, digest)?));
                }
            }
        }
        let tls = match keys.is_empty() {
            true => None,
            false => Some(Arc::new(settings(keys).map_err(|error| error.to_string())?)),
        };
        self.http.store(Arc::new(responses));
        self.tls.store(tls);
        Ok(())
    }

    /// The response to a check, if the path is that of one in progress.
    pub(crate) fn http(&self, path: &[u8]) -> Option<Vec<u8>> {
        let token = path.strip_prefix(PATH)?;
        let responses = self.http.load();
        let response = responses.iter().find(|response| response.token.as_bytes() == token)?;
        Some(response.text.clone().into_bytes())
    }

    /// The settings for a TLS connection that begins with these bytes: those of a check in progress, or
    /// the ordinary ones. `None`: more bytes are needed.
    pub(crate) fn tls(
        &self,
        ordinary: &Arc<ServerConfig>,
        bytes: &[u8],
    ) -> Option<Arc<ServerConfig>> {
        let Some(check) = self.tls.load_full() else { return Some(Arc::clone(ordinary)) };
        match is_check(bytes) {
            Some(true) => Some(check),
            Some(false) => Some(Arc::clone(ordinary)),
            None if bytes.len() >= HELLO_MAX => Some(Arc::clone(ordinary)),
            None => None,
        }
    }
}

impl Responder for Challenges {
    /// The checks arrive at this engine.
    fn ready(&self, _wanted: &Wanted) -> Result<(), String> {
        Ok(())
    }

    fn post<'r>(&'r self, _wanted: &'r Wanted, checks: Vec<Check>) -> Posting<'r> {
        Box::pin(async move { self.replace(&checks) })
    }

    fn clear(&self) {
        self.http.store(Arc::default());
        self.tls.store(None);
    }
}

/// The certificate of a check by TLS (RFC 8737, 3).
fn certified(name: &str, digest: &[u8]) -> Result<CertifiedKey, String> {
    if digest.len() != 32 {
        return Err("the digest of a challenge has 32 bytes".to_owned());
    }
    let made = || -> Result<_, rcgen::Error> {
        let mut params = CertificateParams::new([name.to_owned()])?;
        params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
        let key = KeyPair::generate()?;
        Ok((params.self_signed(&key)?, key.serialize_der()))
    };
    let (certificate, key) = made().map_err(|error| error.to_string())?;
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let key = PrivateKeyDer::Pkcs8(key.into());
    let key = provider.key_provider.load_private_key(key).map_err(|error| error.to_string())?;
    // Not `from_der`: it refuses the critical extension.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

/// Type of a TLS record with handshake messages (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;
/// Type of a client's first message (RFC 8446, 4).
const CLIENT_HELLO: u8 = 1;

/// Whether the records hold a whole client's first message; `None`: they hold another one. Only lengths are
/// read, so a client that sends single bytes costs little.
fn is_whole(mut bytes: &[u8]) -> Option<bool> {
    let mut head = Vec::with_capacity(4);
    let mut held = 0;
    loop {
        if bytes.first().is_some_and(|kind| *kind != HANDSHAKE) {
            return None;
        }
        let Some((header, rest)) = bytes.split_at_checked(5) else { return Some(false) };
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if length == 0 {
            return None;
        }
        let content = rest.get(..length).unwrap_or(rest);
        head.extend(content.iter().take(4 - head.len()));
        held += content.len();
        match *head {
            [kind, ..] if kind != CLIENT_HELLO => return None,
            [_, a, b, c] => {
                let wanted = 4 + u32::from_be_bytes([0, a, b, c]) as usize;
                if held >= wanted {
                    return Some(true);
                }
            }
            _ => {}
        }
        bytes = rest.get(length..).unwrap_or_default();
        if bytes.is_empty() {
            return Some(false);
        }
    }
}

/// Whether a TLS connection that begins with these bytes is a check; `None`: more bytes are needed.
fn is_check(mut bytes: &[u8]) -> Option<bool> {
    match is_whole(bytes) {
        Some(true) => {}
        Some(false) => return None,
        None => return Some(false),
    }
    let mut acceptor = Acceptor::default();
    while !bytes.is_empty() {
        if !matches!(acceptor.read_tls(&mut bytes), Ok(1..)) {
            return Some(false);
        }
        match acceptor.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => {
                let hello = accepted.client_hello();
                let Some(mut protocols) = hello.alpn() else { return Some(false) };
                return Some(protocols.next() == Some(ACME_TLS) && protocols.next().is_none());
            }
            Err(_) => return Some(false),
        }
    }
    None
}

/// Settings that pass checks and nothing else.
fn settings(keys: HashMap<String, Arc<CertifiedKey>>) -> Result<ServerConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Resolver(keys)));
    config.alpn_protocols = vec![ACME_TLS.to_vec()];
    Ok(config)
}

#[derive(Debug)]
struct Resolver(HashMap<String, Arc<CertifiedKey>>);

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.get(&hello.server_name()?.to_ascii_lowercase()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};

    use super::*;

    /// The first bytes of a client that offers these protocols.
    fn hello(protocols: &[&[u8]]) -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let name = ServerName::try_from("www.example.com").unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_handshake_is_a_check_if_it_offers_its_protocol_alone() {
        let check = hello(&[ACME_TLS]);
        assert_eq!(is_check(&check), Some(true));
        for length in [0, 1, 5, check.len() - 1] {
            assert_eq!(is_check(&check[..length]), None, "{length} bytes");
        }
        // The same message in records of a byte each.
        let split: Vec<u8> = check[5..].iter().flat_map(|b| [22, 3, 1, 0, 1, *b]).collect();
        assert_eq!(is_check(&split), Some(true));
        assert_eq!(is_check(&split[..split.len() - 1]), None);
        assert_eq!(is_check(&[22, 3, 1, 0, 0]), Some(false), "an empty record");
        assert_eq!(is_check(&hello(&[])), Some(false));
        assert_eq!(is_check(&hello(&[b"h2"])), Some(false));
        assert_eq!(is_check(&hello(&[ACME_TLS, b"h2"])), Some(false));
        assert_eq!(is_check(b"GET / HTTP/1.1\r\n\r\n"), Some(false));
    }

    #[test]
    fn checks_pass_only_while_their_order_is_in_progress() {
        let challenges = Arc::new(Challenges::default());
        let ordinary = Arc::new(settings(HashMap::new()).unwrap());
        let is_ordinary = |bytes: &[u8]| {
            challenges.tls(&ordinary, bytes).map(|found| Arc::ptr_eq(&found, &ordinary))
        };
        let (token, authorization) = ("token".to_owned(), "token.print".to_owned());
        let http = Check::Http { token, authorization };
        let tls = |bytes| Check::Tls { name: "www.example.com".to_owned(), digest: vec![7; bytes] };
        assert!(challenges.replace(&[tls(31)]).is_err());
        challenges.replace(&[http, tls(32)]).unwrap();
        let path = |token: &str| format!("/.well-known/acme-challenge/{token}").into_bytes();
        assert_eq!(challenges.http(&path("token")), Some(b"token.print".to_vec()));
        for other in ["", "toke", "token2", "token?x", "../token"] {
            assert_eq!(challenges.http(&path(other)), None, "{other}");
        }
        assert_eq!(challenges.http(b"/"), None);
        let check = hello(&[ACME_TLS]);
        assert_eq!(is_ordinary(&check), Some(false));
        assert_eq!(is_ordinary(&check[..9]), None);
        assert_eq!(is_ordinary(&hello(&[b"h2"])), Some(true));
        // A message that never ends is one for the ordinary settings, which refuse it.
        let endless = [&[22, 3, 1, 64, 0, 1, 0, 255, 255][..], &[0; HELLO_MAX]].concat();
        assert_eq!(is_ordinary(&endless), Some(true));
        challenges.clear();
        assert_eq!(challenges.http(&path("token")), None);
        assert_eq!(is_ordinary(&check), Some(true));
    }
}
