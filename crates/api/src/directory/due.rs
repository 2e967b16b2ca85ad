//! Provisioning of users of LDAP who stay signed in, at the interval of the settings.

use std::collections::BTreeSet;
use std::time::Duration;

use stdx::seldom::Seldom;

use super::provision;
use super::sign_in::person_of;
use crate::Api;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::methods::authentication::Current;
use crate::rpc::as_system;

/// At most one warning in this time.
const LOG_EVERY: Duration = Duration::from_secs(3_600);

/// Users whose last provisioning is older than the interval, and whose session or token was used after it.
const DUE: &str = "SELECT u.userid, u.username, u.userdirectoryid FROM users u \
    JOIN userdirectories d ON d.userdirectoryid = u.userdirectoryid \
    WHERE d.idp_type = 1 AND d.provision_status = 1 AND u.ts_provisioned + ? < ? \
    AND (EXISTS (SELECT 1 FROM sessions s WHERE s.userid = u.userid \
        AND s.epoch >= u.session_epoch AND s.lastaccess > u.ts_provisioned + ?) \
      OR EXISTS (SELECT 1 FROM tokens t JOIN token_accesses a ON a.tokenid = t.tokenid \
        WHERE t.userid = u.userid AND a.lastaccess > u.ts_provisioned + ?)) \
    ORDER BY u.userdirectoryid, u.userid";

/// Provisions again the users who are due. Blocks while LDAP servers respond; run it every minute. The users of a
/// server that is unavailable stay due.
pub(crate) fn provision_due(api: &Api) {
    let work = |call: &Call<'_>| provision_users(call).map(|()| Json::Null);
    if let Err(error) = as_system(api, work) {
        tracing::warn!(%error, "cannot read which users are to be provisioned; retrying in a minute");
    }
}

fn provision_users(call: &Call<'_>) -> ApiResult<()> {
    static LOGGED: Seldom = Seldom::new(LOG_EVERY);
    let current = call.read(|reader| Current::read(reader))?;
    if !current.is_on("ldap_auth_enabled") || !current.is_on("ldap_jit_status") {
        return Ok(());
    }
    let interval = current.provision_interval_s();
    let values = [interval, call.now(), interval, interval].map(Into::into);
    let mut unavailable = BTreeSet::new();
    for user in call.rows(DUE, &values)? {
        let (userid, directory) = (user.id("userid"), user.id("userdirectoryid"));
        if unavailable.contains(&directory) {
            continue;
        }
        let done = match person_of(call, &user) {
            Ok(None) => Ok(()),
            Ok(Some(person)) => provision::update(call, userid, &person),
            Err(error) => {
                unavailable.insert(directory);
                Err(error)
            }
        };
        if let Err(error) = done
            && let Some(more) = LOGGED.pass(call.api.deps.clock.monotonic())
        {
            tracing::warn!(%error, userid, more, "a user of LDAP was not provisioned again");
        }
    }
    Ok(())
}
