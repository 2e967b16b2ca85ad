//! HTTP digest authentication (RFC 7616): MD5 and SHA-256, also their session forms.

use md5::Md5;
use sha2::{Digest as _, Sha256};

/// What a server asks in a header `WWW-Authenticate`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    /// As the server wrote it, to be repeated.
    algorithm: Option<String>,
    sha256: bool,
    session: bool,
    /// The server takes `qop=auth`; older ones know no `qop`.
    auth: bool,
}

/// What is asked about.
pub struct Question<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub method: &'a str,
    /// Path and query, as in the request's first line.
    pub target: &'a str,
    /// Random text of ours.
    pub client_nonce: &'a str,
}

/// A challenge of any scheme: `Digest realm="x", nonce="y"`.
struct Scheme<'a> {
    name: &'a str,
    params: Vec<(&'a str, String)>,
}

/// The schemes in one header; what makes no sense ends them.
fn schemes(header: &str) -> Vec<Scheme<'_>> {
    let mut found: Vec<Scheme<'_>> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let len = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        if len == 0 {
            return found;
        }
        let (word, after) = rest.split_at(len);
        let value = after.trim_start_matches([' ', '\t']);
        let Some(value) = value.strip_prefix('=') else {
            found.push(Scheme { name: word, params: Vec::new() });
            rest = after;
            continue;
        };
        let (value, after) = param_value(value.trim_start_matches([' ', '\t']));
        let Some(scheme) = found.last_mut() else { return found };
        scheme.params.push((word, value));
        rest = after;
    }
}

/// A token or a quoted text, and what stands behind it.
fn param_value(text: &str) -> (String, &str) {
    let Some(body) = text.strip_prefix('"') else {
        let len = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..len].to_owned(), &text[len..]);
    };
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &body[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

impl Challenge {
    /// The first challenge in the headers that can be answered here.
    pub fn find<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        headers.flat_map(schemes).find_map(|scheme| Self::read(&scheme))
    }

    fn read(scheme: &Scheme<'_>) -> Option<Self> {
        if !scheme.name.eq_ignore_ascii_case("digest") {
            return None;
        }
        let param = |name: &str| {
            let found = scheme.params.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        let algorithm = param("algorithm");
        let (sha256, session) = match algorithm.as_deref().unwrap_or("MD5") {
            name if name.eq_ignore_ascii_case("MD5") => (false, false),
            name if name.eq_ignore_ascii_case("MD5-sess") => (false, true),
            name if name.eq_ignore_ascii_case("SHA-256") => (true, false),
            name if name.eq_ignore_ascii_case("SHA-256-sess") => (true, true),
            _ => return None,
        };
        let auth = match param("qop") {
            Some(ways) if ways.split(',').any(|w| w.trim().eq_ignore_ascii_case("auth")) => true,
            Some(_) => return None,
            None => false,
        };
        let (realm, nonce, opaque) = (param("realm")?, param("nonce")?, param("opaque"));
        Some(Self { realm, nonce, opaque, algorithm, sha256, session, auth })
    }

    fn hash(&self, text: &str) -> String {
        let bytes = match self.sha256 {
            true => Sha256::digest(text).to_vec(),
            false => Md5::digest(text).to_vec(),
        };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn response(&self, question: &Question<'_>) -> String {
        let Question { user, password, method, target, client_nonce } = question;
        let nonce = &self.nonce;
        let mut secret = self.hash(&format!("{user}:{}:{password}", self.realm));
        if self.session {
            secret = self.hash(&format!("{secret}:{nonce}:{client_nonce}"));
        }
        let what = self.hash(&format!("{method}:{target}"));
        match self.auth {
            true => self.hash(&format!("{secret}:{nonce}:00000001:{client_nonce}:auth:{what}")),
            false => self.hash(&format!("{secret}:{nonce}:{what}")),
        }
    }

    /// The header `Authorization`.
    pub fn answer(&self, question: &Question<'_>) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut header = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\", response=\"{}\"",
            quoted(question.user),
            quoted(&self.realm),
            quoted(&self.nonce),
            question.target,
            self.response(question)
        );
        if self.auth {
            header += &format!(", qop=auth, nc=00000001, cnonce=\"{}\"", question.client_nonce);
        } else if self.session {
            header += &format!(", cnonce=\"{}\"", question.client_nonce);
        }
        if let Some(algorithm) = &self.algorithm {
            header += &format!(", algorithm={algorithm}");
        }
        if let Some(opaque) = &self.opaque {
            header += &format!(", opaque=\"{}\"", quoted(opaque));
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
    const CLIENT_NONCE: &str = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";

    fn challenge(more: &str) -> String {
        format!("Digest realm=\"http-auth@example.org\", nonce=\"{NONCE}\"{more}")
    }

    fn question() -> Question<'static> {
        Question {
            user: "Mufasa",
            password: "Circle of Life",
            method: "GET",
            target: "/dir/index.html",
            client_nonce: CLIENT_NONCE,
        }
    }

    /// The example of RFC 7616, section 3.9.1.
    #[test]
    fn the_answers_of_the_standard() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let header = challenge(&format!(
                ", qop=\"auth, auth-int\", algorithm={algorithm}, opaque=\"FQhe/q\""
            ));
            let challenge = Challenge::find([header.as_str()].into_iter()).unwrap();
            assert_eq!(challenge.response(&question()), response);
            let answer = challenge.answer(&question());
            for part in [
                "Digest username=\"Mufasa\"",
                "uri=\"/dir/index.html\"",
                "qop=auth, nc=00000001, cnonce=\"f2/",
                &format!("algorithm={algorithm}"),
                "opaque=\"FQhe/q\"",
                &format!("response=\"{response}\""),
            ] {
                assert!(answer.contains(part), "{part}: {answer}");
            }
        }
    }

    #[test]
    fn what_is_asked_is_found_among_others() {
        let first = |headers: &[&str]| Challenge::find(headers.iter().copied());
        let two =
            format!("Basic realm=\"a, b=c\", {}, qop=auth", challenge(", algorithm=SHA-512-256"));
        assert_eq!(first(&[&two]), None);
        let md5 = challenge("");
        let found = first(&["Negotiate", "NTLM", &two, &md5]).unwrap();
        assert_eq!((found.auth, found.session, found.sha256), (false, false, false));
        assert_eq!(found.realm, "http-auth@example.org");
        // Without qop there are neither counts nor a nonce of ours.
        assert!(!found.answer(&question()).contains("nc="));
        let session = challenge(", algorithm=md5-SESS, stale=FALSE, qop = \"auth\"");
        let session = first(&[&session]).unwrap();
        assert!(session.session && session.auth);
        assert_ne!(session.response(&question()), found.response(&question()));
        let escaped = "digest nonce=\"x\",realm=\"a \\\"b\\\" \\\\\"";
        let escaped = first(&[escaped]).unwrap();
        assert_eq!(escaped.realm, "a \"b\" \\");
        assert!(escaped.answer(&question()).contains("realm=\"a \\\"b\\\" \\\\\""));
    }

    #[test]
    fn nonsense_is_no_challenge() {
        let int = challenge(", qop=\"auth-int\"");
        for header in
            ["", "Digest", "Digest realm=\"a\"", "Digest nonce=\"", "=\"x\"", "Basic", ",,,", &int]
        {
            assert_eq!(Challenge::find([header].into_iter()), None, "{header}");
        }
    }
}
