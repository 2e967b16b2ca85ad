//! Cookies of one run of requests (RFC 6265): kept as long as the run lasts, never written down.

use cookie::Cookie as SetCookie;

use super::Url;

/// Cookies of one jar.
const COOKIES_MAX: usize = 300;
/// Bytes of name and value.
const COOKIE_BYTES_MAX: usize = 8190;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    /// Small letters, no leading dot.
    domain: String,
    /// Only this host, none of its subdomains.
    host_only: bool,
    path: String,
    secure: bool,
}

/// What servers asked to be told again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jar(Vec<Cookie>);

impl Jar {
    /// Takes what an answer from `url` sets at `now_s` (seconds since 1970), the values of its
    /// headers `Set-Cookie`.
    pub fn take<'a>(&mut self, url: &Url, headers: impl Iterator<Item = &'a str>, now_s: u64) {
        for header in headers {
            let Some((cookie, over)) = read(url, header, now_s) else { continue };
            self.0.retain(|old| {
                (&old.name, &old.domain, &old.path) != (&cookie.name, &cookie.domain, &cookie.path)
            });
            if !over && self.0.len() < COOKIES_MAX {
                self.0.push(cookie);
            }
        }
    }

    /// The header `Cookie` of a request; `None` = nothing to tell.
    pub fn header(&self, url: &Url) -> Option<String> {
        let path = url.target.split('?').next().unwrap_or_default();
        let host = url.host.to_ascii_lowercase();
        let mut told: Vec<&Cookie> = self
            .0
            .iter()
            .filter(|cookie| {
                (!cookie.secure || url.https)
                    && path_matches(path, &cookie.path)
                    && match cookie.host_only {
                        true => cookie.domain == host,
                        false => belongs(&host, &cookie.domain),
                    }
            })
            .collect();
        // Longer paths first; equal ones as they came.
        told.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> =
            told.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// A cookie, and whether it is over already. A run of requests is over before any date to come.
fn read(url: &Url, header: &str, now_s: u64) -> Option<(Cookie, bool)> {
    if header.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return None;
    }
    let said = SetCookie::parse(header).ok()?;
    let (name, value) = said.name_value();
    if name.len() + value.len() > COOKIE_BYTES_MAX {
        return None;
    }
    let host = url.host.to_ascii_lowercase();
    let domain = said.domain().map(|domain| domain.to_ascii_lowercase()).unwrap_or_default();
    let (domain, host_only) = match domain.is_empty() {
        true => (host, true),
        false if domain == host => (host, false),
        // One label is nobody's own: such a cookie would go to everybody below it.
        false if !belongs(&host, &domain) || !domain.contains('.') => return None,
        false => (domain, false),
    };
    let folder = || {
        let path = url.target.split('?').next().unwrap_or_default();
        match path.rfind('/') {
            None | Some(0) => "/".to_owned(),
            Some(at) => path[..at].to_owned(),
        }
    };
    let path = said.path().filter(|path| path.starts_with('/'));
    let over = match (said.max_age(), said.expires_datetime()) {
        (Some(age), _) => age.is_zero(),
        (None, Some(end)) => end.unix_timestamp() <= i64::try_from(now_s).unwrap_or(i64::MAX),
        (None, None) => false,
    };
    let cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain,
        host_only,
        path: path.map_or_else(folder, str::to_owned),
        secure: said.secure().unwrap_or(false),
    };
    Some((cookie, over))
}

fn belongs(host: &str, domain: &str) -> bool {
    let numeric = host.parse::<std::net::IpAddr>().is_ok();
    host == domain
        || (!numeric && host.strip_suffix(domain).is_some_and(|front| front.ends_with('.')))
}

fn path_matches(path: &str, wanted: &str) -> bool {
    match path.strip_prefix(wanted) {
        Some(rest) => rest.is_empty() || wanted.ends_with('/') || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In November 2023.
    const NOW_S: u64 = 1_700_000_000;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn told(from: &str, headers: &[&str], to: &str) -> String {
        let mut jar = Jar::default();
        jar.take(&url(from), headers.iter().copied(), NOW_S);
        jar.header(&url(to)).unwrap_or_default()
    }

    #[test]
    fn each_listener_gets_its_events() {
        let from = "http://www.a.example/x/y?q";
        for (set, to, expected) in [
            ("a=1", "http://www.a.example/x/", "a=1"),
            ("a=1", "http://www.a.example/x", "a=1"),
            ("a=1", "http://www.a.example/xy", ""),
            ("a=1; Path=/", "http://www.a.example/z", "a=1"),
            ("a=1; path=/", "http://b.www.a.example/", ""),
            ("a=1; path=/; Domain=.A.example", "http://b.a.example/", "a=1"),
            ("a=1; path=/; Domain=www.a.example", "http://b.www.a.example/", "a=1"),
            ("a=1; path=/; Domain=b.example", "http://b.example/", ""),
            ("a=1; path=/; Domain=example", "http://b.example/", ""),
            ("a=1; path=/; secure", "http://www.a.example/", ""),
            ("a=1; path=/; secure", "https://www.a.example/", "a=1"),
            ("a=\"b c\"; path=/", "http://WWW.a.example/", "a=\"b c\""),
            ("a=; path=/", "http://www.a.example/", "a="),
            ("=1", from, ""),
            ("a", from, ""),
            ("a=1; Max-Age=0", from, ""),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", from, ""),
            ("a=1; Max-Age=60", from, "a=1"),
            ("a=1; Expires=Tue, 14-Nov-2023 22:13:20 GMT", from, ""),
            ("a=1; Expires=Tue, 14 Nov 2023 22:13:21 GMT", from, "a=1"),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", from, "a=1"),
            ("a=1; Expires=never", from, "a=1"),
            ("a=\u{1}", from, ""),
        ] {
            assert_eq!(told(from, &[set], to), expected, "{set} {to}");
        }
        let many =
            ["a=1; path=/", "b=2; path=/x", "a=3; path=/", "c=4; path=/", "c=; path=/; max-age=-1"];
        assert_eq!(told(from, &many, from), "b=2; a=3");
        assert_eq!(told("http://1.2.3.4/", &["a=1; domain=3.4"], "http://9.3.4/"), "");
    }

    #[test]
    fn a_jar_is_bounded() {
        let from = url("http://a/");
        let mut jar = Jar::default();
        let cookies: Vec<String> = (0..COOKIES_MAX + 10).map(|n| format!("n{n}=1")).collect();
        jar.take(&from, cookies.iter().map(String::as_str), NOW_S);
        let long = format!("long={}", "x".repeat(COOKIE_BYTES_MAX));
        jar.take(&from, [long.as_str()].into_iter(), NOW_S);
        assert_eq!(jar.header(&from).unwrap().split("; ").count(), COOKIES_MAX);
    }
}
