//! `ServerActive`: servers, proxies and clusters.

/// Servers separated by commas; nodes of a cluster are separated by `;`. Each node becomes `host:port`.
pub(super) fn parse(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut clusters: Vec<Vec<String>> = Vec::new();
    for cluster in text.split(',').map(str::trim).filter(|cluster| !cluster.is_empty()) {
        let mut nodes = Vec::new();
        for node in cluster.split(';').map(str::trim) {
            let address = address(node).ok_or_else(|| {
                format!("\"{node}\" is not an address, such as name, 192.0.2.1:10051 or [2001:db8::1]:10051")
            })?;
            if nodes.contains(&address) || clusters.iter().flatten().any(|other| *other == address)
            {
                return Err(format!("\"{node}\" is listed twice"));
            }
            nodes.push(address);
        }
        clusters.push(nodes);
    }
    Ok(clusters)
}

fn address(text: &str) -> Option<String> {
    if let Ok(ip) = text.parse::<std::net::Ipv6Addr>() {
        return Some(format!("[{ip}]:{}", wire::agent::TRAPPER_PORT));
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (ip, rest) = rest.split_once(']')?;
            let ip = ip.parse::<std::net::Ipv6Addr>().ok()?;
            (format!("[{ip}]"), rest.strip_prefix(':').or(rest.is_empty().then_some(""))?)
        }
        None => match text.split_once(':') {
            Some((_, "")) => return None,
            Some((host, port)) => (name(host)?, port),
            None => (name(text)?, ""),
        },
    };
    let port = match port {
        "" => wire::agent::TRAPPER_PORT,
        digits => digits.parse().ok().filter(|port| *port > 0)?,
    };
    Some(format!("{host}:{port}"))
}

/// A DNS name or an address of IPv4.
fn name(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    (!text.is_empty() && text.chars().all(is_name)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_clusters_are_read() {
        for (text, expected) in [
            ("", vec![]),
            ("a", vec![vec!["a:10051"]]),
            (
                " a.example ; b:10052 , ::1,[::2]:3 ,[::4],192.0.2.1",
                vec![
                    vec!["a.example:10051", "b:10052"],
                    vec!["[::1]:10051"],
                    vec!["[::2]:3"],
                    vec!["[::4]:10051"],
                    vec!["192.0.2.1:10051"],
                ],
            ),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        for text in
            ["a:b", "a:", "a:0", "a:65536", "[a]:1", "[::1]x", "a b", "a;", "a,a", "a;b,a:10051"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
