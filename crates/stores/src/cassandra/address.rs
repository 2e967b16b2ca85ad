//! Where a cluster is, and how careful one is with it.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use scylla::client::session::OpenSsl010Config;
use scylla::statement::Consistency;

use super::super::as_name;
use super::tls::Tls;
use history::Error;

/// Names of consistency levels, as `cqlsh` has them.
const LEVELS: [(&str, Consistency); 8] = [
    ("one", Consistency::One),
    ("two", Consistency::Two),
    ("three", Consistency::Three),
    ("quorum", Consistency::Quorum),
    ("local_one", Consistency::LocalOne),
    ("local_quorum", Consistency::LocalQuorum),
    ("each_quorum", Consistency::EachQuorum),
    ("all", Consistency::All),
];

/// A keyspace of a cluster.
pub(crate) struct Address {
    /// `host:port` of nodes to begin with; the others are found through them.
    pub(crate) nodes: Vec<String>,
    /// Name and password.
    pub(crate) user: Option<(String, String)>,
    pub(crate) keyspace: String,
    /// How many replicas confirm each request.
    pub(crate) consistency: Consistency,
    /// The data centre whose nodes are asked; `None` = all.
    pub(crate) datacenter: Option<String>,
    /// Replicas of a row in each data centre, for a keyspace that we make.
    pub(crate) replication: Option<u8>,
    /// What connections are protected with.
    pub(crate) tls: Option<OpenSsl010Config>,
}

impl Address {
    /// Reads `cassandra://user:password@h1,h2:9042/keyspace?consistency=quorum&replication=3`.
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let rest = url.strip_prefix("cassandra://").ok_or_else(bad)?;
        let (rest, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, keyspace) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user.split_once(':').unwrap_or((user, ""))), hosts),
            None => (None, authority),
        };
        let keyspace = match keyspace.trim_end_matches('/') {
            "" => "vedette",
            name => name,
        };
        let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !keyspace.starts_with(|c: char| c.is_ascii_lowercase())
            || !keyspace.chars().all(fit)
            || keyspace.len() > 48
        {
            return Err(Error::config(
                "a Cassandra keyspace has at most 48 small letters, digits and underscores",
            ));
        }
        let mut address = Self {
            nodes: hosts.split(',').map(node).collect::<Option<_>>().ok_or_else(bad)?,
            user: user.map(|(name, password)| (decoded(name), decoded(password))),
            keyspace: keyspace.to_owned(),
            consistency: Consistency::LocalQuorum,
            datacenter: None,
            replication: None,
            tls: None,
        };
        let mut tls = Tls::default();
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("sslmode", mode)) => tls.set_mode(mode)?,
                Some(("sslrootcert", file)) => tls.set_authorities(decoded(file)),
                _ => address.set(setting)?,
            }
        }
        address.tls = tls.context()?;
        Ok(address)
    }

    fn set(&mut self, setting: &str) -> Result<(), Error> {
        match setting.split_once('=') {
            Some(("consistency", level)) => {
                let known = LEVELS.iter().find(|(name, _)| name.eq_ignore_ascii_case(level));
                let names: Vec<&str> = LEVELS.iter().map(|(name, _)| *name).collect();
                let (_, level) = known.ok_or_else(|| {
                    Error::config(format!(
                        "the consistency of a Cassandra store is one of {}",
                        names.join(", ")
                    ))
                })?;
                self.consistency = *level;
            }
            Some(("datacenter", name)) if !name.is_empty() => {
                self.datacenter = Some(decoded(name));
            }
            Some(("replication", number)) => {
                let number = number.parse().ok().filter(|number| (1..=100).contains(number));
                let number = number.ok_or_else(|| {
                    Error::config("the replication of a Cassandra store is a number from 1 to 100")
                })?;
                self.replication = Some(number);
            }
            _ => {
                return Err(Error::config(
                    "the address of a Cassandra store has settings beside consistency, \
                     datacenter, replication, sslmode and sslrootcert",
                ));
            }
        }
        Ok(())
    }

    /// Does it fit a cluster with these data centres? With several of them it has to say which one
    /// is the local one: otherwise that would be the one of whichever node is asked.
    pub(crate) fn fits(&self, centres: &BTreeSet<&str>) -> Result<(), Error> {
        let is_local = matches!(self.consistency, Consistency::LocalOne | Consistency::LocalQuorum);
        let names = Vec::from_iter(centres.iter().copied()).join(", ");
        let location = self.location();
        match &self.datacenter {
            Some(name) if !centres.contains(name.as_str()) => Err(Error::config(format!(
                "Cassandra at {location} has no data centre {name}: give datacenter one of {names}"
            ))),
            None if is_local && centres.len() > 1 => Err(Error::config(format!(
                "Cassandra at {location} has several data centres, and its address does not say \
                 which one is local: add datacenter=NAME, one of {names}"
            ))),
            _ => Ok(()),
        }
    }

    /// Nodes and keyspace, without secrets.
    pub(crate) fn location(&self) -> String {
        format!("cassandra://{}/{}", self.nodes.join(","), self.keyspace)
    }

    /// The first node and the keyspace, for names of files: more nodes may be named later.
    pub(crate) fn place(&self) -> String {
        as_name(&format!("{}/{}", self.nodes.first().map_or("", |node| node), self.keyspace))
    }
}

