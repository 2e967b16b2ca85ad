//! A connection, used from one thread at a time, each call with an end.

use std::time::Duration;

use mysql::prelude::{FromValue, Queryable};
use mysql::{Conn, OptsBuilder, Params, Row, SslOpts};

use crate::drivers::sql::address::{Address, Tls};
use crate::drivers::sql::odd_answer;
use crate::drivers::sql::session::Health;
use crate::{Error, Fault};

/// A server that does not even accept a connection is away.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest silence of the server: whoever reads history waits for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// What each session begins with. Batches of different lanes have different items, so that they
/// need no locks on gaps between rows.
const FIRST: [&str; 4] = [
    "SET NAMES utf8mb4",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 15, lock_wait_timeout = 15",
];

/// Codes that blame the data that were sent: too long (1406, 1301, 3140), out of range (1264,
/// 1690, 1367), no text or number (1292, 1366, 1265), against a constraint (MariaDB 4025, MySQL 3819).
const ROW_CODES: [u16; 11] = [1264, 1265, 1292, 1301, 1366, 1367, 1406, 1690, 3140, 3819, 4025];
/// Tables or partitions that we knew are gone: 1146, 1507, 1526, 1735.
const STALE_CODES: [u16; 4] = [1146, 1507, 1526, 1735];
const NO_DATABASE: u16 = 1049;

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
            Err(cause) => Err(self.noticed(&cause)),
        }
    }

    /// Rows of a question.
    pub(crate) fn query(
        &mut self,
        sql: &str,
        params: impl Into<Params>,
    ) -> Result<Vec<Row>, Error> {
        self.conn.exec(sql, params).map_err(|cause| self.noticed(&cause))
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

    /// Runs a statement; gives the number of rows that it touched.
    pub(crate) fn run_counted(&mut self, sql: &str) -> Result<u64, Error> {
        match self.conn.query_drop(sql) {
            Ok(()) => Ok(self.conn.affected_rows()),
            Err(cause) => Err(self.noticed(&cause)),
        }
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
        match code(cause) {
            Some(code) => self.health.stale |= STALE_CODES.contains(&code),
            None => self.health.broken = true,
        }
        if let mysql::Error::IoError(why) = cause {
            use std::io::ErrorKind as K;
            self.health.ended = !matches!(why.kind(), K::WouldBlock | K::TimedOut);
        }
        failed(&self.location, cause)
    }
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
    Error {
        fault: if is_row { Fault::Us } else { Fault::Storage },
        retry: !is_row,
        message: format!(
            "MySQL at {location} refuses ({}): {}",
            said.code,
            said.message.chars().take(300).collect::<String>()
        ),
    }
}
