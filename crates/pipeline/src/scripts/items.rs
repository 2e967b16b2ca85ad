//! Script items: a script whose result is the value, run on threads of their own, so that neither
//! steps wait for items nor items for steps.

use std::time::Duration;

use eval::script::{CallError, Scripts};
use stdx::clock::SharedClock;
use tokio::sync::{Semaphore, oneshot};

use super::pool::{Pool, Work};
use super::queue::Owner;
use crate::fault::{Of, contained};

/// Scripts of items that run at the same time; nearly all of their time they wait for answers.
const WORKERS_MAX: usize = 64;

/// Scripts of items that run or wait for a worker.
const RUNS_MAX: usize = 256;

/// Browsers are large: few at one time.
const BROWSERS_MAX: usize = 8;

/// Runs the scripts of items.
#[derive(Debug)]
pub struct ScriptRunner {
    pool: Pool<Run>,
    /// No more than [`RUNS_MAX`] are on their way.
    room: Semaphore,
}

struct Run {
    script: String,
    value: String,
    time_max: Duration,
    reply: oneshot::Sender<Result<Option<String>, CallError>>,
}

impl Work for Run {
    fn owner(&self) -> Option<Owner> {
        None
    }

    fn run(self, scripts: &mut Scripts) {
        // Who asked may have gone: then nobody wants it run.
        if !self.reply.is_closed() {
            let call = || scripts.call_within(&self.script, &self.value, self.time_max);
            let result = contained(Of::Script, call).unwrap_or_else(|error| {
                scripts.renew();
                Err(CallError::Run(error))
            });
            let _ = self.reply.send(result);
        }
    }
}

impl ScriptRunner {
    /// Starts no thread yet.
    pub fn new(clock: SharedClock) -> Self {
        Self { pool: Pool::new(clock, WORKERS_MAX), room: Semaphore::new(RUNS_MAX) }
    }

    /// For browser items: scripts that lead browsers through the WebDriver at this address. Starts
    /// no thread yet.
    pub fn with_webdriver(clock: SharedClock, address: String) -> Self {
        let pool = Pool::with_webdriver(clock, BROWSERS_MAX, Some(address));
        Self { pool, room: Semaphore::new(RUNS_MAX) }
    }

    /// The value that `script` makes of `value` (JSON with its parameters); null is an empty text.
    /// The error is the text for the item's state "not supported".
    pub async fn run(
        &self,
        script: String,
        value: String,
        time_max: Duration,
    ) -> Result<String, String> {
        let closed = || "Cannot execute script: the server is stopping".to_owned();
        let _room = self.room.acquire().await.map_err(|_| closed())?;
        let (reply, result) = oneshot::channel();
        let run = Run { script, value, time_max, reply };
        self.pool.submit(run).map_err(|_| closed())?;
        match result.await.map_err(|_| closed())? {
            Ok(text) => Ok(text.unwrap_or_default()),
            Err(CallError::Compile(why)) => Err(format!("Cannot compile script: {why}")),
            Err(CallError::Run(why)) => Err(format!("Cannot execute script: {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stdx::clock::RealClock;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    async fn run(runner: &ScriptRunner, script: &str, time: Duration) -> Result<String, String> {
        runner.run(script.to_owned(), "{\"a\":\"b\"}".to_owned(), time).await
    }

    #[tokio::test]
    async fn results_and_errors() {
        let runner = ScriptRunner::new(RealClock::shared());
        for (script, expected) in [
            ("return value", Ok("{\"a\":\"b\"}")),
            ("return JSON.parse(value).a", Ok("b")),
            ("return null", Ok("")),
            ("return ' x \\n'", Ok(" x \n")),
            ("return 1.5", Ok("1.5")),
            ("", Err("Cannot execute script: undefined return value")),
            ("throw 'why'", Err("Cannot execute script: why")),
            ("throw new Error('why')", Err("Cannot execute script: Error: why")),
            ("return (", Err("Cannot compile script: SyntaxError: ")),
        ] {
            match (run(&runner, script, LONG).await, expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{script}"),
                (Err(why), Err(start)) => assert!(why.starts_with(start), "{script}: {why}"),
                (result, _) => panic!("{script}: {result:?}"),
            }
        }
    }

    #[tokio::test]
    async fn endless_scripts_stop_no_other() {
        let runner = Arc::new(ScriptRunner::new(RealClock::shared()));
        let endless: Vec<_> = (0..WORKERS_MAX / 2)
            .map(|_| {
                let runner = Arc::clone(&runner);
                tokio::spawn(async move { run(&runner, "Zabbix.sleep(59000)", LONG).await })
            })
            .collect();
        assert_eq!(run(&runner, "return 1", LONG).await, Ok("1".to_owned()));
        assert!(endless.iter().all(|one| !one.is_finished()));
        let late = run(&runner, "while (true) {}", Duration::from_millis(50)).await;
        assert_eq!(late, Err("Cannot execute script: script execution timeout".to_owned()));
        endless.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
