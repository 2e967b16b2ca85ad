//! Whom a request reaches, and through which proxy.

use wire::http::Url;
use wire::http_auth;

use super::failure::Failure;
use super::tls::TlsWish;

/// The port of proxies that name none.
const PROXY_PORT: u16 = 1080;

/// A proxy for HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) host: String,
    pub(super) port: u16,
    /// `Proxy-Authorization`.
    pub(super) authorization: Option<String>,
}

impl Proxy {
    /// `[http://][user[:password]@]host[:port]`; empty = none.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, Failure> {
        if text.is_empty() {
            return Ok(None);
        }
        let unsupported = || Failure::ProxyScheme(text.to_owned());
        let url = Url::parse(text).map_err(|error| match error {
            wire::http::UrlError::SwitchedOff(_) | wire::http::UrlError::Unknown(_) => {
                unsupported()
            }
            other => Failure::Url(other),
        })?;
        if url.https {
            return Err(unsupported());
        }
        let user = url.user.as_ref();
        let authorization = user.map(|(name, password)| http_auth::basic(name, password));
        let port = url.port.unwrap_or(PROXY_PORT);
        Ok(Some(Self { host: url.host, port, authorization }))
    }

    /// For keys of connections.
    pub(super) fn label(&self) -> String {
        let proof = self.authorization.as_deref().unwrap_or_default();
        format!("{}:{} {proof}", self.host, self.port)
    }
}

/// Whom to reach, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) url: &'a Url,
    pub(super) proxy: Option<&'a Proxy>,
    pub(super) tls: &'a TlsWish<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies() {
        let shown = |text: &str| Proxy::parse(text).map(|proxy| proxy.map(|p| p.label()));
        assert_eq!(shown(""), Ok(None));
        for (text, label) in [
            ("a", "a:1080 "),
            ("http://a:3128", "a:3128 "),
            ("u:p@a:1", "a:1 Basic dTpw"),
            ("http://[::1]:2/", "::1:2 "),
        ] {
            assert_eq!(shown(text), Ok(Some(label.to_owned())), "{text}");
        }
        for text in ["https://a", "socks5://a", "x://y"] {
            assert_eq!(shown(text), Err(Failure::ProxyScheme(text.to_owned())));
        }
    }
}
