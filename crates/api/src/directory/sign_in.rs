//! Sign-in of users of LDAP.

use config::db::Row;

use super::provision::{self, Mapping, Person};
use super::{Failure, Server, find};
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::authentication::Current;
use crate::session::BAD_LOGIN;

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

    /// The person behind name and password; `None` = they are wrong.
    fn check(&self, call: &Call<'_>, username: &str, password: &str) -> ApiResult<Option<Person>> {
        let attributes = self.mapping.as_ref().map(Mapping::attributes).unwrap_or_default();
        let account = match find(&self.server, username, Some(password), &attributes) {
            Ok(account) => account,
            Err(Failure::Refused) => return Ok(None),
            Err(Failure::Unavailable(reason)) => {
                let server = &self.server;
                tracing::warn!(reason, ?server, "a sign-in by LDAP failed");
                return Err(ApiError::application(BAD_LOGIN));
            }
        };
        let person = match &self.mapping {
            Some(mapping) => call.read(|reader| mapping.person(reader, &account))?,
            None => Person::default(),
        };
        Ok(Some(person))
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
    let Some(person) = directory.check(call, username, password)? else { return Ok(false) };
    if directory.mapping.is_some() && user.id("userdirectoryid") == directory.id {
        provision::update(call, user.id("userid"), &person)?;
    }
    Ok(true)
}

/// Makes a user whom only the default LDAP server knows; `false` = the server refuses, or nobody is
/// provisioned.
///
/// # Errors
/// As [`check`].
pub(crate) fn create(call: &Call<'_>, username: &str, password: &str) -> ApiResult<bool> {
    let directory = Directory::read(call, None)?.filter(|directory| directory.mapping.is_some());
    let Some(directory) = directory else { return Ok(false) };
    let Some(person) = directory.check(call, username, password)? else { return Ok(false) };
    if person.usrgrpids.is_empty() {
        return Ok(false);
    }
    provision::check_username(username)?;
    provision::create(call, username, directory.id, &person)?;
    Ok(true)
}

/// Provisions users again, by what their directories say now; returns those that were.
pub(crate) fn provision_again(call: &Call<'_>, users: &[Row]) -> ApiResult<Vec<u64>> {
    let mut done = Vec::new();
    for user in users.iter().filter(|user| user.id("userdirectoryid") != 0) {
        let found = call.read(|reader| {
            let Some((server, row)) = Server::read(reader, user.id("userdirectoryid"))? else {
                return Ok(None);
            };
            Ok(Some((server, Mapping::read(reader, &row)?)))
        })?;
        let Some((server, mapping)) = found.filter(|(server, _)| server.finds_without_password())
        else {
            continue;
        };
        let person = match find(&server, user.text("username"), None, &mapping.attributes()) {
            Ok(account) => call.read(|reader| mapping.person(reader, &account))?,
            Err(Failure::Refused) => Person::default(),
            Err(failure) => return Err(failure.into()),
        };
        provision::update(call, user.id("userid"), &person)?;
        done.push(user.id("userid"));
    }
    Ok(done)
}
