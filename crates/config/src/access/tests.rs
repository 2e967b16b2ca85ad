//! Which users read which hosts, on an SQLite file.

use super::*;
use crate::db::{DbError, Location, Value};
use crate::schema::Table;
use crate::{Config, table};

const HOST: u64 = 50;
const OTHER: u64 = 51;

struct World {
    config: Config,
    _dir: tempfile::TempDir,
}

impl World {
    /// Hosts in groups 1 and 2, the other one in group 3; users 101 to 103, each in the user group 100 below.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
        let world = Self { config, _dir: dir };
        for group in 1001..=1003_u64 {
            let name = format!("g{group}");
            world.put(&table::GROUPS, &[("groupid", group.into()), ("name", name.into())]);
        }
        for (host, groups) in [(HOST, &[1001_u64, 1002][..]), (OTHER, &[1003])] {
            let name = format!("h{host}");
            let row = [
                ("hostid", Value::from(host)),
                ("host", name.as_str().into()),
                ("name", name.as_str().into()),
            ];
            world.put(&table::HOSTS, &row);
            for group in groups {
                let row = [("hostid", host.into()), ("groupid", Value::from(*group))];
                world.put(&table::HOST_GROUPS, &row);
            }
        }
        for user in 101..=103_u64 {
            let group = user + 100;
            let name = format!("u{user}");
            let roleid = Value::from(1_u64);
            let row =
                [("userid", user.into()), ("username", name.as_str().into()), ("roleid", roleid)];
            world.put(&table::USERS, &row);
            world.put(&table::USERGROUPS, &[("usrgrpid", group.into()), ("name", name.into())]);
            world.member(user, group);
        }
        world
    }

    fn put(&self, table: &'static Table, row: &[(&str, Value)]) {
        let written: Result<(), DbError> = self.config.write(|edit| edit.insert(table, row));
        written.unwrap();
    }

    fn member(&self, user: u64, group: u64) {
        self.put(&table::USER_GROUPS, &[("userid", user.into()), ("usrgrpid", group.into())]);
    }

    fn right(&self, user_group: u64, group: u64, permission: i64) {
        let row = [
            ("usrgrpid", user_group.into()),
            ("groupid", group.into()),
            ("permission", Value::from(permission)),
        ];
        self.put(&table::GROUP_RIGHTS, &row);
    }

    fn readers(&self) -> Vec<(u64, u64)> {
        let users = [101, 102, 103, 999];
        let read = |connection: &mut dyn Reader| readers(connection, &users, &[HOST, OTHER]);
        self.config.read(read).unwrap().into_iter().collect()
    }
}

#[test]
fn the_highest_right_counts_and_one_deny_denies() {
    let world = World::new();
    assert_eq!(world.readers(), []);
    world.right(201, 1001, 2);
    world.right(202, 1001, 3);
    world.right(203, 1003, 2);
    assert_eq!(world.readers(), [(101, HOST), (102, HOST), (103, OTHER)]);
    world.right(202, 1002, 0);
    assert_eq!(world.readers(), [(101, HOST), (103, OTHER)]);
    // Through another of the user's groups.
    world.member(101, 203);
    assert_eq!(world.readers(), [(101, HOST), (101, OTHER), (103, OTHER)]);
    world.member(101, 202);
    assert_eq!(world.readers(), [(101, OTHER), (103, OTHER)]);
}

#[test]
fn tag_filters_choose_problems() {
    let world = World::new();
    world.right(201, 1001, 2);
    world.right(202, 1001, 2);
    let tags = vec![("scope".to_owned(), "disk".to_owned())];
    let shown = |user: u64| {
        let filters =
            world.config.read(|connection| TagFilters::read(connection, &[101, 102], &[HOST]));
        filters.unwrap().show(user, [HOST], &tags)
    };
    assert_eq!([shown(101), shown(102)], [true, true]);
    let filter = |id: u64, tag: &str, value: &str| {
        let row = [
            ("tagfilterid", id.into()),
            ("usrgrpid", Value::from(201_u64)),
            ("groupid", Value::from(1001_u64)),
            ("tag", tag.into()),
            ("value", value.into()),
        ];
        world.put(&table::TAG_FILTERS, &row);
    };
    filter(1, "scope", "cpu");
    assert_eq!([shown(101), shown(102)], [false, true]);
    filter(2, "scope", "");
    assert!(shown(101));
}
