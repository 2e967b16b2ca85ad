//! Graphs and dashboards that earlier versions stored in the form of the export.

use std::collections::BTreeMap;

use config::db::Row;

use super::{Import, Rules};
use crate::call::Call;
use crate::error::{ApiError, ApiResult};

/// Turns them into objects, host by host, so that linked hosts inherit graphs of templates: graphs first, because
/// dashboards show them. One that cannot be read stays as it is, and the log says why.
pub(crate) fn convert(call: &Call<'_>) -> ApiResult<()> {
    let sql = "SELECT p.partid, p.hostid, p.kind, p.name, p.doc, h.host FROM parts p \
               JOIN hosts h ON h.hostid = p.hostid \
               WHERE p.kind IN ('graph', 'graph_prototype', 'dashboard') ORDER BY p.partid";
    let rows = call.rows(sql, &[])?;
    let (dashboards, graphs): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.text("kind") == "dashboard");
    if !rows.is_empty() {
        let (graphs, dashboards) = (graphs.len(), dashboards.len());
        tracing::info!(graphs, dashboards, "converting stored graphs and dashboards");
    }
    convert_each(call, &graphs, |import, rows| import.convert_kept(rows))?;
    convert_each(call, &dashboards, convert_dashboards)
}

/// Converts the rows of a host at once; if that fails, one by one.
fn convert_each(
    call: &Call<'_>,
    rows: &[&Row],
    work: fn(&Import<'_, '_>, &[&Row]) -> ApiResult<()>,
) -> ApiResult<()> {
    let mut of_host: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        of_host.entry(row.id("hostid")).or_default().push(row);
    }
    let convert =
        |rows: &[&Row]| call.together(|call| work(&Import::new(call, Rules::default()), rows));
    for rows in of_host.into_values().filter(|rows| convert(rows).is_err()) {
        for row in rows {
            if let Err(error) = convert(&[row]) {
                let (kind, name, host) = (row.text("kind"), row.text("name"), row.id("hostid"));
                tracing::warn!(kind, name, host, %error, "cannot convert a stored object");
            }
        }
    }
    Ok(())
}

fn convert_dashboards(import: &Import<'_, '_>, rows: &[&Row]) -> ApiResult<()> {
    for row in rows {
        let node = serde_json::from_str(row.text("doc"))
            .map_err(|error| ApiError::application(error.to_string()))?;
        import.convert_dashboard(row.id("hostid"), row.text("host"), node)?;
    }
    let ids: Vec<u64> = rows.iter().map(|row| row.id("partid")).collect();
    import.call.write(|edit| Ok(edit.delete(&config::table::PARTS, "partid", &ids)?))
}
