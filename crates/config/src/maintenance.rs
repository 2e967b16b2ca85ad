//! Time periods of maintenances, read from the database.

use std::collections::BTreeMap;

use eval::maintenance::{MaintenancePeriod, Repeat};
use objects::PeriodType;

use crate::db::{DbResult, Reader, Row, query_by_ids};

/// The periods of these maintenances by id, each list in the order of the form.
pub fn periods(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, Vec<MaintenancePeriod>>> {
    let sql = "SELECT * FROM maintenance_periods WHERE maintenanceid IN ({ids}) \
               ORDER BY maintenanceid, sortorder";
    let mut found: BTreeMap<u64, Vec<MaintenancePeriod>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        found.entry(row.id("maintenanceid")).or_default().extend(one(&row));
    }
    Ok(found)
}

/// `None`: the API refuses its type.
fn one(row: &Row) -> Option<MaintenancePeriod> {
    let small = |name: &str| u8::try_from(row.int(name)).unwrap_or(0);
    let mask = |name: &str| u16::try_from(row.int(name)).unwrap_or(0);
    let seconds = |name: &str| u32::try_from(row.int(name)).unwrap_or(0);
    let every = seconds("every").max(1);
    let (months, days_of_week) = (mask("month"), small("dayofweek"));
    let repeat = match PeriodType::from_number(row.int("timeperiod_type"))? {
        PeriodType::Once => Repeat::OneTime { start_date: row.int("start_date") },
        PeriodType::Daily => Repeat::Daily { every },
        PeriodType::Weekly => Repeat::Weekly { every, days_of_week },
        PeriodType::Monthly if days_of_week > 0 => {
            Repeat::MonthlyWeekday { months, days_of_week, week: small("every") }
        }
        PeriodType::Monthly => Repeat::MonthlyDay { months, day: small("day") },
    };
    let (start_time_s, period_s) = (seconds("start_time"), seconds("period"));
    Some(MaintenancePeriod { repeat, start_time_s, period_s })
}
