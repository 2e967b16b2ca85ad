//! Rows of the load balancer's objects as the types of an engine's configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use balancing::{Announce, Config, Listen, Monitors, Pool, PoolGroup, VirtualService};
use const_format::formatcp;
use objects::sql::STATUS_ENABLED;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::credential::{Credential, credentials};
use super::groups;
use super::hosts::{self, Asked, Effect};
use super::monitors::{monitors, monitors_of_pools};
use super::placement::NO_ANNOUNCE;
use crate::db::{DbError, Reader, Row, query_by_ids};

/// Why rows are no configuration.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
    /// An object that the API would refuse.
    #[error("{object}: {reason}")]
    Object {
        /// Kind and name.
        object: String,
        /// Member and remedy.
        reason: String,
    },
}

pub(super) type Result<T> = std::result::Result<T, CompileError>;

/// A virtual service with the ids of what it uses.
#[derive(Debug, Clone)]
pub struct Service {
    /// `virtualserviceid`.
    pub id: u64,
    /// Id of its engine group.
    pub group: u64,
    /// What engines do.
    pub config: VirtualService,
    /// Pools, also those of rules and of pool groups.
    pub pools: BTreeSet<u64>,
    /// Pool groups, also those of rules.
    pub pool_groups: BTreeSet<u64>,
    /// Certificates, the default one first.
    pub certificates: Vec<u64>,
}

/// Virtual services and all that they use.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    /// In the order of their ids.
    pub services: Vec<Service>,
    /// By id.
    pub pools: BTreeMap<u64, Pool>,
    /// By id.
    pub pool_groups: BTreeMap<u64, PoolGroup>,
    /// By id.
    pub certificates: BTreeMap<u64, Credential>,
    /// How engines of the group announce VIPs; `None`: each engine's own settings decide.
    pub announce: Option<Announce>,
}

impl Objects {
    /// The enabled services of a group.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_group(connection: &mut dyn Reader, group: u64) -> Result<Self> {
        let sql = services_where(formatcp!("s.status = {STATUS_ENABLED} AND s.enginegroupid = ?"));
        let rows = connection.query(&sql, &[group.into()])?;
        let announce = announce(connection, group)?;
        Ok(Self { announce, ..Self::of_rows(connection, rows)? })
    }

    /// The enabled services of all groups.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn all(connection: &mut dyn Reader) -> Result<Self> {
        let rows =
            connection.query(&services_where(formatcp!("s.status = {STATUS_ENABLED}")), &[])?;
        Self::of_rows(connection, rows)
    }

    /// These services, also disabled ones.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_services(connection: &mut dyn Reader, ids: &[u64]) -> Result<Self> {
        let sql = services_where("s.virtualserviceid IN ({ids})");
        let rows = query_by_ids(connection, &sql, &[], ids)?;
        Self::of_rows(connection, rows)
    }

    /// Pools and what they use, without services.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_pools(connection: &mut dyn Reader, ids: &[u64]) -> Result<Self> {
        let pools = pools(connection, ids)?;
        Ok(Self { pools, ..Self::default() })
    }

    /// Pool groups and what they use, without services.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_pool_groups(connection: &mut dyn Reader, ids: &[u64]) -> Result<Self> {
        let found = groups::load(connection, ids)?;
        let pools = pools(connection, &Vec::from_iter(found.pools()))?;
        Ok(Self { pool_groups: found.typed(&pools)?, pools, ..Self::default() })
    }

    /// All objects, also disabled and unused ones.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub(super) fn whole(connection: &mut dyn Reader) -> Result<Self> {
        let rows = connection.query(&services_where("1 = 1"), &[])?;
        let services = Self::of_rows(connection, rows)?.services;
        let mut ids = |table: &str, key: &str| -> Result<Vec<u64>> {
            let rows = connection.query(&format!("SELECT {key} FROM {table}"), &[])?;
            Ok(rows.iter().map(|row| row.id(key)).collect())
        };
        let all = [
            ids("pools", "poolid")?,
            ids("pool_groups", "poolgroupid")?,
            ids("certificates", "certificateid")?,
        ];
        let pools = pools(connection, &all[0])?;
        let pool_groups = groups::load(connection, &all[1])?.typed(&pools)?;
        let certificates = credentials(connection, &all[2])?;
        Ok(Self { services, pools, pool_groups, certificates, announce: None })
    }

    /// The configuration of an engine with all these services.
    pub fn config(&self) -> Config {
        let certificates = self.certificates.values();
        let expected = certificates.clone();
        Config {
            certificates: certificates.filter_map(Credential::issued).cloned().collect(),
            expected_certificates: expected.filter_map(Credential::expected).cloned().collect(),
            virtual_services: self.services.iter().map(|service| service.config.clone()).collect(),
            pools: self.pools.values().cloned().collect(),
            pool_groups: self.pool_groups.values().cloned().collect(),
            announce: self.announce.clone(),
            ..Config::default()
        }
    }

    /// One of the services with what it uses.
    pub fn alone(&self, service: &Service) -> Self {
        let pools = service.pools.iter();
        let pools = pools.filter_map(|id| Some((*id, self.pools.get(id)?.clone())));
        let groups = service.pool_groups.iter();
        let groups = groups.filter_map(|id| Some((*id, self.pool_groups.get(id)?.clone())));
        let certificates = service.certificates.iter();
        let certificates =
            certificates.filter_map(|id| Some((*id, self.certificates.get(id)?.clone())));
        Self {
            services: vec![service.clone()],
            pools: pools.collect(),
            pool_groups: groups.collect(),
            certificates: certificates.collect(),
            announce: None,
        }
    }

    fn of_rows(connection: &mut dyn Reader, mut rows: Vec<Row>) -> Result<Self> {
        rows.sort_by_key(|row| row.id("virtualserviceid"));
        let mut uses: Vec<Uses> = rows.iter().map(Uses::of).collect::<Result<_>>()?;
        let ids: Vec<u64> = rows.iter().map(|row| row.id("virtualserviceid")).collect();
        let sql = "SELECT virtualserviceid, certificateid FROM virtualservice_certificates \
                   WHERE virtualserviceid IN ({ids}) ORDER BY virtualserviceid, position";
        for row in query_by_ids(connection, sql, &[], &ids)? {
            if let Ok(at) = ids.binary_search(&row.id("virtualserviceid")) {
                uses[at].certificates.push(row.id("certificateid"));
            }
        }
        let used: BTreeSet<u64> =
            uses.iter().flat_map(|uses| uses.pool_groups.iter().copied()).collect();
        let groups = groups::load(connection, &Vec::from_iter(used))?;
        for uses in &mut uses {
            let members = uses.pool_groups.iter().flat_map(|group| groups.pools_of(*group));
            uses.pools.extend(members);
        }
        let used: BTreeSet<u64> = uses.iter().flat_map(|uses| uses.pools.iter().copied()).collect();
        let pools = pools(connection, &Vec::from_iter(used))?;
        let used: BTreeSet<u64> =
            uses.iter().flat_map(|uses| uses.certificates.iter().copied()).collect();
        let certificates = credentials(connection, &Vec::from_iter(used))?;
        let pool_groups = groups.typed(&pools)?;
        let (services, announce) = (Vec::new(), None);
        let mut objects = Self { services, pools, pool_groups, certificates, announce };
        let services = rows.iter().zip(uses).map(|(row, uses)| service(row, uses, &objects));
        objects.services = services.collect::<Result<_>>()?;
        Ok(objects)
    }
}

