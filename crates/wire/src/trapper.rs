//! Every request that the trapper port serves, from the text of its frame.
//!
//! Depth of JSON is bounded by the parser (128 levels, skipped members without recursion), counts
//! by [`crate::READINGS_MAX`] and the limits of the frame.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::agent::active::{ActiveChecks, Heartbeat};
use crate::message::{Members, MessageError, Scalar};
use crate::oldtext;
use crate::reading::{Moment, Reading};
use crate::sender::{self, AgentData, HistoryPush, SenderData};

/// A request on the trapper port.
#[derive(Debug)]
pub enum Request<'a> {
    /// Values of a sender.
    SenderData(SenderData<'a>),
    /// Values of an active agent.
    AgentData(AgentData<'a>),
    /// An active agent asks for its list.
    ActiveChecks(ActiveChecks<'a>),
    /// An active agent lives; not answered.
    Heartbeat(Heartbeat<'a>),
    /// Values pushed through the API.
    HistoryPush(HistoryPush<'a>),
    /// Items that are late.
    QueueGet(QueueGet<'a>),
    /// Test of an item or of preprocessing steps.
    ItemTest(ItemTest<'a>),
    /// Expressions to be evaluated.
    ExpressionsEvaluate(ExpressionsEvaluate<'a>),
    /// Counts of configured objects.
    StatusGet(StatusGet<'a>),
    /// Internal statistics.
    ZabbixStats(ZabbixStats),
    /// `ZBX_GET_ACTIVE_CHECKS` with the host, in plain text; answered without a frame.
    OldActiveChecks {
        /// Technical host name.
        host: &'a str,
    },
    /// One value in a text form before JSON; answered with a bare `OK`.
    OldValue(Reading<'a>),
    /// A text form before JSON that names no host and key; answered with a bare `OK` for XML,
    /// not at all otherwise.
    OldNothing {
        /// It was XML.
        xml: bool,
    },
    /// A request of another name, empty if there is none: logged, not answered.
    Unknown(Cow<'a, str>),
}

/// Which queue is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueKind {
    /// Counts per item type.
    Overview,
    /// Counts per proxy.
    OverviewByProxy,
    /// The items.
    Details,
}

/// The request `queue.get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueGet<'a> {
    /// Session id or API token.
    pub sid: Cow<'a, str>,
    /// Which; `None` = none of these.
    pub kind: Option<QueueKind>,
    /// Most rows of [`QueueKind::Details`].
    pub limit: Option<u64>,
}

/// The request `status.get`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusGet<'a> {
    /// Session id or API token.
    pub sid: Cow<'a, str>,
    /// `full` instead of `ping`.
    pub full: bool,
}

/// The request `zabbix.stats`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZabbixStats {
    /// All statistics.
    All,
    /// How many items are late by `from` to `to`, times such as `10m`.
    Queue {
        /// Lower bound.
        from: Option<String>,
        /// Upper bound.
        to: Option<String>,
    },
}

/// The request `item.test`.
#[derive(Debug)]
pub struct ItemTest<'a> {
    /// Session id or API token.
    pub sid: Cow<'a, str>,
    /// Item type as the API numbers it; `None` = steps only.
    pub item_type: Option<u64>,
    /// Value type as the API numbers it.
    pub value_type: Option<u64>,
    /// Item key.
    pub key: Cow<'a, str>,
    /// Formula, script or query of the item.
    pub params: Cow<'a, str>,
    /// Value given instead of one to be fetched.
    pub value: Option<Cow<'a, str>>,
    /// Preprocessing steps.
    pub steps: Vec<TestStep<'a>>,
    /// Stop after the first step.
    pub single: bool,
    /// The value is the error of an item that is not supported.
    pub not_supported: bool,
    /// Error of the fetch, for steps that look at it.
    pub runtime_error: Option<Cow<'a, str>>,
    /// The value before: value, and time as `now`, `now-5m` or seconds.
    pub history: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// All members of `item`, for fetching.
    pub item: &'a RawValue,
    /// All members of `host`, for fetching.
    pub host: Option<&'a RawValue>,
}

/// One preprocessing step of a test.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TestStep<'a> {
    /// Type as the API numbers it.
    #[serde(rename = "type", borrow)]
    pub step_type: Scalar<'a>,
    /// Parameters, one a line.
    #[serde(default, borrow)]
    pub params: Scalar<'a>,
    /// On failure: 0 error, 1 discard, 2 value, 3 error text.
    #[serde(default, borrow)]
    pub error_handler: Scalar<'a>,
    /// Value or text of the error handler.
    #[serde(default, borrow)]
    pub error_handler_params: Scalar<'a>,
}

/// The request `expressions.evaluate`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionsEvaluate<'a> {
    /// Session id or API token.
    pub sid: Cow<'a, str>,
    /// Expressions without item references.
    pub expressions: Vec<Cow<'a, str>>,
}

/// Prefix of the oldest request for active checks.
const OLD_ACTIVE_CHECKS: &str = "ZBX_GET_ACTIVE_CHECKS\n";
/// What is shown of a text that is no request.
const SHOWN_CHARS_MAX: usize = 64;

impl<'a> Request<'a> {
    /// Reads a request that arrived at `now`.
    pub fn parse(text: &'a str, now: Moment) -> Result<Self, MessageError> {
        if text.starts_with('{') {
            return Self::parse_json(text, now);
        }
        if let Some(rest) = text.strip_prefix(OLD_ACTIVE_CHECKS) {
            let host = rest.split('\n').next().unwrap_or(rest);
            return Ok(Self::OldActiveChecks { host: host.trim_end_matches('\r') });
        }
        if text.starts_with('<') {
            let reading = oldtext::xml(text, now);
            return Ok(reading.map_or(Self::OldNothing { xml: true }, Self::OldValue));
        }
        match oldtext::colons(text, now) {
            Some(reading) => Ok(Self::OldValue(reading)),
            None if text.contains(':') => Ok(Self::OldNothing { xml: false }),
            None => Ok(Self::Unknown(Cow::Owned(text.chars().take(SHOWN_CHARS_MAX).collect()))),
        }
    }

    fn parse_json(text: &'a str, now: Moment) -> Result<Self, MessageError> {
        let name = match name_at_start(text) {
            Some(name) => Cow::Borrowed(name),
            None => Members::parse(text)?.text("request").unwrap_or_default(),
        };
        Ok(match name.as_ref() {
            "sender data" => Self::SenderData(sender::parse_sender_data(text, now)?),
            "agent data" => Self::AgentData(sender::parse_agent_data(text, now)?),
            "active checks" => Self::ActiveChecks(ActiveChecks::parse(text)?),
            "active check heartbeat" => Self::Heartbeat(Heartbeat::parse(text)?),
            "history.push" => Self::HistoryPush(sender::parse_history_push(text, now)?),
            "queue.get" => Self::QueueGet(parse_queue_get(&Members::parse(text)?)),
            "item.test" | "preprocessing.test" => Self::ItemTest(parse_item_test(text)?),
            "expressions.evaluate" => Self::ExpressionsEvaluate(parse_expressions(text)?),
            "status.get" => Self::StatusGet(parse_status_get(&Members::parse(text)?)),
            "zabbix.stats" => Self::ZabbixStats(parse_stats(&Members::parse(text)?)?),
            _ => {
                // Refuses what is not JSON at all before it is called unknown.
                Members::parse(text)?;
                Self::Unknown(name)
            }
        })
    }
}

/// The usual case: `request` is the first member and its name has no escapes.
fn name_at_start(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('{')?.trim_start().strip_prefix("\"request\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let (name, _) = rest.split_once('"')?;
    (!name.contains('\\')).then_some(name)
}

fn sid<'a>(members: &Members<'a>) -> Cow<'a, str> {
    members.text("sid").unwrap_or_default()
}

fn parse_queue_get<'a>(members: &Members<'a>) -> QueueGet<'a> {
    let kind = match members.text("type").as_deref() {
        Some("overview") => Some(QueueKind::Overview),
        Some("overview by proxy") => Some(QueueKind::OverviewByProxy),
        Some("details") => Some(QueueKind::Details),
        // The session is refused first.
        _ => None,
    };
    QueueGet { sid: sid(members), kind, limit: members.number("limit") }
}

