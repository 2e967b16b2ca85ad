//! Writing: checked here, kept by the way that senders' values take.

use config::Snapshot;
use history::service::Asker;
use model::{HostId, LogMeta, Push, PushValue, SampleValue, Timestamp};
use wire::history_service::{
    Failure, Log, Reason, Refusal, Value, WRITE_VALUES_MAX, WriteReply, WriteRequest,
};

use super::{Allowed, find, no_item, sign_in};
use crate::Api;
use crate::methods::history::value_text;
use crate::permission::Need;

pub(super) fn write(
    api: &Api,
    asker: &Asker,
    request: WriteRequest,
) -> Result<WriteReply, Failure> {
    let user = sign_in(api, asker, "history.push")?;
    if request.values.len() > WRITE_VALUES_MAX {
        return Err(Reason::Invalid.with(format!(
            "One write may carry {WRITE_VALUES_MAX} values, this one has {}: send several.",
            request.values.len()
        )));
    }
    let snapshot = api.deps.config.snapshot();
    let now = Timestamp::from_unix(api.deps.clock.unix());
    let values = request.values.into_iter();
    let checked: Vec<_> = values.map(|value| check(&snapshot, value, now)).collect();
    let hosts = checked.iter().flatten().map(|(host, _)| *host);
    let allowed = Allowed::load(api, &user, Need::Write, hosts)?;

    let mut refused = Vec::new();
    let mut fit = Vec::new();
    for (index, value) in checked.into_iter().enumerate() {
        match value {
            Ok((host, value)) if allowed.has(host) => fit.push((index, value)),
            Ok(_) => refused.push((index, no_item())),
            Err(failure) => refused.push((index, failure)),
        }
    }
    let kept = keep(api, asker, fit, request.resend, &mut refused)?;
    if request.synced && kept > 0 {
        api.deps.live.sync().map_err(|error| {
            Reason::NotKept.with(format!("The values are not safe on the disk: {error}. {AGAIN}"))
        })?;
    }
    refused.sort_unstable_by_key(|(index, _)| *index);
    let refused = refused.into_iter().map(|(index, failure)| Refusal {
        index: u32::try_from(index).unwrap_or(u32::MAX),
        failure: Some(failure),
    });
    Ok(WriteReply { kept, refused: refused.collect(), ..WriteReply::default() })
}

const AGAIN: &str = "Send the same again with \"resend\".";

/// Hands values over, each with its place in the request; returns how many are kept.
fn keep(
    api: &Api,
    asker: &Asker,
    values: Vec<(usize, PushValue)>,
    resend: bool,
    refused: &mut Vec<(usize, Failure)>,
) -> Result<u64, Failure> {
    let (places, values): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    let push = Push { values, client: asker.peer, refuse_duplicates: false, resend };
    let mut kept = 0;
    for (index, result) in places.into_iter().zip(api.deps.live.push(push)) {
        match result {
            Ok(()) => kept += 1,
            Err(failure) if failure.reason() == Reason::NotKept => {
                let text = format!("Not all values could be kept; the log says why. {AGAIN}");
                return Err(Reason::NotKept.with(text));
            }
            Err(failure) => refused.push((index, failure)),
        }
    }
    Ok(kept)
}

/// A value for its item, and the item's host.
fn check(
    snapshot: &Snapshot,
    value: Value,
    now: Timestamp,
) -> Result<(HostId, PushValue), Failure> {
    let item = find(snapshot, value.itemid, &value.host, &value.key);
    // What is wrong with the rest comes first: it must not tell whether there is such an item.
    let SentValue { at, text, log } = SentValue::read(value, now)?;
    let item = item?;
    Ok((item.host, PushValue { item: item.id, value: text, log, at }))
}

/// What a value of a write says, as a sender would have sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentValue {
    /// When it was measured.
    pub at: Timestamp,
    /// What preprocessing gets.
    pub text: String,
    /// What a log line carries beside its text.
    pub log: Option<LogMeta>,
}

impl SentValue {
    /// Fails where the message breaks a rule, whatever the item is.
    pub fn read(value: Value, now: Timestamp) -> Result<Self, Failure> {
        let at = moment(value.clock, value.ns, now)?;
        let (text, log) = content(value)?;
        Ok(Self { at, text, log })
    }
}

fn moment(clock: u32, ns: u32, now: Timestamp) -> Result<Timestamp, Failure> {
    const CLOCK_MAX: u32 = i32::MAX.unsigned_abs();
    match (clock, ns) {
        (0, 0) => Ok(now),
        (0, _) => Err(Reason::Invalid.with("\"ns\" needs \"clock\".")),
        (1..=CLOCK_MAX, 0..1_000_000_000) => Ok(Timestamp { clock, ns }),
        (1..=CLOCK_MAX, _) => Err(Reason::Invalid.with("\"ns\" must be from 0 to 999999999.")),
        _ => Err(Reason::Invalid.with("\"clock\" must be from 1 to 2147483647.")),
    }
}

/// The text that a sender would have sent.
fn content(value: Value) -> Result<(String, Option<LogMeta>), Failure> {
    let number = |value| (value_text(&value), None);
    match (value.text, value.float, value.unsigned, value.log) {
        (Some(text), None, None, None) => Ok((text, None)),
        (None, Some(float), None, None) => Ok(number(SampleValue::Float(float))),
        (None, None, Some(unsigned), None) => Ok(number(SampleValue::Unsigned(unsigned))),
        (None, None, None, Some(log)) => {
            let Log { text, clock, source, severity, eventid } = log;
            let meta = LogMeta { timestamp: clock, source: source.into(), severity, eventid };
            Ok((text, Some(meta)))
        }
        _ => Err(Reason::Invalid.with("Give one of text, float, unsigned and log.")),
    }
}
