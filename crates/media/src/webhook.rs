//! Webhooks: JavaScript of the media type with the message as its argument.

use std::sync::Arc;
use std::time::Duration;

use collect::outside::World;
use eval::script::{CallError, LogLine, Scripts};
use model::Outgoing;
use model::alert::ScriptLine;
use serde_json::Value;
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;

use crate::attempt::{Failure, Log, Result, Sent, Tools};
use crate::settings::Webhook;

/// Tags that one webhook can return.
const TAGS_MAX: usize = 1_000;

/// Characters of a tag's name and value.
const TAG_CHARS_MAX: usize = 255;

/// Characters of a message's id.
const MESSAGE_ID_CHARS_MAX: usize = 255;

/// The script engine of one thread and one media type.
pub(crate) struct Engine {
    scripts: Scripts,
    clock: SharedClock,
    /// The script that it ran last: another one gets nothing that this one left.
    source: String,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("scripts", &self.scripts).finish_non_exhaustive()
    }
}

impl Engine {
    pub(crate) fn new(tools: &Tools) -> Self {
        let tickets = Tickets::clone(&tools.tickets);
        let world = World::new(Arc::clone(&tools.clock), tickets).keeping_connections();
        let scripts = Scripts::with_outside(Arc::clone(&tools.clock), Arc::new(world));
        Self { scripts, clock: Arc::clone(&tools.clock), source: String::new() }
    }

    /// Calls the script once.
    pub(crate) fn send(
        &mut self,
        webhook: &Webhook,
        message: &Outgoing,
        log: &mut Log,
    ) -> Result<Sent> {
        if self.source != webhook.script {
            self.scripts.renew();
            self.source.clone_from(&webhook.script);
        }
        let value = value(message);
        log.add(|| format!("> {value}"));
        let scripts = &mut self.scripts;
        let call = || scripts.call_within(&webhook.script, &value, webhook.timeout);
        let start = self.clock.monotonic();
        let result = match stdx::thread::contain(call) {
            Ok(result) => result,
            Err(fault) => {
                if fault.is_new {
                    tracing::error!(fault = fault.text, "a webhook panicked");
                }
                self.scripts.renew();
                Err(CallError::Run(fault.text))
            }
        };
        self.take_log(log, start);
        match result {
            Ok(returned) => {
                let returned = returned.unwrap_or_default();
                log.add(|| format!("< {returned}"));
                log.respond(|| returned.clone());
                let tags = webhook.tags.then(|| returned_tags(message, &returned));
                let message_id = if webhook.living { message_id(&returned) } else { String::new() };
                Ok(Sent { tags: tags.unwrap_or_default(), message_id })
            }
            Err(CallError::Compile(why)) => Err(Failure::Impossible(why)),
            Err(CallError::Run(why)) => Err(Failure::Failed(why)),
        }
    }

    /// What the script logged. Nobody else reads it.
    fn take_log(&mut self, log: &mut Log, start: Duration) {
        for LogLine { level, at, text } in self.scripts.take_log() {
            log.script(ScriptLine { level, at: at.saturating_sub(start), text });
        }
    }
}

/// The message is sent, whatever is returned.
fn returned_tags(message: &Outgoing, returned: &str) -> Vec<(String, String)> {
    tags(returned).unwrap_or_else(|| {
        let media_type = message.media_type.0;
        tracing::warn!(media_type, "a webhook returned no JSON object with an object \"tags\"");
        Vec::new()
    })
}

