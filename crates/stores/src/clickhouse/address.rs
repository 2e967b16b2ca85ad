//! What an address of ClickHouse says.

use history::Error;

/// `http://user:password@host:8123,host:8123/database?cluster=name`, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// `http://host:8123/` of each server, without secrets.
    pub(crate) servers: Vec<String>,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    /// The name under which the servers know each other: rows are spread over them.
    pub(crate) cluster: Option<String>,
    /// A table that another server's patches made: see [`super::legacy`].
    pub(crate) legacy: Option<String>,
    /// For people: no secrets.
    pub(crate) location: String,
}

impl Address {
    /// Reads it. The text may hold a password: no message repeats it.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let bad = || config("is not like http://user:password@host:8123/database");
        let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = authority.rsplit_once('@').unwrap_or(("default", authority));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let hosts: Vec<String> =
            hosts.split(',').map(with_port).collect::<Option<_>>().ok_or_else(bad)?;
        if !["http", "https"].contains(&scheme) {
            return Err(bad());
        }
        let database = match path.trim_matches('/') {
            "" => "vedette",
            name => name,
        };
        let mut address = Self {
            servers: hosts.iter().map(|host| format!("{scheme}://{host}/")).collect(),
            user: decoded(user),
            password: decoded(password),
            database: database.to_owned(),
            cluster: None,
            legacy: None,
            location: format!("{scheme}://{}/{database}", hosts.join(",")),
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("cluster", name)) => address.cluster = Some(name.to_owned()),
                Some(("legacy", table)) => {
                    address.legacy = Some(table.to_owned());
                    address.location += &format!("/{table}");
                }
                _ => return Err(config("has an unknown option: known are cluster and legacy")),
            }
        }
        address.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        let is_name = |name: &&String| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty()
        };
        let names = [Some(&self.database), self.cluster.as_ref(), self.legacy.as_ref()];
        if !names.iter().flatten().all(is_name) {
            return Err(config("has an odd name of a database, cluster or table"));
        }
        if self.cluster.is_none() && self.servers.len() > 1 {
            return Err(config(
                "names several servers: say ?cluster=NAME, as they know each other",
            ));
        }
        if self.cluster.is_some() && self.legacy.is_some() {
            return Err(config("cannot have both a cluster and a legacy table"));
        }
        Ok(self)
    }
}

fn config(what: &str) -> Error {
    Error::config(format!("the address of ClickHouse {what}"))
}

/// The host with a port, 8123 when it has none; `None` = it is not a host.
fn with_port(host: &str) -> Option<String> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port.parse::<u16>().ok()?),
        _ => (host, 8123),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    (!name.is_empty() && name.chars().all(fits)).then(|| format!("{name}:{port}"))
}

/// `%xx` as what it stands for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, left @ ..] = rest {
        let hex = left.get(..2).filter(|_| *first == b'%');
        let byte = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &left[2..] } else { left };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn addresses_are_parsed_and_shown_without_secrets() {
        for (url, servers, user, password, database) in [
            ("http://h", "http://h:8123/", "default", "", "vedette"),
            ("https://u:p%40%3a@h:1/db/", "https://h:1/", "u", "p@:", "db"),
            ("http://u@[::1]:9/a_b", "http://[::1]:9/", "u", "", "a_b"),
            ("http://[::1]", "http://[::1]:8123/", "default", "", "vedette"),
            ("http://a,b:2/x?cluster=c", "http://a:8123/ http://b:2/", "default", "", "x"),
        ] {
            let address = Address::parse(url).unwrap();
            let got = (address.user.as_str(), address.password.as_str());
            assert_eq!(address.servers.join(" "), servers, "{url}");
            assert_eq!((got, address.database.as_str()), ((user, password), database));
            assert!(!address.location.contains(['@', '?']), "{}", address.location);
        }
        let legacy = Address::parse("http://h/zabbix?legacy=history").unwrap();
        assert_eq!(legacy.location, "http://h:8123/zabbix/history");
        assert_eq!((legacy.cluster, legacy.legacy.as_deref()), (None, Some("history")));
    }

    #[test]
    fn odd_addresses_are_refused_without_their_secrets() {
        for (url, said) in [
            ("", "is not like"),
            ("h:8123", "is not like"),
            ("ftp://u:secret@h/x", "is not like"),
            ("http://u:secret@/x", "is not like"),
            ("http://u:secret@h:x/x", "is not like"),
            ("http://u:secret@h x/x", "is not like"),
            ("http://u:secret@h/a;b", "odd name"),
            ("http://u:secret@h/x?cluster=", "odd name"),
            ("http://u:secret@h/x?legacy=a.b", "odd name"),
            ("http://u:secret@h,i/x", "?cluster=NAME"),
            ("http://u:secret@h/x?cluster=a&legacy=b", "cannot have both"),
            ("http://u:secret@h/x?shards=2", "unknown option"),
        ] {
            let error = Address::parse(url).unwrap_err();
            assert!(error.fault == Fault::Config && error.message.contains(said), "{url}: {error}");
            assert!(!error.message.contains("secret"), "{error}");
        }
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
