//! Engine groups: how engines stand in for each other, and how VIPs are spread over them.

use serde_json::{Value as Json, json};

use crate::plan::{Plan, members_of, number};
use crate::reader::Reader;
use crate::{Members, Result};

const MODES: &[(&str, u64)] = &[
    ("HA_MODE_SHARED_PAIR", 0),
    ("HA_MODE_SHARED", N_PLUS_M),
    ("HA_MODE_LEGACY_ACTIVE_STANDBY", ACTIVE_STANDBY),
];
const N_PLUS_M: u64 = 1;
const ACTIVE_STANDBY: u64 = 2;
const SPREADS: &[(&str, u64)] = &[("PLACEMENT_ALGO_DISTRIBUTED", 0), ("PLACEMENT_ALGO_PACKED", 1)];

/// Defaults of Avi's N+M groups.
const VIPS_PER_ENGINE: u64 = 10;
const SPARE_ENGINES: u64 = 1;

/// What Avi's object leaves out, the group keeps.
pub(crate) fn translate(reader: &Reader<'_>) -> Result<Plan> {
    let mut group = members_of(json!({
        "name": reader.required("name")?,
        "description": reader.text("description")?.unwrap_or_default(),
    }));
    let mut set = |name: &str, value: u64| group.insert(name.to_owned(), value.into());
    let limit = reader.number("max_vs_per_se")?;
    if let Some(limit) = limit {
        set("vips_per_engine", limit);
    }
    if let Some(mode) = reader.word("ha_mode", MODES)? {
        let engines = reader.number("min_scaleout_per_vs")?;
        let spare = reader.number("buffer_se")?.unwrap_or(SPARE_ENGINES);
        set("ha_mode", mode);
        set("spare_engines", if mode == N_PLUS_M { spare } else { 0 });
        set("engines_per_vip", if mode == ACTIVE_STANDBY { 0 } else { engines.unwrap_or(0) });
        if mode == N_PLUS_M && limit.is_none() {
            set("vips_per_engine", VIPS_PER_ENGINE);
        }
    }
    if let Some(spread) = reader.word("algo", SPREADS)? {
        set("placement", spread);
    }
    if reader.value("auto_rebalance").is_some() {
        set("rebalance", reader.flag("auto_rebalance", false)?.into());
    }
    Ok(Plan::Objects(vec![group]))
}

pub(crate) fn show(object: &Json) -> Members {
    let word = |known: &[(&'static str, u64)], column: &str| {
        let value = number(&object[column]);
        known.iter().find(|(_, own)| *own == value).map(|(word, _)| *word)
    };
    let mut group = json!({
        "name": object["name"],
        "description": object["description"],
        "ha_mode": word(MODES, "ha_mode"),
        "algo": word(SPREADS, "placement"),
        "auto_rebalance": number(&object["rebalance"]) == 1,
    });
    if number(&object["ha_mode"]) == N_PLUS_M {
        group["buffer_se"] = number(&object["spare_engines"]).into();
    }
    for (member, column) in
        [("max_vs_per_se", "vips_per_engine"), ("min_scaleout_per_vs", "engines_per_vip")]
    {
        let value = number(&object[column]);
        if value > 0 {
            group[member] = value.into();
        }
    }
    members_of(group)
}
