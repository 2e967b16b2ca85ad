//! Certificates and keys in PEM format, as users give them and engines can use them.

use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{HasPublic, Id, PKey, PKeyRef, Private};
use openssl::x509::{X509, X509NameRef};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer};
use webpki::{BorrowedCertRevocationList, EndEntityCert, anchor_from_trusted_cert};

use crate::db::Value;

const NO_CERTIFICATE: &str =
    "PEM text with certificates is expected: -----BEGIN CERTIFICATE----- …";

const NOT_USABLE: &str = "engines cannot use the certificate; it must be X.509 version 3";

const NO_LIST: &str = "PEM text with certificate revocation lists of version 2 is expected: \
                       -----BEGIN X509 CRL----- …";

const NO_KEY: &str = "PEM text with one private key without a passphrase is expected; \
                      \"openssl pkey -in FILE\" removes a passphrase";

const KEY_KIND: &str =
    "the key must be RSA with 2048 to 8192 bits, ECDSA P-256, P-384 or P-521, or Ed25519";

const NO_MATCH: &str = "the private key does not belong to the first certificate; \
                        put the certificate of the key first, or give its key";

/// What a certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The certificates alone, in PEM format.
    pub chain: String,
    /// Such as `CN=www.example.com`.
    pub subject: String,
    /// Who issued it.
    pub issuer: String,
    /// DNS names and addresses that clients may use.
    pub names: Vec<String>,
    /// Of the key, such as `ECDSA P-256`.
    pub algorithm: String,
    /// SHA-256 of the certificate in hexadecimal digits.
    pub fingerprint: String,
    /// Seconds since 1970.
    pub valid_from: i64,
    /// Seconds since 1970.
    pub valid_until: i64,
}

/// The certificates of a text, at least one.
fn chain(text: &str) -> Result<Vec<X509>, &'static str> {
    match X509::stack_from_pem(text.as_bytes()) {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        _ => Err(NO_CERTIFICATE),
    }
}

/// The certificates of a service, if the TLS library of engines can use the first one.
///
/// # Errors
/// There is none, or engines cannot use it.
pub fn service_chain(text: &str) -> Result<Vec<X509>, &'static str> {
    let chain = chain(text)?;
    let first = chain.first().and_then(|first| first.to_der().ok()).ok_or(NO_CERTIFICATE)?;
    let usable = EndEntityCert::try_from(&CertificateDer::from(&first[..])).is_ok();
    if usable { Ok(chain) } else { Err(NOT_USABLE) }
}

/// The same for certificates of authorities, all of them.
///
/// # Errors
/// There are none, or engines cannot use one.
pub fn check_authorities(text: &str) -> Result<(), &'static str> {
    let usable = |one: &X509| {
        let der = one.to_der();
        der.is_ok_and(|der| anchor_from_trusted_cert(&CertificateDer::from(&der[..])).is_ok())
    };
    if chain(text)?.iter().all(usable) { Ok(()) } else { Err(NOT_USABLE) }
}

/// The certificates alone, without what else the text has.
fn written(chain: &[X509]) -> Result<String, &'static str> {
    let texts =
        chain.iter().map(|one| one.to_pem().ok().and_then(|pem| String::from_utf8(pem).ok()));
    texts.collect::<Option<String>>().ok_or(NO_CERTIFICATE)
}

/// The key as PKCS #8, if engines can use it.
///
/// # Errors
/// There is none, it has a passphrase, or its kind is not supported.
pub fn key(text: &str) -> Result<(PKey<Private>, String), &'static str> {
    // With a callback, a key with a passphrase fails instead of reading the terminal.
    let key =
        PKey::private_key_from_pem_callback(text.as_bytes(), |_| Ok(0)).map_err(|_| NO_KEY)?;
    algorithm(&key).ok_or(KEY_KIND)?;
    let pem = key.private_key_to_pem_pkcs8().ok().and_then(|pem| String::from_utf8(pem).ok());
    Ok((key, pem.ok_or(NO_KEY)?))
}

/// Refuses a key that is not that of the first certificate.
///
/// # Errors
/// It is another one.
pub fn check_pair(chain: &[X509], key: &PKeyRef<Private>) -> Result<(), &'static str> {
    let public = chain.first().and_then(|first| first.public_key().ok());
    if public.is_some_and(|public| public.public_eq(key)) { Ok(()) } else { Err(NO_MATCH) }
}

