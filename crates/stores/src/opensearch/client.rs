//! Requests to a cluster, and the meaning of responses for the caller.

use serde_json::Value;
use ureq::http::Method;

use super::super::http::{Address, Answer, Server};
use history::Error;

/// Types of errors that blame a document: of the others with the same status some blame the
/// cluster, such as that it may have no more shards, or that an index is closed.
const ROW_TYPES: [&str; 3] =
    ["mapper_parsing_exception", "document_parsing_exception", "strict_dynamic_mapping_exception"];
/// What is said of a document with a word that is too long for an index: its type is that of any
/// parameter that is not allowed.
const LONG_WORD: &str = "immense term";

/// Indices of a cluster with names that begin alike.
pub(crate) struct Client {
    pub(crate) server: Server,
    /// What names of our indices begin with.
    pub(crate) prefix: String,
}

impl Client {
    /// Reads `http://user:password@host:9200/prefix`.
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let address = Address::read("OpenSearch", url, 9200)?;
        let prefix = address.name().to_owned();
        let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !prefix.starts_with(|c: char| c.is_ascii_lowercase()) || !prefix.chars().all(fit) {
            return Err(Error::config(
                "names of OpenSearch indices begin with small letters, digits and underscores",
            ));
        }
        Ok(Self { server: Server::new(address, &prefix), prefix })
    }

    /// Asks; everything but success is an error, of which only "there is none" is `None`.
    pub(crate) fn find(
        &self,
        method: Method,
        path: &str,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let Answer { status, body, .. } = self.send(method, path, "application/json", body)?;
        match status {
            200..=299 => Ok(Some(body)),
            404 => Ok(None),
            _ => Err(self.server.refused(status, &String::from_utf8_lossy(&body))),
        }
    }

    fn send(&self, method: Method, path: &str, kind: &str, body: &[u8]) -> Result<Answer, Error> {
        self.server.send(method, path, &[("Content-Type", kind)], body)
    }

    /// Asks for what has to be there.
    pub(crate) fn ask(&self, method: Method, path: &str, body: &[u8]) -> Result<Vec<u8>, Error> {
        let found = self.find(method, path, body)?;
        found.ok_or_else(|| self.server.refused(404, &format!("{path} is missing")))
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
        let Answer { status, body, .. } =
            self.send(Method::POST, "_bulk", "application/x-ndjson", lines)?;
        if !(200..300).contains(&status) {
            let said: Value = serde_json::from_slice(&body).unwrap_or_default();
            let text = String::from_utf8_lossy(&body);
            return Err(self.refused_rows(status, &said["error"], &text));
        }
        let answer: Value = self.json(&body)?;
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
            let error = &done["error"];
            let error = self.refused_rows(status, error, &error.to_string());
            if error.retry {
                return Err(error);
            }
            refused = Some(error);
        }
        Err(refused.unwrap_or_else(|| super::odd_answer("to a batch")))
    }

    /// What it means that documents were not taken.
    fn refused_rows(&self, status: u16, error: &Value, said: &str) -> Error {
        let has_long_word = |reason: &str| reason.contains(LONG_WORD);
        let is_row = ROW_TYPES.iter().any(|of_rows| error["type"] == *of_rows)
            || error["reason"].as_str().is_some_and(has_long_word)
            || status == 413;
        if is_row {
            self.server.refused_rows(status, said)
        } else {
            self.server.refused(status, said)
        }
    }

    /// What an answer says.
    pub(crate) fn json<'a, T: serde::Deserialize<'a>>(&self, answer: &'a [u8]) -> Result<T, Error> {
        serde_json::from_slice(answer).map_err(|error| super::odd_answer(&error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn names_of_indices_are_read() {
        for (url, prefix) in [("http://h", "vedette"), ("https://h:1/a_1/", "a_1")] {
            assert_eq!(Client::new(url).unwrap().prefix, prefix);
        }
        for url in ["ftp://u:secret@h/x", "http://u:secret@h/A", "http://u:secret@h/_a"] {
            let error = Client::new(url).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn errors_say_whose_fault_they_are() {
        let client = Client::new("http://h").unwrap();
        for (status, kind, reason, is_row) in [
            (400, "mapper_parsing_exception", "failed to parse field [clock]", true),
            (400, "document_parsing_exception", "[1:9] failed to parse field [clock]", true),
            (400, "strict_dynamic_mapping_exception", "introduction of [x] is not allowed", true),
            (
                400,
                "illegal_argument_exception",
                "Document contains at least one immense term",
                true,
            ),
            (413, "circuit_breaking_exception", "too large", true),
            (400, "illegal_argument_exception", "no write index is defined for alias", false),
            (400, "validation_exception", "this cluster currently has [1000] shards open", false),
            (400, "index_closed_exception", "closed", false),
            (403, "cluster_block_exception", "read-only", false),
            (429, "mapper_parsing_exception", "overloaded", false),
        ] {
            let error = serde_json::json!({ "type": kind, "reason": reason });
            let got = client.refused_rows(status, &error, &error.to_string());
            assert_eq!((got.retry, got.fault == Fault::Us), (!is_row, is_row), "{error}");
        }
    }
}
