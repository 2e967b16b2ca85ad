//! `history.gaps`, which is ours: time ranges in which values of items are missing because files of the
//! embedded history were damaged or lost. The answer of `history.get` has the same form with and without
//! gaps, so that its clients need not know of them.

use serde_json::json;

use super::{known, limit, readable_items, span};
use crate::call::{Call, Json};
use crate::error::ApiResult;

const OPTIONS: &[&str] = &["itemids", "hostids", "time_from", "time_till", "limit"];

/// Gaps of items that the user may read, by item, oldest first. `scope` is `item` where the damaged part
/// held values of the item, and `shard` where it is not known which items it held.
pub(super) fn get_gaps(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    known(input, OPTIONS)?;
    let (span, limit) = (span(input)?, limit(input)?.unwrap_or(usize::MAX));
    let items = readable_items(call, input)?;
    let gaps = call.api.deps.live.history_gaps(&items, span);
    let rows = gaps.into_iter().take(limit).map(|gap| {
        json!({
            "itemid": gap.item.0.to_string(),
            "time_from": gap.span.from.to_string(),
            "time_till": gap.span.till.to_string(),
            "scope": if gap.is_of_item { "item" } else { "shard" },
            "reason": &*gap.reason,
        })
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn gaps_are_listed_for_items_that_the_user_may_read() {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "g" }));
        let host = json!({ "host": "h", "groups": { "groupid": group } });
        let host = server.create("host.create", &host);
        let item = |key: &str| {
            let item = json!({ "name": key, "key_": key, "hostid": host, "type": 2,
                "value_type": 3 });
            server.create("item.create", &item)
        };
        let (a, b) = (item("a"), item("b"));
        let row = |item: &str| {
            json!({ "itemid": item, "time_from": "5", "time_till": "9", "scope": "item",
                "reason": "1.wal: gone" })
        };
        let span = |item: &str| json!({ "itemids": item, "time_from": 5, "time_till": 9 });
        server.answers(&[
            ("history.gaps", span(&a), json!([row(&a)])),
            (
                "history.gaps",
                json!({ "hostids": host, "time_from": 5, "time_till": 9 }),
                json!([row(&a), row(&b)]),
            ),
            (
                "history.gaps",
                json!({ "hostids": host, "time_from": 5, "time_till": 9, "limit": 1 }),
                json!([row(&a)]),
            ),
            ("history.gaps", json!({ "itemids": [] }), json!([])),
        ]);
        server.refuses(&[(
            "history.gaps",
            json!({ "history": 3 }),
            -32602,
            "unexpected parameter \"history\"",
        )]);
        assert!(server.call_as(None, "history.gaps", &span(&a)).is_err());
    }
}
