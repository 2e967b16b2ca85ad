//! Requests over HTTP, and what the answers mean for whoever asked.

use std::time::Duration;

use ureq::http::{Request, Uri};
use ureq::tls::{TlsConfig, TlsProvider};
use ureq::{Agent, Body};

use crate::{Error, Fault};

/// A server that does not even accept a connection is away.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest that a question takes: whoever reads history waits for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Longest that a batch takes.
const INSERT_WITHIN: Duration = Duration::from_secs(20);
/// Largest answer.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// Codes that blame the data that were sent: cannot parse (6, 26, 27, 33, 38, 41, 72), type
/// mismatch (53), too large a string (131), NULL (349), incorrect data (117).
const ROW_CODES: [u32; 11] = [6, 26, 27, 33, 38, 41, 53, 72, 117, 131, 349];

/// A database of a server.
pub(crate) struct Client {
    agent: Agent,
    /// Without user and path.
    base: String,
    user: String,
    password: String,
    database: String,
    /// For people: no secrets.
    location: String,
}

fn config_error(message: String) -> Error {
    Error { fault: Fault::Config, retry: false, message }
}

impl Client {
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        // The text may hold a password: no message repeats it.
        let bad = || {
            config_error(
                "the address of ClickHouse is not like http://user:password@host:8123/database"
                    .to_owned(),
            )
        };
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let scheme = uri.scheme_str().filter(|s| ["http", "https"].contains(s)).ok_or_else(bad)?;
        let authority = uri.authority().ok_or_else(bad)?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (user, host),
            None => ("default", authority.as_str()),
        };
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let host =
            if authority.port().is_some() { host.to_owned() } else { format!("{host}:8123") };
        let database = match uri.path().trim_matches('/') {
            "" => "vedette",
            name => name,
        };
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !database.chars().all(name) {
            return Err(config_error("the ClickHouse database has an odd name".to_owned()));
        }
        let tls = TlsConfig::builder().provider(TlsProvider::NativeTls).build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_WITHIN))
            .timeout_global(Some(ANSWER_WITHIN))
            .max_redirects(0)
            .proxy(None)
            .tls_config(tls)
            .build()
            .new_agent();
        Ok(Self {
            agent,
            base: format!("{scheme}://{host}/"),
            user: decoded(user),
            password: decoded(password),
            database: database.to_owned(),
            location: format!("{scheme}://{host}/{database}"),
        })
    }

    /// Address and database, without secrets.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// The same for names of files.
    pub(crate) fn place(&self) -> String {
        let place = self.location.split_once("://").map_or("", |(_, place)| place);
        let fit = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        place.chars().map(fit).collect()
    }

    /// Runs a statement; gives what it answers.
    pub(crate) fn ask(&self, sql: &str) -> Result<Vec<u8>, Error> {
        self.send(Some(&self.database), None, sql.as_bytes(), ANSWER_WITHIN)
    }

    /// Runs an insert with its rows.
    pub(crate) fn insert(&self, sql: &str, rows: &[u8]) -> Result<(), Error> {
        self.send(Some(&self.database), Some(sql), rows, INSERT_WITHIN).map(drop)
    }

    /// Makes the database, if we may; that it is missing is told by what comes next.
    pub(crate) fn make_database(&self) -> Result<(), Error> {
        let sql = format!("CREATE DATABASE IF NOT EXISTS {}", self.database);
        match self.send(None, None, sql.as_bytes(), ANSWER_WITHIN) {
            Err(error) if error.retry => Err(error),
            _ => Ok(()),
        }
    }

    fn send(
        &self,
        database: Option<&str>,
        query: Option<&str>,
        body: &[u8],
        within: Duration,
    ) -> Result<Vec<u8>, Error> {
        // Without waiting, an error in the middle of the answer looks like data.
        let mut url = format!("{}?wait_end_of_query=1", self.base);
        if let Some(database) = database {
            url += &format!("&database={database}");
        }
        if let Some(query) = query {
            url += &format!("&query={}", encoded(query));
        }
        let request = Request::post(&url)
            .header("X-ClickHouse-User", &self.user)
            .header("X-ClickHouse-Key", &self.password)
            .body(body)
            .map_err(|_| config_error("user or password of ClickHouse are odd".to_owned()))?;
        let request = self.agent.configure_request(request).timeout_global(Some(within)).build();
        let mut answer = self.agent.run(request).map_err(|error| self.away(&error))?;
        let status = answer.status().as_u16();
        let read: Result<Vec<u8>, ureq::Error> = read(answer.body_mut());
        let bytes = read.map_err(|error| self.away(&error))?;
        if status == 200 { Ok(bytes) } else { Err(self.refused(status, &bytes)) }
    }

    fn away(&self, error: &ureq::Error) -> Error {
        if let ureq::Error::BodyExceedsLimit(limit) = error {
            let message =
                format!("ClickHouse has more than {limit} bytes of that: ask for a shorter time");
            return Error { fault: Fault::Us, retry: false, message };
        }
        Error::storage_away(format!(
            "ClickHouse at {} does not answer ({error}); is it up, and can it be reached?",
            self.location
        ))
    }

    fn refused(&self, status: u16, body: &[u8]) -> Error {
        let text = String::from_utf8_lossy(body);
        let code = text.split_once("Code: ").and_then(|(_, rest)| {
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        });
        let is_row = code.is_some_and(|code| ROW_CODES.contains(&code));
        let said: String = text.trim().chars().take(300).collect();
        Error {
            fault: if is_row { Fault::Us } else { Fault::Storage },
            retry: !is_row,
            message: format!("ClickHouse at {} refuses ({status}): {said}", self.location),
        }
    }
}

fn read(body: &mut Body) -> Result<Vec<u8>, ureq::Error> {
    body.with_config().limit(ANSWER_BYTES_MAX).read_to_vec()
}

/// Everything but letters and digits as `%xx`.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// `%xx` as what it stands for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, left @ ..] = rest {
        let hex = left.get(..2).filter(|_| *first == b'%');
        let byte = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &left[2..] } else { left };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_never_told_with_their_secrets() {
        for (url, base, user, password, database) in [
            ("http://h", "http://h:8123/", "default", "", "vedette"),
            ("https://u:p%40%3a@h:1/db/", "https://h:1/", "u", "p@:", "db"),
            ("http://u@[::1]:9/a_b", "http://[::1]:9/", "u", "", "a_b"),
        ] {
            let client = Client::new(url).unwrap();
            let got = (client.base.as_str(), client.user.as_str(), client.password.as_str());
            assert_eq!((got, client.database.as_str()), ((base, user, password), database));
            assert!(!client.location().contains('@') && !client.place().contains(['/', ':']));
        }
        for url in ["", "h:8123", "ftp://h/x", "http://u:secret@/x", "http://u:secret@h/a;b"] {
            let error = Client::new(url).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn errors_say_whose_fault_they_are() {
        let client = Client::new("http://h/x").unwrap();
        for (body, retry) in [
            ("Code: 27, e.displayText() = DB::Exception: Cannot parse", false),
            ("Code: 33. DB::Exception: Cannot read all data", false),
            ("Code: 252. DB::Exception: Too many parts", true),
            ("Code: 516. DB::Exception: Authentication failed", true),
            ("<html>Bad gateway", true),
        ] {
            let error = client.refused(500, body.as_bytes());
            assert_eq!((error.retry, error.fault == Fault::Us), (retry, !retry), "{body}");
        }
        assert_eq!(encoded("a b=1(2)"), "a%20b%3D1%282%29");
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
