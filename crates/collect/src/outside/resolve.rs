//! Addresses of servers.

use std::net::{IpAddr, SocketAddr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Takes IP addresses as they are. The library starts a thread for each name that it looks up within a time, also for
/// those that need no looking up.
#[derive(Debug, Default)]
pub(super) struct Addresses(DefaultResolver);

impl Resolver for Addresses {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let wanted = address(uri)
            .and_then(|address| config.ip_family().keep_wanted(std::iter::once(address)).next());
        match wanted {
            Some(address) => {
                let mut found = self.empty();
                found.push(address);
                Ok(found)
            }
            None => self.0.resolve(uri, config, timeout),
        }
    }
}

/// `None` = the URL has a name.
fn address(uri: &Uri) -> Option<SocketAddr> {
    let host = uri.host()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let ip: IpAddr = bare.parse().ok()?;
    let usual = match uri.scheme_str()? {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    Some(SocketAddr::new(ip, uri.port_u16().unwrap_or(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_addresses_need_no_lookup() {
        for (url, wanted) in [
            ("http://127.0.0.1:8080/a", Some("127.0.0.1:8080")),
            ("https://192.0.2.1/", Some("192.0.2.1:443")),
            ("http://[::1]/", Some("[::1]:80")),
            ("http://example.com/", None),
            ("http://127.1/", None),
            ("socks5://127.0.0.1/", None),
        ] {
            let found = address(&url.parse().unwrap()).map(|address| address.to_string());
            assert_eq!(found.as_deref(), wanted, "{url}");
        }
    }
}
