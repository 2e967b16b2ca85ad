//! `loadbalancer.export`, `.import` and `.importcompare`: objects as a file in the language of the engine, which a
//! lone engine reads, too. What only the server stores is the file's member `controller`.
//!
//! An import is a series of calls of the objects' own methods within one transaction, so that its rules are theirs.

mod export;
mod import;
mod kinds;
mod names;
mod read;
mod services;
mod unique;

use std::collections::{BTreeMap, BTreeSet};

use balancing::Config;
use config::db::{Row, query_by_ids};

use super::refused;
use crate::call::{Call, Method};
use crate::error::ApiResult;
use crate::permission::{self, Need};
use crate::write::Target;
use kinds::Kind;

pub(crate) const METHODS: &[Method] = &[
    Method::admin("loadbalancer.export", export::run),
    Method::super_admin("loadbalancer.import", import::run),
    Method::super_admin("loadbalancer.importcompare", import::compare),
];

/// All objects as they are stored, with their secrets.
struct Stored {
    config: Config,
    /// Pools and servers whose monitored hosts the user may not see.
    unseen: Vec<(String, String)>,
}

impl Stored {
    /// Refuses users whose role denies reading one kind.
    fn read(call: &Call<'_>) -> ApiResult<Self> {
        for kind in Kind::ALL {
            permission::check_not_denied(call.user(), &kind.method("get"))?;
        }
        let links = "SELECT s.hostid, s.name, p.name AS pool FROM pool_servers s \
                     JOIN pools p ON p.poolid = s.poolid WHERE s.hostid <> 0 \
                     ORDER BY p.name, s.position";
        call.read(|connection| {
            let links = connection.query(links, &[])?;
            let linked: BTreeSet<u64> = links.iter().map(|row| row.id("hostid")).collect();
            let linked = Vec::from_iter(linked);
            let seen = call.allowed(connection, Target::Host, Need::Read, &linked)?;
            let sql = "SELECT hostid, host FROM hosts WHERE hostid IN ({ids})";
            let hosts = query_by_ids(connection, sql, &[], &Vec::from_iter(seen))?;
            let host = |row: &Row| (row.id("hostid"), row.text("host").to_owned());
            let hosts: BTreeMap<u64, String> = hosts.iter().map(host).collect();
            let unseen = links.iter().filter(|row| !hosts.contains_key(&row.id("hostid")));
            let unseen =
                unseen.map(|row| (row.text("pool").to_owned(), row.text("name").to_owned()));
            let config = config::engines::stored(connection, &hosts);
            Ok(Self {
                unseen: unseen.collect(),
                config: config.map_err(|error| refused("/", error))?,
            })
        })
    }
}
