//! Scripts of rules: JavaScript that decides about a request, or changes its response.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sandbox::{Bounds, Sandbox, Work};
use serde::{Deserialize, Serialize};

use super::Time;

/// Characters of each of the two texts.
const SOURCE_MAX: usize = 32 << 10;
/// Pools that a script may choose from.
const POOLS_MAX: usize = 64;
const TIMEOUT_MAX: Duration = Duration::from_millis(50);

/// Parameters of the function whose body is [`Script::request`].
pub const OF_REQUEST: &str = "request";
/// Parameters of the function whose body is [`Script::response`].
pub const OF_RESPONSE: &str = "response, request";

/// JavaScript, in two texts: bodies of functions in strict mode.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Runs when the request matches the rule, with `request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Runs before the client gets the head of the response, with `response` and `request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Pools and pool groups that it may choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// CPU time of a run, at most 50ms.
    #[serde(default = "Script::timeout", skip_serializing_if = "Script::is_usual")]
    pub timeout: Time,
    /// What happens to the request when it throws or exceeds a limit.
    #[serde(default)]
    pub on_error: OnError,
}

/// What happens when a script fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The client gets 500.
    #[default]
    Refuse,
    /// The request goes on as if the script were not there.
    Continue,
}

impl Script {
    const fn timeout() -> Time {
        Time(Duration::from_millis(5))
    }

    fn is_usual(time: &Time) -> bool {
        *time == Self::timeout()
    }

    /// Checks the script by itself: pools are not looked up.
    ///
    /// # Errors
    /// The first problem; those of a text with line and column.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.request.is_none() && self.response.is_none() {
            return Err("'script' has neither 'request' nor 'response'; write one".to_owned());
        }
        if self.timeout.0 > TIMEOUT_MAX {
            return Err("'script.timeout' is at most 50ms".to_owned());
        }
        if self.pools.len() > POOLS_MAX {
            return Err(format!("'script.pools' is limited to {POOLS_MAX} names"));
        }
        if self.request.is_none() && !self.pools.is_empty() {
            return Err("'script.pools' needs 'script.request', which chooses one".to_owned());
        }
        let texts =
            [("request", OF_REQUEST, &self.request), ("response", OF_RESPONSE, &self.response)];
        texts.into_iter().try_for_each(|(member, parameters, text)| match text {
            None => Ok(()),
            Some(text) if text.len() > SOURCE_MAX => {
                Err(format!("'script.{member}' is limited to {SOURCE_MAX} bytes"))
            }
            Some(text) => compiles(parameters, text)
                .map_err(|problem| format!("'script.{member}': {problem}")),
        })
    }
}

/// How often the engine of the checks looks at the time: compiling a text runs nothing of it, but a text that ends
/// its function early could.
const LOOKS_MAX: u32 = 1_000;

/// Compiles texts and runs none.
struct Checker {
    sandbox: Sandbox,
    looks: Rc<Cell<u32>>,
}

impl Checker {
    fn start() -> Result<Self, String> {
        let looks = Rc::new(Cell::new(u32::MAX));
        let look = |looks: &Rc<Cell<u32>>| {
            let looks = Rc::clone(looks);
            move || {
                looks.set(looks.get().saturating_sub(1));
                looks.get() > 0
            }
        };
        let (interrupt, spend) = (look(&looks), look(&looks));
        let bounds = Bounds { memory: 16 << 20, stack: 256 << 10 };
        let sandbox = Sandbox::start(bounds, move || !interrupt())?;
        sandbox.guard(&Script::WORK, Box::new(spend))?;
        sandbox.harden(|_| Ok(Vec::new()))?;
        Ok(Self { sandbox, looks })
    }
}

thread_local! {
    static CHECKER: RefCell<Option<Checker>> = const { RefCell::new(None) };
}

fn compiles(parameters: &str, text: &str) -> Result<(), String> {
    CHECKER.with_borrow_mut(|checker| {
        let kept = match checker.take() {
            Some(kept) => kept,
            None => Checker::start()?,
        };
        kept.looks.set(LOOKS_MAX);
        kept.sandbox.function(parameters, text).map_err(|thrown| thrown.to_string())?;
        *checker = Some(kept);
        Ok(())
    })
}

impl Script {
    /// What a method may do in one call: much less than a millisecond.
    pub const WORK: Work = Work {
        elements: 10_000,
        compared: 2_000_000,
        pattern: 2_000,
        normalized: 5_000,
        prefixed: 5_000,
        compares: true,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(request: &str) -> Script {
        Script {
            request: Some(request.to_owned()),
            response: None,
            pools: Vec::new(),
            timeout: Script::timeout(),
            on_error: OnError::Refuse,
        }
    }

    #[test]
    fn a_text_that_is_no_javascript_is_refused_with_its_place() {
        assert_eq!(script("request.refuse(403);\nreturn").check(), Ok(()));
        let problem = script("if (request.host) {\n  request.refuse(403;\n}").check();
        let problem = problem.expect_err("a problem");
        assert!(
            problem.starts_with("'script.request': line 2, column 21: SyntaxError"),
            "{problem}"
        );
    }

    #[test]
    fn texts_that_leave_their_function_run_nothing_for_long() {
        for text in
            ["}); while (1) {} (function () {", "}); Array(1e9).join(); (function(request){"]
        {
            assert!(script(text).check().is_err(), "{text}");
        }
        assert_eq!(script("return").check(), Ok(()));
    }

    #[test]
    fn limits_are_checked() {
        let long = Script { timeout: Time(Duration::from_millis(51)), ..script("return") };
        let none = Script { request: None, ..script("") };
        let large = script(&"// a comment\n".repeat(3_000));
        for (script, word) in [(long, "timeout"), (none, "neither"), (large, "32768")] {
            let problem = script.check().expect_err(word);
            assert!(problem.contains(word), "{problem}");
        }
    }
}
