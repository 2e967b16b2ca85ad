//! Certificates that a certificate authority issues by ACME (RFC 8555), and what is wrong with their
//! configuration.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Config, Kind, Pem, VirtualService, is_host_name};

/// Names in one certificate; public authorities accept no more.
const DOMAINS_MAX: usize = 100;
/// Bytes of a certificate's name, which is the name of a file.
const NAME_MAX: usize = 100;

/// Automatic certificates: one account at one certificate authority.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Acme {
    /// Folder of the account and the certificates, that no other engine writes to.
    pub folder: PathBuf,
    /// URL of the authority's directory (RFC 8555, 7.1.1); default: Let's Encrypt.
    #[serde(default = "Acme::lets_encrypt")]
    pub directory: String,
    /// Authorities of the directory's own certificate, in addition to the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<Pem>,
    /// Mail addresses that the authority may write to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<String>,
    /// The user agrees to the authority's terms of service.
    #[serde(default)]
    pub terms_agreed: bool,
    /// Port of this engine that receives what clients send to port 80.
    #[serde(default = "Acme::http_port")]
    pub http_port: u16,
    /// Port of this engine that receives what clients send to port 443.
    #[serde(default = "Acme::tls_port")]
    pub tls_port: u16,
    /// Program that sets and removes TXT records, for `dns-01`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_hook: Option<PathBuf>,
    /// What is ordered, each with its own key.
    pub certificates: Vec<AcmeCertificate>,
}

/// A certificate that is ordered and renewed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AcmeCertificate {
    /// Name in `tls.certificates`, and of its file.
    pub name: String,
    /// Host names.
    pub domains: Vec<String>,
    /// How the authority checks that the names lead to this engine.
    #[serde(default)]
    pub challenge: Challenge,
}

/// How the authority checks a host name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Challenge {
    /// A request to port 80 (RFC 8555, 8.3).
    #[default]
    #[serde(rename = "http-01")]
    Http01,
    /// A TLS handshake on port 443 (RFC 8737).
    #[serde(rename = "tls-alpn-01")]
    TlsAlpn01,
    /// A TXT record (RFC 8555, 8.4).
    #[serde(rename = "dns-01")]
    Dns01,
}

impl Acme {
    fn lets_encrypt() -> String {
        "https://acme-v02.api.letsencrypt.org/directory".to_owned()
    }

    const fn http_port() -> u16 {
        80
    }

    const fn tls_port() -> u16 {
        443
    }

