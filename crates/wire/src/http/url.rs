//! Where a request goes, read as generously as the field's servers read it: their library leaves
//! alone what the URLs of browsers (the crate `url`) put into codes, and the peer would see it.

use std::borrow::Cow;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};

/// Everything but unreserved characters (RFC 3986).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Schemes that the library of the field's servers knows and that they switch off.
const SWITCHED_OFF: &[&str] = &[
    "dict", "file", "ftp", "ftps", "gopher", "gophers", "imap", "imaps", "ldap", "ldaps", "mqtt",
    "pop3", "pop3s", "rtmp", "rtsp", "scp", "sftp", "smb", "smbs", "smtp", "smtps", "telnet",
    "tftp", "ws", "wss",
];

/// Bytes of a URL: longer ones are nobody's address.
pub const URL_BYTES_MAX: usize = 65_536;

/// Why a text is not a URL. The words are those that the field's servers show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Empty, or with spaces or control characters.
    #[error("URL rejected: Malformed input to a URL function")]
    Malformed,
    /// Nothing between the slashes.
    #[error("URL rejected: No host part in the URL")]
    NoHost,
    /// Characters that no host name has.
    #[error("URL rejected: Bad hostname")]
    BadHost,
    /// Brackets without an address.
    #[error("URL rejected: Bad IPv6 address")]
    BadIpv6,
    /// Not a number, or none of a port.
    #[error("URL rejected: Port number was not a decimal number between 0 and 65535")]
    BadPort,
    /// Known, but not HTTP.
    #[error("Protocol \"{0}\" disabled")]
    SwitchedOff(String),
    #[error("Protocol \"{0}\" not supported")]
    Unknown(String),
}

impl UrlError {
    /// The text when a server's redirect is to blame.
    pub fn in_redirect(&self) -> String {
        let text = self.to_string();
        match text.strip_prefix("URL rejected: ") {
            Some(why) => format!("The redirect target URL could not be parsed: {why}"),
            None => format!("{text} (in redirect)"),
        }
    }
}

/// A URL taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// `https`, otherwise `http`.
    pub https: bool,
    /// Name and password before the host, decoded.
    pub user: Option<(String, String)>,
    /// Name or address without brackets; ASCII.
    pub host: String,
    /// As given.
    pub port: Option<u16>,
    /// Path and query as the request's first line has them.
    pub target: String,
}

impl Url {
    /// Reads a URL; without a scheme it is one of HTTP.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let printable = |byte: u8| byte > b' ' && byte != 0x7f;
        if text.is_empty() || text.len() > URL_BYTES_MAX || !text.bytes().all(printable) {
            return Err(UrlError::Malformed);
        }
        let (https, rest) = match scheme(text) {
            None => (false, text),
            Some(name) => {
                let rest = &text[name.len() + 1..];
                // One to three slashes are taken for two.
                let slashes = rest.bytes().take(3).take_while(|byte| *byte == b'/').count();
                let https = match &*name.to_ascii_lowercase() {
                    "http" => false,
                    "https" => true,
                    other if SWITCHED_OFF.contains(&other) => {
                        return Err(UrlError::SwitchedOff(other.to_owned()));
                    }
                    other => return Err(UrlError::Unknown(other.to_owned())),
                };
                (https, &rest[slashes..])
            }
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let user = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            (decoded(name), decoded(password))
        });
        let (host, port) = place_of(place)?;
        Ok(Self { https, user, host, port, target: target_of(target) })
    }

    /// The port that is asked.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.https { 443 } else { 80 })
    }

    /// Where a redirect leads.
    pub fn join(&self, location: &str) -> Result<Self, UrlError> {
        let location: Cow<'_, str> = match location.contains(' ') {
            true => location.replace(' ', "%20").into(),
            false => location.into(),
        };
        if scheme(&location).is_some() {
            return Self::parse(&location);
        }
        if let Some(place) = location.strip_prefix("//") {
            let scheme = if self.https { "https" } else { "http" };
            return Self::parse(&format!("{scheme}://{place}"));
        }
        if location.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(UrlError::Malformed);
        }
        let path = self.target.split('?').next().unwrap_or_default();
        let target = match location.bytes().next() {
            Some(b'/') => target_of(&location),
            Some(b'?') => target_of(&format!("{path}{location}")),
            Some(b'#') | None => self.target.clone(),
            Some(_) => {
                let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
                target_of(&format!("{folder}{location}"))
            }
        };
        if target.len() > URL_BYTES_MAX {
            return Err(UrlError::Malformed);
        }
        Ok(Self { target, ..self.clone() })
    }

    /// The value of the header `Host`: the port stands there only if it is a special one.
    pub fn host_header(&self) -> String {
        let usual = if self.https { 443 } else { 80 };
        let host = self.host_shown();
        match self.port {
            Some(port) if port != usual => format!("{host}:{port}"),
            _ => host.into_owned(),
        }
    }

    /// The host as a URL has it.
    pub fn host_shown(&self) -> Cow<'_, str> {
        match self.host.contains(':') {
            true => format!("[{}]", self.host).into(),
            false => self.host.as_str().into(),
        }
    }

    /// The same server and way to it: what one may know the other may.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.https, self.port(), &self.host) == (other.https, other.port(), &other.host)
    }
}

