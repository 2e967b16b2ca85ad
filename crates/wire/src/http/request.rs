//! The bytes of a request.

use super::content::ACCEPTED;

/// Bytes of all headers of a request.
pub const HEADERS_BYTES_MAX: usize = 256 << 10;

/// What a request says.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Its first word.
    pub method: &'a str,
    /// Path and query, or the whole URL for a proxy that forwards.
    pub target: &'a str,
    /// The server's name and special port.
    pub host: &'a str,
    pub authorization: Option<&'a str>,
    pub proxy_authorization: Option<&'a str>,
    /// A proxy reads this.
    pub proxied: bool,
    /// `User-Agent`.
    pub agent: Option<&'a str>,
    /// `Cookie`.
    pub cookies: Option<&'a str>,
    /// Headers of the configuration: they beat those that stand here otherwise. An empty value
    /// only takes the other away.
    pub headers: &'a [(String, String)],
    /// The body, if the method has one.
    pub body: Option<&'a [u8]>,
}

/// Encodes a request.
pub fn encode(request: &Request<'_>) -> Vec<u8> {
    let own = |name: &str| {
        let mut found = request.headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        found.next()
    };
    let body = request.body.unwrap_or_default();
    let mut out = Vec::with_capacity(256 + request.target.len() + body.len());
    out.extend_from_slice(request.method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(request.target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    let host = own("Host").map_or(request.host, |(_, value)| value);
    put(&mut out, "Host", host);
    let usual = [
        ("Proxy-Authorization", request.proxy_authorization),
        ("Authorization", request.authorization),
        ("User-Agent", request.agent.filter(|agent| !agent.is_empty())),
        ("Accept", Some("*/*")),
        ("Accept-Encoding", Some(ACCEPTED)),
        ("Cookie", request.cookies),
        ("Proxy-Connection", request.proxied.then_some("Keep-Alive")),
    ];
    for (name, value) in usual {
        match value {
            // What the configuration says of it stands with its other headers.
            Some(value) if own(name).is_none() => put(&mut out, name, value),
            _ => {}
        }
    }
    let mine = |name: &str| name.eq_ignore_ascii_case("Host") || is_framing(name);
    for (name, value) in request.headers {
        if !value.is_empty() && !mine(name) {
            put(&mut out, name, value);
        }
    }
    if request.body.is_some() {
        put(&mut out, "Content-Length", &body.len().to_string());
        if own("Content-Type").is_none() {
            put(&mut out, "Content-Type", "application/x-www-form-urlencoded");
        }
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
    out
}

/// Headers by which both sides find the end of a message are never the configuration's.
fn is_framing(name: &str) -> bool {
    name.eq_ignore_ascii_case("Content-Length") || name.eq_ignore_ascii_case("Transfer-Encoding")
}

fn put(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// A header of the configuration without what would end its line; `None` = it has no name, or
/// one that no header has.
pub fn header(name: &str, value: &str) -> Option<(String, String)> {
    let name = name.trim();
    let good = |byte: u8| byte > b' ' && byte != 0x7f && byte != b':';
    if name.is_empty() || !name.bytes().all(good) {
        return None;
    }
    let value = value.trim().replace(|c: char| c.is_ascii_control() && c != '\t', " ");
    Some((name.to_owned(), value))
}

/// Headers one a line, as forms and test requests write them.
pub fn header_lines(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        header(name, value)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(request: &Request<'_>) -> String {
        String::from_utf8(encode(request)).unwrap().replace("\r\n", "|")
    }

    #[test]
    fn requests() {
        let plain = Request {
            method: "GET",
            target: "/a?b",
            host: "h:81",
            authorization: None,
            proxy_authorization: None,
            proxied: false,
            agent: None,
            cookies: None,
            headers: &[],
            body: None,
        };
        let start = "GET /a?b HTTP/1.1|Host: h:81|";
        let rest = "Accept: */*|Accept-Encoding: deflate, gzip|";
        assert_eq!(shown(&plain), format!("{start}{rest}|"));
        let headers = header_lines(
            "A: b\r\nHost: other\nUser-Agent: me\nAccept: x\nEmpty: \nbad\nB:c\n X-Lead: 1\n\
             Content-Length: 7\nAccept-Encoding:\n: d",
        );
        let full = Request {
            method: "POST",
            authorization: Some("Basic x"),
            proxy_authorization: Some("Basic y"),
            proxied: true,
            agent: Some("Zabbix"),
            cookies: Some("a=b"),
            headers: &headers,
            body: Some(b"text"),
            ..plain
        };
        assert_eq!(
            shown(&full),
            "POST /a?b HTTP/1.1|Host: other|Proxy-Authorization: Basic y|Authorization: Basic x|\
             Cookie: a=b|Proxy-Connection: Keep-Alive|A: b|User-Agent: me|Accept: x|B: c|\
             X-Lead: 1|Content-Length: 4|Content-Type: application/x-www-form-urlencoded||text"
        );
        let json = header_lines("content-type: application/json");
        let json = Request { headers: &json, body: Some(b""), ..plain };
        let expected = format!("{start}{rest}content-type: application/json|Content-Length: 0||");
        assert_eq!(shown(&json), expected);
    }

    #[test]
    fn no_header_begins_another_line() {
        let header = header("A", " b\r\nC: d ").unwrap();
        assert_eq!(header, ("A".to_owned(), "b  C: d".to_owned()));
        for name in ["", " ", "a b", "a\r\nb", "a:b"] {
            assert_eq!(super::header(name, "x"), None, "{name}");
        }
    }
}