/// What the first certificate says.
///
/// # Errors
/// The kind of its key is not supported.
pub fn facts(chain: &[X509]) -> Result<Facts, &'static str> {
    let first = chain.first().ok_or(NO_CERTIFICATE)?;
    let read = || {
        let key = first.public_key().ok()?;
        let digest = first.digest(MessageDigest::sha256()).ok()?;
        Some(Facts {
            chain: written(chain).ok()?,
            subject: name(first.subject_name()),
            issuer: name(first.issuer_name()),
            names: names(first),
            algorithm: algorithm(&key)?,
            fingerprint: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            valid_from: unix_s(first.not_before())?,
            valid_until: unix_s(first.not_after())?,
        })
    };
    read().ok_or(KEY_KIND)
}

impl Facts {
    /// The columns of the table `certificates` that follow from the certificate.
    pub fn columns(&self) -> Vec<(&'static str, Value)> {
        let names = serde_json::Value::from(self.names.clone()).to_string();
        vec![
            ("certificate", self.chain.as_str().into()),
            ("subject", self.subject.as_str().into()),
            ("issuer", self.issuer.as_str().into()),
            ("names", names.as_str().into()),
            ("algorithm", self.algorithm.as_str().into()),
            ("fingerprint", self.fingerprint.as_str().into()),
            ("valid_from", self.valid_from.into()),
            ("valid_until", self.valid_until.into()),
        ]
    }
}

/// Refuses a text without certificate revocation lists that engines can use.
///
/// # Errors
/// There are none, or engines cannot use one.
pub fn check_revocations(text: &str) -> Result<(), &'static str> {
    let lists: Result<Vec<_>, _> =
        CertificateRevocationListDer::pem_slice_iter(text.as_bytes()).collect();
    let lists = lists.map_err(|_| NO_LIST)?;
    let usable = |list: &CertificateRevocationListDer<'_>| {
        BorrowedCertRevocationList::from_der(list).is_ok()
    };
    if !lists.is_empty() && lists.iter().all(usable) { Ok(()) } else { Err(NO_LIST) }
}

fn algorithm<T: HasPublic>(key: &PKeyRef<T>) -> Option<String> {
    match key.id() {
        Id::RSA if (2048..=8192).contains(&key.bits()) => Some(format!("RSA {}", key.bits())),
        Id::EC => match key.ec_key().ok()?.group().curve_name()? {
            Nid::X9_62_PRIME256V1 => Some("ECDSA P-256".to_owned()),
            Nid::SECP384R1 => Some("ECDSA P-384".to_owned()),
            Nid::SECP521R1 => Some("ECDSA P-521".to_owned()),
            _ => None,
        },
        Id::ED25519 => Some("Ed25519".to_owned()),
        _ => None,
    }
}

/// `C=DE, O=Example, CN=www.example.com`
fn name(name: &X509NameRef) -> String {
    let entries = name.entries().map(|entry| {
        let word = entry.object().nid().short_name().unwrap_or("?");
        let value = entry.data().to_string().unwrap_or_default();
        format!("{word}={value}")
    });
    entries.collect::<Vec<_>>().join(", ")
}

fn names(certificate: &X509) -> Vec<String> {
    let Some(all) = certificate.subject_alt_names() else { return Vec::new() };
    let text = |bytes: &[u8]| match (<[u8; 4]>::try_from(bytes), <[u8; 16]>::try_from(bytes)) {
        (Ok(v4), _) => Some(std::net::IpAddr::from(v4).to_string()),
        (_, Ok(v6)) => Some(std::net::IpAddr::from(v6).to_string()),
        _ => None,
    };
    let names = all.iter().filter_map(|name| {
        name.dnsname().map(str::to_owned).or_else(|| name.ipaddress().and_then(text))
    });
    names.collect()
}

fn unix_s(time: &Asn1TimeRef) -> Option<i64> {
    let since = Asn1Time::from_unix(0).ok()?.diff(time).ok()?;
    Some(i64::from(since.days) * 86_400 + i64::from(since.secs))
}
