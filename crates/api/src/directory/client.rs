//! The dialogue with an LDAP server.

use std::collections::BTreeMap;
use std::time::Duration;

use ldap3::{
    Ldap, LdapConnAsync, LdapConnSettings, Scope, SearchEntry, SearchOptions, dn_escape,
    ldap_escape,
};

use super::names::{expand, of_dn};
use super::{Failure, Server};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Groups of a user that are read.
const GROUPS_MAX: i32 = 1_000;

const FILTER_OF_USERS: &str = "(%{attr}=%{user})";
const FILTER_OF_GROUPS: &str = "(%{groupattr}=%{user})";

// Texts of the reference.
pub(super) const NO_CONNECTION: &str = "Cannot connect to LDAP server.";
const NO_TLS: &str = "Starting TLS failed.";
const NO_BIND: &str = "Cannot bind to LDAP server.";
const NO_ANONYMOUS_BIND: &str = "Cannot bind anonymously to LDAP server.";
// Texts that the reference does not have.
const NO_SEARCH: &str = "Cannot search the LDAP server.";
const TOO_MANY_ENTRIES: &str = "The LDAP server has too many entries of this user.";

/// Result codes of RFC 4511.
const SIZE_LIMIT_EXCEEDED: u32 = 4;
const INVALID_CREDENTIALS: u32 = 49;

/// A user as the server has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Values of the attributes, by their names in lower case.
    attributes: BTreeMap<String, Vec<String>>,
    /// Names of the user's groups.
    pub(crate) groups: Vec<String>,
}

impl Account {
    /// All values of an attribute.
    pub(crate) fn values(&self, name: &str) -> &[String] {
        self.attributes.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The first value of an attribute.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values(name).first().map(String::as_str)
    }
}

/// As whom the server is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding<'s> {
    Anonymous,
    /// As this DN with the stored password.
    Stored(&'s str),
    /// As the user who signs in, with the DN that this template with `%{user}` gives.
    User(&'s str),
}

impl Server {
    fn binding(&self) -> Binding<'_> {
        if !self.bind_dn.is_empty() && !self.bind_password.is_empty() {
            return Binding::Stored(&self.bind_dn);
        }
        let of_user = [&self.bind_dn, &self.base_dn].into_iter().find(|dn| dn.contains("%{user}"));
        of_user.map_or(Binding::Anonymous, |dn| Binding::User(dn))
    }

    /// Whether users can be found without their passwords.
    pub(crate) fn finds_without_password(&self) -> bool {
        !matches!(self.binding(), Binding::User(_))
    }

    fn url(&self) -> String {
        let (scheme, host) = self.host.split_once("://").unwrap_or(("ldap", &self.host));
        let host = match host.contains(':') && !host.starts_with('[') {
            true => format!("[{host}]"),
            false => host.to_owned(),
        };
        format!("{scheme}://{host}:{}", self.port)
    }

    fn value(&self, name: &str, user: &str) -> Option<String> {
        match name {
            "attr" => Some(self.search_attribute.clone()),
            "host" => Some(self.host.clone()),
            "user" => Some(user.to_owned()),
            _ => None,
        }
    }

    /// A DN, in which the values are escaped.
    fn dn(&self, template: &str, user: &str) -> String {
        expand(template, |name| self.value(name, user), |value| dn_escape(value).into_owned())
    }
}

/// See [`super::find`].
pub(super) async fn find(
    server: &Server,
    user: &str,
    password: Option<&str>,
    attributes: &[String],
) -> Result<Account, Failure> {
    let mut ldap = connect(server).await?;
    bind(&mut ldap, server, user, password).await?;
    let mut wanted = attributes.to_vec();
    let groups = &server.groups;
    wanted.extend(
        [&server.search_attribute, &groups.membership, &groups.user_reference].map(String::clone),
    );
    wanted.retain(|name| !name.is_empty());
    let entry = entry_of_user(&mut ldap, server, user, &wanted).await?;
    if let Some(password) = password {
        // Also after a bind as the user: the filter may find the entry of another one.
        simple_bind(&mut ldap, &entry.dn, password, Failure::Refused).await?;
        // Groups are searched as before.
        bind(&mut ldap, server, user, Some(password)).await?;
    }
    let lower = |(name, values): (String, Vec<String>)| (name.to_lowercase(), values);
    let attributes = entry.attrs.into_iter().map(lower).collect();
    let mut account = Account { attributes, groups: Vec::new() };
    account.groups = groups_of(&mut ldap, server, user, &account).await?;
    // The server closes the connection anyway.
    drop(ldap.unbind().await);
    Ok(account)
}

async fn connect(server: &Server) -> Result<Ldap, Failure> {
    let settings =
        LdapConnSettings::new().set_conn_timeout(CONNECT_LIMIT).set_starttls(server.start_tls);
    let connected = LdapConnAsync::with_settings(settings, &server.url()).await;
    let (connection, ldap) = connected.map_err(|error| {
        tracing::debug!(%error, ?server, "cannot connect to the LDAP server");
        Failure::Unavailable(match error {
            ldap3::LdapError::NativeTLS { .. } | ldap3::LdapError::LdapResult { .. } => NO_TLS,
            _ => NO_CONNECTION,
        })
    })?;
    ldap3::drive!(connection);
    Ok(ldap)
}

