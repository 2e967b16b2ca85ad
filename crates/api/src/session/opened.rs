//! Open sessions that are not in the database yet, so that a sign-in does not wait for a long change
//! of the configuration.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use config::db::DbResult;
use config::{Config, Edit};
use stdx::sync::lock;

/// Sessions that wait to be written, some 100 bytes each; who signs in beyond waits as well.
const WAITING_MAX: usize = 10_000;

/// A session that was just opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct New {
    pub(super) by: Verified,
    /// Seconds since 1970.
    pub(super) created: u64,
}

/// Who gave the right password, and the hash that it was compared with. A session is for as long as the
/// user has this hash: it may be another already when the comparison ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) userid: u64,
    pub(super) hash: String,
}

/// The sessions that wait, by digest. They are as good as written ones, except that the end of the
/// process before the next [`Opened::settle`] ends them.
#[derive(Debug, Default)]
pub(crate) struct Opened(Mutex<HashMap<String, New>>);

/// The waiting sessions as rows of a transaction. Held until its end, so that a change that ends
/// sessions finds all of them in the database.
#[must_use]
pub(crate) struct Written<'a>(MutexGuard<'a, HashMap<String, New>>);

impl Written<'_> {
    /// The transaction was kept.
    pub(crate) fn kept(mut self) {
        self.0.clear();
    }
}

impl Opened {
    /// A session that waits; `None` = it is in the database or does not exist. Call this before the
    /// query: a session that is written in between is then found by the query.
    pub(super) fn get(&self, digest: &str) -> Option<New> {
        lock(&self.0).get(digest).cloned()
    }

    /// Opens a session. It is written at once unless a change of the configuration is under way.
    pub(super) fn add(&self, config: &Config, digest: String, new: New) -> DbResult<()> {
        let mut waiting = lock(&self.0);
        waiting.insert(digest.clone(), new);
        let full = waiting.len() > WAITING_MAX;
        drop(waiting);
        let result = if full {
            self.settle(config)
        } else {
            config
                .try_write_state(|edit| self.write(edit))
                .map_or(Ok(()), |result| result.map(Written::kept))
        };
        // A session whose write failed must not be written later: its user was told of the failure.
        if result.is_err() {
            lock(&self.0).remove(&digest);
        }
        result
    }

    /// Writes what waits. To be called every few seconds, and at a stop.
    pub(super) fn settle(&self, config: &Config) -> DbResult<()> {
        if lock(&self.0).is_empty() {
            return Ok(());
        }
        config.write_state(|edit| self.write(edit)).map(Written::kept)
    }

    /// Writes what waits within a transaction.
    pub(crate) fn write(&self, edit: &mut Edit<'_>) -> DbResult<Written<'_>> {
        let waiting = lock(&self.0);
        for (digest, new) in waiting.iter() {
            // The user may be deleted or have another password already, or a commit whose outcome was
            // not known kept the session.
            edit.execute(
                "INSERT INTO sessions (digest, userid, created, lastaccess) \
                 SELECT ?, u.userid, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM users u \
                 WHERE u.userid = ? AND u.passwd = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE digest = ?)",
                &[
                    digest.as_str().into(),
                    new.created.into(),
                    new.created.into(),
                    new.by.userid.into(),
                    new.by.hash.as_str().into(),
                    digest.as_str().into(),
                ],
            )?;
        }
        Ok(Written(waiting))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use serde_json::json;

    use crate::testing::Server;

    /// Signs `name` in while a change of the configuration is under way.
    fn login_during_a_change(server: &Server, name: &str) -> String {
        let (answer, answers) = sync_channel(1);
        let mut session = None;
        std::thread::scope(|scope| {
            let change: config::db::DbResult<()> = server.api.deps.config.write(|_| {
                scope.spawn(move || {
                    let session = server.login(name, "Pa55word-x");
                    let good = server.api.is_signed_in(&session);
                    answer.send((session, good)).unwrap();
                });
                // The change ends only after the sign-in: a sign-in that waited for it would time out.
                let (id, good) = answers.recv_timeout(Duration::from_secs(60)).unwrap();
                assert!(good);
                session = Some(id);
                Ok(())
            });
            change.unwrap();
        });
        session.unwrap()
    }

    #[test]
    fn a_sign_in_does_not_wait_for_a_change_of_the_configuration() {
        let server = Server::start();
        server.user("u", "1", &[]);
        let written = || server.count("SELECT COUNT(*) AS n FROM sessions");
        let before = written();
        let session = login_during_a_change(&server, "u");
        assert_eq!(written(), before);
        server.api.write_accesses();
        assert_eq!(written(), before + 1);
        assert!(server.api.is_signed_in(&session));
        server.login("u", "Pa55word-x");
        assert_eq!(written(), before + 2, "at once where nothing is under way");
        server.call_as(Some(&session), "user.logout", &json!([])).unwrap();
        assert!(!server.api.is_signed_in(&session));
    }

    #[test]
    fn sessions_that_are_not_written_end_like_others() {
        let server = Server::start();
        server.user("u", "1", &[]);
        let id = server.count("SELECT userid AS n FROM users WHERE username = 'u'").to_string();
        let session = login_during_a_change(&server, "u");
        server.call_as(Some(&session), "user.logout", &json!([])).unwrap();
        server.api.write_accesses();
        assert!(!server.api.is_signed_in(&session), "signed out");
        let session = login_during_a_change(&server, "u");
        let update = json!({ "userid": id, "passwd": "Pa55word-y" });
        server.call("user.update", &update).unwrap();
        server.api.write_accesses();
        assert!(!server.api.is_signed_in(&session), "the password was changed");
        let update = json!({ "userid": id, "passwd": "Pa55word-x" });
        server.call("user.update", &update).unwrap();
        let session = login_during_a_change(&server, "u");
        server.call("user.delete", &json!([id])).unwrap();
        server.api.write_accesses();
        assert!(!server.api.is_signed_in(&session), "the user was deleted");
    }

    #[test]
    fn a_password_that_is_changed_while_it_is_compared_opens_nothing() {
        let server = Server::start();
        server.user("u", "1", &[]);
        let userid = server.count("SELECT userid AS n FROM users WHERE username = 'u'");
        let hash = "the hash of the password before".to_owned();
        let by = super::Verified { userid: userid.try_into().unwrap(), hash };
        let session = crate::session::open(&server.api, by).unwrap();
        assert!(!server.api.is_signed_in(&session));
    }
}
