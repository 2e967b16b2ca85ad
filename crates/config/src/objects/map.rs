//! Elements of maps go with what they show.

use crate::table;
use objects::MapElementType;

use super::ids_of;
use crate::Edit;
use crate::db::DbResult;

/// Deletes the elements that show these hosts, host groups or maps, before these are deleted. Elements of
/// triggers go with [`super::delete_triggers`].
pub fn delete_elements_of(edit: &mut Edit<'_>, kind: MapElementType, ids: &[u64]) -> DbResult<()> {
    let sql = format!(
        "SELECT selementid FROM map_elements WHERE elementtype = {} AND elementid IN ({{ids}})",
        kind.text()
    );
    let elements = ids_of(edit, &sql, "selementid", ids)?;
    delete_elements(edit, &elements)
}

/// Deletes elements with the links between them and others.
pub fn delete_elements(edit: &mut Edit<'_>, elements: &[u64]) -> DbResult<()> {
    for end in ["selementid1", "selementid2"] {
        edit.delete(&table::MAP_LINKS, end, elements)?;
    }
    edit.delete(&table::MAP_ELEMENTS, "selementid", elements)
}

/// Takes triggers off maps, and deletes the elements that show no other trigger.
pub(super) fn take_off_triggers(edit: &mut Edit<'_>, triggers: &[u64]) -> DbResult<()> {
    let sql = "SELECT DISTINCT selementid FROM map_element_triggers WHERE triggerid IN ({ids})";
    let elements = ids_of(edit, sql, "selementid", triggers)?;
    if elements.is_empty() {
        return Ok(());
    }
    edit.delete(&table::MAP_ELEMENT_TRIGGERS, "triggerid", triggers)?;
    let sql = "SELECT selementid FROM map_elements e WHERE selementid IN ({ids}) AND NOT EXISTS \
               (SELECT 1 FROM map_element_triggers t WHERE t.selementid = e.selementid)";
    let bare = ids_of(edit, sql, "selementid", &elements)?;
    delete_elements(edit, &bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Value;
    use crate::objects::{delete_hosts, delete_triggers};
    use crate::snapshot::tests::{host, item, open, trigger, write};

    /// A map with elements of these types and ids; returns the ids of the elements.
    fn map(edit: &mut Edit<'_>, elements: &[(MapElementType, u64)]) -> DbResult<Vec<u64>> {
        let map = edit.insert_new(&table::MAPS, &[("name", "m".into())])?;
        let add = |(kind, id): &(MapElementType, u64)| {
            let row = [
                ("sysmapid", Value::from(map)),
                ("elementtype", kind.number().into()),
                ("elementid", (*id).into()),
            ];
            edit.insert_new(&table::MAP_ELEMENTS, &row)
        };
        elements.iter().map(add).collect()
    }

    #[test]
    fn elements_and_their_links_go_with_what_they_show() {
        let (_dir, config) = open();
        let (h, t, u) = write(&config, |edit| {
            let h = host(edit, "h")?;
            let a = item(edit, h, "a", &[])?;
            let other = host(edit, "other")?;
            let b = item(edit, other, "b", &[])?;
            Ok((h, trigger(edit, &[a])?, trigger(edit, &[b])?))
        });
        let elements = write(&config, |edit| {
            let kinds = [
                (MapElementType::Host, h),
                (MapElementType::HostGroup, h),
                (MapElementType::Trigger, 0),
                (MapElementType::Trigger, 0),
            ];
            let made = map(edit, &kinds)?;
            for (element, triggers) in [(made[2], vec![t]), (made[3], vec![t, u])] {
                for id in triggers {
                    let row = [("selementid", Value::from(element)), ("triggerid", id.into())];
                    edit.insert(&table::MAP_ELEMENT_TRIGGERS, &row)?;
                }
            }
            let sql = "SELECT sysmapid FROM maps";
            let map = edit.query(sql, &[])?[0].id("sysmapid");
            for (one, other) in [(made[0], made[1]), (made[1], made[3])] {
                let ends = [
                    ("sysmapid", Value::from(map)),
                    ("selementid1", one.into()),
                    ("selementid2", other.into()),
                ];
                edit.insert_new(&table::MAP_LINKS, &ends)?;
            }
            Ok(made)
        });
        let ids = |sql: &str| -> Vec<u64> {
            let rows = config.read(|connection| connection.query(sql, &[])).unwrap();
            rows.iter().map(|row| row.id("id")).collect()
        };
        write(&config, |edit| delete_hosts(edit, &[h]));
        let kept = ids("SELECT selementid AS id FROM map_elements ORDER BY selementid");
        assert_eq!(kept, [elements[1], elements[3]], "a group with the id of the host stays");
        assert_eq!(ids("SELECT selementid1 AS id FROM map_links"), [elements[1]]);
        write(&config, |edit| delete_triggers(edit, &[u]));
        assert_eq!(ids("SELECT selementid AS id FROM map_elements"), [elements[1]]);
        assert!(ids("SELECT linkid AS id FROM map_links").is_empty());
    }
}