fn parse_status_get<'a>(members: &Members<'a>) -> StatusGet<'a> {
    StatusGet { sid: sid(members), full: members.text("type").as_deref() == Some("full") }
}

fn parse_stats(members: &Members<'_>) -> Result<ZabbixStats, MessageError> {
    if members.text("type").as_deref() != Some("queue") {
        return Ok(ZabbixStats::All);
    }
    let raw = members.raw("params").and_then(|raw| Members::parse(raw.get()).ok());
    let params = raw.ok_or(MessageError::NoTag("params"))?;
    let of = |name| params.text(name).map(Cow::into_owned);
    Ok(ZabbixStats::Queue { from: of("from"), to: of("to") })
}

fn parse_item_test(text: &str) -> Result<ItemTest<'_>, MessageError> {
    let top = Members::parse(text)?;
    let data = top.raw("data").ok_or(MessageError::Missing("data"))?;
    let data = Members::parse(data.get())?;
    let item_raw = data.raw("item").ok_or(MessageError::Missing("item"))?;
    let item = Members::parse(item_raw.get())?;
    let options = Members::parse(data.raw("options").map_or("{}", RawValue::get))?;
    let history = Members::parse(options.raw("history").map_or("{}", RawValue::get))?;
    let steps = match item.raw("steps") {
        None => Vec::new(),
        Some(raw) => {
            serde_json::from_str(raw.get()).map_err(|error| MessageError::not_json(&error))?
        }
    };
    Ok(ItemTest {
        sid: sid(&top),
        item_type: item.number("type"),
        value_type: item.number("value_type"),
        key: item.text("key").unwrap_or_default(),
        params: item.text("params").unwrap_or_default(),
        value: item.text("value"),
        steps,
        single: matches!(options.text("single").as_deref(), Some("true" | "1")),
        not_supported: options.number("state") == Some(1),
        runtime_error: options.text("runtime_error"),
        history: history.text("value").zip(history.text("timestamp")),
        item: item_raw,
        host: data.raw("host"),
    })
}

fn parse_expressions(text: &str) -> Result<ExpressionsEvaluate<'_>, MessageError> {
    let top = Members::parse(text)?;
    let data = top.raw("data").ok_or(MessageError::Missing("data"))?;
    let data = Members::parse(data.get())?;
    let raw = data.raw("expressions").ok_or(MessageError::Missing("expressions"))?;
    let expressions: Vec<Scalar<'_>> =
        serde_json::from_str(raw.get()).map_err(|error| MessageError::not_json(&error))?;
    Ok(ExpressionsEvaluate {
        sid: sid(&top),
        expressions: expressions.into_iter().map(|expression| expression.0).collect(),
    })
}