/// The text may hold a password: no message repeats it.
fn bad() -> Error {
    Error::config(
        "the address of Cassandra is not like \
         cassandra://user:password@host1,host2:9042/keyspace?consistency=quorum&replication=3",
    )
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// With the port (default: 9042).
fn node(host: &str) -> Option<String> {
    let fit = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    if host.is_empty() || host.starts_with(':') || !host.chars().all(fit) {
        return None;
    }
    let after_name = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    match after_name.split_once(':') {
        Some((_, port)) => port.parse::<u16>().ok().map(|_| host.to_owned()),
        None => Some(format!("{host}:9042")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn addresses_are_parsed_and_shown_without_secrets() {
        let user = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        for (url, nodes, who, keyspace, consistency, replication) in [
            ("cassandra://h", "h:9042", None, "vedette", Consistency::LocalQuorum, None),
            (
                "cassandra://u:p%40%3a@h1,h2:9/ks_1/?consistency=QUORUM&replication=3",
                "h1:9042,h2:9",
                user("u", "p@:"),
                "ks_1",
                Consistency::Quorum,
                Some(3),
            ),
            (
                "cassandra://u@[::1]:9,[::2]/k?consistency=each_quorum",
                "[::1]:9,[::2]:9042",
                user("u", ""),
                "k",
                Consistency::EachQuorum,
                None,
            ),
        ] {
            let address = Address::new(url).unwrap();
            assert_eq!(address.nodes.join(","), nodes);
            assert_eq!((&address.user, address.keyspace.as_str()), (&who, keyspace));
            assert_eq!((address.consistency, address.replication), (consistency, replication));
            assert!(!address.location().contains('@') && !address.place().contains(['/', ':']));
        }
        for url in [
            "",
            "h:9042",
            "http://u:secret@h",
            "cassandra://u:secret@",
            "cassandra://u:secret@h1,",
            "cassandra://u:secret@h:port",
            "cassandra://u:secret@h/Name",
            "cassandra://u:secret@h/a;b",
            "cassandra://u:secret@h/k?consistency=secret",
            "cassandra://u:secret@h/k?replication=0",
            "cassandra://u:secret@h/k?datacenter=",
            "cassandra://u:secret@h/k?secret=1",
            "cassandra://u:secret@h/k?sslmode=secret",
            "cassandra://u:secret@h/k?sslmode=verify-ca",
            "cassandra://u:secret@h/k?sslrootcert=no/such%20file&sslmode=verify-full",
        ] {
            let error = Address::new(url).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn with_several_data_centres_local_means_the_one_that_is_named() {
        for (settings, one, two) in [
            ("", true, false),
            ("?consistency=local_one", true, false),
            ("?consistency=quorum", true, true),
            ("?datacenter=east%20coast", true, true),
            ("?datacenter=west", false, true),
            ("?datacenter=west&consistency=quorum", false, true),
            ("?datacenter=south", false, false),
        ] {
            let address = Address::new(&format!("cassandra://u:secret@h/k{settings}")).unwrap();
            for (centres, expected) in [(&["east coast"][..], one), (&["east coast", "west"], two)]
            {
                let fits = address.fits(&centres.iter().copied().collect());
                assert_eq!(fits.is_ok(), expected, "{settings} {centres:?}");
                let Err(error) = fits else { continue };
                assert!(error.fault == Fault::Config && !error.message.contains("secret"));
                assert!(error.message.ends_with(&centres.join(", ")), "{error}");
            }
        }
    }
}
