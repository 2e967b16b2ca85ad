//! Web scenarios as the value path sees them. A scenario hangs on its item `web.test.fail[name]`:
//! that item has its interval, follows templates, and keeps it as the API's JSON in `params`.

use eval::macros::Place;
use serde_json::Value as Json;

/// Seconds that a step may take, if it says nothing.
const TIMEOUT_S: u32 = 15;

/// A web scenario; macros resolved, variables not. The numbers are the API's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scenario {
    /// Name, as its items' keys have it.
    pub name: String,
    /// `User-Agent`.
    pub agent: String,
    /// Attempts of each step.
    pub attempts: u8,
    /// 0 none, 1 basic, 2 NTLM, 3 Kerberos, 4 digest.
    pub authtype: u8,
    /// Name.
    pub username: String,
    pub password: String,
    /// Proxy; empty = none.
    pub proxy: String,
    /// Check the certificate of the peer.
    pub verify_peer: bool,
    /// Check that the certificate names the host.
    pub verify_host: bool,
    /// File name of the client's certificate.
    pub ssl_cert_file: String,
    /// File name of the client's key.
    pub ssl_key_file: String,
    /// Password of that key.
    pub ssl_key_password: String,
    /// Headers of steps that have none.
    pub headers: Vec<(String, String)>,
    /// Names with braces, and values.
    pub variables: Vec<(String, String)>,
    /// In order.
    pub steps: Vec<WebStep>,
}

/// One request of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebStep {
    /// Name, as its items' keys have it.
    pub name: String,
    /// Address.
    pub url: String,
    /// Names and values, not encoded.
    pub query_fields: Vec<(String, String)>,
    /// Body as it is, if there are no fields.
    pub posts: String,
    /// Fields of a form, not encoded.
    pub form: Vec<(String, String)>,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// Names with braces, and values.
    pub variables: Vec<(String, String)>,
    /// Seconds.
    pub timeout_s: u32,
    /// Expression that must be found; empty = none.
    pub required: String,
    /// Ranges of status codes; empty = any.
    pub status_codes: String,
    pub follow_redirects: bool,
    /// 0 body, 1 headers, 2 both: where is looked for what is required and for variables.
    pub retrieve_mode: u8,
}

struct Doc<'a> {
    json: &'a Json,
    resolve: &'a dyn Fn(&str, Place) -> String,
}

impl Doc<'_> {
    fn raw(&self, name: &str) -> String {
        match &self.json[name] {
            Json::String(text) => text.clone(),
            Json::Null => String::new(),
            other => other.to_string(),
        }
    }

    fn text(&self, name: &str) -> String {
        (self.resolve)(&self.raw(name), Place::HttpField)
    }

    fn small(&self, name: &str) -> u8 {
        self.raw(name).parse().unwrap_or(0)
    }

    fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let list = self.json[name].as_array().map_or(&[][..], Vec::as_slice);
        list.iter()
            .map(|pair| {
                let pair = Doc { json: pair, resolve: self.resolve };
                (pair.text("name"), pair.text("value"))
            })
            .collect()
    }
}

impl Scenario {
    /// From the API's JSON; `None` = the item has none.
    pub(crate) fn parse(doc: &str, resolve: &dyn Fn(&str, Place) -> String) -> Option<Self> {
        let json: Json = serde_json::from_str(doc).ok()?;
        let doc = Doc { json: &json, resolve };
        let steps = json["steps"].as_array()?;
        Some(Self {
            name: doc.text("name"),
            agent: doc.text("agent"),
            attempts: doc.small("retries").max(1),
            authtype: doc.small("authentication"),
            username: doc.text("http_user"),
            password: doc.text("http_password"),
            proxy: doc.text("http_proxy"),
            verify_peer: doc.small("verify_peer") == 1,
            verify_host: doc.small("verify_host") == 1,
            ssl_cert_file: doc.text("ssl_cert_file"),
            ssl_key_file: doc.text("ssl_key_file"),
            ssl_key_password: doc.text("ssl_key_password"),
            headers: doc.pairs("headers"),
            variables: doc.pairs("variables"),
            steps: steps.iter().map(|json| step(&Doc { json, resolve })).collect(),
        })
    }
}

