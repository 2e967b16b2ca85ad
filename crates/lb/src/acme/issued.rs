//! A certificate as the authority issued it.

use std::sync::Arc;

use instant_acme::CertificateIdentifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::parse_x509_certificate;

use super::schedule::Validity;
use super::wanted::Wanted;

/// A certificate with its key, as it was issued.
#[derive(Debug, Clone)]
pub struct Issued {
    /// URL of the directory.
    pub(super) directory: String,
    pub(super) key: Arc<CertifiedKey>,
    pub(super) validity: Validity,
    /// Host names in lower case, sorted.
    pub(super) names: Vec<String>,
    /// The key and the chain in PEM format.
    pem: String,
}

impl Issued {
    /// Reads a key and a chain in PEM format that an authority with this directory has issued.
    ///
    /// # Errors
    /// What is missing, or does not fit together.
    pub fn new(directory: &str, pem: String) -> Result<Self, String> {
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| format!("there is no private key: {error}"))?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
        let chain = chain.map_err(|error| format!("the certificates cannot be read: {error}"))?;
        let leaf = chain.first().ok_or("there is no certificate")?;
        let end = webpki::EndEntityCert::try_from(leaf)
            .map_err(|error| format!("the certificate cannot be read: {error}"))?;
        let mut names: Vec<String> = end.valid_dns_names().map(str::to_ascii_lowercase).collect();
        names.sort_unstable();
        let (_, parsed) = parse_x509_certificate(leaf)
            .map_err(|error| format!("the certificate cannot be read: {error}"))?;
        let second = |time: x509_parser::time::ASN1Time| u64::try_from(time.timestamp());
        let validity = parsed.validity();
        let (Ok(from_s), Ok(until_s)) = (second(validity.not_before), second(validity.not_after))
        else {
            return Err("the certificate has times before 1970".to_owned());
        };
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let key = CertifiedKey::from_der(chain, key, &provider)
            .map_err(|error| format!("the certificate and the key do not fit together: {error}"))?;
        let validity = Validity { from_s, until_s };
        Ok(Self { directory: directory.to_owned(), key: Arc::new(key), validity, names, pem })
    }

    /// The key and the chain in PEM format.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Whether it is one of this authority for all of these host names.
    pub(super) fn serves(&self, wanted: &Wanted) -> bool {
        self.directory == wanted.authority.directory
            && wanted.names.iter().all(|name| self.names.binary_search(name).is_ok())
    }

    /// How the authority calls the certificate (RFC 9773, 4.1).
    pub(super) fn identifier(&self) -> Option<CertificateIdentifier<'static>> {
        let found = CertificateIdentifier::try_from(self.key.cert.first()?).ok()?;
        Some(found.into_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::acme::wanted::Authority;
    use crate::config::Challenge;

    /// A key and its certificate for these names.
    pub(in crate::acme) fn pem(names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        format!("{}{}", made.signing_key.serialize_pem(), made.cert.pem())
    }

    /// An order of one name.
    pub(in crate::acme) fn wanted(name: &str) -> Wanted {
        Wanted {
            key: name.to_owned(),
            name: name.to_owned(),
            names: vec!["a.example.com".to_owned()],
            authority: Arc::new(Authority {
                directory: "https://ca/dir".to_owned(),
                ca: None,
                contact: Vec::new(),
                terms_agreed: true,
                dns_hook: None,
            }),
            challenge: Challenge::Http01,
            requested_s: 0,
        }
    }

    pub(in crate::acme) fn between(from_s: u64, until_s: u64) -> Validity {
        Validity { from_s, until_s }
    }
}
