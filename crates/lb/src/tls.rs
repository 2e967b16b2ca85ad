//! TLS by rustls with aws-lc: certificates by name, and the settings of both sides.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{
    ClientHello, NoServerSessionStorage, ResolvesServerCert, WebPkiClientVerifier,
};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use x509_parser::parse_x509_crl;

use crate::acme::Slot;
use crate::config::{
    ClientAuth, ExpectedCertificate, ExpiredCrl, HTTP3, Pem, Protocol, ServerTls, Tls, TlsVersion,
};
use crate::ocsp::{self, Staple};
use crate::tickets::{Ticketer, Tickets};

/// A certificate and the names that it has.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    key: Key,
    names: Vec<String>,
}

impl Named {
    /// One that is issued and renewed while the engine runs.
    pub(crate) fn automatic(slot: &Arc<Slot>) -> Self {
        Self { key: Key::Automatic(Arc::clone(slot)), names: slot.wanted.names.clone() }
    }

    /// Lets clients get responses of OCSP with it; those that `before` has stay. `None`: nobody can be asked.
    pub(crate) fn staple(&mut self, name: &str, before: &[Arc<Staple>]) -> Option<Arc<Staple>> {
        let Key::Fixed(key) = &self.key else { return None };
        let old = before.iter().find(|staple| staple.is_of(key)).map(Arc::clone);
        let staple = old.or_else(|| Staple::new(name, key).map(Arc::new))?;
        self.key = Key::Stapled(Arc::clone(&staple));
        Some(staple)
    }

    /// Whether clients may refuse it without a response of OCSP, and get none.
    pub(crate) fn lacks_staple(&self) -> bool {
        let Key::Fixed(key) = &self.key else { return false };
        key.cert.first().is_some_and(ocsp::is_demanded)
    }

    /// One that has not arrived: handshakes for its names are refused.
    pub(crate) fn expected(config: &ExpectedCertificate) -> Self {
        let names = config.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { key: Key::Expected, names }
    }
}

/// Where the certificate of a handshake comes from.
#[derive(Debug, Clone)]
enum Key {
    /// A file or a text, for as long as the configuration.
    Fixed(Arc<CertifiedKey>),
    /// The same with what its authority says about it.
    Stapled(Arc<Staple>),
    /// An authority; there may be none yet.
    Automatic(Arc<Slot>),
    /// The server has ordered it.
    Expected,
}

impl Key {
    fn get(&self) -> Option<Arc<CertifiedKey>> {
        match self {
            Self::Fixed(key) => Some(Arc::clone(key)),
            Self::Stapled(staple) => Some(staple.get()),
            Self::Automatic(slot) => slot.get(),
            Self::Expected => None,
        }
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

fn bytes(pem: &Pem) -> Result<Cow<'_, [u8]>, String> {
    match pem {
        Pem::Text(text) => Ok(text.as_bytes().into()),
        Pem::File(path) => {
            let read = std::fs::read(path).map(Cow::Owned);
            read.map_err(|error| format!("{}: {error}", path.display()))
        }
    }
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(pem)?).collect();
    let found = found.map_err(|error| format!("{pem}: {error}"))?;
    if found.is_empty() {
        Err(format!("{pem}: there is no certificate in PEM format"))
    } else {
        Ok(found)
    }
}

fn roots(pem: &Pem) -> Result<Arc<RootCertStore>, String> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(pem)? {
        store.add(certificate).map_err(|error| format!("{pem}: {error}"))?;
    }
    Ok(Arc::new(store))
}

/// Reads a certificate with its key.
pub(crate) fn load(config: &crate::config::Certificate) -> Result<Named, String> {
    let chain = certificates(&config.cert)?;
    let key = PrivateKeyDer::from_pem_slice(&bytes(&config.key)?)
        .map_err(|error| format!("{}: {error}", config.key))?;
    let names = {
        let end = webpki::EndEntityCert::try_from(&chain[0])
            .map_err(|error| format!("{}: {error}", config.cert))?;
        end.valid_dns_names().map(str::to_ascii_lowercase).collect()
    };
    let key = CertifiedKey::from_der(chain, key, &provider())
        .map_err(|error| format!("{} and {}: {error}", config.cert, config.key))?;
    Ok(Named { key: Key::Fixed(Arc::new(key)), names })
}

