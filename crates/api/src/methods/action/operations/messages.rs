//! Operations that send messages or run scripts, and when they do.

use objects::{ConditionKind, ConditionOperator, EvalType, EventSource, OperationKind};
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::write::{nested, nested_ids, only};

/// The last step.
const STEP_MAX: i64 = 99_999;
/// Characters of a subject, and of a text.
const SUBJECT_MAX: usize = 255;
const MESSAGE_MAX: usize = 65_535;

/// In which steps an operation is done, and on which conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    /// Duration of its steps; 0 = the action's.
    pub(super) period: String,
    pub(super) from: i64,
    /// 0 = without end.
    pub(super) to: i64,
    pub(super) evaltype: EvalType,
    /// Whether the problem is acknowledged, 0 or 1; any of them may hold.
    pub(super) acknowledged: Vec<String>,
}

impl Steps {
    /// Members that are not given have their defaults.
    pub(super) fn parse(members: &Map<String, Json>, path: &str) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let number = |name: &str, min: i64| match members.get(name) {
            None => Ok(1),
            Some(value) => match params::int(value, &at(name))? {
                n if (min..=STEP_MAX).contains(&n) => Ok(n),
                _ => {
                    let what = format!("value must be one of {min}-{STEP_MAX}");
                    Err(ApiError::at(&at(name), what))
                }
            },
        };
        let period = match members.get("esc_period") {
            None => "0".to_owned(),
            Some(value) => period(value, &at("esc_period"), true)?,
        };
        let (from, to) = (number("esc_step_from", 1)?, number("esc_step_to", 0)?);
        if members.contains_key("esc_step_from") != members.contains_key("esc_step_to") {
            return Err(ApiError::params(
                "Parameters \"esc_step_from\" and \"esc_step_to\" must be set together.",
            ));
        }
        if to != 0 && to < from {
            return Err(ApiError::params("Incorrect action operation escalation step values."));
        }
        let evaltype = match members.get("evaltype") {
            None => EvalType::AndOr,
            Some(value) => EvalType::from_number(params::int(value, &at("evaltype"))?)
                .filter(|kind| *kind != EvalType::Formula)
                .ok_or_else(|| ApiError::at(&at("evaltype"), "value must be one of 0, 1, 2"))?,
        };
        let conditions = members.get("opconditions");
        let acknowledged =
            conditions.map(|value| acknowledged(value, &at("opconditions"))).transpose()?;
        let acknowledged = acknowledged.unwrap_or_default();
        Ok(Self { period, from, to, evaltype, acknowledged })
    }
}

/// The duration of a step: a time of a minute to a week, or a user macro; of operations 0, too.
pub(super) fn period(value: &Json, path: &str, may_be_0: bool) -> ApiResult<String> {
    let text = params::text(value, path)?;
    if text.starts_with("{$") && text.ends_with('}') {
        return Ok(text);
    }
    let seconds = params::time_unit(&text, path)?;
    if (60..=604_800).contains(&seconds) || (may_be_0 && seconds == 0) {
        return Ok(text);
    }
    let zero = if may_be_0 { "0, " } else { "" };
    Err(ApiError::at(path, format!("value must be one of {zero}60-604800")))
}

fn acknowledged(value: &Json, path: &str) -> ApiResult<Vec<String>> {
    let mut values: Vec<String> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["conditiontype", "operator", "value"])?;
        let at = |name: &str| format!("{path}/{name}");
        let kind = members.get("conditiontype").ok_or_else(|| missing(&path, "conditiontype"))?;
        let known = ConditionKind::Acknowledged;
        if !known.is(params::int(kind, &at("conditiontype"))?) {
            let what = format!("value must be {}", known.text());
            return Err(ApiError::at(&at("conditiontype"), what));
        }
        let operator = members.get("operator").map(|v| params::int(v, &at("operator")));
        if !ConditionOperator::Equals.is(operator.transpose()?.unwrap_or(0)) {
            return Err(ApiError::at(&at("operator"), "value must be 0"));
        }
        let value = members.get("value").ok_or_else(|| missing(&path, "value"))?;
        let value = params::text(value, &at("value"))?;
        if !["0", "1"].contains(&value.as_str()) {
            return Err(ApiError::at(&at("value"), "value must be one of \"0\", \"1\""));
        }
        if values.contains(&value) {
            return Err(taken(&path, "value", &value));
        }
        values.push(value);
    }
    Ok(values)
}

/// A message and who gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// The texts are the media type's.
    pub(super) is_default: bool,
    pub(super) subject: String,
    pub(super) message: String,
    /// 0 = all media types.
    pub(super) mediatypeid: u64,
    pub(super) groups: Vec<u64>,
    pub(super) users: Vec<u64>,
    pub(super) on_call: Vec<OnCall>,
}

/// An on-call schedule as a recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OnCall {
    pub(super) scheduleid: u64,
    /// 0 on call now, 1 next in turn, 2 everyone of the schedule.
    pub(super) who: i64,
}

