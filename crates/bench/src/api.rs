//! A client of the JSON-RPC API, one call at a time.

use std::borrow::Cow;
use std::time::Duration;

use anyhow::{Context as _, bail};
use http_body_util::BodyExt;
use hyper::Request;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Login;

/// Creating thousands of items in one call takes a reference server minutes.
const CALL_MAX: Duration = Duration::from_secs(900);

/// Where a call goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Endpoint {
    authority: String,
    path: String,
}

impl Endpoint {
    fn parse(url: &str) -> anyhow::Result<Self> {
        let Some(rest) = url.strip_prefix("http://") else {
            bail!("--api {url}: only http:// is supported, such as http://127.0.0.1:8080");
        };
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) if !path.is_empty() => (authority, format!("/{path}")),
            Some((authority, _)) => (authority, "/api_jsonrpc.php".to_owned()),
            None => (rest, "/api_jsonrpc.php".to_owned()),
        };
        if authority.is_empty() {
            bail!("--api {url}: the address is missing");
        }
        let authority =
            if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        Ok(Self { authority, path })
    }
}

/// The API refused a call.
#[derive(Debug, thiserror::Error)]
#[error("{method}: {message} {data}")]
pub(crate) struct Refused {
    method: String,
    message: String,
    data: String,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<ErrorAnswer<'a>>,
}

#[derive(Deserialize)]
struct ErrorAnswer<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Cow<'a, str>,
}

/// A session.
pub(crate) struct Api {
    runtime: tokio::runtime::Runtime,
    /// How long a call may take.
    call_max: Duration,
    endpoint: Endpoint,
    token: Option<String>,
    version: Version,
}

/// Major and minor number of the API's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

impl Version {
    /// Sessions go into a header; before, into a member of each call.
    const BEARER: Self = Self(6, 4);
    /// Items have time-outs of their own.
    const ITEM_TIMEOUTS: Self = Self(7, 0);
    /// Templates have groups of their own; before, they were in groups of hosts.
    const TEMPLATE_GROUPS: Self = Self(6, 2);

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        Some(Self(numbers.next()??, numbers.next()??))
    }
}

impl Api {
    /// Logs in.
    pub(crate) fn login(login: &Login) -> anyhow::Result<Self> {
        Self::login_within(login, CALL_MAX)
    }

    /// Logs in; no call may take longer than `call_max`.
    pub(crate) fn login_within(login: &Login, call_max: Duration) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let endpoint = Endpoint::parse(&login.url)?;
        let version = Version::BEARER;
        let mut api = Self { runtime, call_max, endpoint, token: None, version };
        let version = api.call("apiinfo.version", &json!([])).context("cannot log in")?;
        api.version = version
            .as_str()
            .and_then(Version::parse)
            .with_context(|| format!("apiinfo.version gave {version}, which is not a version"))?;
        let result = api
            .call("user.login", &json!({ "username": login.user, "password": login.password }))
            .context("cannot log in")?;
        let token = result.as_str().context("user.login gave no session id")?.to_owned();
        api.token = Some(token);
        Ok(api)
    }

    /// `HOST:PORT` of the API.
    pub(crate) fn authority(&self) -> &str {
        &self.endpoint.authority
    }

    /// The session, which other calls of the same user may go with.
    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    /// Templates are in groups of their own.
    pub(crate) fn has_template_groups(&self) -> bool {
        self.version >= Version::TEMPLATE_GROUPS
    }

    /// Items have time-outs of their own.
    pub(crate) fn has_item_timeouts(&self) -> bool {
        self.version >= Version::ITEM_TIMEOUTS
    }

    /// Calls a method.
    pub(crate) fn call(&self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let text = self.call_text(method, params)?;
        serde_json::from_str(result(method, &text)?).context("the API's result is not JSON")
    }

    /// Calls a method and reads its result into `T`, which may not borrow.
    pub(crate) fn read<T: for<'a> Deserialize<'a>>(
        &self,
        method: &str,
        params: &Value,
    ) -> anyhow::Result<T> {
        let text = self.call_text(method, params)?;
        serde_json::from_str(result(method, &text)?)
            .with_context(|| format!("{method}: the result is not what it should be"))
    }

    /// The ids that a create method answers under `member`.
    pub(crate) fn create(
        &self,
        method: &str,
        params: &Value,
        member: &str,
    ) -> anyhow::Result<Vec<String>> {
        let result = self.call(method, params)?;
        let ids =
            result[member].as_array().with_context(|| format!("{method} gave no {member}"))?;
        Ok(ids.iter().filter_map(scalar_text).collect())
    }

    fn call_text(&self, method: &str, params: &Value) -> anyhow::Result<String> {
        let mut body = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": 1 });
        if let Some(token) = self.token.as_ref().filter(|_| self.version < Version::BEARER) {
            body["auth"] = json!(token);
        }
        let call = async {
            tokio::time::timeout(self.call_max, self.post(body.to_string()))
                .await
                .with_context(|| format!("no answer within {} s", self.call_max.as_secs()))?
        };
        self.runtime
            .block_on(call)
            .with_context(|| format!("{method} at http://{}", self.endpoint.authority))
    }

    async fn post(&self, body: String) -> anyhow::Result<String> {
        let stream = tokio::net::TcpStream::connect(&self.endpoint.authority)
            .await
            .context("cannot connect: does the server run?")?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let mut request = Request::post(&self.endpoint.path)
            .header(HOST, &self.endpoint.authority)
            .header(CONTENT_TYPE, "application/json-rpc")
            .header(CONNECTION, "close");
        if let Some(token) = self.token.as_ref().filter(|_| self.version >= Version::BEARER) {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let response = sender.send_request(request.body(body)?).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        connection.abort();
        if !status.is_success() {
            bail!("HTTP status {status}");
        }
        Ok(String::from_utf8(bytes.into())?)
    }
}

