//! Addresses such as `postgresql://user:password@host:5432/database?sslmode=verify-full`.

use percent_encoding::percent_decode_str;
use ureq::http::Uri;

use history::Error;

/// How a connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tls {
    /// Not at all.
    Off,
    /// Encrypted, without verification of the server.
    Unchecked,
    /// Encrypted, and the certificate is checked by the system's authorities.
    Checked,
}

/// A database of a server.
pub(crate) struct Address {
    scheme: &'static str,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    pub(crate) tls: Tls,
}

impl Address {
    /// Reads a URL. No message repeats it: it may hold a password.
    pub(crate) fn parse(url: &str, scheme: &'static str, port: u16) -> Result<Self, Error> {
        let bad = || {
            Error::config(format!(
                "the address of the store is not like \
                 {scheme}://user:password@host:{port}/database?sslmode=verify-full"
            ))
        };
        let uri: Uri = url.parse().map_err(|_| bad())?;
        if uri.scheme_str() != Some(scheme) {
            return Err(bad());
        }
        let authority = uri.authority().ok_or_else(bad)?;
        let (user, _) = authority.as_str().rsplit_once('@').unwrap_or(("vedette", ""));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let database = match uri.path().trim_matches('/') {
            "" => "vedette",
            name => name,
        };
        if !database.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(Error::config(
                "the database of the store has an odd name: use letters, digits and _",
            ));
        }
        let tls = match uri.query().unwrap_or("sslmode=disable") {
            "sslmode=disable" => Tls::Off,
            "sslmode=require" => Tls::Unchecked,
            "sslmode=verify-full" => Tls::Checked,
            _ => {
                return Err(Error::config(
                    "the address of the store may end with ?sslmode=disable, require or \
                     verify-full, and nothing else",
                ));
            }
        };
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        Ok(Self {
            scheme,
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(port),
            user: decoded(user),
            password: decoded(password),
            database: database.to_owned(),
            tls,
        })
    }

    /// Where it is, without secrets.
    pub(crate) fn location(&self) -> String {
        let Self { scheme, host, port, database, .. } = self;
        if host.contains(':') {
            format!("{scheme}://[{host}]:{port}/{database}")
        } else {
            format!("{scheme}://{host}:{port}/{database}")
        }
    }

    /// The store's name, fit for files.
    pub(crate) fn name(&self) -> String {
        let fit = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        self.location().replace("://", "-").chars().map(fit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn addresses_are_parsed_and_shown_without_secrets() {
        for (url, host, port, user, password, database, tls) in [
            ("mysql://h", "h", 3306, "vedette", "", "vedette", Tls::Off),
            ("mysql://u:p%40%3a@h:1/db/", "h", 1, "u", "p@:", "db", Tls::Off),
            ("mysql://u@[::1]:9/a_b?sslmode=require", "::1", 9, "u", "", "a_b", Tls::Unchecked),
            ("mysql://h/x?sslmode=verify-full", "h", 3306, "vedette", "", "x", Tls::Checked),
            ("mysql://h/x?sslmode=disable", "h", 3306, "vedette", "", "x", Tls::Off),
        ] {
            let a = Address::parse(url, "mysql", 3306).unwrap();
            assert_eq!((a.host.as_str(), a.port), (host, port), "{url}");
            assert_eq!((a.user.as_str(), a.password.as_str()), (user, password), "{url}");
            assert_eq!((a.database.as_str(), a.tls), (database, tls), "{url}");
            assert!(a.name().starts_with("mysql-") && !a.name().contains(['/', ':', '@', '[']));
        }
        for url in [
            "",
            "h:3306",
            "http://u:secret@h/x",
            "mysql://u:secret@/x",
            "mysql://u:secret@h/a;b",
            "mysql://u:secret@h/x?sslmode=maybe",
            "mysql://u:secret@h/x?sslmode=require&other=secret",
        ] {
            let error = Address::parse(url, "mysql", 3306).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }
}
