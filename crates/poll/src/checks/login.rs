//! What SSH and Telnet checks have in common: where the key says to go, the way there, and the text
//! that comes back.

use std::net::SocketAddr;
use std::sync::LazyLock;

use config::snapshot::source::{Login, Source};
use config::snapshot::{Item, ItemExtra};
use encoding_rs::Encoding;
use eval::key::ItemKey;
use tokio::net::TcpStream;

use super::check::Check;
use super::check::Shared;
use super::dial;

/// Bytes of output that are taken (the field's limit).
pub(super) const OUTPUT_BYTES_MAX: usize = 16 << 20;

/// The item's command or query, and its credentials.
pub(super) fn task(item: &Item) -> (&str, &Login) {
    static NOBODY: LazyLock<Login> = LazyLock::new(Login::default);
    match item.extra.as_deref() {
        Some(ItemExtra { params, source: Source::Login(login), .. }) => (params, login),
        _ => ("", &NOBODY),
    }
}

/// Where to go, and how the answer is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Address or name.
    pub(super) host: String,
    pub(super) port: u16,
    /// Encoding of the output; empty = UTF-8.
    pub(super) encoding: String,
    /// What else the key says.
    pub(super) more: Vec<String>,
}

/// Reads `name[unique,<ip>,<port>,<encoding>,…]`; what the key leaves open is the interface's
/// address and the protocol's own port.
pub(super) fn place(
    check: &Check<'_>,
    name: &str,
    params_max: usize,
    port: u16,
) -> Result<Place, String> {
    let interface = || {
        let interface = check.interface.map(|one| if one.use_ip { &one.ip } else { &one.dns });
        interface.map_or_else(String::new, |address| address.to_string())
    };
    let place = parse(&check.item.key, name, params_max, port)?;
    Ok(if place.host.is_empty() { Place { host: interface(), ..place } } else { place })
}

fn parse(key: &str, name: &str, params_max: usize, port: u16) -> Result<Place, String> {
    let key = ItemKey::parse(key).map_err(|_| "Invalid item key format.".to_owned())?;
    if &*key.name != name {
        return Err("Unsupported item key for this item type.".to_owned());
    }
    if key.param_count() > params_max {
        return Err("Too many parameters.".to_owned());
    }
    let param = |n| key.param(n).unwrap_or_default();
    let port = match param(2) {
        text if text.is_empty() => port,
        text => text.parse().map_err(|_| "Invalid third parameter.".to_owned())?,
    };
    let more = (4..key.param_count()).map(param).collect();
    Ok(Place { host: param(1), port, encoding: param(3), more })
}

/// A connection; the error says whose name or address it was.
pub(super) async fn connect(shared: &Shared, place: &Place) -> Result<TcpStream, String> {
    let Place { host, port, .. } = place;
    if host.is_empty() {
        return Err("the item has neither an address in its key nor an interface".to_owned());
    }
    let unknown = |why: &str| format!("cannot resolve [{host}]: {why}");
    let mut failed = unknown("no address");
    for ip in shared.context.resolver.find(host).await.map_err(|why| unknown(&why))? {
        match dial::connect(shared, SocketAddr::new(ip, *port)).await {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                let why = dial::os_error(&error);
                failed = format!("cannot connect to [[{host}]:{port}]: {why}");
            }
        }
    }
    Err(failed)
}

/// Output as text, up to a zero byte. `who` is named in the error.
pub(super) fn decode(bytes: &[u8], encoding: &str, who: &str) -> Result<String, String> {
    let mut text = String::with_capacity(bytes.len());
    if encoding.is_empty() {
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
    } else {
        let encoding = Encoding::for_label(encoding.as_bytes()).ok_or_else(|| {
            format!("Cannot convert data from {who} server to utf8: unknown encoding {encoding}.")
        })?;
        text.push_str(&encoding.decode(bytes).0);
    }
    text.truncate(text.find('\0').unwrap_or(text.len()));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let place = |host: &str, port, encoding: &str, more: &[&str]| {
            let more = more.iter().map(|&text| text.to_owned()).collect();
            Ok(Place { host: host.to_owned(), port, encoding: encoding.to_owned(), more })
        };
        for (key, expected) in [
            ("ssh.run", place("", 22, "", &[])),
            ("ssh.run[a,,]", place("", 22, "", &[])),
            ("ssh.run[a,::1,2222,utf8]", place("::1", 2222, "utf8", &[])),
            ("ssh.run[a,h,,,\"a=b;c=d\",sub]", place("h", 22, "", &["a=b;c=d", "sub"])),
            ("ssh.run[a,b,99999]", Err("Invalid third parameter.")),
            ("ssh.run[a,b,x]", Err("Invalid third parameter.")),
            ("ssh.run[a,b,1,,,,x]", Err("Too many parameters.")),
            ("ssh.foo[a]", Err("Unsupported item key for this item type.")),
            ("ssh.run[a", Err("Invalid item key format.")),
        ] {
            let found = parse(key, "ssh.run", 6, 22);
            assert_eq!(found, expected.map_err(str::to_owned), "{key}");
        }
    }

    #[test]
    fn outputs() {
        for (bytes, encoding, expected) in [
            (&b" a\n"[..], "", " a\n"),
            (b"", "", ""),
            (b"a\xe4b\xff\xfe", "", "a?b??"),
            (b"\xe4", "ISO-8859-1", "\u{e4}"),
            (b"a\0b", "", "a"),
            (b"\x82\xa0", "shift_jis", "\u{3042}"),
        ] {
            assert_eq!(decode(bytes, encoding, "SSH").as_deref(), Ok(expected), "{bytes:?}");
        }
        let why = decode(b"x", "nosuch", "SSH").unwrap_err();
        assert!(why.starts_with("Cannot convert data from SSH server to utf8: "), "{why}");
    }
}
