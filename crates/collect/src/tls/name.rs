//! Names in certificates as text, for the rules "issuer" and "subject" of hosts.

use openssl::x509::X509NameRef;

/// RFC 4514: last part first, special characters escaped, as in `CN=agent,OU=Ops,O=Example`.
pub(crate) fn name_text(name: &X509NameRef) -> String {
    let mut parts: Vec<String> = name
        .entries()
        .map(|entry| {
            let kind = entry.object().nid().short_name().unwrap_or("UNDEF");
            let value = entry.data().to_string().unwrap_or_default();
            format!("{kind}={}", escape(&value))
        })
        .collect();
    parts.reverse();
    parts.join(",")
}

fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let last = value.chars().count().saturating_sub(1);
    for (at, c) in value.chars().enumerate() {
        let edge = (c == ' ' && (at == 0 || at == last)) || (c == '#' && at == 0);
        if edge || matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::x509::X509NameBuilder;

    #[test]
    fn names_read_from_the_end() {
        let mut builder = X509NameBuilder::new().unwrap();
        for (kind, value) in
            [("C", "DE"), ("O", "A, B + Söhne"), ("OU", "#1 \"x\" "), ("CN", "agent")]
        {
            builder.append_entry_by_text(kind, value).unwrap();
        }
        let expected = r#"CN=agent,OU=\#1 \"x\"\ ,O=A\, B \+ Söhne,C=DE"#;
        assert_eq!(name_text(&builder.build()), expected);
    }
}