    /// Checks the certificates against the rest of the configuration.
    ///
    /// # Errors
    /// All problems, each with its remedy.
    pub fn check(&self, config: &Config) -> Result<(), Vec<String>> {
        let mut problems = Vec::new();
        if !self.terms_agreed {
            problems.push(
                "'acme.terms_agreed' is not true; read the terms of service of the authority and \
                 set it to true if you agree"
                    .to_owned(),
            );
        }
        if !is_https(&self.directory) {
            problems.push(format!(
                "'acme.directory': '{}' is not a URL of https, such as {}",
                self.directory,
                Self::lets_encrypt()
            ));
        }
        for contact in self.contact.iter().filter(|contact| !is_mail_address(contact)) {
            problems.push(format!(
                "'acme.contact': '{contact}' is not a mail address, such as admin@example.com"
            ));
        }
        let mut names: HashSet<&str> =
            config.certificates.iter().map(|certificate| &*certificate.name).collect();
        for certificate in &self.certificates {
            let name = &certificate.name;
            if !names.insert(name) {
                problems.push(format!("certificate '{name}' exists twice"));
            }
            if let Err(problem) = certificate.check().and_then(|()| self.reach(certificate, config))
            {
                problems.push(format!("certificate '{name}': {problem}"));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Whether the authority's check arrives at a virtual service that passes it.
    fn reach(&self, certificate: &AcmeCertificate, config: &Config) -> Result<(), String> {
        let on = |service: &&VirtualService, port: u16| {
            service.listen.addresses().iter().any(|address| address.port() == port)
        };
        let mut services = config.virtual_services.iter();
        match certificate.challenge {
            Challenge::Http01 => {
                let port = self.http_port;
                let found = services.any(|service| {
                    on(&service, port) && service.kind == Kind::Http && service.tls.is_none()
                });
                if found { Ok(()) } else { Err(no_http(port)) }
            }
            Challenge::TlsAlpn01 => {
                let port = self.tls_port;
                let found = services.any(|service| {
                    let tls = service.tls.as_ref();
                    on(&service, port)
                        && tls.is_some_and(|tls| tls.certificates.contains(&certificate.name))
                });
                if found { Ok(()) } else { Err(no_tls(port)) }
            }
            Challenge::Dns01 if self.dns_hook.is_none() => {
                Err("'dns-01' needs 'acme.dns_hook', a program that sets and removes TXT records"
                    .to_owned())
            }
            Challenge::Dns01 => Ok(()),
        }
    }
}

fn no_http(port: u16) -> String {
    format!(
        "'http-01' needs a virtual service of type http without TLS on port {port}; add one, or name \
         the port that receives what clients send to port 80 in 'acme.http_port'"
    )
}

fn no_tls(port: u16) -> String {
    format!(
        "'tls-alpn-01' needs a virtual service on port {port} with this name in 'tls.certificates'; \
         add one, or name the port that receives what clients send to port 443 in 'acme.tls_port'"
    )
}

impl AcmeCertificate {
    /// Checks the certificate by itself.
    fn check(&self) -> Result<(), String> {
        if !is_file_name(&self.name) {
            return Err(format!(
                "the name is that of a file: use up to {NAME_MAX} letters, digits, '-', '_' and '.', \
                 without '.' at the start"
            ));
        }
        check_domains(&self.domains, self.challenge)
    }

    /// The domains as they are ordered: in lower case, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        ordered_names(&self.domains)
    }
}

/// A certificate that the server orders for its engines, as the API's `certificate.acme`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AcmeOrder {
    /// Host names.
    pub domains: Vec<String>,
    /// How the authority checks that the names lead to the engines.
    #[serde(default)]
    pub challenge: Challenge,
    /// URL of the authority's directory; default: Let's Encrypt.
    #[serde(default = "Acme::lets_encrypt")]
    pub directory: String,
    /// Authorities of the directory's own certificate, in addition to the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<Pem>,
    /// Mail addresses that the authority may write to.
    #[serde(default)]
    pub contact: Vec<String>,
    /// The user agrees to the authority's terms of service.
    #[serde(default)]
    pub terms_agreed: bool,
}

impl AcmeOrder {
    /// Checks the order by itself.
    ///
    /// # Errors
    /// The first problem, with its remedy.
    pub fn check(&self) -> Result<(), String> {
        if !self.terms_agreed {
            return Err("'terms_agreed' is not true; read the terms of service of the authority \
                        and set it to true if you agree"
                .to_owned());
        }
        if !is_https(&self.directory) {
            let (given, such) = (&self.directory, Acme::lets_encrypt());
            return Err(format!("'directory': '{given}' is not a URL of https, such as {such}"));
        }
        if let Some(contact) = self.contact.iter().find(|contact| !is_mail_address(contact)) {
            return Err(format!(
                "'contact': '{contact}' is not a mail address, such as admin@example.com"
            ));
        }
        check_domains(&self.domains, self.challenge)
    }

    /// The domains as they are ordered: in lower case, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        ordered_names(&self.domains)
    }
}

fn ordered_names(domains: &[String]) -> Vec<String> {
    let mut names: Vec<String> = domains.iter().map(|domain| domain.to_ascii_lowercase()).collect();
    names.sort_unstable();
    names
}

fn check_domains(domains: &[String], challenge: Challenge) -> Result<(), String> {
    if domains.is_empty() {
        return Err("'domains' is empty; add at least one host name".to_owned());
    }
    if domains.len() > DOMAINS_MAX {
        return Err(format!("it has {} domains, the limit is {DOMAINS_MAX}", domains.len()));
    }
    let mut seen = HashSet::new();
    for domain in domains {
        let wildcard = domain.strip_prefix("*.");
        if wildcard.is_some() && challenge != Challenge::Dns01 {
            return Err(format!(
                "'{domain}': a wildcard needs the challenge dns-01; change 'challenge' or list \
                 the host names"
            ));
        }
        let domain = wildcard.unwrap_or(domain);
        if domain.parse::<std::net::IpAddr>().is_ok() {
            return Err(format!("'{domain}': addresses are not supported; use host names"));
        }
        if !is_host_name(domain) || !domain.contains('.') || domain.contains('_') {
            return Err(format!("'{domain}' is not a host name with a domain"));
        }
        if !seen.insert((wildcard.is_some(), domain.to_ascii_lowercase())) {
            return Err(format!("'{domain}' exists twice"));
        }
    }
    Ok(())
}

fn is_https(url: &str) -> bool {
    url.strip_prefix("https://").is_some_and(|rest| {
        !rest.starts_with('/') && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_graphic())
    })
}

fn is_mail_address(text: &str) -> bool {
    // A comma begins another address, a question mark header fields (RFC 8555, 7.3).
    let plain = text.bytes().all(|b| b.is_ascii_graphic() && !b",?:<>".contains(&b));
    let (local, domain) = text.rsplit_once('@').unwrap_or_default();
    plain && !local.is_empty() && is_host_name(domain)
}

fn is_file_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && !text.starts_with('.')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}
