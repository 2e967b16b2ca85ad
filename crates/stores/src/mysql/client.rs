//! A connection, used from one thread at a time, each call with an end.

use std::error::Error as StdError;
use std::time::Duration;

use mysql::prelude::{FromValue, Queryable};
use mysql::{Conn, OptsBuilder, Params, Row, SslOpts};

use crate::TOO_LONG;
use crate::sql::address::{Address, Tls};
use crate::sql::odd_answer;
use crate::sql::session::Health;
use history::{Error, Fault};

/// Timeout after which a server that accepts no connection is unavailable.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest silence of the server: readers of history wait for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// What each session begins with. Batches of different lanes have different items, so that they
/// need no locks on gaps between rows. MySQL (from 5.7.8: MariaDB knows by this number that it is
/// not meant) ends a question after so many milliseconds, before we give it up.
const FIRST: [&str; 4] = [
    "SET NAMES utf8mb4",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 15, lock_wait_timeout = 15 \
     /*!50708 , max_execution_time = 18000 */",
];
/// What a question begins with: MariaDB (from 10.1) ends it after so many seconds, for MySQL this is
/// a comment. Given to the session it would end deletions and changes of tables as well, which go
/// on when we give them up, so that they are done when we try again.
const QUESTION: &str = "/*M!100100 SET STATEMENT max_statement_time = 18 FOR */";

/// Codes that blame the data that were sent: too long (1406, 1301, 3140), out of range (1264,
/// 1690, 1367), no text or number (1292, 1366, 1265), against a constraint (MariaDB 4025, MySQL 3819).
const ROW_CODES: [u16; 11] = [1264, 1265, 1292, 1301, 1366, 1367, 1406, 1690, 3140, 3819, 4025];
/// Tables or partitions that we knew are gone: 1146, 1507, 1526, 1735.
const STALE_CODES: [u16; 4] = [1146, 1507, 1526, 1735];
const NO_DATABASE: u16 = 1049;
/// The server ends the connection: it shuts down (1053), somebody ended it (of MariaDB 1927, of MySQL
/// 3169), or it was not used for long (of MySQL 4031; MariaDB ends such without a word).
const ENDED_CODES: [u16; 4] = [1053, 1927, 3169, 4031];
/// A question took longer than it may: of MariaDB, of MySQL.
const TOO_LONG_CODES: [u16; 2] = [1969, 3024];

/// A connection.
pub(crate) struct Client {
    conn: Conn,
    location: String,
    pub(crate) health: Health,
    /// Bytes of the longest statement that the server takes.
    pub(crate) packet_max: usize,
}

impl Client {
    /// Connects; makes the database if it is missing and we may.
    pub(crate) fn open(address: &Address) -> Result<Self, Error> {
        let location = address.location();
        let tls = match address.tls {
            Tls::Off => None,
            Tls::Unchecked => Some(
                SslOpts::default()
                    .with_danger_accept_invalid_certs(true)
                    .with_danger_skip_domain_validation(true),
            ),
            Tls::Checked => Some(SslOpts::default()),
        };
        let options = OptsBuilder::new()
            .ip_or_hostname(Some(&address.host))
            .tcp_port(address.port)
            .user(Some(&address.user))
            .pass(Some(&address.password))
            .prefer_socket(false)
            .tcp_connect_timeout(Some(CONNECT_WITHIN))
            .read_timeout(Some(ANSWER_WITHIN))
            .write_timeout(Some(ANSWER_WITHIN))
            .ssl_opts(tls);
        let conn = Conn::new(options).map_err(|cause| failed(&location, &cause))?;
        let mut client = Self { conn, location, health: Health::default(), packet_max: 0 };
        for statement in FIRST {
            client.run(statement)?;
        }
        let packet_max: u64 = client.ask_one("SELECT @@max_allowed_packet", ())?;
        client.packet_max = usize::try_from(packet_max).unwrap_or(usize::MAX);
        client.choose(&address.database)?;
        Ok(client)
    }

    fn choose(&mut self, database: &str) -> Result<(), Error> {
        let sql = format!("USE `{database}`");
        match self.conn.query_drop(&sql) {
            Ok(()) => Ok(()),
            Err(cause) if code(&cause) == Some(NO_DATABASE) => {
                self.run(&format!(
                    "CREATE DATABASE IF NOT EXISTS `{database}` \
                     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
                ))?;
                self.run(&sql)
            }
            Err(cause) => Err(self.noticed(&cause).of_no_row()),
        }
    }

    /// Rows of a question.
    pub(crate) fn query(
        &mut self,
        sql: &str,
        params: impl Into<Params>,
    ) -> Result<Vec<Row>, Error> {
        self.read(sql, params, Some)
    }

    /// What `read` makes of each row of a question.
    pub(crate) fn read<T>(
        &mut self,
        sql: &str,
        params: impl Into<Params>,
        read: impl Fn(Row) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let found = self.conn.exec_map(format!("{QUESTION} {sql}"), params, read);
        let found = found.map_err(|cause| self.noticed(&cause).of_no_row())?;
        let found: Option<Vec<T>> = found.into_iter().collect();
        found.ok_or_else(|| self.odd_answer("a row"))
    }

    /// The one column of the one row of a question.
    pub(crate) fn ask_one<T: FromValue>(
        &mut self,
        sql: &str,
        params: impl Into<Params>,
    ) -> Result<T, Error> {
        let found = self.query(sql, params)?;
        let value = found.first().and_then(|row| row.get_opt(0)?.ok());
        value.ok_or_else(|| self.odd_answer("a single value"))
    }