/// The certificates of a virtual service by name.
#[derive(Debug)]
struct Resolver {
    first: Vec<Key>,
    by_name: HashMap<String, Vec<Key>>,
    strict: bool,
}

impl Resolver {
    fn of_name(&self, name: &str) -> Option<&Vec<Key>> {
        let name = name.to_ascii_lowercase();
        self.by_name.get(&name).or_else(|| {
            // A wildcard covers one label (RFC 6125, 6.4.3).
            let (_, parent) = name.split_once('.')?;
            self.by_name.get(&format!("*.{parent}"))
        })
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let of_name = hello.server_name().and_then(|name| self.of_name(name));
        let keys = match of_name {
            Some(keys) => keys,
            None if self.strict => return None,
            None => &self.first,
        };
        let fits =
            |key: &Arc<CertifiedKey>| key.key.choose_scheme(hello.signature_schemes()).is_some();
        let mut issued = keys.iter().filter_map(Key::get);
        issued.clone().find(fits).or_else(|| issued.next())
    }
}

/// What services need for TLS.
#[derive(Debug)]
pub(crate) struct Material {
    /// Certificates by name.
    pub(crate) certificates: HashMap<String, Named>,
    /// Those of the certificates about which a responder is asked.
    pub(crate) staples: Vec<Arc<Staple>>,
    /// Secrets of session tickets.
    pub(crate) tickets: Arc<Tickets>,
}

/// Settings of a virtual service towards clients.
pub(crate) fn client_side(
    service: &str,
    tls: &Tls,
    material: &Material,
) -> Result<Arc<ServerConfig>, String> {
    let mut by_name: HashMap<String, Vec<Key>> = HashMap::new();
    let mut first = Vec::new();
    for (at, name) in tls.certificates.iter().enumerate() {
        let named = material.certificates.get(name).ok_or_else(|| {
            format!("certificate '{name}' does not exist; add it to 'certificates'")
        })?;
        if at == 0 {
            first.push(named.key.clone());
        }
        for name in &named.names {
            by_name.entry(name.clone()).or_default().push(named.key.clone());
        }
    }
    let versions: &[&SupportedProtocolVersion] = match tls.min_version {
        TlsVersion::V12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
        TlsVersion::V13 => &[&rustls::version::TLS13],
    };
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(versions)
        .map_err(|error| error.to_string())?;
    let builder = match client_verifier(tls)? {
        None => builder.with_no_client_auth(),
        Some(verifier) => builder.with_client_cert_verifier(verifier),
    };
    let resolver = Resolver { first, by_name, strict: tls.strict_sni };
    let mut config = builder.with_cert_resolver(Arc::new(resolver));
    let over_tcp = tls.alpn.iter().filter(|name| *name != HTTP3);
    config.alpn_protocols = over_tcp.map(|name| name.as_bytes().to_vec()).collect();
    if tls.client_auth == ClientAuth::None {
        config.ticketer = Arc::new(Ticketer::new(&material.tickets, session_context(service)?));
    } else {
        // Who continues a session shows no certificate, and could do so after it has expired or is revoked.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    Ok(Arc::new(config))
}

/// What checks the certificates of clients; `None`: nobody asks for them.
fn client_verifier(tls: &Tls) -> Result<Option<Arc<dyn ClientCertVerifier>>, String> {
    let (auth, ca) = match (tls.client_auth, &tls.client_ca) {
        (ClientAuth::None, _) => return Ok(None),
        (_, None) => return Err("'tls.client_auth' needs 'tls.client_ca'".to_owned()),
        (auth, Some(ca)) => (auth, ca),
    };
    let mut verifier = WebPkiClientVerifier::builder_with_provider(roots(ca)?, provider());
    if let Some(pem) = &tls.client_crl {
        verifier = verifier.with_crls(revocation_lists(pem)?);
        if tls.expired_crl == ExpiredCrl::Refuse {
            verifier = verifier.enforce_revocation_expiration();
        }
    }
    if auth == ClientAuth::Optional {
        verifier = verifier.allow_unauthenticated();
    }
    verifier.build().map(Some).map_err(|error| format!("client certificates: {error}"))
}

/// The lists of a text or a file, at least one; the newest first, because the first one of an issuer counts.
fn revocation_lists(pem: &Pem) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let found: Result<Vec<_>, _> =
        CertificateRevocationListDer::pem_slice_iter(&bytes(pem)?).collect();
    let mut found = found.map_err(|error| format!("{pem}: {error}"))?;
    if found.is_empty() {
        return Err(format!("{pem}: there is no certificate revocation list in PEM format"));
    }
    found.sort_by_cached_key(|list| {
        let made = parse_x509_crl(list).ok().map(|(_, parsed)| parsed.last_update().timestamp());
        std::cmp::Reverse(made)
    });
    Ok(found)
}

