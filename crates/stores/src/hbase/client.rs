//! Requests to a REST gateway, and the meaning of responses for the caller.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::Method;

use super::super::http::{Address, Answer, Server};
use history::Error;

/// Compressions of HBase. Only GZ needs nothing but Java, and no compression.
const COMPRESSIONS: [&str; 5] = ["gz", "none", "snappy", "lz4", "zstd"];
/// Cells of a part of a row: the gateway holds a few of these, and no whole day.
const PART: usize = 1_000;

/// Tables of a cluster with names that begin alike, through a gateway.
pub(crate) struct Client {
    pub(crate) server: Server,
    /// What names of our tables begin with; a namespace may be in front.
    pub(crate) prefix: String,
    /// Of tables that we make.
    pub(crate) compression: String,
}

/// Rows between two keys.
pub(crate) struct Scan<'a> {
    /// The first key that is asked for; going back, the highest.
    pub(crate) start: &'a str,
    /// The first that is not.
    pub(crate) end: &'a str,
    pub(crate) newest_first: bool,
    /// Which cells of each row, in the language of HBase's filters; empty = all.
    pub(crate) filter: &'a str,
    /// At most so many rows. Without a limit rows come in parts.
    pub(crate) limit: Option<usize>,
}

impl Client {
    /// Reads `http://user:password@host:8080/prefix?compression=gz`.
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let address = Address::read("HBase", url, 8080)?;
        let prefix = address.name();
        let fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let part = |text: &str| text.starts_with(char::is_alphabetic) && text.chars().all(fit);
        if !prefix.splitn(2, ':').all(part) {
            return Err(Error::config(
                "names of HBase tables begin with letters, digits and underscores, and may have a \
                 namespace and a colon in front",
            ));
        }
        let mut compression = "gz";
        for setting in address.settings.split('&').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            if name != "compression" || !COMPRESSIONS.contains(&value) {
                return Err(Error::config(format!(
                    "an address of HBase has one setting: compression, one of {}",
                    COMPRESSIONS.join(", ")
                )));
            }
            compression = value;
        }
        let (prefix, compression) = (prefix.to_owned(), compression.to_uppercase());
        Ok(Self { server: Server::new(address, &prefix), prefix, compression })
    }

    pub(crate) fn has_table(&self, table: &str) -> Result<bool, Error> {
        let path = format!("{table}/exists");
        let Answer { status, body, .. } = self.send(Method::GET, &path, (JSON, b""))?;
        match status {
            200..=299 => Ok(true),
            404 => Ok(false),
            _ => Err(self.refused(status, &body)),
        }
    }

    /// Creates a table, or alters an existing one, which cannot be used meanwhile.
    pub(crate) fn make_table(&self, table: &str, schema: &str) -> Result<(), Error> {
        self.ask(Method::PUT, &format!("{table}/schema"), (JSON, schema.as_bytes())).map(drop)
    }

    /// Stores what we note ourselves: a `CellSet` of the gateway's protocol buffers, which cost both
    /// sides less than JSON.
    pub(crate) fn put(&self, table: &str, cells: &[u8]) -> Result<(), Error> {
        self.ask(Method::PUT, &rows_of(table), (PROTOBUF, cells)).map(drop)
    }

    /// Stores rows in the same way; they may be to blame.
    pub(crate) fn put_rows(&self, table: &str, cells: &[u8]) -> Result<(), Error> {
        let Answer { status, body, .. } =
            self.send(Method::PUT, &rows_of(table), (PROTOBUF, cells))?;
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(self.server.refused_rows(status, &beginning(&body)))
    }

    /// Deletes what was written to a row until a moment.
    pub(crate) fn delete(&self, table: &str, key: &str, moment: i64) -> Result<(), Error> {
        self.ask(Method::DELETE, &format!("{table}/{key}/v/{moment}"), (JSON, b"")).map(drop)
    }

    /// Finds rows by one request that leaves nothing open at the gateway. The answer is JSON: that
    /// of protocol buffers tells the length of its parts in 16 bits, which is too few.
    pub(crate) fn scan(&self, table: &str, scan: &Scan<'_>) -> Result<Vec<u8>, Error> {
        let Scan { start, end, newest_first, filter, limit } = *scan;
        let [start, end, filter] =
            [start, end, filter].map(|text| utf8_percent_encode(text, NON_ALPHANUMERIC));
        let mut path = format!("{table}/*?startrow={start}&endrow={end}&reversed={newest_first}");
        match limit {
            Some(rows) => path += &format!("&limit={rows}"),
            None => path += &format!("&batchsize={PART}"),
        }
        if !scan.filter.is_empty() {
            path += &format!("&filter={filter}");
        }
        self.ask(Method::GET, &path, (JSON, b""))
    }

    /// Everything but success is an error.
    fn ask(&self, method: Method, path: &str, content: Content<'_>) -> Result<Vec<u8>, Error> {
        let Answer { status, body, .. } = self.send(method, path, content)?;
        if (200..300).contains(&status) { Ok(body) } else { Err(self.refused(status, &body)) }
    }

    fn send(&self, method: Method, path: &str, (kind, body): Content<'_>) -> Result<Answer, Error> {
        self.server.send(method, path, &[("Content-Type", kind), ("Accept", JSON)], body)
    }

    fn refused(&self, status: u16, said: &[u8]) -> Error {
        self.server.refused(status, &beginning(said))
    }
}

/// The path has to name a row; those of the body count.
fn rows_of(table: &str) -> String {
    format!("{table}/rows")
}

/// What went wrong. Behind that comes where in the gateway it happened.
fn beginning(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    said.lines().map(str::trim).take(2).collect::<Vec<_>>().join(": ")
}

/// Type and bytes of what is sent.
type Content<'a> = (&'static str, &'a [u8]);
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/x-protobuf";

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn names_of_tables_and_settings_are_read() {
        for (url, location, compression) in [
            ("http://h", "http://h:8080/vedette", "GZ"),
            ("https://u:p%40@h:1/a_1/?compression=snappy", "https://h:1/a_1", "SNAPPY"),
            ("http://u:secret@[::1]:9/ns:x", "http://[::1]:9/ns:x", "GZ"),
        ] {
            let client = Client::new(url).unwrap();
            assert_eq!(client.server.location(), location);
            assert_eq!(client.compression, compression);
        }
        for url in [
            "ftp://u:secret@h/x",
            "http://u:secret@h/a-b",
            "http://u:secret@h/a:b:c",
            "http://u:secret@h/a?compression=rar",
            "http://u:secret@h/a?ttl=5",
        ] {
            let error = Client::new(url).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn errors_are_reported_without_their_location() {
        let client = Client::new("http://h/x").unwrap();
        let said = b"Bad request\r\njava.lang.IllegalArgumentException: large\n\tat a.b(C.java:1)";
        let told = client.refused(400, said).message;
        assert!(told.ends_with("(400): Bad request: java.lang.IllegalArgumentException: large"));
    }
}