/// How the engines of a group announce VIPs; `None`: as their own files say.
fn announce(connection: &mut dyn Reader, group: u64) -> Result<Option<Announce>> {
    let sql = "SELECT name, announce FROM enginegroups WHERE enginegroupid = ?";
    let rows = connection.query(sql, &[group.into()])?;
    let Some(row) = rows.first().filter(|row| row.text("announce") != NO_ANNOUNCE) else {
        return Ok(None);
    };
    parsed(row, "announce", &format!("engine group '{}'", row.text("name"))).map(Some)
}

fn services_where(condition: &str) -> String {
    format!(
        "SELECT s.*, v.ipv4, v.ipv6 FROM virtualservices s JOIN vips v ON v.vipid = s.vipid \
         WHERE {condition}"
    )
}

/// A pool or a pool group.
#[derive(Debug, Clone, Copy)]
enum Target {
    Pool(u64),
    Group(u64),
}

impl Target {
    /// What the ids name; 0 = none.
    fn of(pool: u64, group: u64) -> Option<Self> {
        match (pool, group) {
            (0, 0) => None,
            (pool, 0) => Some(Self::Pool(pool)),
            (_, group) => Some(Self::Group(group)),
        }
    }

    /// Its name for engines.
    fn name<'o>(self, objects: &'o Objects, object: &str) -> Result<&'o str> {
        let (kind, id, name) = match self {
            Self::Pool(id) => ("pool", id, objects.pools.get(&id).map(|pool| &pool.name)),
            Self::Group(id) => {
                ("pool group", id, objects.pool_groups.get(&id).map(|group| &group.name))
            }
        };
        name.map(String::as_str)
            .ok_or_else(|| invalid(object, format!("the {kind} with id {id} does not exist")))
    }
}

/// What a service refers to; `rules` and `mirror` are without ids of pools.
struct Uses {
    rules: Vec<Json>,
    mirror: Json,
    target: Option<Target>,
    /// What each rule refers to.
    chosen: Vec<Chosen>,
    /// Where the service sends copies.
    mirrored: Option<Target>,
    pools: BTreeSet<u64>,
    pool_groups: BTreeSet<u64>,
    certificates: Vec<u64>,
}

