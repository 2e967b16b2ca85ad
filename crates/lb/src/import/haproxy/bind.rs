//! `bind`: addresses, ports and TLS of services.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::Import;
use crate::config::{ClientAuth, H2c, Pem, Tls, TlsVersion};
use crate::import::Directive;

/// Ports of one `bind` beyond this number are not written out.
const PORTS_MAX: u16 = 64;

/// What one `bind` opens.
pub(super) struct Bind {
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) tls: Option<Tls>,
    pub(super) accept_proxy: bool,
    pub(super) h2c: Option<H2c>,
}

/// Parameters that have no influence, or that are the engine's own way.
const NOT_NEEDED: [&str; 10] = [
    "v4v6",
    "v6only",
    "transparent",
    "defer-accept",
    "tfo",
    "name",
    "backlog",
    "process",
    "thread",
    "id",
];

/// Parameters of `bind` with a value.
const WITH_VALUE: [&str; 24] = [
    "proto",
    "crt",
    "ca-file",
    "verify",
    "alpn",
    "ssl-min-ver",
    "name",
    "backlog",
    "process",
    "thread",
    "id",
    "crt-list",
    "ssl-max-ver",
    "npn",
    "ciphers",
    "ciphersuites",
    "curves",
    "ecdhe",
    "maxconn",
    "interface",
    "crl-file",
    "user",
    "group",
    "mode",
];

impl Import {
    /// Reads a `bind`; parameters without an equal go into the report.
    pub(super) fn bind(&mut self, bind: &Directive) -> Bind {
        let mut addresses = Vec::new();
        for text in bind.parameter(0).split(',') {
            match ports(text) {
                Ok(found) => addresses.extend(found),
                Err(reason) => self.report.missing(bind, reason),
            }
        }
        let mut tls = Tls::default();
        let (mut encrypted, mut accept_proxy, mut verify) = (false, false, "");
        let mut h2c = None;
        let mut words = bind.parameters().iter().skip(1).map(String::as_str);
        while let Some(word) = words.next() {
            let value =
                if WITH_VALUE.contains(&word) { words.next().unwrap_or_default() } else { "" };
            match word {
                "ssl" => encrypted = true,
                "proto" if value == "h2" => h2c = Some(H2c::Only),
                "accept-proxy" => accept_proxy = true,
                "strict-sni" => tls.strict_sni = true,
                "crt" if PathBuf::from(value).is_dir() => {
                    self.report.missing(bind, "a folder of certificates; name each file");
                }
                "crt" => tls.certificates.push(self.certificate(&PathBuf::from(value))),
                "crt-list" => tls.certificates.extend(self.listed(bind, value)),
                "ca-file" => tls.client_ca = Some(Pem::File(PathBuf::from(value))),
                "verify" => verify = value,
                "alpn" => tls.alpn = value.split(',').map(str::to_owned).collect(),
                "ssl-min-ver" if value == "TLSv1.3" => tls.min_version = TlsVersion::V13,
                "ssl-min-ver" if value == "TLSv1.2" => {}
                "ssl-min-ver" => self.report.differs(bind, "TLS 1.2 is the oldest version"),
                "ciphers" | "ciphersuites" | "curves" | "ecdhe" => {
                    self.report.differs(bind, format!("'{word}': the engine's own choice is used"));
                }
                _ if NOT_NEEDED.contains(&word) => {}
                _ => self.report.missing(bind, format!("the parameter '{word}' is not supported")),
            }
        }
        tls.client_auth = match (verify, tls.client_ca.is_some()) {
            ("optional", true) => ClientAuth::Optional,
            ("required", true) => ClientAuth::Require,
            _ => ClientAuth::None,
        };
        if encrypted && tls.certificates.is_empty() {
            self.report
                .missing(bind, "TLS without 'crt FILE' is not supported; nothing listens here");
            addresses.clear();
        }
        Bind { addresses, tls: encrypted.then_some(tls), accept_proxy, h2c }
    }
}

impl Import {
    /// Certificates of a `crt-list`: a file on each line, then options in brackets and names.
    fn listed(&mut self, bind: &Directive, list: &str) -> Vec<String> {
        let Ok(text) = std::fs::read_to_string(list) else {
            self.report.missing(bind, format!("'{list}' cannot be read"));
            return Vec::new();
        };
        let mut certificates = Vec::new();
        for line in
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let mut words = line.split_whitespace();
            let file = words.next().unwrap_or_default();
            if words.next().is_some() {
                self.report
                    .differs(bind, format!("'{file}': used for the names in the certificate"));
            }
            certificates.push(self.certificate(&PathBuf::from(file)));
        }
        certificates
    }
}

/// `*:80`, `:80`, `10.0.0.1:80-82`, `[::]:80`, `ipv4@10.0.0.1:80`, `:::80`.
fn ports(text: &str) -> Result<Vec<SocketAddr>, String> {
    let wrong = || format!("'{text}' is not an address with a port");
    let (address, ports) = text.rsplit_once(':').ok_or_else(wrong)?;
    let address = address.trim_start_matches("ipv4@").trim_start_matches("ipv6@");
    let ip: IpAddr = match address.trim_start_matches('[').trim_end_matches(']') {
        "" | "*" => Ipv4Addr::UNSPECIFIED.into(),
        "::" => Ipv6Addr::UNSPECIFIED.into(),
        address => address.parse().map_err(|_| wrong())?,
    };
    let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
    let (first, last): (u16, u16) =
        (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    if first == 0 || last < first || last - first >= PORTS_MAX {
        return Err(format!("'{ports}' is not a range of at most {PORTS_MAX} ports"));
    }
    Ok((first..=last).map(|port| SocketAddr::new(ip, port)).collect())
}