    /// What was answered cannot be read.
    pub(crate) fn odd_answer(&self, what: &str) -> Error {
        odd_answer(&self.location, what)
    }

    /// Runs a statement that puts rows into a table; only such a one may blame rows.
    pub(crate) fn put(&mut self, sql: &str) -> Result<(), Error> {
        self.conn.query_drop(sql).map_err(|cause| self.noticed(&cause))
    }

    /// Runs a statement that brings no rows; gives the number of those that it touched.
    pub(crate) fn run_counted(&mut self, sql: &str) -> Result<u64, Error> {
        self.put(sql).map_err(Error::of_no_row)?;
        Ok(self.conn.affected_rows())
    }

    /// Runs a statement.
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.run_counted(sql).map(drop)
    }

    /// Everything that `work` does, or nothing.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.run("START TRANSACTION")?;
        match work(self).and_then(|done| self.run("COMMIT").map(|()| done)) {
            Ok(done) => Ok(done),
            Err(error) => {
                self.health.broken |= !self.health.broken && self.run("ROLLBACK").is_err();
                Err(error)
            }
        }
    }

    fn noticed(&mut self, cause: &mysql::Error) -> Error {
        let Health { broken, ended, stale } = health_after(cause);
        self.health.broken |= broken;
        self.health.ended |= ended;
        self.health.stale |= stale;
        failed(&self.location, cause)
    }
}

/// What an error makes of a connection.
fn health_after(cause: &mysql::Error) -> Health {
    use std::io::ErrorKind as K;
    let said = code(cause);
    let io: Option<&std::io::Error> = match cause {
        mysql::Error::IoError(why) => Some(why),
        mysql::Error::CodecError(why) => why.source().and_then(<dyn StdError>::downcast_ref),
        _ => None,
    };
    let ended = match (cause, io) {
        (_, Some(why)) => !matches!(why.kind(), K::WouldBlock | K::TimedOut),
        // MySQL said so before it was asked: the packet is not the one that comes next.
        (mysql::Error::CodecError(_), None) => true,
        _ => said.is_some_and(|code| ENDED_CODES.contains(&code)),
    };
    let stale = said.is_some_and(|code| STALE_CODES.contains(&code));
    Health { broken: said.is_none(), ended, stale }
}

fn code(cause: &mysql::Error) -> Option<u16> {
    match cause {
        mysql::Error::MySqlError(said) => Some(said.code),
        _ => None,
    }
}

fn failed(location: &str, cause: &mysql::Error) -> Error {
    let mysql::Error::MySqlError(said) = cause else {
        return Error::storage_away(format!(
            "MySQL at {location} does not answer ({cause}); is it up, and can it be reached?"
        ));
    };
    let is_row = ROW_CODES.contains(&said.code);
    let advice = if TOO_LONG_CODES.contains(&said.code) { TOO_LONG } else { "" };
    Error {
        fault: if is_row { Fault::Us } else { Fault::Storage },
        retry: !is_row,
        message: format!(
            "MySQL at {location} refuses ({}): {}{advice}",
            said.code,
            said.message.chars().take(300).collect::<String>()
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Write};
    use std::net::TcpListener;

    use super::*;

    fn said(code: u16) -> mysql::Error {
        let (state, message) = ("HY000".to_owned(), "x".repeat(1000));
        mysql::Error::MySqlError(mysql::MySqlError { state, code, message })
    }

    /// What comes of a server that says this, and then nothing for the time that a client waits.
    fn said_at_once(bytes: &'static [u8], patience: Duration) -> mysql::Error {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(bytes).unwrap();
            stream
        });
        let options = OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(port)
            .read_timeout(Some(patience));
        let cause = Conn::new(options).unwrap_err();
        drop(server.join());
        cause
    }

    #[test]
    fn ended_connection_is_recognised_by_message_or_silence() {
        let (short, long) = (Duration::from_millis(100), Duration::from_secs(60));
        let io = |kind: ErrorKind| mysql::Error::IoError(kind.into());
        for (cause, broken, ended) in [
            (said(4031), false, true),
            (said(1927), false, true),
            (said(3169), false, true),
            (said(1053), false, true),
            // A packet with another number than the next.
            (said_at_once(b"\x09\0\0\x01\xff\xbf\x0f#HY000", long), true, true),
            (said_at_once(b"", short), true, false),
            (io(ErrorKind::BrokenPipe), true, true),
            (io(ErrorKind::TimedOut), true, false),
            (said(1205), false, false),
        ] {
            let health = Health { broken, ended, stale: false };
            assert_eq!(health_after(&cause), health, "{cause}");
            let error = failed("h", &cause);
            assert!(error.retry && error.fault == Fault::Storage, "{error}");
        }
    }

    #[test]
    fn errors_say_whose_fault_they_are() {
        for (code, is_row, is_slow) in
            [(1406, true, false), (1114, false, false), (1969, false, true), (3024, false, true)]
        {
            let error = failed("h", &said(code));
            assert_eq!((error.retry, error.fault == Fault::Us), (!is_row, is_row), "{error}");
            assert_eq!(error.message.contains("18 seconds"), is_slow, "{error}");
            assert!(error.message.len() < 600, "{error}");
        }
    }
}
