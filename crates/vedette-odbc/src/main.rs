//! Asks databases by ODBC for the server, which starts this program on demand: the server itself
//! runs where no ODBC is installed, and a driver that crashes ends nothing but this program.
//!
//! On standard input come requests, each a length (four bytes, little endian) and JSON; on standard
//! output goes an answer to each. The end of the input ends the program. One request is served at
//! a time.

mod query;

use std::io::{self, Read, Write};

use odbc_api::Environment;
use serde::{Deserialize, Serialize};

/// Bytes of a request.
const REQUEST_BYTES_MAX: u32 = 4 << 20;

/// What to ask.
#[derive(Debug, Deserialize)]
struct Request {
    /// ODBC connection string.
    connection: String,
    /// SQL.
    query: String,
    /// Of connecting and of the query, seconds.
    timeout_s: u32,
    /// Rows that are read, others are not waited for.
    rows_max: usize,
    /// Columns that are read.
    columns_max: usize,
    /// Bytes of all values together; a larger result is an error.
    bytes_max: usize,
}

/// What came of it.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// Names of the columns; values row by row.
    Rows { columns: Vec<String>, rows: Vec<Vec<Option<String>>> },
    /// Why there are none.
    Error(String),
}

fn main() -> io::Result<()> {
    let environment = Environment::new();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    while let Some(request) = read(&mut input)? {
        let answer = match (&environment, serde_json::from_slice::<Request>(&request)) {
            (Ok(environment), Ok(request)) => query::run(environment, &request),
            (Err(error), _) => Answer::Error(format!("Cannot use ODBC: {}", query::said(error))),
            (_, Err(error)) => Answer::Error(format!("The request cannot be read: {error}")),
        };
        write(&mut output, &answer)?;
    }
    Ok(())
}

/// One request; `None` = there are no more.
fn read(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let length = u32::from_le_bytes(length);
    if length > REQUEST_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the request is too long"));
    }
    let mut bytes = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn write(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let text = serde_json::to_vec(answer)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&text)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_bounded() {
        let bytes = [&2_u32.to_le_bytes()[..], b"{}"].concat();
        let mut input = &bytes[..];
        assert_eq!(read(&mut input).unwrap(), Some(b"{}".to_vec()));
        assert_eq!(read(&mut input).unwrap(), None);
        let long = (REQUEST_BYTES_MAX + 1).to_le_bytes();
        assert!(read(&mut &long[..]).is_err());
    }

    #[test]
    fn answers_carry_their_length() {
        let mut output = Vec::new();
        let rows = vec![vec![Some("1".to_owned()), None]];
        write(&mut output, &Answer::Rows { columns: vec!["a".to_owned(), "b".to_owned()], rows })
            .unwrap();
        let text = br#"{"rows":{"columns":["a","b"],"rows":[["1",null]]}}"#;
        assert_eq!(output[..4], u32::try_from(text.len()).unwrap().to_le_bytes());
        assert_eq!(output[4..], text[..]);
    }

    /// What a driver manager without drivers says; where none is installed this program does not
    /// even link.
    #[test]
    fn unknown_drivers_are_an_error() {
        let environment = Environment::new().unwrap();
        let request = Request {
            connection: "Driver=no such driver".to_owned(),
            query: "select 1".to_owned(),
            timeout_s: 3,
            rows_max: 1,
            columns_max: 1,
            bytes_max: 100,
        };
        let Answer::Error(why) = query::run(&environment, &request) else { panic!("no error") };
        assert!(why.starts_with("Cannot connect to ODBC DSN: [SQL_ERROR]:["), "{why}");
    }
}
