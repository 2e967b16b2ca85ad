//! Script items and browser items: the server's workers run them.

use config::snapshot::source::Source;
use serde_json::{Map, Value as Json};

use super::check::Check;
use super::reply::CheckReply;
use crate::sides::{ScriptCall, Scripts};

/// Runs the item's script with its parameters.
pub(crate) async fn check(scripts: &dyn Scripts, check: &Check<'_>) -> CheckReply {
    run(scripts, check, false).await
}

/// Runs the script of a browser item.
pub(crate) async fn browse(scripts: &dyn Scripts, check: &Check<'_>) -> CheckReply {
    run(scripts, check, true).await
}

async fn run(scripts: &dyn Scripts, check: &Check<'_>, browser: bool) -> CheckReply {
    let (script, value) = match &check.item.extra {
        Some(extra) => (extra.params.clone(), value(&extra.source)),
        None => (String::new(), value(&Source::Key)),
    };
    let call = ScriptCall { script, value, timeout: check.timeout, browser };
    match scripts.run(call).await {
        Ok(text) => CheckReply::Value(text),
        Err(why) => CheckReply::NotSupported(why),
    }
}

/// The parameters as the script sees them.
fn value(source: &Source) -> String {
    let Source::Script(parameters) = source else { return String::from("{}") };
    let members = parameters.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    Json::Object(members.collect::<Map<_, _>>()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_members_in_their_order() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for (parameters, expected) in [
            (vec![], "{}"),
            (
                vec![pair("z", "1"), pair("a", "say \"x\"\n")],
                "{\"z\":\"1\",\"a\":\"say \\\"x\\\"\\n\"}",
            ),
        ] {
            assert_eq!(value(&Source::Script(parameters)), expected);
        }
        assert_eq!(value(&Source::Key), "{}");
    }
}
