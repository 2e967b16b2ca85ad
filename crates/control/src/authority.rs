//! The certificate authority that the server and its engines trust, and the certificates it issues.

use std::time::Duration;

use anyhow::{Context, bail};
use config::Config;
use config::engines::{self, StoredAuthority};
use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::bn::{BigNum, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{HasPublic, PKey, PKeyRef, Private};
use openssl::stack::Stack;
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, KeyUsage};
use openssl::x509::store::X509StoreBuilder;
use openssl::x509::verify::X509VerifyParam;
use openssl::x509::{
    X509, X509Name, X509PurposeId, X509Ref, X509Req, X509StoreContext, X509VerifyResult,
};

/// Certificates are valid from a day ago, because clocks differ.
const EARLIER: Duration = Duration::from_secs(86_400);
/// The authority and the certificates of the server, which gets a new one at each start. An engine is locked
/// out by deleting it, not by time.
const VALID: Duration = Duration::from_secs(20 * 365 * 86_400);
/// Certificates of engines, which renew them when a third of the time is left.
const ENGINE_VALID: Duration = Duration::from_secs(365 * 86_400);

/// The authority with its key.
pub struct Authority {
    certificate: X509,
    key: PKey<Private>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

/// What a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    Authority,
    Server,
    Engine,
}

impl Authority {
    /// The authority of this configuration; the first call creates it. `now` = Unix time.
    ///
    /// # Errors
    /// The database, or a stored authority that cannot be read.
    pub fn of(config: &Config, now: Duration) -> anyhow::Result<Self> {
        let made = Self::new(now).context("cannot create the authority of engines")?;
        let new = StoredAuthority {
            certificate: String::from_utf8(made.certificate.to_pem()?)?,
            private_key: String::from_utf8(made.key.private_key_to_pem_pkcs8()?)?,
        };
        let stored =
            engines::authority(config, &new).context("cannot store the authority of engines")?;
        let damaged = "the authority of engines in the database cannot be read";
        Ok(Self {
            certificate: X509::from_pem(stored.certificate.as_bytes()).context(damaged)?,
            key: PKey::private_key_from_pem(stored.private_key.as_bytes()).context(damaged)?,
        })
    }

    fn new(now: Duration) -> anyhow::Result<Self> {
        let key = new_key()?;
        let issue = Issue { name: "Vedette engines", usage: Usage::Authority, now };
        let certificate = issue.sign(&key, None, &key)?;
        Ok(Self { certificate, key })
    }

    /// SHA-256 of the certificate in hexadecimal digits: the part of a token by which an engine
    /// recognises its server.
    ///
    /// # Errors
    /// OpenSSL has no memory.
    pub fn fingerprint(&self) -> anyhow::Result<String> {
        fingerprint(&self.certificate)
    }

    /// The authority's own certificate.
    #[must_use]
    pub fn certificate(&self) -> &X509Ref {
        &self.certificate
    }

    /// A new key and certificate for the server's side of the link.
    pub(crate) fn server(&self, now: Duration) -> anyhow::Result<(X509, PKey<Private>)> {
        let key = new_key()?;
        let issue = Issue { name: "Vedette server", usage: Usage::Server, now };
        let certificate = issue.sign(&key, Some(&self.certificate), &self.key)?;
        Ok((certificate, key))
    }

    /// The certificate of an engine, for the key that signed the request (PKCS #10, DER). The name is
    /// ours, whatever the request says.
    pub(crate) fn engine(&self, id: u64, request: &[u8], now: Duration) -> anyhow::Result<X509> {
        let request = X509Req::from_der(request).context("this is not a certificate request")?;
        let key = request.public_key()?;
        if !request.verify(&key)? {
            bail!("the certificate request is not signed with its key");
        }
        let issue = Issue { name: &engine_name(id), usage: Usage::Engine, now };
        issue.sign(&key, Some(&self.certificate), &self.key)
    }
}

