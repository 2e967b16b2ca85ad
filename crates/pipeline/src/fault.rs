//! A panic in the work for one item or trigger is a fault of the program. It makes this item "not
//! supported", or this trigger's state unknown, and the values of all others go on. Otherwise the
//! process would end, and end again at each start that evaluates the same value.

use config::snapshot::Item;
use eval::preproc::{self, Outcome, State};
use eval::script::Scripts;
use model::{Payload, Timestamp};
use stdx::thread::{Fault, contain};

use crate::step_error;

/// An item or trigger that the work is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    Item(u64),
    Trigger(u64),
    /// A script that is not one of an item's steps.
    Script,
}

impl std::fmt::Display for Of {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Item(id) => write!(f, "item {id}"),
            Self::Trigger(id) => write!(f, "trigger {id}"),
            Self::Script => f.write_str("a script"),
        }
    }
}

/// Does the work. The error is a sentence for people.
pub(crate) fn contained<T>(of: Of, work: impl FnOnce() -> T) -> Result<T, String> {
    let guarded = || {
        #[cfg(test)]
        panic_if_faulty(of);
        work()
    };
    contain(guarded).map_err(|fault| told(of, &fault))
}

fn told(of: Of, fault: &Fault) -> String {
    let Fault { text, is_new } = fault;
    if *is_new {
        tracing::error!(
            fault = text,
            %of,
            "BUG: an evaluation panicked; the item is not supported, or the trigger's state \
             unknown, and all others go on. Report this error"
        );
    }
    format!("This is a fault of Vedette; report it to its developers: {text}.")
}

/// Runs an item's steps; the error of one that fails says what each step did.
pub(crate) fn steps(
    item: &Item,
    state: &mut State,
    payload: Payload,
    at: Timestamp,
    scripts: &mut Scripts,
) -> Outcome {
    // Most values are short and copied without an allocation.
    let input = payload.clone();
    let run = || match preproc::run(&item.steps, state, payload, at, item.value_type, scripts) {
        Outcome::NotSupported(reason) => {
            let text = step_error::explain(item, input, at, &reason, scripts);
            Outcome::NotSupported(text.into())
        }
        outcome => outcome,
    };
    contained(Of::Item(item.id.0), run).unwrap_or_else(|error| {
        // Both may be half changed.
        *state = State::default();
        scripts.renew();
        Outcome::NotSupported(error.into())
    })
}

/// The work for an item or trigger with this id panics in tests.
#[cfg(test)]
pub(crate) const FAULTY: u64 = 66_613;

#[cfg(test)]
fn panic_if_faulty(of: Of) {
    if let Of::Item(FAULTY) | Of::Trigger(FAULTY) = of {
        panic!("a fault for the test");
    }
}
