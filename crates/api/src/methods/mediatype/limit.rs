//! How many messages an address takes of a media type.

use serde_json::json;

use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::plain::Draft;
use crate::write::only;

const MESSAGES_MAX: i64 = 10_000;
const PERIOD_MAX_S: u64 = 86_400;

/// Checks the limit of a media type and gives its column: JSON; empty = none.
pub(super) fn take(draft: &mut Draft<'_>) -> ApiResult<()> {
    let Some(given) = params::settings(draft.input, "storm_limit", &draft.path)? else {
        return Ok(());
    };
    let path = format!("{}/storm_limit", draft.path);
    let column = match given {
        None => String::new(),
        Some(members) => {
            only(members, &path, &["messages", "period"])?;
            let get = |name: &str| members.get(name).ok_or_else(|| missing(&path, name));
            let at = |name: &str| format!("{path}/{name}");
            let messages = params::int(get("messages")?, &at("messages"))?;
            if !(1..=MESSAGES_MAX).contains(&messages) {
                let text = format!("value must be one of 1-{MESSAGES_MAX}");
                return Err(ApiError::at(&at("messages"), text));
            }
            let period = params::text(get("period")?, &at("period"))?;
            if !(1..=PERIOD_MAX_S).contains(&params::time_unit(&period, &at("period"))?) {
                let text = format!("value must be one of 1-{PERIOD_MAX_S}");
                return Err(ApiError::at(&at("period"), text));
            }
            json!({ "messages": messages, "period": period }).to_string()
        }
    };
    draft.columns.push(("storm_limit", column.into()));
    Ok(())
}
