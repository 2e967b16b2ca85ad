//! What tests of all media share.

use std::sync::Arc;
use std::time::Duration;

use collect::resolver::Resolver;
use model::{AlertId, EventId, MediaTypeId, Outgoing};
use stdx::clock::RealClock;
use stdx::kerberos::Tickets;
use tokio::sync::watch;

use crate::attempt::{Cancel, Tools};

pub(crate) fn message(sendto: &str) -> Outgoing {
    Outgoing {
        alert: AlertId(1),
        media_type: MediaTypeId(7),
        sendto: sendto.to_owned(),
        subject: String::from("PROBLEM Load is high"),
        message: String::from("value 1"),
        parameters: Vec::new(),
        problem: EventId(12),
        reply_to: String::new(),
        failures: 0,
    }
}

/// Tools whose attempts have a minute and are not cancelled.
pub(crate) fn tools() -> Tools {
    let clock = RealClock::shared();
    Tools {
        resolver: Resolver::new(Arc::clone(&clock)),
        tickets: Tickets::new(Arc::clone(&clock)),
        clock,
        programs: None,
        authorities: None,
        instance: Arc::from("0123456789abcdef0123456789abcdef"),
        attempt_max: Duration::from_secs(60),
        modems: Arc::default(),
        cancel: watch::channel(Cancel::None).1,
    }
}