/// Checks that an authority issued a server's certificate.
pub(crate) fn verify_server(certificate: &X509, authority: &X509) -> anyhow::Result<()> {
    let mut store = X509StoreBuilder::new()?;
    store.add_cert(authority.clone())?;
    let mut param = X509VerifyParam::new()?;
    param.set_purpose(X509PurposeId::SSL_SERVER)?;
    store.set_param(&param)?;
    let mut context = X509StoreContext::new()?;
    let mut why = X509VerifyResult::OK;
    let between = Stack::new()?;
    let valid = context.init(&store.build(), certificate, &between, |context| {
        let valid = context.verify_cert()?;
        why = context.error();
        Ok(valid)
    })?;
    if !valid {
        bail!("the server's certificate is not valid: {why}");
    }
    Ok(())
}

const ENGINE_PREFIX: &str = "engine ";

fn engine_name(id: u64) -> String {
    format!("{ENGINE_PREFIX}{id}")
}

/// The id of the engine that a verified certificate names.
pub(crate) fn engine_id(certificate: &X509Ref) -> Option<u64> {
    let name = certificate.subject_name().entries_by_nid(Nid::COMMONNAME).next()?;
    let name = name.data().to_string().ok()?;
    name.strip_prefix(ENGINE_PREFIX)?.parse().ok()
}

/// Unix time of a certificate's end in seconds.
pub(crate) fn until_s(certificate: &X509Ref) -> Option<u64> {
    unix_s(certificate.not_after())
}

/// Whether a certificate is to be renewed: a third of its time is left. `now_s`: Unix time in seconds.
pub(crate) fn is_due(certificate: &X509Ref, now_s: u64) -> bool {
    let times = unix_s(certificate.not_before()).zip(until_s(certificate));
    times.is_some_and(|(from_s, until_s)| now_s >= until_s - until_s.saturating_sub(from_s) / 3)
}

fn unix_s(time: &Asn1TimeRef) -> Option<u64> {
    let since = Asn1Time::from_unix(0).ok()?.diff(time).ok()?;
    u64::try_from(i64::from(since.days) * 86_400 + i64::from(since.secs)).ok()
}

/// Checks that an authority issued the certificate of this key.
pub(crate) fn verify_own(
    certificate: &X509Ref,
    key: &PKeyRef<Private>,
    authority: &X509Ref,
) -> anyhow::Result<()> {
    if !certificate.public_key()?.public_eq(key) {
        bail!("the certificate is for another key");
    }
    if !certificate.verify(&*authority.public_key()?)? {
        bail!("another authority has issued the certificate");
    }
    Ok(())
}

/// SHA-256 of a certificate in hexadecimal digits.
pub(crate) fn fingerprint(certificate: &X509Ref) -> anyhow::Result<String> {
    use std::fmt::Write;
    let digest = certificate.digest(MessageDigest::sha256())?;
    Ok(digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// A new key on the curve P-256.
pub(crate) fn new_key() -> anyhow::Result<PKey<Private>> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    Ok(PKey::from_ec_key(EcKey::generate(&group)?)?)
}

/// A request for a certificate of a key: PKCS #10, DER.
pub(crate) fn request(key: &PKeyRef<Private>) -> anyhow::Result<Vec<u8>> {
    let mut request = X509Req::builder()?;
    request.set_pubkey(key)?;
    request.sign(key, MessageDigest::sha256())?;
    Ok(request.build().to_der()?)
}

struct Issue<'a> {
    name: &'a str,
    usage: Usage,
    now: Duration,
}

