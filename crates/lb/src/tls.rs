//! TLS by rustls with aws-lc: certificates by name, and the settings of both sides.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::config::{ClientAuth, Pem, Protocol, ServerTls, Tls, TlsVersion};

/// A certificate and the names that it has.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    key: Arc<CertifiedKey>,
    names: Vec<String>,
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
    Ok(Named { key: Arc::new(key), names })
}

/// The certificates of a virtual service by name.
#[derive(Debug)]
struct Resolver {
    first: Vec<Arc<CertifiedKey>>,
    by_name: HashMap<String, Vec<Arc<CertifiedKey>>>,
    strict: bool,
}

impl Resolver {
    fn of_name(&self, name: &str) -> Option<&Vec<Arc<CertifiedKey>>> {
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
            |key: &&Arc<CertifiedKey>| key.key.choose_scheme(hello.signature_schemes()).is_some();
        keys.iter().find(fits).or(keys.first()).cloned()
    }
}

/// Settings towards clients.
pub(crate) fn client_side(
    tls: &Tls,
    all: &HashMap<String, Named>,
) -> Result<Arc<ServerConfig>, String> {
    let mut by_name: HashMap<String, Vec<Arc<CertifiedKey>>> = HashMap::new();
    let mut first = Vec::new();
    for (at, name) in tls.certificates.iter().enumerate() {
        let named = all.get(name).ok_or_else(|| {
            format!("certificate '{name}' does not exist; add it to 'certificates'")
        })?;
        if at == 0 {
            first.push(Arc::clone(&named.key));
        }
        for name in &named.names {
            by_name.entry(name.clone()).or_default().push(Arc::clone(&named.key));
        }
    }
    let versions: &[&SupportedProtocolVersion] = match tls.min_version {
        TlsVersion::V12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
        TlsVersion::V13 => &[&rustls::version::TLS13],
    };
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(versions)
        .map_err(|error| error.to_string())?;
    let builder = match (tls.client_auth, &tls.client_ca) {
        (ClientAuth::None, _) => builder.with_no_client_auth(),
        (_, None) => return Err("'tls.client_auth' needs 'tls.client_ca'".to_owned()),
        (auth, Some(ca)) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(roots(ca)?, provider());
            let verifier = match auth {
                ClientAuth::Optional => verifier.allow_unauthenticated(),
                _ => verifier,
            };
            builder.with_client_cert_verifier(verifier.build().map_err(|error| error.to_string())?)
        }
    };
    let resolver = Resolver { first, by_name, strict: tls.strict_sni };
    let mut config = builder.with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = tls.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    config.ticketer =
        rustls::crypto::aws_lc_rs::Ticketer::new().map_err(|error| error.to_string())?;
    Ok(Arc::new(config))
}

/// Settings towards the servers of a pool.
#[derive(Debug, Clone)]
pub(crate) struct ServerSide {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

pub(crate) fn server_side(tls: &ServerTls, protocol: Protocol) -> Result<ServerSide, String> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots(&tls.ca)?)
        .with_no_client_auth();
    if protocol == Protocol::Http2 {
        config.alpn_protocols = vec![b"h2".to_vec()];
    }
    let name = ServerName::try_from(tls.sni.clone())
        .map_err(|_| format!("'tls.sni': '{}' is no host name", tls.sni))?;
    Ok(ServerSide { config: Arc::new(config), name })
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
