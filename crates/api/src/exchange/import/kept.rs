//! Graphs that earlier versions stored in the form of the export.

use std::collections::BTreeMap;

use config::db::Row;

use super::{Import, Rules};
use crate::call::Call;
use crate::error::ApiResult;

/// Turns these graphs into objects, host by host, so that linked hosts inherit those of templates. One that
/// cannot be read stays as it is, and the log says why.
pub(crate) fn convert(call: &Call<'_>) -> ApiResult<()> {
    let sql = "SELECT p.partid, p.hostid, p.kind, p.name, p.doc, h.host FROM parts p \
               JOIN hosts h ON h.hostid = p.hostid \
               WHERE p.kind IN ('graph', 'graph_prototype') ORDER BY p.partid";
    let rows = call.rows(sql, &[])?;
    let mut of_host: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        of_host.entry(row.id("hostid")).or_default().push(row);
    }
    if !rows.is_empty() {
        tracing::info!(graphs = rows.len(), "converting stored graphs");
    }
    let convert = |rows: &[&Row]| {
        call.together(|call| Import::new(call, Rules::default()).convert_kept(rows))
    };
    for rows in of_host.into_values().filter(|rows| convert(rows).is_err()) {
        for row in rows {
            if let Err(error) = convert(&[row]) {
                let (graph, host) = (row.text("name"), row.id("hostid"));
                tracing::warn!(graph, host, %error, "cannot convert a stored graph");
            }
        }
    }
    Ok(())
}