impl OnCall {
    fn parse(value: &Json, path: &str) -> ApiResult<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        for (path, members) in nested(value, path)? {
            only(members, &path, &["scheduleid", "who"])?;
            let id = members.get("scheduleid").ok_or_else(|| missing(&path, "scheduleid"))?;
            let scheduleid = params::id(id, &format!("{path}/scheduleid"))?;
            let at = format!("{path}/who");
            let who = members.get("who").map_or(Ok(0), |value| params::int(value, &at))?;
            if !(0..=2).contains(&who) {
                return Err(ApiError::at(&at, "value must be one of 0, 1, 2"));
            }
            let one = Self { scheduleid, who };
            if all.contains(&one) {
                return Err(taken(&path, "scheduleid, who", format_args!("{scheduleid}, {who}")));
            }
            all.push(one);
        }
        Ok(all)
    }
}

impl Message {
    pub(super) fn parse(
        members: &Map<String, Json>,
        path: &str,
        kind: OperationKind,
    ) -> ApiResult<Self> {
        let value = members.get("opmessage").ok_or_else(|| missing(path, "opmessage"))?;
        let at = format!("{path}/opmessage");
        let own = match value {
            Json::Object(own) => own.clone(),
            Json::Array(list) if list.is_empty() => Map::new(),
            _ => return Err(ApiError::at(&at, "an array is expected")),
        };
        let is_default = match own.get("default_msg") {
            None => true,
            Some(value) => match params::int(value, &format!("{at}/default_msg"))? {
                n @ 0..=1 => n == 1,
                _ => {
                    let path = format!("{at}/default_msg");
                    return Err(ApiError::at(&path, "value must be one of 0, 1"));
                }
            },
        };
        let mut known = vec!["default_msg"];
        if !is_default {
            known.extend(["subject", "message"]);
        }
        if kind != OperationKind::NotifyRecovered {
            known.push("mediatypeid");
        }
        only(&own, &at, &known)?;
        let text = |name: &str, max: usize| {
            let path = format!("{at}/{name}");
            let text = own.get(name).map_or(Ok(String::new()), |v| params::text(v, &path))?;
            match text.chars().count() > max {
                true => Err(ApiError::at(&path, "value is too long")),
                false => Ok(text),
            }
        };
        let media_type =
            own.get("mediatypeid").map(|v| params::id(v, &format!("{at}/mediatypeid")));
        let ids = |name: &str, key: &str| {
            let list = members.get(name).map(|v| nested_ids(v, &format!("{path}/{name}"), key));
            Ok::<_, ApiError>(list.transpose()?.unwrap_or_default())
        };
        let message = Self {
            is_default,
            subject: text("subject", SUBJECT_MAX)?,
            message: text("message", MESSAGE_MAX)?,
            mediatypeid: media_type.transpose()?.unwrap_or(0),
            groups: ids("opmessage_grp", "usrgrpid")?,
            users: ids("opmessage_usr", "userid")?,
            on_call: match members.get("opmessage_oncall") {
                Some(value) => OnCall::parse(value, &format!("{path}/opmessage_oncall"))?,
                None => Vec::new(),
            },
        };
        let Self { groups, users, on_call, .. } = &message;
        let is_for_nobody = groups.is_empty() && users.is_empty() && on_call.is_empty();
        if kind == OperationKind::Message && is_for_nobody {
            return Err(ApiError::params("No recipients specified for action operation message."));
        }
        Ok(message)
    }
}

/// A script and where it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) scriptid: u64,
    /// 0 = the host of the event.
    pub(super) hosts: Vec<u64>,
    pub(super) groups: Vec<u64>,
}

impl Command {
    pub(super) fn parse(
        members: &Map<String, Json>,
        path: &str,
        source: EventSource,
    ) -> ApiResult<Self> {
        let value = members.get("opcommand").ok_or_else(|| missing(path, "opcommand"))?;
        let at = format!("{path}/opcommand");
        let empty = Map::new();
        let own = match value {
            Json::Object(own) => own,
            Json::Array(list) if list.is_empty() => &empty,
            _ => return Err(ApiError::at(&at, "an array is expected")),
        };
        only(own, &at, &["scriptid"])?;
        let script = own.get("scriptid").ok_or_else(|| missing(&at, "scriptid"))?;
        let ids = |name: &str, key: &str| {
            let list = members.get(name).map(|v| nested_ids(v, &format!("{path}/{name}"), key));
            Ok::<_, ApiError>(list.transpose()?.unwrap_or_default())
        };
        let command = Self {
            scriptid: params::id(script, &format!("{at}/scriptid"))?,
            hosts: ids("opcommand_hst", "hostid")?,
            groups: ids("opcommand_grp", "groupid")?,
        };
        let Self { hosts, groups, .. } = &command;
        if source != EventSource::Service && hosts.is_empty() && groups.is_empty() {
            return Err(ApiError::params(
                "No targets specified for action operation global script.",
            ));
        }
        Ok(command)
    }
}
