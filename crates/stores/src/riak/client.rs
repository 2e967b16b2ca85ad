//! Requests to a node of Riak KV, and the meaning of responses for the caller.

use serde_json::Value;
use ureq::http::{HeaderMap, Method};

use super::super::http::{Address, Answer, Server};
use history::Error;

/// Objects of one bucket.
pub(crate) struct Client {
    pub(crate) server: Server,
    /// `buckets/NAME`, or the same below a bucket type.
    bucket: String,
    is_typed: bool,
}

/// What is stored under a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Tells the cluster which writes we know of. What was deleted has one too.
    pub(crate) vclock: Option<String>,
    /// None, one, or several when writers did not know of each other.
    pub(crate) siblings: Vec<Vec<u8>>,
}

impl Client {
    /// Reads `http://user:password@host:8098/bucket?type=name`.
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let address = Address::read("Riak", url, 8098)?;
        let name = address.name();
        let fit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_name = |text: &str| !text.is_empty() && text.chars().all(fit);
        let bucket_type = match address.settings.as_str() {
            "" => None,
            settings => Some(settings.strip_prefix("type=").filter(|name| is_name(name))),
        };
        if !is_name(name) || bucket_type == Some(None) {
            return Err(Error::config(
                "a Riak bucket, and the bucket type behind ?type=, has letters, digits, _ and -; \
                 there is no other setting",
            ));
        }
        let bucket = match bucket_type.flatten() {
            Some(bucket_type) => format!("types/{bucket_type}/buckets/{name}"),
            None => format!("buckets/{name}"),
        };
        let is_typed = bucket.starts_with("types");
        Ok(Self { server: Server::new(address, &bucket), bucket, is_typed })
    }

    /// Sees to it that the bucket keeps what writers wrote who did not know of each other: else the
    /// cluster would choose one of them, and the values of the other were lost.
    pub(crate) fn prepare(&self) -> Result<(), Error> {
        let answer = self.send(Method::GET, "props", &[], b"")?;
        let body = self.expect_success(answer)?.body;
        let props: Value =
            serde_json::from_slice(&body).map_err(|_| super::odd_answer("to properties"))?;
        let has = |name: &str| props["props"][name].as_bool();
        if has("allow_mult") == Some(true) && has("last_write_wins") != Some(true) {
            return Ok(());
        }
        if self.is_typed {
            return Err(Error::config(
                "the bucket type of a Riak store needs allow_mult = true and last_write_wins = \
                 false: update it with riak-admin bucket-type",
            ));
        }
        let props = br#"{"props":{"allow_mult":true,"last_write_wins":false}}"#;
        let answer =
            self.send(Method::PUT, "props", &[("Content-Type", "application/json")], props)?;
        self.expect_success(answer).map(drop)
    }

    pub(crate) fn get(&self, key: &str) -> Result<Found, Error> {
        let headers = [("Accept", "multipart/mixed, */*;q=0.5")];
        let answer = self.send(Method::GET, &format!("keys/{key}?r=quorum"), &headers, b"")?;
        let vclock = header(&answer.headers, "X-Riak-Vclock").map(str::to_owned);
        let siblings = match answer.status {
            200 => vec![answer.body],
            300 => {
                let boundary = header(&answer.headers, "Content-Type").and_then(boundary);
                let siblings = boundary.and_then(|boundary| siblings(&answer.body, boundary));
                siblings.ok_or_else(|| super::odd_answer("siblings"))?
            }
            404 => Vec::new(),
            _ => return Err(self.refused(&answer)),
        };
        Ok(Found { vclock, siblings })
    }

    /// Stores an object instead of all that the clock knows of. It is on the disks of most of its
    /// replicas when this returns, as far as their backends wait for these.
    pub(crate) fn put(&self, key: &str, vclock: Option<&str>, body: &[u8]) -> Result<(), Error> {
        let answer = self.send_object(key, vclock, body)?;
        self.expect_success(answer).map(drop)
    }

    /// The same of an object of rows: they may be to blame.
    pub(crate) fn put_rows(
        &self,
        key: &str,
        vclock: Option<&str>,
        body: &[u8],
    ) -> Result<(), Error> {
        let Answer { status, body, .. } = self.send_object(key, vclock, body)?;
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(self.server.refused_rows(status, &String::from_utf8_lossy(&body)))
    }

    fn send_object(&self, key: &str, vclock: Option<&str>, body: &[u8]) -> Result<Answer, Error> {
        let mut headers = vec![("Content-Type", "application/octet-stream")];
        headers.extend(vclock.map(|vclock| ("X-Riak-Vclock", vclock)));
        self.send(Method::PUT, &format!("keys/{key}?w=quorum&dw=quorum"), &headers, body)
    }

    /// Deletes an object, if it is there.
    pub(crate) fn delete(&self, key: &str) -> Result<(), Error> {
        let path = format!("keys/{key}?r=quorum&w=quorum&dw=quorum");
        let answer = self.send(Method::DELETE, &path, &[], b"")?;
        if answer.status == 404 { Ok(()) } else { self.expect_success(answer).map(drop) }
    }

    fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Error> {
        self.server.send(method, &format!("{}/{path}", self.bucket), headers, body)
    }

    fn expect_success(&self, answer: Answer) -> Result<Answer, Error> {
        if (200..300).contains(&answer.status) { Ok(answer) } else { Err(self.refused(&answer)) }
    }

    /// 503 = not enough replicas answered, or not in time.
    fn refused(&self, answer: &Answer) -> Error {
        self.server.refused(answer.status, &String::from_utf8_lossy(&answer.body))
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The boundary of a `multipart/mixed` body.
fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    let boundary = parameters.split(';').find_map(|each| each.trim().strip_prefix("boundary="))?;
    Some(boundary.trim_matches('"')).filter(|boundary| !boundary.is_empty())
}

