//! The Java gateway, which asks Java programs by JMX: one request for items of one endpoint, values
//! in the order of the keys.

use std::fmt::Write as _;

use serde::Deserialize;

/// Whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// `service:jmx:rmi:///jndi/rmi://…`
    pub address: &'a str,
    /// Name; empty = none.
    pub username: &'a str,
    pub password: &'a str,
}

/// The text of a request for these items.
pub fn request(endpoint: &Endpoint<'_>, keys: &[&str]) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut out = String::from("{\"request\":\"java gateway jmx\"");
    let Endpoint { address, username, password } = endpoint;
    for (name, value) in [("username", username), ("password", password)] {
        // Both or none: the gateway takes one without the other for an error.
        if !username.is_empty() {
            let _ = write!(out, ",\"{name}\":{}", text(value));
        }
    }
    let keys: Vec<String> = keys.iter().map(|key| text(key)).collect();
    let _ = write!(out, ",\"jmx_endpoint\":{},\"keys\":[{}]}}", text(address), keys.join(","));
    out
}

/// What an item got: its value, or the text for its state "not supported".
pub type ItemResult = Result<String, String>;

/// Why an answer brings no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The endpoint could not be asked.
    #[error("{0}")]
    Failed(String),
    /// It is not what a gateway answers.
    #[error("cannot parse the Java gateway's response: {0}")]
    Invalid(String),
}

#[derive(Deserialize)]
struct Answer {
    response: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    value: Option<String>,
    error: Option<String>,
}

/// The results of `count` items.
pub fn parse(text: &str, count: usize) -> Result<Vec<ItemResult>, AnswerError> {
    let invalid = |why: &str| AnswerError::Invalid(why.to_owned());
    let answer: Answer = serde_json::from_str(text).map_err(|e| invalid(&e.to_string()))?;
    match answer.response.as_str() {
        "success" => {}
        "failed" => return Err(AnswerError::Failed(answer.error)),
        _ => return Err(invalid("no known response")),
    }
    if answer.data.len() != count {
        return Err(invalid("another number of values than of keys"));
    }
    let one = |row: Row| match row {
        Row { value: Some(value), .. } => Ok(value),
        Row { error, .. } => Err(error.unwrap_or_else(|| "Cannot get item value".to_owned())),
    };
    Ok(answer.data.into_iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let open = Endpoint { address: "service:x", username: "", password: "" };
        assert_eq!(
            request(&open, &["jmx[\"a\",b]", "c"]),
            r#"{"request":"java gateway jmx","jmx_endpoint":"service:x","keys":["jmx[\"a\",b]","c"]}"#
        );
        let closed = Endpoint { username: "u", password: "p\"", ..open };
        assert_eq!(
            request(&closed, &["c"]),
            r#"{"request":"java gateway jmx","username":"u","password":"p\"","jmx_endpoint":"service:x","keys":["c"]}"#
        );
    }

    #[test]
    fn answers() {
        let ok = r#"{"response":"success","data":[{"value":"1"},{"error":"why"},{}]}"#;
        let results = parse(ok, 3).unwrap();
        assert_eq!(results[0], Ok("1".to_owned()));
        assert_eq!(results[1], Err("why".to_owned()));
        assert!(results[2].is_err());
        let failed = r#"{"response":"failed","error":"Connection refused"}"#;
        assert_eq!(parse(failed, 1), Err(AnswerError::Failed("Connection refused".to_owned())));
        let invalid = ["", "{}", "[]", r#"{"response":"x"}"#, ok, r#"{"response":"success"}"#];
        for text in invalid {
            assert!(matches!(parse(text, 1), Err(AnswerError::Invalid(_))), "{text}");
        }
    }
}
