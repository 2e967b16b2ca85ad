//! Users with their media and rights, and media types, as they are now.

use std::collections::{BTreeMap, BTreeSet};

use config::access::{TagFilters, readers};
use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use const_format::formatcp;
use objects::sql::{STATUS_DISABLED, TYPE_SUPER_ADMIN};
use objects::{EventSource, OperationMode, Status};

use super::configured::Action;
use crate::bundles::Limit;
use crate::recipients::{Address, Audience, Directory, Media, MediaType, Text, User};

/// All users that messages can reach, and what decides whether they see an event.
#[derive(Debug)]
pub(super) struct People {
    pub(super) directory: Directory,
    pub(super) of_user: BTreeMap<u64, Person>,
    readers: BTreeSet<(u64, u64)>,
    /// Pairs of user and service.
    service_readers: BTreeSet<(u64, u64)>,
    filters: TagFilters,
}

/// What events are about, as far as rights on it decide who sees them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) hosts: &'a [u64],
    pub(super) services: &'a [u64],
}

/// What texts depend on, beside the zone.
#[derive(Debug, Clone, Default)]
pub(super) struct Person {
    pub(super) super_admin: bool,
    pub(super) groups: Vec<u64>,
}

impl People {
    /// Those that the actions name, and `involved` users.
    pub(super) fn read<'a>(
        connection: &mut dyn Reader,
        actions: impl Iterator<Item = &'a Action>,
        involved: impl Iterator<Item = u64>,
        seen: &Seen<'_>,
    ) -> DbResult<Self> {
        let Seen { hosts, services } = *seen;
        let (mut users, mut groups): (BTreeSet<u64>, BTreeSet<u64>) = Default::default();
        users.extend(involved);
        for (_, message) in actions.flat_map(|action| action.messages.values()) {
            if let Audience::Named { users: named, groups: of_groups, on_call } = &message.to {
                users.extend(named);
                groups.extend(of_groups);
                users.extend(on_call.iter().flat_map(|one| one.rota.of.schedule.everyone()));
            }
        }
        let sql = "SELECT userid, usrgrpid FROM user_groups WHERE usrgrpid IN ({ids})";
        let mut members: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for row in query_by_ids(connection, sql, &[], &Vec::from_iter(groups))? {
            members.entry(row.id("usrgrpid")).or_default().push(row.id("userid"));
        }
        users.extend(members.values().flatten());
        let ids = Vec::from_iter(users);
        let of_user = persons(connection, &ids)?;
        let users = read_users(connection, &ids)?;
        let media_types = read_media_types(connection)?;
        let directory = Directory { users, members, media_types };
        let readers = readers(connection, &ids, hosts)?;
        let service_readers = services::access::readers(connection, &ids, services)?;
        let filters = TagFilters::read(connection, &ids, hosts)?;
        Ok(Self { directory, of_user, readers, service_readers, filters })
    }

    /// Sets which users see an event of the service. Super admins are bound by their roles, too.
    pub(super) fn look_at_service(&mut self, service: u64) {
        for (id, user) in &mut self.directory.users {
            user.reads = self.service_readers.contains(&(*id, service));
        }
    }

    /// Sets which users see an event on these hosts with these tags. Without hosts only super admins do.
    pub(super) fn look_at(&mut self, hosts: &BTreeSet<u64>, tags: &[(String, String)]) {
        for (id, user) in &mut self.directory.users {
            let is_super = self.of_user.get(id).is_some_and(|person| person.super_admin);
            let reads = || {
                !hosts.is_empty()
                    && hosts.iter().all(|host| self.readers.contains(&(*id, *host)))
                    && self.filters.show(*id, hosts.iter().copied(), tags)
            };
            user.reads = is_super || reads();
        }
    }
}

fn persons(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, Person>> {
    let mut found: BTreeMap<u64, Person> = BTreeMap::new();
    let sql = formatcp!(
        "SELECT u.userid AS userid FROM users u JOIN roles r ON r.roleid = u.roleid \
         WHERE r.type = {TYPE_SUPER_ADMIN} AND u.userid IN ({{ids}})"
    );
    for row in query_by_ids(connection, sql, &[], ids)? {
        found.entry(row.id("userid")).or_default().super_admin = true;
    }
    let sql = "SELECT userid, usrgrpid FROM user_groups WHERE userid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], ids)? {
        found.entry(row.id("userid")).or_default().groups.push(row.id("usrgrpid"));
    }
    Ok(found)
}

fn read_users(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, User>> {
    let sql = "SELECT userid, timezone FROM users WHERE userid IN ({ids})";
    let user = |row: &Row| User {
        id: row.id("userid"),
        disabled: false,
        reads: false,
        zone: row.text("timezone").to_owned(),
        media: Vec::new(),
    };
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let mut users: BTreeMap<u64, User> =
        rows.iter().map(|row| (row.id("userid"), user(row))).collect();
    let sql = formatcp!(
        "SELECT ug.userid AS userid FROM user_groups ug \
         JOIN usergroups g ON g.usrgrpid = ug.usrgrpid \
         WHERE g.users_status = {STATUS_DISABLED} AND ug.userid IN ({{ids}})"
    );
    for row in query_by_ids(connection, sql, &[], ids)? {
        if let Some(user) = users.get_mut(&row.id("userid")) {
            user.disabled = true;
        }
    }
    let sql = "SELECT * FROM media WHERE userid IN ({ids}) ORDER BY mediaid";
    for row in query_by_ids(connection, sql, &[], ids)? {
        if let Some(user) = users.get_mut(&row.id("userid")) {
            user.media.push(Media {
                address: Address {
                    media_type: row.id("mediatypeid"),
                    sendto: row.text("sendto").to_owned(),
                },
                enabled: Status::Enabled.is(row.int("active")),
                severities: row.int("severity"),
                period: row.text("period").to_owned(),
            });
        }
    }
    Ok(users)
}

fn read_media_types(connection: &mut dyn Reader) -> DbResult<BTreeMap<u64, MediaType>> {
    let mut types: BTreeMap<u64, MediaType> = BTreeMap::new();
    for row in connection.query("SELECT mediatypeid, status, storm_limit FROM media_types", &[])? {
        let enabled = Status::Enabled.is(row.int("status"));
        let limit = Limit::parse(row.text("storm_limit"));
        types.insert(row.id("mediatypeid"), MediaType { enabled, limit, ..MediaType::default() });
    }
    for row in connection.query("SELECT * FROM media_type_messages", &[])? {
        let source = EventSource::from_number(row.int("eventsource"));
        let mode = OperationMode::from_number(row.int("recovery"));
        if let (Some(source), Some(mode)) = (source, mode)
            && let Some(one) = types.get_mut(&row.id("mediatypeid"))
        {
            let (subject, message) = (row.text("subject"), row.text("message"));
            let text = Text { subject: subject.to_owned(), message: message.to_owned() };
            one.templates.insert((source, mode), text);
        }
    }
    let sql =
        "SELECT mediatypeid, name, value FROM media_type_params ORDER BY mediatypeid, position";
    let none: &[Value] = &[];
    for row in connection.query(sql, none)? {
        if let Some(one) = types.get_mut(&row.id("mediatypeid")) {
            one.parameters.push((row.text("name").to_owned(), row.text("value").to_owned()));
        }
    }
    Ok(types)
}