fn step(doc: &Doc<'_>) -> WebStep {
    let form = doc.json["posts"].is_array();
    WebStep {
        name: doc.text("name"),
        url: doc.text("url"),
        query_fields: doc.pairs("query_fields"),
        posts: if form { String::new() } else { doc.text("posts") },
        form: doc.pairs("posts"),
        headers: doc.pairs("headers"),
        variables: doc.pairs("variables"),
        timeout_s: eval::num::parse_seconds(&doc.text("timeout"))
            .filter(|seconds| (1..=3600).contains(seconds))
            .unwrap_or(TIMEOUT_S),
        required: doc.text("required"),
        status_codes: doc.text("status_codes"),
        follow_redirects: doc.small("follow_redirects") == 1,
        retrieve_mode: doc.small("retrieve_mode"),
    }
}

/// Keys of a scenario's items.
pub mod keys {
    /// A parameter of an item key, in quotes where it needs them.
    pub fn quoted(text: &str) -> String {
        if text.starts_with(['"', ' ', '[']) || text.contains([',', ']']) {
            format!("\"{}\"", text.replace('"', "\\\""))
        } else {
            text.to_owned()
        }
    }

    /// Number of the step that failed; 0 = none.
    pub fn fail(scenario: &str) -> String {
        format!("web.test.fail[{}]", quoted(scenario))
    }

    /// Why it failed.
    pub fn error(scenario: &str) -> String {
        format!("web.test.error[{}]", quoted(scenario))
    }

    /// Bytes per second; of the whole scenario without a step.
    pub fn speed(scenario: &str, step: &str) -> String {
        format!("web.test.in[{},{},bps]", quoted(scenario), quoted(step))
    }

    /// Seconds until the answer was complete.
    pub fn time(scenario: &str, step: &str) -> String {
        format!("web.test.time[{},{},resp]", quoted(scenario), quoted(step))
    }

    /// Status code.
    pub fn code(scenario: &str, step: &str) -> String {
        format!("web.test.rspcode[{},{}]", quoted(scenario), quoted(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_keys() {
        for (name, shown) in [
            ("a b", "a b"),
            ("a, b", "\"a, b\""),
            ("a]", "\"a]\""),
            ("\"a\"", "\"\\\"a\\\"\""),
            (" a", "\" a\""),
        ] {
            assert_eq!(keys::fail(name), format!("web.test.fail[{shown}]"));
        }
        assert_eq!(keys::speed("a", ""), "web.test.in[a,,bps]");
    }

    #[test]
    fn a_scenario_is_read() {
        let doc = r#"{"name":"s","agent":"A {$M}","retries":"2","authentication":"1","http_user":"u",
            "verify_peer":1,"variables":[{"name":"{v}","value":"{$M}\""}],
            "steps":[{"name":"one","url":"http://h","posts":"raw","timeout":"2s","retrieve_mode":"2",
                      "follow_redirects":"1"},
                     {"name":"two","url":"u","posts":[{"name":"a","value":"b"}],"timeout":"0"}]}"#;
        let resolve = |text: &str, _| text.replace("{$M}", "m");
        let scenario = Scenario::parse(doc, &resolve).unwrap();
        let text = str::to_owned;
        let one = WebStep {
            name: text("one"),
            url: text("http://h"),
            posts: text("raw"),
            timeout_s: 2,
            retrieve_mode: 2,
            follow_redirects: true,
            ..WebStep::default()
        };
        let two = WebStep {
            name: text("two"),
            url: text("u"),
            form: vec![(text("a"), text("b"))],
            timeout_s: 15,
            ..WebStep::default()
        };
        let expected = Scenario {
            name: text("s"),
            agent: text("A m"),
            attempts: 2,
            authtype: 1,
            username: text("u"),
            verify_peer: true,
            variables: vec![(text("{v}"), text("m\""))],
            steps: vec![one, two],
            ..Scenario::default()
        };
        assert_eq!(scenario, expected);
        assert_eq!(Scenario::parse("", &resolve), None);
        assert_eq!(Scenario::parse("{}", &resolve), None);
    }
}
