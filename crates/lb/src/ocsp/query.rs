//! The question about a certificate, and whether a response is one to it.

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use openssl::asn1::Asn1GeneralizedTimeRef;
use openssl::hash::MessageDigest;
use openssl::ocsp::{
    OcspCertId, OcspCertStatus, OcspFlag, OcspRequest, OcspResponse, OcspResponseStatus,
};
use openssl::stack::Stack;
use openssl::x509::X509;
use openssl::x509::store::X509StoreBuilder;
use openssl::x509::verify::X509VerifyFlags;
use rustls::pki_types::CertificateDer;
use x509_parser::parse_x509_certificate;

use super::UNLIMITED_S;

/// Clocks may differ by this many seconds.
const SKEW_S: u32 = 300;
/// The extension with which a certificate demands a response (RFC 7633, 4.2.3.1).
const TLS_FEATURE: &str = "1.3.6.1.5.5.7.1.24";
/// Its value with `status_request`, 5 (RFC 6066, 8).
const STATUS_REQUEST: &[u8] = &[0x02, 0x01, 0x05];

/// What is asked about a certificate.
pub(super) struct Query {
    /// Where; begins with `http://`.
    pub(super) url: String,
    /// The question, DER.
    pub(super) request: Vec<u8>,
    subject: X509,
    issuer: X509,
}

impl std::fmt::Debug for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query").field("url", &self.url).finish_non_exhaustive()
    }
}

/// What the authority says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The certificate is good until then; Unix time in seconds.
    Good { until_s: u64 },
    /// The authority has revoked the certificate.
    Revoked,
}

/// Whether a certificate demands that a response is shown with it.
pub(crate) fn is_demanded(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, parsed)) = parse_x509_certificate(certificate) else { return false };
    let feature = parsed.extensions().iter().find(|one| one.oid.to_id_string() == TLS_FEATURE);
    feature.is_some_and(|feature| {
        feature.value.windows(STATUS_REQUEST.len()).any(|part| part == STATUS_REQUEST)
    })
}

impl Query {
    /// `None`: the certificate names no responder, or its issuer is not in the chain.
    pub(super) fn of(chain: &[CertificateDer<'_>]) -> Option<Self> {
        let [subject, issuer, ..] = chain else { return None };
        let subject = X509::from_der(subject).ok()?;
        let issuer = X509::from_der(issuer).ok()?;
        // An error also when there are none.
        let responders = subject.ocsp_responders().ok()?;
        let url = responders.iter().map(|url| &**url).find(|url| url.starts_with("http://"))?;
        let mut request = OcspRequest::new().ok()?;
        request.add_id(id(&subject, &issuer).ok()?).ok()?;
        let (url, request) = (url.to_owned(), request.to_der().ok()?);
        Some(Self { url, request, subject, issuer })
    }

    /// What a response says about this certificate now, if the authority has signed it.
    pub(super) fn check(&self, response: &[u8]) -> Result<Verdict, String> {
        let unreadable = |_| "the response is not one of OCSP".to_owned();
        let response = OcspResponse::from_der(response).map_err(unreadable)?;
        let status = response.status();
        if status != OcspResponseStatus::SUCCESSFUL {
            return Err(format!(
                "the responder refuses the request with status {}",
                status.as_raw()
            ));
        }
        let basic = response.basic().map_err(unreadable)?;
        let verified = || {
            let mut store = X509StoreBuilder::new()?;
            store.add_cert(self.issuer.clone())?;
            // The issuer need not be a root.
            store.set_flags(X509VerifyFlags::PARTIAL_CHAIN)?;
            let mut certificates = Stack::new()?;
            certificates.push(self.issuer.clone())?;
            basic.verify(&certificates, &store.build(), OcspFlag::empty())
        };
        verified()
            .map_err(|error| format!("the authority has not signed the response: {error}"))?;
        let id = id(&self.subject, &self.issuer).map_err(|error| error.to_string())?;
        let status = basic.find_status(&id).ok_or("the response is about other certificates")?;
        let age_max_s = status.next_update().is_none().then_some(UNLIMITED_S);
        status
            .check_validity(SKEW_S, age_max_s)
            .map_err(|error| format!("the response is not valid now: {error}"))?;
        match status.status {
            OcspCertStatus::GOOD => {}
            OcspCertStatus::REVOKED => return Ok(Verdict::Revoked),
            _ => return Err("the responder does not know the certificate".to_owned()),
        }
        let until_s = match status.next_update() {
            Some(until) => unix_s(until)?,
            None => unix_s(status.this_update)? + u64::from(UNLIMITED_S),
        };
        Ok(Verdict::Good { until_s })
    }
}

fn id(subject: &X509, issuer: &X509) -> Result<OcspCertId, openssl::error::ErrorStack> {
    // Responders know certificates by SHA-1 of their issuer (RFC 5019, 2.1.1).
    OcspCertId::from_cert(MessageDigest::sha1(), subject, issuer)
}

/// OpenSSL gives such a time as a text alone.
fn unix_s(time: &Asn1GeneralizedTimeRef) -> Result<u64, String> {
    let text = time.to_string();
    let parsed = strtime::parse("%b %d %H:%M:%S %Y", text.trim_end_matches(" GMT"))
        .and_then(|parsed| parsed.to_datetime())
        .and_then(|time| time.to_zoned(TimeZone::UTC));
    let seconds = parsed.map_err(|error| format!("{text}: {error}"))?.timestamp().as_second();
    u64::try_from(seconds).map_err(|_| format!("{text} is before 1970"))
}

#[cfg(test)]
mod tests {
    use openssl::asn1::Asn1GeneralizedTime;
    use rcgen::{CertificateParams, CustomExtension, KeyPair};

    use super::*;

    #[test]
    fn certificate_without_responder_is_not_queried() {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        let chain = [certificate.der().clone(), certificate.der().clone()];
        assert!(Query::of(&chain).is_none());
        assert!(Query::of(&chain[..1]).is_none());
        assert!(!is_demanded(&chain[0]));
        let mut params = CertificateParams::default();
        let value = vec![0x30, 0x03, 0x02, 0x01, 0x05];
        params.custom_extensions =
            vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 24], value)];
        assert!(is_demanded(params.self_signed(&key).unwrap().der()));
    }

    #[test]
    fn a_time_of_a_response_is_read() {
        let time = Asn1GeneralizedTime::from_str("20000101000100Z").unwrap();
        assert_eq!(unix_s(&time), Ok(946_684_860));
    }
}
