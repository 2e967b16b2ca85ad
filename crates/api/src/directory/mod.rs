//! Sign-in by LDAP. A check has a time limit, and few of a server run at once: one that does not respond delays
//! only the sign-ins of its own users.

mod client;
pub(crate) mod due;
mod names;
pub(crate) mod provision;
pub(crate) mod sign_in;
#[cfg(test)]
pub(crate) mod simulator;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use config::db::{Reader, Row};
use stdx::sync::lock;

use crate::error::{ApiError, ApiResult};
use crate::session::BAD_LOGIN;

pub(crate) use client::Account;

/// Connecting, binding and searching together.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Checks at once of a server; further ones are refused.
const CHECKS_MAX: usize = 4;

const TOO_MANY: &str = "Too many sign-ins wait for LDAP servers. Try again in a few seconds.";

/// How to reach an LDAP server and find its users.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) base_dn: String,
    pub(crate) bind_dn: String,
    pub(crate) bind_password: String,
    pub(crate) search_attribute: String,
    pub(crate) search_filter: String,
    pub(crate) start_tls: bool,
    pub(crate) groups: Groups,
}

/// How to find the groups of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Attribute of the user with the DNs of groups; empty: groups are searched.
    pub(crate) membership: String,
    pub(crate) base_dn: String,
    pub(crate) filter: String,
    /// Attribute of groups with their members.
    pub(crate) member: String,
    /// Attribute of groups with their name.
    pub(crate) name: String,
    /// Attribute of the user that groups name as a member.
    pub(crate) user_reference: String,
}

/// Without the password.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// From the fields of a user directory.
    pub(crate) fn of(text: impl Fn(&str) -> String) -> Self {
        Self {
            host: text("host"),
            port: text("port").parse().unwrap_or(0),
            base_dn: text("base_dn"),
            bind_dn: text("bind_dn"),
            bind_password: text("bind_password"),
            search_attribute: text("search_attribute"),
            search_filter: text("search_filter"),
            start_tls: text("start_tls") == "1",
            groups: Groups {
                membership: text("group_membership"),
                base_dn: text("group_basedn"),
                filter: text("group_filter"),
                member: text("group_member"),
                name: text("group_name"),
                user_reference: text("user_ref_attr"),
            },
        }
    }

    /// The stored LDAP server with this id.
    pub(crate) fn read(reader: &mut dyn Reader, id: u64) -> ApiResult<Option<(Self, Row)>> {
        let sql = "SELECT * FROM userdirectories WHERE userdirectoryid = ? AND idp_type = 1";
        let row = reader.query(sql, &[id.into()])?.into_iter().next();
        Ok(row.map(|row| (Self::of(|name| column(&row, name)), row)))
    }
}

/// A value of a row as text.
pub(crate) fn column(row: &Row, name: &str) -> String {
    row.get(name).map(ToString::to_string).unwrap_or_default()
}

/// Why a check gave no account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The user does not exist, or the password is wrong.
    Refused,
    /// The server did not decide; the text says why.
    Unavailable(&'static str),
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused => Self::application(BAD_LOGIN),
            Failure::Unavailable(text) => Self::params(text),
        }
    }
}

/// The number of checks that run now, by host and port of their server.
#[derive(Debug, Default)]
struct Places(Mutex<BTreeMap<(String, u16), usize>>);

static PLACES: Places = Places(Mutex::new(BTreeMap::new()));

/// One of the [`CHECKS_MAX`] places of a server, given back at the end.
#[derive(Debug)]
struct Place<'p> {
    places: &'p Places,
    server: (String, u16),
}

impl Places {
    fn take(&self, server: &Server) -> Option<Place<'_>> {
        let server = (server.host.clone(), server.port);
        let mut running = lock(&self.0);
        let count = running.entry(server.clone()).or_default();
        if *count >= CHECKS_MAX {
            return None;
        }
        *count += 1;
        Some(Place { places: self, server })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut running = lock(&self.places.0);
        if let Some(count) = running.get_mut(&self.server) {
            *count -= 1;
        }
        running.retain(|_, count| *count > 0);
    }
}

/// Finds the account of a user, whose password is checked if one is given. `attributes`: those of the account
/// to read, in addition to those that its groups need.
///
/// # Errors
/// [`Failure`], also if too many checks of the server run.
pub(crate) fn find(
    server: &Server,
    username: &str,
    password: Option<&str>,
    attributes: &[String],
) -> Result<Account, Failure> {
    // A bind without a password is anonymous: it succeeds for everybody.
    if password == Some("") || username.is_empty() {
        return Err(Failure::Refused);
    }
    let Some(_place) = PLACES.take(server) else { return Err(Failure::Unavailable(TOO_MANY)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|_| Failure::Unavailable(client::NO_CONNECTION))?;
    let work = client::find(server, username, password, attributes);
    let found = runtime.block_on(async { tokio::time::timeout(TIME_LIMIT, work).await });
    // A name that is still being resolved is not waited for.
    runtime.shutdown_background();
    found.unwrap_or(Err(Failure::Unavailable(client::NO_CONNECTION)))
}

#[cfg(test)]
mod sign_in_tests;
#[cfg(test)]
mod tests;
