//! When sessions and tokens were used last: for people to see, and to end sessions that nobody uses.

use std::collections::HashMap;
use std::sync::Mutex;

use config::Statements;
use config::db::{DbResult, Value};
use stdx::sync::lock;

/// Accesses that wait to be written, some 100 bytes each; beyond, further ones are not noted.
const WAITING_MAX: usize = 10_000;

/// What somebody came with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Credential {
    /// By its digest.
    Session(String),
    Token(u64),
}

/// Last accesses, seconds since 1970.
pub(super) type Noted = HashMap<Credential, u64>;

/// Accesses that are not in the database yet: no request costs a write for it.
#[derive(Debug, Default)]
pub(crate) struct Accesses(Mutex<Noted>);

impl Accesses {
    pub(super) fn note(&self, by: Credential, now: u64) {
        let mut noted = lock(&self.0);
        if noted.len() < WAITING_MAX || noted.contains_key(&by) {
            noted.insert(by, now);
        }
    }

    /// The last access; `None` = the database has it. Ask before the database: what is written in
    /// between is then found there.
    pub(super) fn last(&self, by: &Credential) -> Option<u64> {
        lock(&self.0).get(by).copied()
    }

    /// Has what is noted written. What `write` refuses, and what is noted meanwhile, stays for the
    /// next time.
    pub(super) fn settle(&self, write: impl FnOnce(&Noted) -> DbResult<()>) -> DbResult<()> {
        let noted = lock(&self.0).clone();
        if noted.is_empty() {
            return Ok(());
        }
        write(&noted)?;
        lock(&self.0).retain(|by, at| noted.get(by) != Some(at));
        Ok(())
    }
}

pub(super) fn write(edit: &mut Statements<'_>, noted: &Noted) -> DbResult<()> {
    noted.iter().try_for_each(|(by, at)| {
        let (sql, by) = match by {
            Credential::Session(digest) => (
                "UPDATE sessions SET lastaccess = ? WHERE digest = ?",
                Value::from(digest.as_str()),
            ),
            Credential::Token(id) => (
                "INSERT INTO token_accesses (lastaccess, tokenid) VALUES (?, ?) \
                 ON CONFLICT (tokenid) DO UPDATE SET lastaccess = excluded.lastaccess",
                Value::from(*id),
            ),
        };
        edit.execute(sql, &[(*at).into(), by]).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use config::db::DbError;
    use serde_json::json;

    use super::*;
    use crate::testing::Server;

    /// A session that ends after 90 s unused, and a token.
    fn visitors(server: &Server) -> [String; 2] {
        let user = json!({ "username": "u", "passwd": "Pa55word-x", "roleid": "1",
            "autologout": "90s", "usrgrps": [{ "usrgrpid": "7" }] });
        server.create("user.create", &user);
        let token = server.create("token.create", &json!({ "name": "t" }));
        let token = server.call("token.generate", &json!([token])).unwrap();
        let token = token[0]["token"].as_str().unwrap().to_owned();
        [server.login("u", "Pa55word-x"), token]
    }

    #[test]
    fn requests_do_not_wait_for_a_change_of_the_configuration() {
        let server = Server::start();
        let visitors = visitors(&server);
        server.clock.advance(Duration::from_secs(60));
        let (answer, answers) = sync_channel(2);
        std::thread::scope(|scope| {
            let change: DbResult<()> = server.api.deps.config.write(|_| {
                for secret in &visitors {
                    let (api, answer) = (&server.api, answer.clone());
                    scope.spawn(move || answer.send(api.is_signed_in(secret)));
                }
                // The change ends when both were admitted; a visitor that waits for its end never is.
                for _ in &visitors {
                    assert_eq!(answers.recv_timeout(Duration::from_secs(60)), Ok(true));
                }
                Ok(())
            });
            change.unwrap();
        });
    }

    #[test]
    fn signing_in_and_out_waits_for_no_change_of_the_configuration() {
        let server = Server::start();
        visitors(&server);
        let (done, ends) = sync_channel(1);
        std::thread::scope(|scope| {
            let change: DbResult<()> = server.api.deps.config.write(|_| {
                scope.spawn(|| {
                    let wrong = json!({ "username": "u", "password": "wrong" });
                    assert!(server.call_as(None, "user.login", &wrong).is_err());
                    let session = server.login("u", "Pa55word-x");
                    server.call_as(Some(&session), "user.logout", &json!([])).unwrap();
                    done.send(()).unwrap();
                });
                // The change ends after that; a sign-in that waits for its end never does.
                assert_eq!(ends.recv_timeout(Duration::from_secs(60)), Ok(()));
                Ok(())
            });
            change.unwrap();
        });
    }

    #[test]
    fn accesses_count_before_they_are_written() {
        let server = Server::start();
        let [session, token] = visitors(&server);
        let later = |seconds| server.clock.advance(Duration::from_secs(seconds));
        let written = || {
            let last = |table| server.count(&format!("SELECT MAX(lastaccess) AS n FROM {table}"));
            (last("sessions"), last("token_accesses"))
        };
        let refuse = "CREATE TRIGGER full BEFORE UPDATE ON sessions \
                      BEGIN SELECT RAISE(ABORT, 'disk full'); END";
        server.write_state_sql(&[refuse]);
        later(60);
        assert!(server.api.is_signed_in(&session) && server.api.is_signed_in(&token));
        server.api.write_accesses();
        assert_eq!(written(), (1_800_000_000, 0), "all or nothing");
        later(60);
        assert!(server.api.is_signed_in(&session), "used 60 s ago");
        server.write_state_sql(&["DROP TRIGGER full"]);
        server.api.write_accesses();
        assert_eq!(written(), (1_800_000_120, 1_800_000_060));
        later(91);
        assert!(!server.api.is_signed_in(&session) && server.api.is_signed_in(&token));
    }

    #[test]
    fn what_is_noted_while_others_are_written_is_written_next() {
        let accesses = Accesses::default();
        let written = |result| {
            let mut found = Vec::new();
            let settled = accesses.settle(|noted| {
                found.extend(noted.iter().map(|(by, at)| (by.clone(), *at)));
                accesses.note(Credential::Token(1), 20);
                result
            });
            found.sort_by_key(|(_, at)| *at);
            (found, settled.is_ok())
        };
        let (one, two) = (Credential::Token(1), Credential::Token(2));
        accesses.note(one.clone(), 10);
        accesses.note(two.clone(), 11);
        let failed = Err(DbError::Constraint(String::new()));
        assert_eq!(written(failed), (vec![(one.clone(), 10), (two.clone(), 11)], false));
        assert_eq!(written(Ok(())), (vec![(two.clone(), 11), (one.clone(), 20)], true));
        assert_eq!((accesses.last(&one), accesses.last(&two)), (None, None));
        for id in 0..=WAITING_MAX as u64 {
            accesses.note(Credential::Token(id), 30);
        }
        accesses.note(one.clone(), 31);
        let last = Credential::Token(WAITING_MAX as u64);
        assert_eq!((accesses.last(&one), accesses.last(&last)), (Some(31), None));
    }
}