/// Binds to search.
async fn bind(
    ldap: &mut Ldap,
    server: &Server,
    user: &str,
    password: Option<&str>,
) -> Result<(), Failure> {
    match server.binding() {
        Binding::Anonymous => {
            simple_bind(ldap, "", "", Failure::Unavailable(NO_ANONYMOUS_BIND)).await
        }
        Binding::Stored(dn) => {
            simple_bind(ldap, dn, &server.bind_password, Failure::Unavailable(NO_BIND)).await
        }
        Binding::User(template) => {
            let password = password.ok_or(Failure::Unavailable(NO_BIND))?;
            simple_bind(ldap, &server.dn(template, user), password, Failure::Refused).await
        }
    }
}

async fn simple_bind(
    ldap: &mut Ldap,
    dn: &str,
    password: &str,
    refused: Failure,
) -> Result<(), Failure> {
    let result = ldap.simple_bind(dn, password).await.map_err(|error| lost(&error))?;
    match result.rc {
        0 => Ok(()),
        INVALID_CREDENTIALS => Err(refused),
        code => {
            tracing::debug!(code, dn, "an LDAP server did not decide a bind");
            Err(Failure::Unavailable(NO_BIND))
        }
    }
}

fn lost(error: &ldap3::LdapError) -> Failure {
    tracing::debug!(%error, "an LDAP server did not respond");
    Failure::Unavailable(NO_CONNECTION)
}

/// The only entry that the filter finds. Several do not decide: it is not known whose password it is.
async fn entry_of_user(
    ldap: &mut Ldap,
    server: &Server,
    user: &str,
    attributes: &[String],
) -> Result<SearchEntry, Failure> {
    let filter = match server.search_filter.as_str() {
        "" => FILTER_OF_USERS,
        filter => filter,
    };
    let filter =
        expand(filter, |name| server.value(name, user), |value| ldap_escape(value).into_owned());
    let base = server.dn(&server.base_dn, user);
    let mut found = search(ldap, &base, &filter, attributes, 2).await?;
    match (found.pop(), found.is_empty()) {
        (Some(entry), true) => Ok(entry),
        (None, _) => Err(Failure::Refused),
        _ => Err(Failure::Unavailable(TOO_MANY_ENTRIES)),
    }
}

/// Up to `most` entries below a DN.
///
/// # Errors
/// [`Failure::Unavailable`]: the search did not succeed, or there are more entries.
async fn search(
    ldap: &mut Ldap,
    base: &str,
    filter: &str,
    attributes: &[String],
    most: i32,
) -> Result<Vec<SearchEntry>, Failure> {
    let options = SearchOptions::new().sizelimit(most);
    let result = ldap.with_search_options(options).search(base, Scope::Subtree, filter, attributes);
    let ldap3::SearchResult(entries, result) = result.await.map_err(|error| match error {
        ldap3::LdapError::FilterParsing => Failure::Unavailable(NO_SEARCH),
        error => lost(&error),
    })?;
    if result.rc != 0 {
        tracing::debug!(code = result.rc, base, "an LDAP search did not succeed");
        let is_cut = result.rc == SIZE_LIMIT_EXCEEDED;
        return Err(Failure::Unavailable(if is_cut { TOO_MANY_ENTRIES } else { NO_SEARCH }));
    }
    let entries = entries.into_iter().filter(|entry| !entry.is_ref() && !entry.is_intermediate());
    Ok(entries.map(SearchEntry::construct).collect())
}

/// Names of the user's groups.
async fn groups_of(
    ldap: &mut Ldap,
    server: &Server,
    user: &str,
    account: &Account,
) -> Result<Vec<String>, Failure> {
    let groups = &server.groups;
    if !groups.membership.is_empty() {
        let dns = account.values(&groups.membership).iter();
        return Ok(dns.flat_map(|dn| of_dn(dn, &groups.name)).collect());
    }
    if groups.base_dn.is_empty() || groups.name.is_empty() {
        return Ok(Vec::new());
    }
    let filter = if groups.filter.is_empty() { FILTER_OF_GROUPS } else { &groups.filter };
    let value = |name: &str| match name {
        "groupattr" => Some(groups.member.clone()),
        "ref" => account.value(&groups.user_reference).map(str::to_owned),
        other => server.value(other, user),
    };
    let filter = expand(filter, value, |value| ldap_escape(value).into_owned());
    let base = server.dn(&groups.base_dn, user);
    let found =
        search(ldap, &base, &filter, std::slice::from_ref(&groups.name), GROUPS_MAX).await?;
    let name = |entry: SearchEntry| {
        let mut attributes = entry.attrs.into_iter();
        let (_, values) = attributes.find(|(name, _)| name.eq_ignore_ascii_case(&groups.name))?;
        values.into_iter().next()
    };
    Ok(found.into_iter().filter_map(name).collect())
}
