//! `graphitem.get`

use super::{GRAPH, ITEM};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::Get;
use crate::permission::{Need, on_graphs};
use crate::relate::Relation;

const GRAPHS: Relation = Relation::new("graphs", &GRAPH);

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &ITEM, &[])?;
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_graphs(call.user(), need, "t.graphid") {
        get.and(condition, []);
    }
    get.by_ids("gitemids", "t.gitemid IN ({ids})")?;
    get.by_ids("graphids", "t.graphid IN ({ids})")?;
    get.by_ids("itemids", "t.itemid IN ({ids})")?;
    if let Some(kind) = input.get("type").filter(|kind| !kind.is_null()) {
        get.and("t.type = ?", [crate::params::int(kind, "/type")?.into()]);
    }
    get.need(&["graphid"]);
    get.answer(|found| {
        let Some(wanted) = found.wants_uncounted("selectGraphs")? else { return Ok(()) };
        let pairs: Vec<(u64, u64)> =
            found.rows.iter().map(|row| (row.id, row.row.id("graphid"))).collect();
        found.relate_as(&GRAPHS, &wanted, &pairs)
    })
}
