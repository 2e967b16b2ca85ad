//! Scripts in JavaScript: an engine for each call, so that a script finds nothing of another one.

use std::sync::Arc;
use std::time::Duration;

use collect::outside::World;
use eval::script::{CallError, Scripts};
use serde_json::Value;
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;

use super::{Answer, Failure};

/// Calls a script with its parameters.
pub(super) fn run(
    clock: &SharedClock,
    tickets: &Tickets,
    script: &str,
    parameters: &[(String, String)],
    timeout: Duration,
) -> Result<Answer, Failure> {
    let world = World::new(Arc::clone(clock), Tickets::clone(tickets));
    let mut scripts = Scripts::with_outside(Arc::clone(clock), Arc::new(world));
    let start = clock.monotonic();
    let result = scripts.call_within(script, &value(parameters), timeout);
    let took = clock.monotonic().saturating_sub(start);
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let lines = scripts.take_log();
    // The engine does not note when a line came; none came later than this.
    let log = lines.into_iter().map(|line| (line.level, took_ms, line.text)).collect();
    match result {
        Ok(value) => Ok(Answer { value: value.unwrap_or_default(), log, took_ms: Some(took_ms) }),
        Err(CallError::Compile(why) | CallError::Run(why)) => {
            Err(Failure::Failed(format!("cannot execute script: {why}")))
        }
    }
}

/// The argument: a JSON object with the parameters in their order.
fn value(parameters: &[(String, String)]) -> String {
    let pair = |(name, value): &(String, String)| {
        format!("{}:{}", Value::from(name.as_str()), Value::from(value.as_str()))
    };
    format!("{{{}}}", parameters.iter().map(pair).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use stdx::clock::RealClock;

    use super::*;

    #[test]
    fn scripts_get_parameters_and_fail_like_those_of_7_0() {
        let clock = RealClock::shared();
        let tickets = Tickets::new(Arc::clone(&clock));
        let parameters =
            [("b".to_owned(), "1 \"q\"\n".to_owned()), ("a".to_owned(), String::new())];
        for (script, expected) in [
            ("return value;", Ok("{\"b\":\"1 \\\"q\\\"\\n\",\"a\":\"\"}")),
            ("return Object.keys(JSON.parse(value)).join();", Ok("b,a")),
            ("return null;", Ok("")),
            ("throw 'went wrong';", Err("cannot execute script: went wrong")),
            ("while (true) {}", Err("cannot execute script: script execution timeout")),
        ] {
            let timeout =
                Duration::from_millis(if script.starts_with("while") { 50 } else { 60_000 });
            let result = run(&clock, &tickets, script, &parameters, timeout);
            let shown = result.map(|answer| answer.value).map_err(Failure::text);
            assert_eq!(shown.as_deref().map_err(String::as_str), expected, "{script}");
        }
        let script = "Zabbix.log(4, 'begins'); return 'x';";
        let answer = run(&clock, &tickets, script, &[], Duration::from_secs(60)).unwrap();
        let (level, _, text) = &answer.log[0];
        assert_eq!((*level, text.as_str(), answer.took_ms.is_some()), (4, "begins", true));
    }
}
