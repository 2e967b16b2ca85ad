//! Certificates, and TLS towards clients.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Pem;

/// A certificate with its key.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Name in `tls.certificates`.
    pub name: String,
    /// The certificate, then its chain.
    pub cert: Pem,
    /// The private key.
    pub key: Pem,
}

/// Responses of OCSP that clients get with certificates (stapling, RFC 6066, 8).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ocsp {
    /// Folder in which they are kept over a restart.
    pub folder: PathBuf,
}

/// A certificate that has not arrived: TLS handshakes for its names are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCertificate {
    /// Name in `tls.certificates`.
    pub name: String,
    /// Host names.
    pub names: Vec<String>,
}

/// The name of HTTP/3 (RFC 9114, 3.1).
pub const HTTP3: &str = "h3";

/// TLS towards clients.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Names of certificates. The first is used for clients that name no known host.
    pub certificates: Vec<String>,
    /// Application protocols, in order of preference. `h3` opens the UDP port for HTTP/3.
    #[serde(default)]
    pub alpn: Vec<String>,
    /// Value of `Alt-Svc` in responses of HTTP/1.1 and HTTP/2 of services with `h3`; empty: none. Default: their
    /// port, for a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt_svc: Option<String>,
    /// Oldest version.
    #[serde(default)]
    pub min_version: TlsVersion,
    /// Clients that name no host of a certificate are refused.
    #[serde(default)]
    pub strict_sni: bool,
    /// The authorities of client certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ca: Option<Pem>,
    /// Certificate revocation lists of these authorities, in PEM format; default: none are checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_crl: Option<Pem>,
    /// How clients are treated whose list has expired.
    #[serde(default, skip_serializing_if = "ExpiredCrl::is_default")]
    pub expired_crl: ExpiredCrl,
    /// Whether a client certificate is required.
    #[serde(default)]
    pub client_auth: ClientAuth,
}

/// How certificates are treated whose revocation list should have been replaced (RFC 5280, 5.1.2.5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpiredCrl {
    /// All of them are refused.
    #[default]
    Refuse,
    /// Those that the list does not name are accepted.
    Accept,
}

impl ExpiredCrl {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::Refuse
    }
}

/// Client certificates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuth {
    /// Never asked for.
    #[default]
    None,
    /// Checked if the client has one.
    Optional,
    /// Clients without one are refused.
    Require,
}

/// A version of TLS that clients or servers may be required to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum TlsVersion {
    /// TLS 1.2, with forward secrecy only.
    #[default]
    #[serde(rename = "1.2")]
    V12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    V13,
}