/// The id in the returned JSON, `{"message_id": "…"}`; empty = it has none.
pub(crate) fn message_id(returned: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(returned).ok();
    match parsed.as_ref().and_then(|parsed| parsed.get("message_id")) {
        // Another text than the whole id names no message, or another one.
        Some(Value::String(id)) if id.chars().count() <= MESSAGE_ID_CHARS_MAX => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

/// The argument: a JSON object with the parameters in their order.
fn value(message: &Outgoing) -> String {
    let mut out = String::from("{");
    for (name, value) in &message.parameters {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        out.push_str(&Value::from(value.as_str()).to_string());
    }
    out.push('}');
    out
}

/// The tags in the returned JSON; `None`: it has none.
fn tags(returned: &str) -> Option<Vec<(String, String)>> {
    let parsed: Value = serde_json::from_str(returned).ok()?;
    let tags = parsed.get("tags")?.as_object()?;
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
        other => Some(other.to_string()),
    };
    let tag = |(name, value): (&String, &Value)| Some((cut(name), cut(&text(value)?)));
    let named = tags.iter().filter(|(name, _)| !name.is_empty());
    Some(named.filter_map(tag).take(TAGS_MAX).collect())
}

fn cut(text: &str) -> String {
    text.chars().take(TAG_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{message, tools};

    fn hook(script: &str) -> Webhook {
        Webhook {
            script: script.to_owned(),
            timeout: Duration::from_secs(60),
            tags: true,
            living: true,
        }
    }

    fn call(script: &str) -> Result<Sent> {
        Engine::new(&tools()).send(&hook(script), &message("alice"), &mut Log::off())
    }

    #[test]
    fn the_argument_is_json_of_texts_in_order() {
        let mut message = message("alice");
        let pairs = [
            ("url", "http://a/b"),
            ("z", "S \"q\""),
            ("a", "m\n\\\t\u{1}ä"),
            ("n", "12"),
            ("", ""),
        ];
        message.parameters = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let expected = r#"{"url":"http://a/b","z":"S \"q\"","a":"m\n\\\t\u0001ä","n":"12","":""}"#;
        assert_eq!(value(&message), expected);
        let script = "throw typeof value + Object.keys(JSON.parse(value)).join()";
        let sent = Engine::new(&tools()).send(&hook(script), &message, &mut Log::off());
        assert_eq!(sent, Err(Failure::failed("stringurl,z,a,n,")));
    }

    #[test]
    fn results_are_those_of_7_0() {
        for (script, expected) in [
            ("return ''", Ok(Sent::default())),
            ("return null", Ok(Sent::default())),
            ("return 5", Ok(Sent::default())),
            ("var a = 1", Err(Failure::failed("undefined return value"))),
            ("throw 'went wrong: ä'", Err(Failure::failed("went wrong: ä"))),
            ("throw {code: 5}", Err(Failure::failed("[object Object]"))),
            ("throw new TypeError('tt')", Err(Failure::failed("TypeError: tt"))),
            ("throw value", Err(Failure::failed("{}"))),
        ] {
            assert_eq!(call(script), expected, "{script}");
        }
        let Err(Failure::Impossible(why)) = call("return (;") else { panic!("no script") };
        assert!(why.starts_with("SyntaxError: "), "{why}");
        let Err(Failure::Failed(why)) = call("return nosuch.member;") else { panic!("no member") };
        assert!(why.starts_with("ReferenceError: "), "{why}");
    }

    #[test]
    fn tags_are_texts() {
        for (returned, expected) in [
            (
                r#"{"tags":{"n":5,"f":1.5,"b":true,"z":null,"o":{"x":1},"l":[1],"t":"a b","":"x"}}"#,
                "n=5 f=1.5 b=true z= t=a b",
            ),
            (r#"{"tags":{}}"#, ""),
            (r#"{"tags":["a"]}"#, "none"),
            (r#"{"tags":"a"}"#, "none"),
            (r#"{"a":1}"#, "none"),
            ("5", "none"),
            ("OK", "none"),
            ("", "none"),
        ] {
            let found = tags(returned).map(|tags| {
                let tags: Vec<_> =
                    tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
                tags.join(" ")
            });
            assert_eq!(found.as_deref().unwrap_or("none"), expected, "{returned}");
            let script = format!("return {}", Value::from(returned));
            let sent = call(&script).unwrap();
            assert_eq!(sent.tags, tags(returned).unwrap_or_default(), "{returned}");
        }
        let long = format!(r#"{{"tags":{{"{0}":"{0}"}}}}"#, "é".repeat(300));
        assert_eq!(tags(&long).unwrap(), [("é".repeat(255), "é".repeat(255))]);
    }

    #[test]
    fn living_messages_have_ids() {
        for (returned, expected) in [
            (r#"{"message_id":"1503435956.000247"}"#, "1503435956.000247"),
            (r#"{"tags":{"a":"b"},"message_id":42}"#, "42"),
            (r#"{"message_id":{"a":1}}"#, ""),
            (r#"{"message_id":null}"#, ""),
            (r#"{"tags":{}}"#, ""),
            ("OK", ""),
            ("", ""),
        ] {
            assert_eq!(message_id(returned), expected, "{returned}");
            let script = format!("return {}", Value::from(returned));
            assert_eq!(call(&script).unwrap().message_id, expected, "{returned}");
            let other = Webhook { living: false, ..hook(&script) };
            let sent = Engine::new(&tools()).send(&other, &message("a"), &mut Log::off());
            assert_eq!(sent.unwrap().message_id, "", "{returned}");
        }
        let long = |length| message_id(&format!(r#"{{"message_id":"{}"}}"#, "é".repeat(length)));
        assert_eq!((long(255), long(256)), ("é".repeat(255), String::new()));
    }

    #[test]
    fn endless_scripts_are_stopped() {
        let mut engine = Engine::new(&tools());
        let endless = Webhook { timeout: Duration::from_millis(50), ..hook("while (true) {}") };
        let sent = engine.send(&endless, &message("a"), &mut Log::off());
        assert_eq!(sent, Err(Failure::failed("script execution timeout")));
        let large =
            hook("var all = []; while (true) all.push(new Array(100000).join('x') + all.length);");
        let sent = engine.send(&large, &message("a"), &mut Log::off());
        assert!(matches!(sent, Err(Failure::Failed(_))), "{sent:?}");
        assert_eq!(
            engine.send(&hook("return 1"), &message("a"), &mut Log::off()),
            Ok(Sent::default())
        );
    }

    #[test]
    fn scripts_leave_nothing_to_others() {
        let mut engine = Engine::new(&tools());
        let mut send = |script| engine.send(&hook(script), &message("a"), &mut Log::off());
        assert_eq!(send("secret = 'word'; return ''"), Ok(Sent::default()));
        let sent = send("throw typeof secret");
        assert_eq!(sent, Err(Failure::failed("undefined")));
    }

    #[test]
    fn a_test_shows_what_the_script_logged() {
        let mut log = Log::on();
        let script = "Zabbix.log(4, 'sends'); console.warn('slow'); return 'OK'";
        Engine::new(&tools()).send(&hook(script), &message("a"), &mut log).unwrap();
        assert_eq!(log.into_lines(), ["> {}", "4: sends", "3: slow", "< OK"]);
        let mut log = Log::on();
        let script =
            "Zabbix.log(4, 'fills'); for (var a = []; ; a.push('x'.repeat(1e6) + a.length));";
        let sent = Engine::new(&tools()).send(&hook(script), &message("a"), &mut log);
        assert!(sent.is_err());
        assert_eq!(log.into_lines(), ["> {}", "4: fills"], "of a script that ran out of memory");
    }
}
