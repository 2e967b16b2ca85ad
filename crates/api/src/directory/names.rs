//! Texts of LDAP with placeholders, and names within DNs.

/// Replaces `%{name}` by the escaped value that `value` gives; unknown placeholders stay. Values are not
/// searched for placeholders again.
pub(super) fn expand(
    template: &str,
    value: impl Fn(&str) -> Option<String>,
    escape: impl Fn(&str) -> String,
) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("%{") {
        text.push_str(before);
        let found = after.split_once('}').and_then(|(name, after)| Some((value(name)?, after)));
        match found {
            Some((value, after)) => {
                text.push_str(&escape(&value));
                rest = after;
            }
            None => {
                text.push_str("%{");
                rest = after;
            }
        }
    }
    text + rest
}

/// Values of an attribute in the first RDN, which names the entry: `admins` of `cn=admins,cn=groups,dc=example`
/// for `cn`.
pub(super) fn of_dn(dn: &str, attribute: &str) -> Vec<String> {
    let first = split(dn, ',').into_iter().next().unwrap_or_default();
    let parts = split(first, '+').into_iter().filter_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case(attribute).then(|| unescape(value.trim()))
    });
    parts.collect()
}

/// The parts of a DN between separators that are not escaped.
fn split(dn: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut begin, mut is_escaped) = (Vec::new(), 0, false);
    for (at, sign) in dn.char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if sign == separator => {
                parts.push(&dn[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&dn[begin..]);
    parts
}

/// `\2C` and `\,` are a comma.
fn unescape(value: &str) -> String {
    let (bytes, mut out, mut at) = (value.as_bytes(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = (*byte == b'\\').then(|| value.get(at + 1..at + 3)).flatten();
        // `from_str_radix` accepts `+b`.
        let hex = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                if *byte == b'\\' {
                    at += 1;
                }
                out.extend(bytes.get(at));
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_once_and_escaped() {
        let value = |name: &str| match name {
            "attr" => Some("uid".to_owned()),
            "user" => Some("%{attr})(x=*".to_owned()),
            _ => None,
        };
        let escape = |text: &str| ldap3::ldap_escape(text).into_owned();
        for (template, expected) in [
            ("(%{attr}=%{user})", r"(uid=%{attr}\29\28x=\2a)"),
            ("%{nosuch} %{open", "%{nosuch} %{open"),
            ("", ""),
        ] {
            assert_eq!(expand(template, value, escape), expected);
        }
    }

    #[test]
    fn names_within_a_dn() {
        for (dn, expected) in [
            ("cn=admins,ou=groups,dc=example", vec!["admins"]),
            (r"CN=a\,b, cn = c,dc=x", vec!["a,b"]),
            (r"ou=x, cn=admins", vec![]),
            (r"ou=x + cn = a\+b,cn=admins", vec!["a+b"]),
            (r"cn=Universit\C4\81te,dc=x", vec!["Universitāte"]),
            (r"cn=x\", vec!["x"]),
            ("ou=groups", vec![]),
        ] {
            assert_eq!(of_dn(dn, "cn"), expected, "{dn}");
        }
    }
}