/// The whole URL without user and password, as a forwarding proxy is asked.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.https { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.host_header(), self.target)
    }
}

/// The scheme, if the text begins with one and a slash.
fn scheme(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once(':')?;
    let mut bytes = name.bytes();
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let good = bytes.next()?.is_ascii_alphabetic() && bytes.all(known);
    (good && rest.starts_with('/')).then_some(name)
}

/// `%41` → `A`; what is no code stays.
pub fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Host and port of `host:port`.
fn place_of(place: &str) -> Result<(String, Option<u16>), UrlError> {
    let (host, port) = if let Some(rest) = place.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or(UrlError::BadIpv6)?;
        let bare = address.split(['%']).next().unwrap_or_default();
        let address: Ipv6Addr = bare.parse().map_err(|_| UrlError::BadIpv6)?;
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => "",
            Some(port) => port,
            None => return Err(UrlError::BadPort),
        };
        (address.to_string(), port)
    } else {
        let (host, port) = place.split_once(':').unwrap_or((place, ""));
        (host_of(host)?, port)
    };
    if port.is_empty() {
        return Ok((host, None));
    }
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(UrlError::BadPort);
    }
    let port = port.parse().map_err(|_| UrlError::BadPort)?;
    Ok((host, Some(port)))
}

fn host_of(text: &str) -> Result<String, UrlError> {
    const FORBIDDEN: &[u8] = b" /:#?!@{}[]\\$'\"^`*<>=;,+&()%|";
    if text.is_empty() {
        return Err(UrlError::NoHost);
    }
    let host = decoded(text);
    let bad = |byte: u8| byte < b' ' || byte == 0x7f || FORBIDDEN.contains(&byte);
    if host.is_empty() || host.bytes().any(bad) {
        return Err(UrlError::BadHost);
    }
    if !host.is_ascii() {
        let (list, length) = (AsciiDenyList::EMPTY, DnsLength::VerifyAllowRootDot);
        let name = Uts46::new().to_ascii(host.as_bytes(), list, Hyphens::Allow, length);
        return name.map(Cow::into_owned).map_err(|_| UrlError::BadHost);
    }
    Ok(numeric(&host).map_or(host, |address| address.to_string()))
}

/// An IPv4 address in one of the forms of old: `127.1`, `0x7f000001`, `0177.0.0.1`.
fn numeric(text: &str) -> Option<Ipv4Addr> {
    let mut parts = [0_u64; 4];
    let mut count = 0;
    for part in text.split('.') {
        let value = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok()?,
            None if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse().ok()?,
            None => return None,
        };
        *parts.get_mut(count)? = value;
        count += 1;
    }
    // The last part fills what is left.
    let last = count.checked_sub(1)?;
    let room = 8 * (4 - u32::try_from(last).ok()?);
    let small = parts[..last].iter().all(|part| *part < 256) && parts[last] < 1 << room;
    let high = parts[..last].iter().fold(0, |sum, part| sum << 8 | part);
    let whole = u32::try_from(high << room | parts[last]).ok()?;
    small.then(|| Ipv4Addr::from(whole))
}

/// Path and query without fragment; `.` and `..` are walked.
fn target_of(text: &str) -> String {
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let mut out = String::with_capacity(text.len() + 1);
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let bare = part.replace("%2e", ".").replace("%2E", ".");
        match &*bare {
            "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(part),
        }
        if last && matches!(&*bare, "." | "..") {
            segments.push("");
        }
    }
    for segment in segments {
        out.push('/');
        out.extend(utf8_percent_encode(segment, CONTROLS));
    }
    if out.is_empty() {
        out.push('/');
    }
    if !query.is_empty() {
        out.push('?');
        out.extend(utf8_percent_encode(query, CONTROLS));
    }
    out
}

