//! Conditions of actions on what was found.

use std::convert::Infallible;

use config::Edit;
use config::db::{DbResult, Row};
use discovery::{Event, Object, State};
use eval::lld::Formula;
use eval::ranges::{AddressRanges, numbers};

/// A condition. The numbers are the API's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    kind: i64,
    operator: i64,
    value: String,
    id: String,
}

impl Condition {
    pub(crate) fn from_row(row: &Row) -> Self {
        Self {
            kind: row.int("conditiontype"),
            operator: row.int("operator"),
            value: row.text("value").to_owned(),
            id: row.text("formulaid").to_owned(),
        }
    }
}

/// All conditions of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    /// 0 and/or, 1 and, 2 or, 3 the formula.
    evaltype: i64,
    formula: String,
    conditions: Vec<Condition>,
}

impl Filter {
    pub(crate) fn new(evaltype: i64, formula: &str, conditions: Vec<Condition>) -> Self {
        Self { evaltype, formula: formula.to_owned(), conditions }
    }

    /// The action applies to the event. Without conditions it applies to each.
    pub(crate) fn fits(&self, event: &Event, subject: &Subject) -> bool {
        let holds = |condition: &Condition| subject.meets(event, condition);
        let conditions = &self.conditions;
        if conditions.is_empty() {
            return true;
        }
        match self.evaltype {
            1 => conditions.iter().all(holds),
            2 => conditions.iter().any(holds),
            3 => self.by_formula(&holds),
            _ => conditions
                .iter()
                .all(|one| conditions.iter().filter(|other| other.kind == one.kind).any(holds)),
        }
    }

    fn by_formula(&self, holds: &dyn Fn(&Condition) -> bool) -> bool {
        let Ok(formula) = Formula::parse(&self.formula) else { return false };
        let mut named = |name: &&str| -> Result<bool, Infallible> {
            Ok(self.conditions.iter().find(|one| one.id == **name).is_some_and(holds))
        };
        let Ok(result) = formula.eval(&mut named);
        result
    }
}

/// What conditions look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Subject {
    rule: u64,
    /// A host's services; of a service itself alone.
    services: Vec<Service>,
    up: bool,
    /// Since it is up or down, seconds since 1970.
    since: i64,
    /// An agent's name and metadata.
    host: String,
    metadata: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Service {
    check: u64,
    kind: i64,
    ip: String,
    port: i64,
    value: String,
}

impl Subject {
    pub(crate) fn read(edit: &mut Edit<'_>, event: &Event) -> DbResult<Self> {
        if event.object == Object::Agent {
            let sql = "SELECT host, host_metadata FROM autoreg_hosts WHERE autoreg_hostid = ?";
            let rows = edit.query(sql, &[event.id.into()])?;
            let text = |name: &str| rows.first().map_or("", |row| row.text(name)).to_owned();
            let (host, metadata) = (text("host"), text("host_metadata"));
            return Ok(Self { host, metadata, ..Self::default() });
        }
        let (table, key) = match event.object {
            Object::Host => ("h", "dhostid"),
            _ => ("s", "dserviceid"),
        };
        let rows = edit.query(
            &format!(
                "SELECT h.druleid, s.dcheckid, c.type, s.ip, s.port, s.value, \
                 {table}.status, {table}.lastup, {table}.lastdown \
                 FROM dservices s JOIN dhosts h ON h.dhostid = s.dhostid \
                 JOIN dchecks c ON c.dcheckid = s.dcheckid WHERE {table}.{key} = ? \
                 ORDER BY s.dserviceid"
            ),
            &[event.id.into()],
        )?;
        let Some(first) = rows.first() else { return Ok(Self::default()) };
        let service = |row: &Row| Service {
            check: row.id("dcheckid"),
            kind: row.int("type"),
            ip: row.text("ip").to_owned(),
            port: row.int("port"),
            value: row.text("value").to_owned(),
        };
        let up = first.int("status") == State::Up as i64;
        Ok(Self {
            rule: first.id("druleid"),
            services: rows.iter().map(service).collect(),
            up,
            since: first.int(if up { "lastup" } else { "lastdown" }),
            ..Self::default()
        })
    }

    fn meets(&self, event: &Event, condition: &Condition) -> bool {
        let Condition { kind, operator, value, .. } = condition;
        let equal = |same: bool| same == (*operator == 0);
        let number: i64 = value.parse().unwrap_or(-1);
        let is_id = |id: u64| value.parse::<u64>() == Ok(id);
        // Only events of services have one.
        let service = self.services.first().filter(|_| event.object == Object::Service);
        let of_service = |test: &dyn Fn(&Service) -> bool| service.is_some_and(test);
        match kind {
            7 => {
                let inside = |service: &Service| {
                    let ip = service.ip.parse();
                    AddressRanges::parse(value)
                        .is_ok_and(|ranges| ip.is_ok_and(|ip| ranges.contains(ip)))
                };
                !self.services.is_empty() && equal(self.services.iter().any(inside))
            }
            8 => of_service(&|service| equal(service.kind == number)),
            9 => of_service(&|service| {
                let ranges = numbers(value, u16::MAX).unwrap_or_default();
                equal(ranges.iter().any(|range| {
                    u16::try_from(service.port).is_ok_and(|port| range.contains(&port))
                }))
            }),
            10 => event.object != Object::Agent && equal(event.value == number),
            11 => {
                let age = i64::from(event.at.clock) - self.since;
                if *operator == 5 { age >= number } else { age <= number }
            }
            12 => of_service(&|service| compare(*operator, &service.value, value)),
            18 => equal(is_id(self.rule)),
            19 => of_service(&|service| equal(is_id(service.check))),
            21 => event.object as i64 == number,
            22 => compare(*operator, &self.host, value),
            24 => compare(*operator, &self.metadata, value),
            // No proxies are there that it could have come through.
            20 => *operator == 1,
            _ => false,
        }
    }
}

/// Compares texts as the operator says. A regular expression that is none matches nothing.
fn compare(operator: i64, text: &str, value: &str) -> bool {
    let matches = || eval::regex::is_match(value, text, false);
    match operator {
        0 => text == value,
        1 => text != value,
        2 => text.contains(value),
        3 => !text.contains(value),
        5 => text >= value,
        6 => text <= value,
        8 => matches().unwrap_or(false),
        9 => matches().is_ok_and(|found| !found),
        _ => false,
    }
}