/// What a session depends on: a ticket works only for the service that gave it.
fn session_context(service: &str) -> Result<[u8; 32], String> {
    let digest = digest::digest(&digest::SHA256, service.as_bytes());
    digest.as_ref().try_into().map_err(|_| "BUG: SHA-256 has 32 bytes".to_owned())
}

/// Settings towards the servers of a pool.
#[derive(Debug, Clone)]
pub(crate) struct ServerSide {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
    /// Differs if other servers would be trusted: a connection made under one number is not used under
    /// another one.
    pub(crate) trust: u64,
}

pub(crate) fn server_side(tls: &ServerTls, protocol: Protocol) -> Result<ServerSide, String> {
    let mut verifier = WebPkiServerVerifier::builder_with_provider(roots(&tls.ca)?, provider());
    if let Some(pem) = &tls.crl {
        verifier = verifier.with_crls(revocation_lists(pem)?);
        if tls.expired_crl == ExpiredCrl::Refuse {
            verifier = verifier.enforce_revocation_expiration();
        }
    }
    let verifier = verifier.build().map_err(|error| format!("certificates of servers: {error}"))?;
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_webpki_verifier(verifier)
        .with_no_client_auth();
    if protocol == Protocol::Http2 {
        config.alpn_protocols = vec![b"h2".to_vec()];
    }
    let name = ServerName::try_from(tls.sni.clone())
        .map_err(|_| format!("'tls.sni': '{}' is not a host name", tls.sni))?;
    Ok(ServerSide { config: Arc::new(config), name, trust: trust(tls)? })
}

/// The first bytes of a digest of what a server must show.
fn trust(tls: &ServerTls) -> Result<u64, String> {
    let mut digest = digest::Context::new(&digest::SHA256);
    let mut add = |part: &[u8]| {
        digest.update(&(part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    add(tls.sni.as_bytes());
    add(format!("{:?}", tls.expired_crl).as_bytes());
    add(&bytes(&tls.ca)?);
    if let Some(list) = &tls.crl {
        add(&bytes(list)?);
    }
    let digest = digest.finish();
    let first = digest.as_ref().first_chunk().ok_or("BUG: SHA-256 has 32 bytes")?;
    Ok(u64::from_le_bytes(*first))
}

/// The common name of a certificate's subject (X.520, 2.5.4.3), for a header.
pub(crate) fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    const OID: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];
    let end = webpki::EndEntityCert::try_from(certificate).ok()?;
    let subject = end.subject();
    let at = memchr::memmem::find(subject, OID)? + OID.len();
    let (length, text) = subject.get(at + 1..)?.split_first()?;
    let text = std::str::from_utf8(text.get(..usize::from(*length))?).ok()?;
    let safe = text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    (*length < 0x80 && safe).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