/// The bodies of the parts; those of what was deleted are left out.
fn siblings(body: &[u8], boundary: &str) -> Option<Vec<Vec<u8>>> {
    let line = format!("\r\n--{boundary}");
    let (_, mut rest) = split(body, line.as_bytes())?;
    let mut siblings = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(siblings);
        }
        let (part, after) = split(rest, line.as_bytes())?;
        let (head, content) = split(part, b"\r\n\r\n")?;
        let head = std::str::from_utf8(head).ok()?.to_ascii_lowercase();
        if !head.lines().any(|line| line.trim() == "x-riak-deleted: true") {
            siblings.push(content.to_vec());
        }
        rest = after;
    }
}

/// What is before and behind the first of these bytes.
fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let found = bytes.windows(at.len()).position(|window| window == at)?;
    Some((bytes.get(..found)?, bytes.get(found + at.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn names_of_buckets_and_types_are_read() {
        for (url, location) in [
            ("http://h", "http://h:8098/buckets/vedette"),
            ("https://u:secret@h:1/a-1/", "https://h:1/buckets/a-1"),
            ("http://h/x?type=long_time", "http://h:8098/types/long_time/buckets/x"),
        ] {
            let client = Client::new(url).unwrap();
            assert_eq!(client.server.location(), location);
        }
        for url in [
            "riak://u:secret@h/x",
            "http://u:secret@h/a/b",
            "http://u:secret@h/a?type=",
            "http://u:secret@h/a?type=a/b",
            "http://u:secret@h/a?n_val=3",
        ] {
            let error = Client::new(url).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn siblings_are_read_and_deleted_ones_left_out() {
        let body = b"\r\n--Ab9\r\nContent-Type: application/octet-stream\r\n\r\n\0\xffone\r\n\
            \r\n--Ab9\r\nX-Riak-Deleted: true\r\nContent-Type: a/b\r\n\r\n\
            \r\n--Ab9\r\nETag: x\r\n\r\ntwo\r\n--Ab9--\r\n";
        let found = siblings(body, boundary("multipart/mixed; boundary=Ab9").unwrap()).unwrap();
        assert_eq!(found, [b"\0\xffone\r\n".to_vec(), b"two".to_vec()]);
        for cut in [0, 5, 20, 60, body.len() - 4] {
            assert_eq!(siblings(&body[..cut], "Ab9"), None, "{cut}");
        }
        for other in ["multipart/mixed", "text/plain; boundary=a", "multipart/mixed; boundary="] {
            assert_eq!(boundary(other), None, "{other}");
        }
    }
}
