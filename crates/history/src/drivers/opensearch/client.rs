//! Requests to a cluster, and what the answers mean for whoever asked.

use serde_json::Value;
use ureq::http::Method;

use super::super::as_name;
use super::super::http::{Address, Answer, Http};
use crate::{Error, Fault};

/// Indices of a cluster with names that begin alike.
pub(crate) struct Client {
    http: Http,
    address: Address,
    /// What names of our indices begin with.
    pub(crate) prefix: String,
    /// For people: no secrets.
    location: String,
}

impl Client {
    /// Reads `http://user:password@host:9200/prefix`.
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let address = Address::read(url, 9200).ok_or_else(bad)?;
        let prefix = match address.path.as_str() {
            "" => "vedette",
            name => name,
        };
        let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !prefix.starts_with(|c: char| c.is_ascii_lowercase()) || !prefix.chars().all(fit) {
            return Err(config_error(
                "names of OpenSearch indices begin with small letters, digits and underscores",
            ));
        }
        let prefix = prefix.to_owned();
        let location = format!("{}{prefix}", address.base);
        Ok(Self { http: Http::new("OpenSearch"), address, prefix, location })
    }

    /// Address and beginning of the names, without secrets.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// The same for names of files.
    pub(crate) fn place(&self) -> String {
        as_name(self.location.split_once("://").map_or("", |(_, place)| place))
    }

    /// Asks; everything but success is an error, of which only "there is none" is `None`.
    pub(crate) fn find(
        &self,
        method: Method,
        path: &str,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let Answer { status, body, .. } = self.send(method, path, body)?;
        match status {
            200..=299 => Ok(Some(body)),
            404 => Ok(None),
            _ => Err(self.refused(status, &String::from_utf8_lossy(&body))),
        }
    }

    /// Asks for what has to be there.
    pub(crate) fn ask(&self, method: Method, path: &str, body: &[u8]) -> Result<Vec<u8>, Error> {
        let found = self.find(method, path, body)?;
        found.ok_or_else(|| self.refused(404, &format!("{path} is missing")))
    }

    /// Searches; an answer that misses rows is an error, that there are no indices is none.
    pub(crate) fn search(&self, pattern: &str, query: &[u8]) -> Result<Vec<u8>, Error> {
        let path =
            format!("{pattern}/_search?allow_partial_search_results=false&ignore_unavailable=true");
        self.ask(Method::POST, &path, query)
    }

    /// What was written before is found by searches from now on.
    pub(crate) fn refresh(&self, pattern: &str) -> Result<(), Error> {
        let path = format!("{pattern}/_refresh?ignore_unavailable=true");
        self.find(Method::POST, &path, b"").map(drop)
    }

    /// Writes lines of actions and documents; all of them, or there is an error.
    pub(crate) fn bulk(&self, lines: &[u8]) -> Result<(), Error> {
        let answer = self.ask(Method::POST, "_bulk", lines)?;
        let answer: Value = self.json(&answer)?;
        if answer["errors"] == Value::Bool(false) {
            return Ok(());
        }
        // What another try helps is told before what it does not.
        let mut refused = None;
        let items = answer["items"].as_array().into_iter().flatten();
        for (action, done) in items.filter_map(Value::as_object).flatten() {
            let status = done["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let status = status.unwrap_or(500);
            if status < 300 || (status == 404 && action == "delete") {
                continue;
            }
            let error = self.refused(status, &done["error"].to_string());
            if error.retry {
                return Err(error);
            }
            refused = Some(error);
        }
        Err(refused.unwrap_or_else(|| super::odd_answer("to a batch")))
    }

    /// What an answer says.
    pub(crate) fn json<'a, T: serde::Deserialize<'a>>(&self, answer: &'a [u8]) -> Result<T, Error> {
        serde_json::from_slice(answer).map_err(|error| super::odd_answer(&error.to_string()))
    }

    fn send(&self, method: Method, path: &str, body: &[u8]) -> Result<Answer, Error> {
        let kind = if path == "_bulk" { "application/x-ndjson" } else { "application/json" };
        let content = (&[("Content-Type", kind)][..], body);
        let request = self.address.request(method, path, content);
        let request = request.ok_or_else(|| config_error("the address of OpenSearch is odd"))?;
        self.http.send(request, &self.location)
    }

    /// 400 blames what was sent, 413 its size; anything else may be better later.
    fn refused(&self, status: u16, said: &str) -> Error {
        let is_row = status == 400 || status == 413;
        let said: String = said.trim().chars().take(300).collect();
        Error {
            fault: if is_row { Fault::Us } else { Fault::Storage },
            retry: !is_row,
            message: format!("OpenSearch at {} refuses ({status}): {said}", self.location),
        }
    }
}

/// The text may hold a password: no message repeats it.
fn bad() -> Error {
    config_error("the address of OpenSearch is not like http://user:password@host:9200/vedette")
}

fn config_error(message: &str) -> Error {
    Error { fault: Fault::Config, retry: false, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_never_told_with_their_secrets() {
        for (url, base, user, prefix) in [
            ("http://h", "http://h:9200/", None, "vedette"),
            ("https://u:p%40@h:1/a_1/", "https://h:1/", Some("Basic dTpwQA=="), "a_1"),
            ("http://u@[::1]:9/x", "http://[::1]:9/", Some("Basic dTo="), "x"),
        ] {
            let client = Client::new(url).unwrap();
            assert_eq!(
                (client.address.base.as_str(), client.address.user.as_deref()),
                (base, user)
            );
            assert_eq!(client.prefix, prefix);
            assert!(!client.location().contains('@') && !client.place().contains(['/', ':']));
        }
        for url in ["", "h:9200", "ftp://h/x", "http://u:secret@/x", "http://u:secret@h/A"] {
            let error = Client::new(url).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn errors_say_whose_fault_they_are() {
        let client = Client::new("http://h/x").unwrap();
        for (status, retry) in [(400, false), (413, false), (401, true), (429, true), (503, true)] {
            let error = client.refused(status, "{}");
            assert_eq!((error.retry, error.fault == Fault::Us), (retry, !retry), "{status}");
        }
    }
}
