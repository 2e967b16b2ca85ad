//! What scripts learn of a request and a response, and what they make of them.

use std::net::IpAddr;
use std::sync::Arc;

use proxying::http1::{Request, Response, Version};

use super::fields::{Fields, check_value};
use crate::config::is_path;
use crate::edits::SPACES;
use crate::local::Local;

/// Bytes of a path with its query that a script may write.
const TARGET_MAX: usize = 8_192;
/// Bytes of the body of a response.
const BODY_MAX: usize = 16_384;
/// Fields of a response of the script's own, and their bytes.
const FIELDS_MAX: usize = 32;
const FIELD_BYTES_MAX: usize = 8_192;

/// A connection of a client.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) address: IpAddr,
    /// Port of the service that it is connected to.
    pub(crate) port: u16,
    /// Version of TLS; empty without TLS.
    pub(crate) tls: &'static str,
    /// Name that it asked for in TLS.
    pub(crate) sni: Option<Arc<str>>,
    /// Common name of its certificate.
    pub(crate) certified: Option<Arc<str>>,
    pub(crate) service: Arc<str>,
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(super) caller: Caller,
    pub(super) method: String,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) query: Option<String>,
    pub(super) version: &'static str,
    pub(super) fields: Fields,
    /// The script has written the path or the query.
    pub(super) rewritten: bool,
}

impl Facts {
    pub(crate) fn of(request: &Request<'_>, caller: Caller) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (path, query) = request.target.split();
        let version = match request.version {
            Version::Http10 => "1.0",
            Version::Http11 => "1.1",
            Version::Http2 => "2",
            Version::Http3 => "3",
        };
        Self {
            caller,
            method: text(request.method),
            host: text(request.host),
            path: text(path),
            query: query.map(text),
            version,
            fields: Fields::of(request.end_to_end().map(|field| (field.name, field.value))),
            rewritten: false,
        }
    }

    /// Path and query for the server, if a script has written them.
    pub(super) fn target(&self) -> Option<Vec<u8>> {
        self.rewritten.then(|| {
            let mut target = self.path.clone().into_bytes();
            if let Some(query) = &self.query {
                target.push(b'?');
                target.extend_from_slice(query.as_bytes());
            }
            target
        })
    }

    pub(super) fn set_path(&mut self, path: &str) -> Result<(), String> {
        if !is_path(path) || path.contains(['?', '#']) || path.len() > TARGET_MAX {
            return Err(format!(
                "the path {} is none: it begins with /, has no spaces, no ? and no #, and at most {TARGET_MAX} bytes",
                shown(path)
            ));
        }
        path.clone_into(&mut self.path);
        self.rewritten = true;
        Ok(())
    }

    pub(super) fn set_query(&mut self, query: &str) -> Result<(), String> {
        let valid = query.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        if !valid || query.len() > TARGET_MAX {
            return Err(format!(
                "the query {} is none: it has no spaces, no # and at most {TARGET_MAX} bytes",
                shown(query)
            ));
        }
        self.query = (!query.is_empty()).then(|| query.to_owned());
        self.rewritten = true;
        Ok(())
    }
}

/// The start of a text in an error.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    format!("{start:?}")
}

/// The head of a response.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) fields: Fields,
}

impl Head {
    pub(super) fn of(response: &Response<'_>) -> Self {
        let fields = Fields::of(response.end_to_end().map(|field| (field.name, field.value)));
        Self { status: response.status, fields }
    }
}

/// Where a script lets a request go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The pool at this place of those that it may choose.
    Pool(usize),
    Respond(Local),
}

impl Choice {
    /// A response of the script's own. `fields` has names and values in turn.
    pub(super) fn respond(status: f64, fields: &[String], body: String) -> Result<Self, String> {
        let status = status_of(status, 200)?;
        if body.len() > BODY_MAX {
            return Err(format!("the body of a response is limited to {BODY_MAX} bytes"));
        }
        let bytes: usize = fields.iter().map(String::len).sum();
        if fields.len() / 2 > FIELDS_MAX || bytes > FIELD_BYTES_MAX {
            return Err(format!(
                "a response is limited to {FIELDS_MAX} headers with {FIELD_BYTES_MAX} bytes together"
            ));
        }
        let mut local = Local { status, body: body.into_bytes(), ..Local::default() };
        for pair in fields.chunks_exact(2) {
            let [name, value] = pair else { continue };
            check_value(name, value)?;
            let value = value.trim_matches(SPACES).to_owned();
            if name.eq_ignore_ascii_case("content-type") {
                local.content_type = Some(value);
            } else {
                local.fields.push((name.clone(), value));
            }
        }
        if local.content_type.is_none() && !local.body.is_empty() {
            local.content_type = Some("text/plain; charset=utf-8".to_owned());
        }
        Ok(Self::Respond(local))
    }

    pub(super) fn redirect(status: f64, location: String) -> Result<Self, String> {
        let status = status_of(status, 300)?;
        if ![301, 302, 303, 307, 308].contains(&status) {
            return Err(format!("{status} is not a status of a redirect"));
        }
        let valid = location.bytes().all(|byte| byte.is_ascii_graphic());
        if location.is_empty() || !valid || location.len() > FIELD_BYTES_MAX {
            return Err(format!("{} is not a location", shown(&location)));
        }
        let location = Some(location.into_bytes());
        Ok(Self::Respond(Local { status, location, ..Local::default() }))
    }

    pub(super) fn refuse(status: f64) -> Result<Self, String> {
        Ok(Self::Respond(Local::text(status_of(status, 400)?)))
    }
}

/// A whole number from `least` to 599.
fn status_of(status: f64, least: u16) -> Result<u16, String> {
    let found = (least..600).find(|known| (f64::from(*known) - status).abs() < f64::EPSILON);
    found.ok_or_else(|| format!("{status} is not a status from {least} to 599"))
}