impl Uses {
    fn of(row: &Row) -> Result<Self> {
        let mut rules: Vec<Json> = parsed(row, "rules", &service_name(row))?;
        let mut mirror: Json = parsed(row, "mirror", &service_name(row))?;
        let chosen: Vec<_> = rules.iter_mut().map(Chosen::take).collect();
        let mirrored = take_target(&mut mirror);
        let target = Target::of(row.id("poolid"), row.id("poolgroupid"));
        let (mut pools, mut pool_groups) = (BTreeSet::new(), BTreeSet::new());
        for target in chosen.iter().flat_map(Chosen::all).chain(target.iter()).chain(&mirrored) {
            match target {
                Target::Pool(id) => pools.insert(*id),
                Target::Group(id) => pool_groups.insert(*id),
            };
        }
        let certificates = Vec::new();
        Ok(Self { rules, mirror, target, chosen, mirrored, pools, pool_groups, certificates })
    }
}

/// What a rule refers to: a rule of the database has ids, one of the engine has names.
#[derive(Default)]
struct Chosen {
    pool: Option<Target>,
    mirror: Option<Target>,
    /// What its script may choose.
    script: Vec<Target>,
}

impl Chosen {
    /// Removes the ids.
    fn take(rule: &mut Json) -> Self {
        let Some(then) = rule.get_mut("then") else { return Self::default() };
        let script = then.get_mut("script").and_then(Json::as_object_mut);
        let pools = script.and_then(|script| script.remove("pools"));
        let pools = pools.as_ref().and_then(Json::as_array).cloned().unwrap_or_default();
        Self {
            pool: take_target(then),
            mirror: then.get_mut("mirror").and_then(take_target),
            script: pools.into_iter().filter_map(|mut pool| take_target(&mut pool)).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Target> {
        self.pool.iter().chain(&self.mirror).chain(&self.script)
    }

    /// Writes the names.
    fn give(&self, then: &mut Json, objects: &Objects, object: &str) -> Result<()> {
        if let Some(target) = self.pool {
            then["pool"] = target.name(objects, object)?.into();
        }
        if let Some(target) = self.mirror {
            then["mirror"]["pool"] = target.name(objects, object)?.into();
        }
        if !self.script.is_empty() {
            let names = self.script.iter().map(|target| target.name(objects, object));
            then["script"]["pools"] = names.collect::<Result<Vec<_>>>()?.into();
        }
        Ok(())
    }
}

/// Removes the id of the pool or pool group from members that choose it.
fn take_target(members: &mut Json) -> Option<Target> {
    let members = members.as_object_mut()?;
    let [pool, group] = ["poolid", "poolgroupid"].map(|member| {
        let id = members.remove(member)?;
        id.as_str()?.parse().ok()
    });
    Target::of(pool.unwrap_or(0), group.unwrap_or(0))
}

fn service_name(row: &Row) -> String {
    format!("virtual service '{}'", row.text("name"))
}

/// The object's JSON in a column.
pub(super) fn parsed<T: DeserializeOwned>(row: &Row, column: &str, object: &str) -> Result<T> {
    let value = serde_json::from_str(row.text(column));
    value.map_err(|error| invalid(object, format!("'{column}': {error}")))
}

pub(super) fn invalid(object: &str, reason: impl Into<String>) -> CompileError {
    CompileError::Object { object: object.to_owned(), reason: reason.into() }
}

pub(super) fn typed<T: DeserializeOwned>(members: Json, object: &str) -> Result<T> {
    serde_json::from_value(members).map_err(|error| invalid(object, error.to_string()))
}

/// Adds columns with texts that are not empty, and JSON columns that are not `{}`.
pub(super) fn add_given(
    members: &mut Json,
    row: &Row,
    texts: &[&str],
    json: &[&str],
) -> Result<()> {
    for column in texts.iter().filter(|column| !row.text(column).is_empty()) {
        members[*column] = row.text(column).into();
    }
    for column in json {
        let value: Map<String, Json> = parsed(row, column, row.text("name"))?;
        if !value.is_empty() {
            members[*column] = value.into();
        }
    }
    Ok(())
}

fn service(row: &Row, mut uses: Uses, objects: &Objects) -> Result<Service> {
    let object = service_name(row);
    for (rule, chosen) in uses.rules.iter_mut().zip(&uses.chosen) {
        if let Some(then) = rule.get_mut("then") {
            chosen.give(then, objects, &object)?;
        }
    }
    let target = uses.target.ok_or_else(|| invalid(&object, "it has no pool"))?;
    let mut tls: Map<String, Json> = parsed(row, "tls", &object)?;
    let names = uses.certificates.iter().filter_map(|id| objects.certificates.get(id));
    let names: Vec<&str> = names.map(Credential::name).collect();
    let has_tls = !names.is_empty();
    tls.insert("certificates".to_owned(), names.into());
    let [timeouts, limits, forwarded, allow, deny] =
        ["timeouts", "limits", "forwarded", "allow", "deny"]
            .map(|column| parsed::<Json>(row, column, &object));
    let mut members = json!({
        "name": row.text("name"),
        "type": row.text("type"),
        "listen": listen(row, &object)?,
        "pool": target.name(objects, &object)?,
        "accept_proxy": row.int("accept_proxy") != 0,
        "timeouts": timeouts?,
        "limits": limits?,
        "forwarded": forwarded?,
        "rules": uses.rules,
        "allow": allow?,
        "deny": deny?,
    });
    if has_tls {
        members["tls"] = tls.into();
    }
    if let Some(target) = uses.mirrored {
        uses.mirror["pool"] = target.name(objects, &object)?.into();
        members["mirror"] = uses.mirror;
    }
    add_given(&mut members, row, &[], &["rate_limit", "authentication", "compression", "cache"])?;
    Ok(Service {
        id: row.id("virtualserviceid"),
        group: row.id("enginegroupid"),
        config: typed(members, &object)?,
        pools: uses.pools,
        pool_groups: uses.pool_groups,
        certificates: uses.certificates,
    })
}

/// The addresses of the VIP with the service's port.
fn listen(row: &Row, object: &str) -> Result<Listen> {
    let given = ["ipv4", "ipv6"].map(|column| row.text(column));
    let given = given.into_iter().filter(|text| !text.is_empty());
    let addresses = given.map(|text| socket(text, row.int("port"), object));
    Listen::new(addresses.collect::<Result<_>>()?)
        .ok_or_else(|| invalid(object, "its VIP has no address"))
}

fn socket(address: &str, port: i64, object: &str) -> Result<SocketAddr> {
    let address: IpAddr = address
        .parse()
        .map_err(|_| invalid(object, format!("'{address}' is no IPv4 or IPv6 address")))?;
    let port = u16::try_from(port).map_err(|_| invalid(object, format!("{port} is not a port")))?;
    Ok(SocketAddr::new(address, port))
}

/// Pools by id, those that exist.
fn pools(connection: &mut dyn Reader, ids: &[u64]) -> Result<BTreeMap<u64, Pool>> {
    let sql = "SELECT * FROM pools WHERE poolid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let used = monitors_of_pools(connection, ids)?;
    let all: BTreeSet<u64> = used.values().flatten().copied().collect();
    let monitors = monitors(connection, &Vec::from_iter(all))?;
    let hosts = hosts::asked(connection, ids)?;
    let sql = "SELECT * FROM pool_servers WHERE poolid IN ({ids}) ORDER BY poolid, position";
    let mut servers: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        let place = (row.id("poolid"), row.int("position"));
        let effect = hosts.get(&place).and_then(Asked::effect);
        servers.entry(place.0).or_default().push(server(&row, effect)?);
    }
    let pools = rows.iter().map(|row| {
        let id = row.id("poolid");
        let own = used.get(&id).into_iter().flatten();
        let health = own.filter_map(|monitor| monitors.get(monitor)?.of_engines().cloned());
        Ok((id, pool(row, servers.remove(&id).unwrap_or_default(), Monitors(health.collect()))?))
    });
    pools.collect()
}

fn pool(row: &Row, servers: Vec<Json>, health: Monitors) -> Result<Pool> {
    let object = format!("pool '{}'", row.text("name"));
    let mut members = json!({
        "name": row.text("name"),
        "algorithm": row.text("algorithm"),
        "servers": servers,
    });
    let (texts, json) =
        (["hash_key", "slow_start", "send_proxy"], ["persistence", "retries", "eject", "tls"]);
    add_given(&mut members, row, &texts, &json)?;
    if row.int("min_monitors") != 0 {
        members["min_monitors"] = row.int("min_monitors").into();
    }
    Ok(Pool { health, ..typed(members, &object)? })
}

/// `effect`: what the monitored host asks of the server that it is.
fn server(row: &Row, effect: Option<Effect>) -> Result<Json> {
    let object = format!("server '{}'", row.text("name"));
    let mut members = json!({
        "name": row.text("name"),
        "address": socket(row.text("address"), row.int("port"), &object)?,
        "weight": row.int("weight"),
        "backup": row.int("backup") != 0,
        "state": hosts::stricter(row.text("state"), effect),
    });
    if row.int("max_connections") != 0 {
        members["max_connections"] = row.int("max_connections").into();
    }
    Ok(members)
}
