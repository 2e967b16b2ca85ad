//! Tags by which a maintenance chooses problems.

use objects::MaintenanceTagOperator;

use super::{BTreeMap, DbResult, Reader, query_by_ids};

/// Name and value.
pub(super) type Tag = (String, String);

/// A condition on one tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) tag: String,
    /// The value is a part of the problem's, instead of equal.
    pub(super) contains: bool,
    pub(super) value: String,
}

impl Condition {
    fn fits(&self, (tag, value): &Tag) -> bool {
        *tag == self.tag
            && if self.contains { value.contains(&self.value) } else { *value == self.value }
    }
}

/// All of them; none fits every problem.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tags {
    /// One that fits is enough, instead of one of each name.
    pub(super) any: bool,
    pub(super) conditions: Vec<Condition>,
}

impl Tags {
    pub(super) fn fit(&self, own: &[Tag]) -> bool {
        let fits = |condition: &Condition| own.iter().any(|tag| condition.fits(tag));
        if self.conditions.is_empty() {
            return true;
        }
        if self.any {
            return self.conditions.iter().any(fits);
        }
        // Conditions on one name are alternatives.
        self.conditions
            .iter()
            .all(|named| self.conditions.iter().filter(|one| one.tag == named.tag).any(fits))
    }
}

/// The conditions of these maintenances.
pub(super) fn read(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, Vec<Condition>>> {
    let sql = "SELECT maintenanceid, tag, operator, value FROM maintenance_tags \
               WHERE maintenanceid IN ({ids}) ORDER BY maintenanceid, maintenancetagid";
    let mut found: BTreeMap<u64, Vec<Condition>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        let (tag, value) = (row.text("tag").to_owned(), row.text("value").to_owned());
        let contains = MaintenanceTagOperator::Contains.is(row.int("operator"));
        let condition = Condition { tag, contains, value };
        found.entry(row.id("maintenanceid")).or_default().push(condition);
    }
    Ok(found)
}

/// The tags of these events.
pub(super) fn of_events(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, Vec<Tag>>> {
    let sql = "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids})";
    let mut found: BTreeMap<u64, Vec<Tag>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
        found.entry(row.id("eventid")).or_default().push(tag);
    }
    Ok(found)
}