/// The URL with `fields` at its end.
pub fn with_query<'a>(
    url: &'a str,
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Cow<'a, str> {
    let mut out = Cow::Borrowed(url);
    let mut mark = if url.contains('?') { '&' } else { '?' };
    for (name, value) in fields {
        let text = out.to_mut();
        text.push(mark);
        text.extend(utf8_percent_encode(name, RESERVED));
        text.push('=');
        text.extend(utf8_percent_encode(value, RESERVED));
        mark = '&';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_as_they_are_asked() {
        for (text, shown) in [
            ("http://a", "http://a/"),
            ("a:81/b", "http://a:81/b"),
            ("HTTPS://A.b:443/", "https://A.b/"),
            ("http:/a/b", "http://a/b"),
            ("http:///x", "http://x/"),
            ("http://u:p%40@a/b?c#d", "http://a/b?c"),
            ("http://a?x=1", "http://a/?x=1"),
            ("http://a/b?", "http://a/b"),
            ("http://a/b/../c/./d/..", "http://a/c/"),
            ("http://a/../..", "http://a/"),
            ("http://a//b", "http://a//b"),
            ("http://a/%41?a=%zz&b=[c]", "http://a/%41?a=%zz&b=[c]"),
            ("http://a/ä", "http://a/%C3%A4"),
            ("http://127.1:80/", "http://127.0.0.1/"),
            ("http://0x7f000001", "http://127.0.0.1/"),
            ("http://0177.0.0.01", "http://127.0.0.1/"),
            ("http://1.2.3.4.5", "http://1.2.3.4.5/"),
            ("http://256.1", "http://256.1/"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"),
            ("http://a%41.b", "http://aA.b/"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://BÜ_CHER.Example/", "http://xn--b_cher-3ya.example/"),
            ("http://straße.example。x/", "http://xn--strae-oqa.example.x/"),
            ("http://3年b組金八先生/", "http://xn--3b-ww4c5e180e575a65lsy2b/"),
            ("http://a:/b", "http://a/b"),
            ("127.0.0.1:1/x", "http://127.0.0.1:1/x"),
        ] {
            assert_eq!(Url::parse(text).map(|url| url.to_string()), Ok(shown.to_owned()), "{text}");
        }
        let user = Url::parse("http://u:p%40@a/").unwrap().user.unwrap();
        assert_eq!(user, ("u".to_owned(), "p@".to_owned()));
        assert_eq!(Url::parse("https://a").unwrap().port(), 443);
    }

    #[test]
    fn what_is_no_url() {
        let long = "a".repeat(URL_BYTES_MAX + 1);
        let label = format!("http://{}/", "ü".repeat(64));
        for (text, error) in [
            ("", UrlError::Malformed),
            (" http://a", UrlError::Malformed),
            ("http://a b", UrlError::Malformed),
            ("http://a\n", UrlError::Malformed),
            (&long, UrlError::Malformed),
            (&label, UrlError::BadHost),
            ("http://", UrlError::NoHost),
            ("http://:80", UrlError::NoHost),
            ("http://a:99999", UrlError::BadPort),
            ("http://a:x", UrlError::BadPort),
            ("http://a:+1", UrlError::BadPort),
            ("http://[::1", UrlError::BadIpv6),
            ("http://[::1]x", UrlError::BadPort),
            ("http://[a]", UrlError::BadIpv6),
            ("http://a<b", UrlError::BadHost),
            ("http://%00", UrlError::BadHost),
            ("ftp://a", UrlError::SwitchedOff("ftp".to_owned())),
            ("file:///a", UrlError::SwitchedOff("file".to_owned())),
            ("foo://a", UrlError::Unknown("foo".to_owned())),
        ] {
            assert_eq!(Url::parse(text), Err(error), "{text}");
        }
        assert_eq!(
            UrlError::NoHost.in_redirect(),
            "The redirect target URL could not be parsed: No host part in the URL"
        );
        let off = UrlError::SwitchedOff("ftp".to_owned()).in_redirect();
        assert_eq!(off, "Protocol \"ftp\" disabled (in redirect)");
    }

    #[test]
    fn redirects_lead_on() {
        let from = Url::parse("https://u:p@a:81/b/c?d").unwrap();
        for (location, shown) in [
            ("e", "https://a:81/b/e"),
            ("../e", "https://a:81/e"),
            ("/e f", "https://a:81/e%20f"),
            ("?g", "https://a:81/b/c?g"),
            ("#g", "https://a:81/b/c?d"),
            ("//h/i", "https://h/i"),
            ("http://h", "http://h/"),
            ("e:f", "https://a:81/b/e:f"),
        ] {
            assert_eq!(from.join(location).unwrap().to_string(), shown, "{location}");
        }
        assert_eq!(from.join("http://"), Err(UrlError::NoHost));
        assert_eq!(from.join("/a\u{1}"), Err(UrlError::Malformed));
        assert!(from.same_origin(&from.join("/x").unwrap()));
        assert!(!from.same_origin(&from.join("http://a:81/x").unwrap()));
    }

    #[test]
    fn queries() {
        let fields = [("a b", "c&d=e/ä?"), ("-._~", "*"), ("", "")];
        let url = with_query("http://h/p", fields);
        assert_eq!(url, "http://h/p?a%20b=c%26d%3De%2F%C3%A4%3F&-._~=%2A&=");
        assert_eq!(with_query("http://h/p?x", [("a", "b")]), "http://h/p?x&a=b");
        assert_eq!(with_query("http://h/p", []), "http://h/p");
    }
}