/// The text of an answer's result.
fn result<'a>(method: &str, answer: &'a str) -> anyhow::Result<&'a str> {
    let parsed: Answer<'_> = serde_json::from_str(answer).with_context(|| {
        let start: String = answer.chars().take(200).collect();
        format!("{method}: the answer is not JSON-RPC: {start}")
    })?;
    if let Some(error) = parsed.error {
        let (message, data) = (error.message.into_owned(), error.data.into_owned());
        return Err(Refused { method: method.to_owned(), message, data }.into());
    }
    Ok(parsed.result.with_context(|| format!("{method}: neither result nor error"))?.get())
}

/// Ids come as text or number.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints() {
        for (url, authority, path) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", "/api_jsonrpc.php"),
            ("http://127.0.0.1:8080/", "127.0.0.1:8080", "/api_jsonrpc.php"),
            ("http://mon/zabbix/api_jsonrpc.php", "mon:80", "/zabbix/api_jsonrpc.php"),
        ] {
            let (authority, path) = (authority.to_owned(), path.to_owned());
            assert_eq!(Endpoint::parse(url).unwrap(), Endpoint { authority, path });
        }
        for wrong in ["127.0.0.1:8080", "https://x", "http://", "http:///x"] {
            assert!(Endpoint::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn versions() {
        for (text, expected) in [
            ("6.0.14", Some(Version(6, 0))),
            ("7.0", Some(Version(7, 0))),
            ("10.2.1", Some(Version(10, 2))),
            ("7", None),
            ("new", None),
            ("", None),
        ] {
            assert_eq!(Version::parse(text), expected);
        }
        assert!(Version(6, 0) < Version::TEMPLATE_GROUPS && Version(7, 0) > Version::BEARER);
    }

    #[test]
    fn answers() {
        assert_eq!(result("m", r#"{"jsonrpc":"2.0","result":["1"],"id":1}"#).unwrap(), r#"["1"]"#);
        let refused = result(
            "m",
            r#"{"error":{"code":-32602,"message":"Invalid params.","data":"No \"x\"."}}"#,
        )
        .unwrap_err();
        assert_eq!(refused.to_string(), "m: Invalid params. No \"x\".");
        assert!(refused.downcast_ref::<Refused>().is_some());
        for wrong in ["", "{}", "<html>", r#"{"error":1}"#] {
            assert!(result("m", wrong).is_err(), "{wrong}");
        }
        assert_eq!(scalar_text(&json!("7")).as_deref(), Some("7"));
        assert_eq!(scalar_text(&json!(7)).as_deref(), Some("7"));
        assert_eq!(scalar_text(&json!(null)), None);
    }
}
