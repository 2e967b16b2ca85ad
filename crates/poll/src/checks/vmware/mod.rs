//! VMware items: a vCenter or an ESXi host is read as a whole, again and again, and items are
//! answered from what was read.
//!
//! * [`Services`] has a [`service`] for each URL and user; they share one thread.
//! * [`link`] keeps a session; [`gather`] reads an [`inventory`] through it; [`log`] reads events.
//! * [`keys`] knows the keys and their parameters; [`value`], [`perf`], [`discover`] and
//!   [`detail`] answer them.

mod detail;
mod discover;
mod gather;
mod inventory;
mod keys;
mod link;
mod log;
mod perf;
mod property;
mod service;
mod storage;
mod value;

use std::time::Duration;

use config::snapshot::source::{Login, Source};
use eval::key::ItemKey;
use model::ItemId;

use super::check::Check;
use super::reply::{CheckReply, Lines};
use keys::Ask;
use link::Account;
use service::Service;
pub(crate) use service::Services;

/// How long a check waits for a service that is being read for the first time, if its own timeout
/// is not longer: the next interval may be an hour away.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// Whether a key of this name is one of these.
pub(crate) fn is_vmware(key: &str) -> bool {
    key.starts_with("vmware.")
}

/// What an item gets: text, or the text for its state "not supported".
type Answer = Result<String, String>;

/// What an item hears of a property that is not set.
const NOT_THERE: &str = "Value is not available.";

/// Why a key has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Missing {
    /// The item is not supported.
    Error(String),
    /// It was not read so far, and is asked for from now on.
    Wish(inventory::Wish),
}

impl From<String> for Missing {
    fn from(why: String) -> Self {
        Self::Error(why)
    }
}

impl From<&str> for Missing {
    fn from(why: &str) -> Self {
        Self::Error(why.to_owned())
    }
}

/// Checks once.
pub(super) async fn check(services: &Services, check: &Check<'_>, key: &ItemKey) -> CheckReply {
    let login = match check.item.extra.as_ref().map(|extra| &extra.source) {
        Some(Source::Login(login)) => login.clone(),
        _ => Login::default(),
    };
    let ask = match Ask::parse(key) {
        Ok(ask) => ask,
        Err(why) => return CheckReply::NotSupported(why),
    };
    let account = match Account::new(&ask.url, &login) {
        Ok(account) => account,
        Err(why) => return CheckReply::NotSupported(why),
    };
    let service = match services.service(account) {
        Ok(service) => service,
        Err(why) => return CheckReply::LocalError(why),
    };
    let wait = check.timeout.max(FIRST_WAIT);
    let answered = match ask.is_eventlog() {
        true => tokio::time::timeout(wait, events(check, &service, &ask)).await,
        false => tokio::time::timeout(wait, answer(check, &service, &ask)).await,
    };
    // The service is slow: the item has its value when it is due the next time.
    answered.unwrap_or(CheckReply::Nothing)
}

async fn answer(check: &Check<'_>, service: &Service, ask: &Ask) -> CheckReply {
    let mut after = 0;
    let now_s = check.shared.context.clock.unix().as_secs();
    loop {
        let Some((number, read)) = service.read_after(after).await else {
            return CheckReply::Nothing;
        };
        let model = match read {
            Ok(model) => model,
            Err(why) => return CheckReply::NotSupported(why),
        };
        match value::answer(ask, &model, now_s) {
            Ok(text) => return CheckReply::Value(text),
            Err(Missing::Error(why)) => return CheckReply::NotSupported(why),
            Err(Missing::Wish(wish)) => {
                if let Err(why) = service.wish(wish) {
                    return CheckReply::NotSupported(why);
                }
                after = number;
            }
        }
    }
}

/// The events since the item's position.
async fn events(check: &Check<'_>, service: &Service, ask: &Ask) -> CheckReply {
    let (skip, filter) = match log::Filter::parse(ask) {
        Ok(parsed) => parsed,
        Err(why) => return CheckReply::NotSupported(why),
    };
    let item: ItemId = check.item.id;
    let since = check.shared.context.positions.of(item);
    let first = if skip { u64::MAX } else { 0 };
    let from = since.map_or(first, |position| position.lastlogsize);
    match service.events(from).await {
        Ok(log) => {
            let (values, position) = log.lines(from, &filter);
            CheckReply::Lines(Box::new(Lines { since, values, position }))
        }
        Err(why) => CheckReply::NotSupported(why),
    }
}

#[cfg(test)]
mod tests;
