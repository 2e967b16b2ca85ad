//! A session: a thread that makes one attempt after the other, with what it keeps between them.

use std::io;

use model::Outgoing;
use model::alert::Outcome;
use tokio::runtime::{Builder, Runtime};

use crate::attempt::{Failure, Log, Result, Sent, Tools, cut};
use crate::settings::{Kind, MediaType};
use crate::webhook::Engine;
use crate::{mail, program, sms};

/// As 7.0 says it.
const DISABLED: &str = "Media type disabled.";

/// What a thread keeps from attempt to attempt; made when it is needed.
#[derive(Debug)]
pub(crate) struct Session {
    tools: Tools,
    engine: Option<Engine>,
    runtime: Option<Runtime>,
}

impl Session {
    pub(crate) fn new(tools: Tools) -> Self {
        Self { tools, engine: None, runtime: None }
    }

    /// Makes one attempt; blocks. `None`: the media type does not exist.
    pub(crate) fn attempt(
        &mut self,
        media_type: Option<&MediaType>,
        message: &Outgoing,
        log: &mut Log,
    ) -> Result<Sent> {
        let Some(media_type) = media_type.filter(|media_type| media_type.enabled) else {
            return Err(Failure::Impossible(DISABLED.to_owned()));
        };
        let work = || self.send(&media_type.kind, message, log);
        stdx::thread::contain(work).unwrap_or_else(|fault| {
            if fault.is_new {
                tracing::error!(fault = fault.text, "an attempt to send a message panicked");
            }
            (self.engine, self.runtime) = (None, None);
            Err(Failure::Unknown(format!("internal error: {}", fault.text)))
        })
    }

    fn send(&mut self, kind: &Kind, message: &Outgoing, log: &mut Log) -> Result<Sent> {
        let Self { tools, engine, runtime } = self;
        let waits = |runtime| {
            started(runtime)
                .map_err(|error| Failure::Failed(format!("cannot start a session: {error}")))
        };
        match kind {
            Kind::Mail(mail) => waits(runtime)?.block_on(mail::send(tools, mail, message, log)),
            Kind::Program(program) => {
                waits(runtime)?.block_on(program::send(tools, program, message, log))
            }
            Kind::Webhook(webhook) => {
                engine.get_or_insert_with(|| Engine::new(tools)).send(webhook, message, log)
            }
            Kind::Sms(sms) => sms::send(tools, sms, message, log),
        }
    }
}

fn started(runtime: &mut Option<Runtime>) -> io::Result<&Runtime> {
    match runtime {
        Some(runtime) => Ok(runtime),
        slot => Ok(slot.insert(Builder::new_current_thread().enable_all().build()?)),
    }
}

/// The report about an attempt.
pub(crate) fn outcome(
    result: Result<Sent>,
    media_type: Option<&MediaType>,
    message: &Outgoing,
) -> Outcome {
    let again = media_type.filter(|media_type| message.failures + 1 < media_type.attempts);
    match result {
        Ok(Sent { tags, message_id }) => Outcome::Sent { tags, message_id },
        Err(Failure::Failed(error)) => Outcome::Failed {
            error: cut(error),
            again: again.map(|media_type| media_type.interval),
        },
        Err(Failure::Impossible(error)) => Outcome::Impossible { error: cut(error) },
        Err(Failure::Unknown(error)) => Outcome::Unknown { error: cut(error) },
        Err(Failure::Cancelled) => Outcome::NotStarted,
    }
}
