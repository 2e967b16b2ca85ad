//! In which order, and from which questions, `history.get` answers.

use std::sync::{Arc, Mutex};

use history::{Error, Order, RangeQuery, Reader, Span};
use model::{ItemId, Sample, SampleValue, Timestamp, Trend};
use serde_json::{Value, json};

use crate::testing::Server;

const CLOCK: u32 = 1_700_000_000;

/// Values of every item in two seconds, and the limits of what was asked at a time.
#[derive(Default)]
struct Shelf(Mutex<Vec<Vec<Option<usize>>>>);

impl Reader for Shelf {
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
        let row = |(second, ns): (u32, u32)| {
            let at = Timestamp { clock: CLOCK + second, ns };
            let value = SampleValue::Unsigned(u64::from(second * 10 + ns));
            Sample { item: query.item, at, value }
        };
        let mut rows: Vec<Sample> = [(0, 5), (0, 7), (1, 2)].map(row).to_vec();
        if query.order == Order::NewestFirst {
            rows.reverse();
        }
        rows.truncate(query.limit.unwrap_or(9));
        Ok(rows)
    }
    fn ranges(&self, queries: &[RangeQuery]) -> Result<Vec<Vec<Sample>>, Error> {
        self.0.lock().unwrap().push(queries.iter().map(|query| query.limit).collect());
        queries.iter().map(|query| self.range(query)).collect()
    }
    fn newest(&self, _: &[ItemId], _: usize) -> Result<Vec<Vec<Sample>>, Error> {
        Err(Error::storage_away("not asked for"))
    }
    fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
        Err(Error::storage_away("not asked for"))
    }
}

#[test]
fn items_are_queried_together_up_to_the_limit_of_each() {
    let shelf = Arc::new(Shelf::default());
    let server = Server::over(Arc::clone(&shelf) as Arc<dyn Reader>);
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = json!({ "host": "h", "groups": { "groupid": group } });
    let host = server.create("host.create", &host);
    for key in ["a", "b"] {
        let item = json!({ "name": key, "key_": key, "hostid": host, "type": 2, "value_type": 3 });
        server.create("item.create", &item);
    }
    let two = Some(2);
    for (sort, order, more, expected, limit) in [
        (json!([]), json!([]), json!({}), &["5", "7"][..], two),
        (json!("clock"), json!("DESC"), json!({}), &["12", "12"], two),
        (json!(["clock", "ns"]), json!("DESC"), json!({}), &["12", "12"], two),
        (json!(["clock", "itemid"]), json!(["DESC", "ASC"]), json!({}), &["12", "12"], two),
        (json!(["itemid", "clock"]), json!(["DESC", "DESC"]), json!({}), &["12", "7"], two),
        // The first by time are not the first of these.
        (json!("ns"), json!("ASC"), json!({}), &["12", "12"], None),
        (json!(["clock", "ns"]), json!(["ASC", "DESC"]), json!({}), &["7", "7"], None),
        (json!("clock"), json!("ASC"), json!({ "value": "12" }), &["12", "12"], None),
    ] {
        let asked = json!({ "history": 3, "sortfield": sort, "sortorder": order, "limit": 2,
            "filter": more, "output": ["value"] });
        let rows = server.call("history.get", &asked).unwrap();
        let values: Vec<&str> =
            rows.as_array().unwrap().iter().filter_map(|row| row["value"].as_str()).collect();
        assert_eq!(values, expected, "{sort} {order}");
        assert_eq!(*shelf.0.lock().unwrap(), [[limit; 2]], "{sort} {order}");
        shelf.0.lock().unwrap().clear();
    }
    let of_none = server.call("history.get", &json!({ "itemids": [], "history": 3 })).unwrap();
    assert_eq!(of_none, Value::Array(Vec::new()));
}
