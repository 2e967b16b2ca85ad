//! `trigger.learnt`: what was learnt from the last problems of triggers.

use model::alert::learnt::Learnt;
use serde_json::json;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::write::{only, required_list};
use crate::{params, rpc};

/// Triggers of one call: each has a query of its own.
const TRIGGERS_MAX: usize = 100;

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["triggerids"])?;
    let wanted = required_list(input, "triggerids")?;
    if wanted.len() > TRIGGERS_MAX {
        let text = format!("at most {TRIGGERS_MAX} triggers can be asked about at once");
        return Err(ApiError::at("/triggerids", text));
    }
    let wanted: Vec<String> = wanted.iter().map(u64::to_string).collect();
    let seen = json!({ "triggerids": wanted, "output": ["triggerid"], "sortfield": "triggerid" });
    let seen = rpc::run_inner(call, "trigger.get", &seen)?;
    let ids = seen.as_array().into_iter().flatten().map(|one| params::id(&one["triggerid"], ""));
    let ids = ids.collect::<ApiResult<Vec<u64>>>()?;
    let learnt = call.api.deps.live.learnt(&ids).map_err(ApiError::application)?;
    Ok(learnt.iter().map(shown).collect())
}

fn shown(one: &Learnt) -> Json {
    json!({
        "triggerid": one.trigger.to_string(),
        "problems": one.problems.to_string(),
        "typical": one.typical.unwrap_or(0).to_string(),
        "within": one.within.unwrap_or(0).to_string(),
        "share": one.share.to_string(),
        "flapping": if one.flapping.is_some() { "1" } else { "0" },
        "changes": one.flapping.map_or(0, |flapping| flapping.changes).to_string(),
        "until": one.flapping.map_or(0, |flapping| flapping.until).to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Server;

    #[test]
    fn users_learn_about_triggers_that_they_see() {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "g" }));
        let host = json!({ "host": "h", "groups": [{ "groupid": group }] });
        let host = server.create("host.create", &host);
        let item = json!({ "hostid": host, "name": "k", "key_": "k", "type": 2, "value_type": 3 });
        server.create("item.create", &item);
        let trigger = json!({ "description": "t", "expression": "last(/h/k)>1" });
        let trigger = server.create("trigger.create", &trigger);
        let asked = json!({ "triggerids": [trigger, "9999"] });
        let expected = json!([{
            "triggerid": trigger, "problems": "6", "typical": "30", "within": "40", "share": "83",
            "flapping": "1", "changes": "7", "until": "1800001800",
        }]);
        assert_eq!(server.call("trigger.learnt", &asked).unwrap(), expected);
        let reader = server.user("reader", "1", &[(&group, 2)]);
        assert_eq!(server.call_as(Some(&reader), "trigger.learnt", &asked).unwrap(), expected);
        let stranger = server.user("stranger", "1", &[]);
        assert_eq!(server.call_as(Some(&stranger), "trigger.learnt", &asked).unwrap(), json!([]));
        let many: Vec<u64> = (1..=101).collect();
        server.refuses(&[
            ("trigger.learnt", json!({}), -32602, "the parameter \"triggerids\" is missing."),
            ("trigger.learnt", json!({ "triggerids": many }), -32602, "at most 100 triggers"),
            ("trigger.learnt", json!({ "triggerids": [], "x": 1 }), -32602, "\"x\""),
        ]);
    }
}
