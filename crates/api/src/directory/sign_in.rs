//! Sign-in of users of LDAP.

use std::time::Duration;

use config::db::Row;
use stdx::seldom::Seldom;

use super::provision::{self, Mapping, Person};
use super::{Account, Failure, Server, find};
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::authentication::Current;
use crate::session::BAD_LOGIN;

/// At most one warning in this time.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// A directory with what its accounts become, if it provisions users.
struct Directory {
    id: u64,
    server: Server,
    mapping: Option<Mapping>,
}

impl Directory {
    /// The LDAP server with this id, if sign-in by LDAP is enabled. `by_default`: only if all users sign in by
    /// LDAP unless their groups say otherwise.
    fn read(call: &Call<'_>, id: Option<u64>) -> ApiResult<Option<Self>> {
        call.read(|reader| {
            let current = Current::read(reader)?;
            let is_default = current.is_on("authentication_type");
            if !current.is_on("ldap_auth_enabled") || id.is_none() && !is_default {
                return Ok(None);
            }
            let id = id.unwrap_or_else(|| current.number("ldap_userdirectoryid"));
            let Some((server, row)) = Server::read(reader, id)? else { return Ok(None) };
            let provisions = current.is_on("ldap_jit_status") && row.int("provision_status") == 1;
            let mapping = provisions.then(|| Mapping::read(reader, &row)).transpose()?;
            Ok(Some(Self { id, server, mapping }))
        })
    }

    /// The account with this name and password; `None` = they are wrong.
    fn check(&self, call: &Call<'_>, username: &str, password: &str) -> ApiResult<Option<Account>> {
        static LOGGED: Seldom = Seldom::new(LOG_EVERY);
        let attributes = self.mapping.as_ref().map(Mapping::attributes).unwrap_or_default();
        match find(&self.server, username, Some(password), &attributes) {
            Ok(account) => Ok(Some(account)),
            Err(Failure::Refused) => Ok(None),
            Err(Failure::Unavailable(reason)) => {
                if let Some(more) = LOGGED.pass(call.api.deps.clock.monotonic()) {
                    let server = &self.server;
                    tracing::warn!(reason, ?server, more, "a sign-in by LDAP failed");
                }
                Err(ApiError::application(BAD_LOGIN))
            }
        }
    }
}

/// Whether the LDAP server with this id accepts the password of a user, who is provisioned again if the
/// directory has provisioned the user before.
///
/// # Errors
/// The server could not be asked: the attempt does not count.
pub(crate) fn check(
    call: &Call<'_>,
    user: &Row,
    directory: u64,
    username: &str,
    password: &str,
) -> ApiResult<bool> {
    let Some(directory) = Directory::read(call, Some(directory))? else { return Ok(false) };
    let Some(account) = directory.check(call, username, password)? else { return Ok(false) };
    if let Some(mapping) = &directory.mapping
        && user.id("userdirectoryid") == directory.id
    {
        let person = call.read(|reader| mapping.person(reader, &account))?;
        provision::refresh(call, user.id("userid"), &person)?;
    }
    Ok(true)
}

/// Makes a user whom only the default LDAP server knows; returns the user's id. The user has the name of the
/// entry's search attribute, so that spelling variants of a name give one user. `None` = the server refuses,
/// provisioning is off, or a user of another origin has the name.
///
/// # Errors
/// As [`check`].
pub(crate) fn create(call: &Call<'_>, username: &str, password: &str) -> ApiResult<Option<u64>> {
    let Some(directory) = Directory::read(call, None)? else { return Ok(None) };
    let Some(mapping) = &directory.mapping else { return Ok(None) };
    let Some(account) = directory.check(call, username, password)? else { return Ok(None) };
    let name = account.value(&directory.server.search_attribute).map(str::trim);
    let Some(username) = name else { return Ok(None) };
    let person = call.read(|reader| mapping.person(reader, &account))?;
    if person.usrgrpids.is_empty() {
        return Ok(None);
    }
    provision::check_username(username)?;
    provision::create(call, username, directory.id, &person)
}

/// Provisions users again, by what their directories say now; returns those that were.
pub(crate) fn provision_again(call: &Call<'_>, users: &[Row]) -> ApiResult<Vec<u64>> {
    let mut done = Vec::new();
    for user in users.iter().filter(|user| user.id("userdirectoryid") != 0) {
        if let Some(person) = person_of(call, user)? {
            provision::update(call, user.id("userid"), &person)?;
            done.push(user.id("userid"));
        }
    }
    Ok(done)
}

/// What the account of a user becomes now; `None` = the directory is no LDAP server, or finds users only with their
/// password.
///
/// # Errors
/// The server is unavailable.
pub(super) fn person_of(call: &Call<'_>, user: &Row) -> ApiResult<Option<Person>> {
    let found = call.read(|reader| {
        let Some((server, row)) = Server::read(reader, user.id("userdirectoryid"))? else {
            return Ok(None);
        };
        Ok(Some((server, Mapping::read(reader, &row)?)))
    })?;
    let Some((server, mapping)) = found.filter(|(server, _)| server.finds_without_password())
    else {
        return Ok(None);
    };
    match find(&server, user.text("username"), None, &mapping.attributes()) {
        Ok(account) => call.read(|reader| mapping.person(reader, &account)).map(Some),
        Err(Failure::Refused) => Ok(Some(Person::default())),
        Err(failure) => Err(failure.into()),
    }
}