impl Issue<'_> {
    /// `by` = the issuer; `None`: the certificate issues itself.
    fn sign<K: HasPublic>(
        &self,
        key: &PKeyRef<K>,
        by: Option<&X509Ref>,
        with: &PKeyRef<Private>,
    ) -> anyhow::Result<X509> {
        let mut name = X509Name::builder()?;
        name.append_entry_by_nid(Nid::COMMONNAME, self.name)?;
        let name = name.build();
        let mut serial = BigNum::new()?;
        serial.rand(128, MsbOption::MAYBE_ZERO, false)?;
        let mut certificate = X509::builder()?;
        certificate.set_version(2)?;
        certificate.set_serial_number(&*serial.to_asn1_integer()?)?;
        certificate.set_subject_name(&name)?;
        certificate.set_issuer_name(by.map_or(&*name, X509Ref::subject_name))?;
        certificate.set_pubkey(key)?;
        certificate.set_not_before(&*time(self.now.saturating_sub(EARLIER))?)?;
        let year = time(self.now + ENGINE_VALID)?;
        match by {
            // Nothing is valid longer than its issuer.
            Some(by) if self.usage == Usage::Engine && *year < *by.not_after() => {
                certificate.set_not_after(&year)?;
            }
            Some(by) => certificate.set_not_after(by.not_after())?,
            None => certificate.set_not_after(&*time(self.now + VALID)?)?,
        }
        let extensions = match self.usage {
            Usage::Authority => [
                BasicConstraints::new().critical().ca().pathlen(0).build()?,
                KeyUsage::new().critical().key_cert_sign().build()?,
            ],
            Usage::Server => [
                BasicConstraints::new().critical().build()?,
                ExtendedKeyUsage::new().server_auth().build()?,
            ],
            Usage::Engine => [
                BasicConstraints::new().critical().build()?,
                ExtendedKeyUsage::new().client_auth().build()?,
            ],
        };
        for extension in extensions {
            certificate.append_extension(extension)?;
        }
        certificate.sign(with, MessageDigest::sha256())?;
        Ok(certificate.build())
    }
}

fn time(unix: Duration) -> anyhow::Result<Asn1Time> {
    Ok(Asn1Time::from_unix(i64::try_from(unix.as_secs())?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the past, because OpenSSL compares with the clock of the machine.
    const NOW: Duration = Duration::from_secs(1_700_000_000);

    #[test]
    fn only_a_server_of_the_authority_is_accepted() {
        let authority = Authority::new(NOW).unwrap();
        let (server, _) = authority.server(NOW).unwrap();
        verify_server(&server, &authority.certificate).unwrap();
        let other = Authority::new(NOW).unwrap();
        verify_server(&server, &other.certificate).unwrap_err();
        let key = new_key().unwrap();
        let engine = authority.engine(7, &request(&key).unwrap(), NOW).unwrap();
        let error = verify_server(&engine, &authority.certificate).unwrap_err();
        assert!(error.to_string().contains("purpose"), "{error}");
    }

    #[test]
    fn engine_certificate_has_the_name_the_server_chose() {
        let authority = Authority::new(NOW).unwrap();
        let key = new_key().unwrap();
        let engine = authority.engine(7, &request(&key).unwrap(), NOW).unwrap();
        assert_eq!(engine_id(&engine), Some(7));
        assert!(engine.verify(&authority.key).unwrap());
        assert!(engine.public_key().unwrap().public_eq(&key));
        assert_eq!(engine_id(&authority.server(NOW).unwrap().0), None);
        authority.engine(7, b"\x30\x00", NOW).unwrap_err();
        let mut forged = request(&key).unwrap();
        *forged.last_mut().unwrap() ^= 1;
        authority.engine(7, &forged, NOW).unwrap_err();
    }

    #[test]
    fn certificates_of_engines_are_renewed_before_their_year_ends() {
        let authority = Authority::new(NOW).unwrap();
        let key = new_key().unwrap();
        let engine = authority.engine(7, &request(&key).unwrap(), NOW).unwrap();
        let end = NOW + ENGINE_VALID;
        assert_eq!(until_s(&engine), Some(end.as_secs()));
        assert!(!is_due(&engine, NOW.as_secs() + 240 * 86_400));
        assert!(is_due(&engine, NOW.as_secs() + 250 * 86_400));
        verify_own(&engine, &key, &authority.certificate).unwrap();
        let error = verify_own(&engine, &new_key().unwrap(), &authority.certificate).unwrap_err();
        assert!(error.to_string().contains("another key"), "{error}");
        let other = Authority::new(NOW).unwrap();
        verify_own(&engine, &key, &other.certificate).unwrap_err();
        let late = NOW + VALID - Duration::from_secs(86_400);
        let engine = authority.engine(7, &request(&key).unwrap(), late).unwrap();
        assert_eq!(until_s(&engine), until_s(&authority.certificate), "not longer than its issuer");
    }
}
