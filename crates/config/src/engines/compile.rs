//! Rows of the load balancer's objects as the types of an engine's configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use balancing::{Certificate, Config, Health, Listen, Pem, Pool, VirtualService};
use const_format::formatcp;
use objects::sql::STATUS_ENABLED;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use crate::db::{Connection, DbError, Row, query_by_ids};

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

type Result<T> = std::result::Result<T, CompileError>;

/// A virtual service with the ids of what it uses.
#[derive(Debug, Clone)]
pub struct Service {
    /// `virtualserviceid`.
    pub id: u64,
    /// Id of its engine group.
    pub group: u64,
    /// What engines do.
    pub config: VirtualService,
    /// Pools, also those of rules.
    pub pools: BTreeSet<u64>,
    /// Certificates, the default one first.
    pub certificates: Vec<u64>,
}

/// Virtual services and all that they use.
#[derive(Debug, Clone)]
pub struct Objects {
    /// In the order of their ids.
    pub services: Vec<Service>,
    /// By id.
    pub pools: BTreeMap<u64, Pool>,
    /// By id.
    pub certificates: BTreeMap<u64, Certificate>,
}

impl Objects {
    /// The enabled services of a group.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_group(connection: &mut dyn Connection, group: u64) -> Result<Self> {
        let sql = services_where(formatcp!("s.status = {STATUS_ENABLED} AND s.enginegroupid = ?"));
        let rows = connection.query(&sql, &[group.into()])?;
        Self::of_rows(connection, rows)
    }

    /// The enabled services of all groups.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn all(connection: &mut dyn Connection) -> Result<Self> {
        let rows =
            connection.query(&services_where(formatcp!("s.status = {STATUS_ENABLED}")), &[])?;
        Self::of_rows(connection, rows)
    }

    /// These services, also disabled ones.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_services(connection: &mut dyn Connection, ids: &[u64]) -> Result<Self> {
        let sql = services_where("s.virtualserviceid IN ({ids})");
        let rows = query_by_ids(connection, &sql, &[], ids)?;
        Self::of_rows(connection, rows)
    }

    /// Pools and what they use, without services.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn of_pools(connection: &mut dyn Connection, ids: &[u64]) -> Result<Self> {
        let pools = pools(connection, ids)?;
        Ok(Self { services: Vec::new(), pools, certificates: BTreeMap::new() })
    }

    /// The configuration of an engine with all these services.
    pub fn config(&self) -> Config {
        Config {
            certificates: self.certificates.values().cloned().collect(),
            virtual_services: self.services.iter().map(|service| service.config.clone()).collect(),
            pools: self.pools.values().cloned().collect(),
            ..Config::default()
        }
    }

    /// One of the services with what it uses.
    pub fn alone(&self, service: &Service) -> Self {
        let pools = service.pools.iter();
        let pools = pools.filter_map(|id| Some((*id, self.pools.get(id)?.clone())));
        let certificates = service.certificates.iter();
        let certificates =
            certificates.filter_map(|id| Some((*id, self.certificates.get(id)?.clone())));
        Self {
            services: vec![service.clone()],
            pools: pools.collect(),
            certificates: certificates.collect(),
        }
    }

    fn of_rows(connection: &mut dyn Connection, mut rows: Vec<Row>) -> Result<Self> {
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
        let used: BTreeSet<u64> = uses.iter().flat_map(|uses| uses.pools.iter().copied()).collect();
        let pools = pools(connection, &Vec::from_iter(used))?;
        let used: BTreeSet<u64> =
            uses.iter().flat_map(|uses| uses.certificates.iter().copied()).collect();
        let certificates = certificates(connection, &Vec::from_iter(used))?;
        let services = rows.iter().zip(uses);
        let services = services.map(|(row, uses)| service(row, uses, &pools, &certificates));
        Ok(Self { services: services.collect::<Result<_>>()?, pools, certificates })
    }
}

fn services_where(condition: &str) -> String {
    format!(
        "SELECT s.*, v.ipv4, v.ipv6 FROM virtualservices s JOIN vips v ON v.vipid = s.vipid \
         WHERE {condition}"
    )
}

/// What a service refers to; `rules` are without ids of pools.
struct Uses {
    rules: Vec<Json>,
    /// The pool that each rule chooses.
    chosen: Vec<Option<u64>>,
    pools: BTreeSet<u64>,
    certificates: Vec<u64>,
}

impl Uses {
    fn of(row: &Row) -> Result<Self> {
        let mut rules: Vec<Json> = parsed(row, "rules", &service_name(row))?;
        let chosen: Vec<Option<u64>> = rules.iter_mut().map(take_poolid).collect();
        let mut pools: BTreeSet<u64> = chosen.iter().copied().flatten().collect();
        pools.insert(row.id("poolid"));
        Ok(Self { rules, chosen, pools, certificates: Vec::new() })
    }
}

/// Removes the id of the pool from a rule.
fn take_poolid(rule: &mut Json) -> Option<u64> {
    let id = rule.get_mut("then")?.as_object_mut()?.remove("poolid")?;
    id.as_str()?.parse().ok()
}

fn service_name(row: &Row) -> String {
    format!("virtual service '{}'", row.text("name"))
}

/// The object's JSON in a column.
fn parsed<T: DeserializeOwned>(row: &Row, column: &str, object: &str) -> Result<T> {
    let value = serde_json::from_str(row.text(column));
    value.map_err(|error| invalid(object, format!("'{column}': {error}")))
}

fn invalid(object: &str, reason: impl Into<String>) -> CompileError {
    CompileError::Object { object: object.to_owned(), reason: reason.into() }
}

fn typed<T: DeserializeOwned>(members: Json, object: &str) -> Result<T> {
    serde_json::from_value(members).map_err(|error| invalid(object, error.to_string()))
}

/// Adds columns with texts that are not empty, and JSON columns that are not `{}`.
fn add_given(members: &mut Json, row: &Row, texts: &[&str], json: &[&str]) -> Result<()> {
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

fn service(
    row: &Row,
    mut uses: Uses,
    pools: &BTreeMap<u64, Pool>,
    certificates: &BTreeMap<u64, Certificate>,
) -> Result<Service> {
    let object = service_name(row);
    let pool = |id: u64| {
        let found = pools.get(&id).map(|pool| pool.name.as_str());
        found.ok_or_else(|| invalid(&object, format!("the pool with id {id} does not exist")))
    };
    for (rule, chosen) in uses.rules.iter_mut().zip(&uses.chosen) {
        if let Some(id) = chosen {
            rule["then"]["pool"] = pool(*id)?.into();
        }
    }
    let mut tls: Map<String, Json> = parsed(row, "tls", &object)?;
    let names = uses.certificates.iter().filter_map(|id| certificates.get(id));
    let names: Vec<&str> = names.map(|certificate| certificate.name.as_str()).collect();
    let has_tls = !names.is_empty();
    tls.insert("certificates".to_owned(), names.into());
    let [timeouts, limits, forwarded, allow, deny] =
        ["timeouts", "limits", "forwarded", "allow", "deny"]
            .map(|column| parsed::<Json>(row, column, &object));
    let mut members = json!({
        "name": row.text("name"),
        "type": row.text("type"),
        "listen": listen(row, &object)?,
        "pool": pool(row.id("poolid"))?,
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
    Ok(Service {
        id: row.id("virtualserviceid"),
        group: row.id("enginegroupid"),
        config: typed(members, &object)?,
        pools: uses.pools,
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
    let port = u16::try_from(port).map_err(|_| invalid(object, format!("{port} is no port")))?;
    Ok(SocketAddr::new(address, port))
}

/// Pools by id, those that exist.
fn pools(connection: &mut dyn Connection, ids: &[u64]) -> Result<BTreeMap<u64, Pool>> {
    let sql = "SELECT * FROM pools WHERE poolid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let monitors: BTreeSet<u64> = rows.iter().map(|row| row.id("healthmonitorid")).collect();
    let sql = "SELECT * FROM healthmonitors WHERE healthmonitorid IN ({ids})";
    let found = query_by_ids(connection, sql, &[], &Vec::from_iter(monitors))?;
    let monitors: BTreeMap<u64, Health> = found
        .iter()
        .map(|row| Ok((row.id("healthmonitorid"), monitor(row)?)))
        .collect::<Result<_>>()?;
    let sql = "SELECT * FROM pool_servers WHERE poolid IN ({ids}) ORDER BY poolid, position";
    let mut servers: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        servers.entry(row.id("poolid")).or_default().push(server(&row)?);
    }
    let pools = rows.iter().map(|row| {
        let id = row.id("poolid");
        let health = monitors.get(&row.id("healthmonitorid")).cloned();
        Ok((id, pool(row, servers.remove(&id).unwrap_or_default(), health)?))
    });
    pools.collect()
}

fn pool(row: &Row, servers: Vec<Json>, health: Option<Health>) -> Result<Pool> {
    let object = format!("pool '{}'", row.text("name"));
    let mut members = json!({
        "name": row.text("name"),
        "algorithm": row.text("algorithm"),
        "servers": servers,
    });
    let (texts, json) = (["hash_key", "send_proxy"], ["persistence", "retries", "eject", "tls"]);
    add_given(&mut members, row, &texts, &json)?;
    Ok(Pool { health, ..typed(members, &object)? })
}

fn server(row: &Row) -> Result<Json> {
    let object = format!("server '{}'", row.text("name"));
    let mut members = json!({
        "name": row.text("name"),
        "address": socket(row.text("address"), row.int("port"), &object)?,
        "weight": row.int("weight"),
        "backup": row.int("backup") != 0,
        "state": row.text("state"),
    });
    if row.int("max_connections") != 0 {
        members["max_connections"] = row.int("max_connections").into();
    }
    Ok(members)
}

fn monitor(row: &Row) -> Result<Health> {
    let object = format!("health monitor '{}'", row.text("name"));
    let mut members = json!({
        "status": row.int("status"),
        "up": row.int("up"),
        "down": row.int("down"),
    });
    add_given(&mut members, row, &["type", "path", "body", "interval", "timeout"], &[])?;
    typed(members, &object)
}

fn certificates(
    connection: &mut dyn Connection,
    ids: &[u64],
) -> Result<BTreeMap<u64, Certificate>> {
    let sql = "SELECT certificateid, name, certificate, private_key FROM certificates \
               WHERE certificateid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let one = |row: &Row| Certificate {
        name: row.text("name").to_owned(),
        cert: Pem::Text(row.text("certificate").to_owned()),
        key: Pem::Text(row.text("private_key").to_owned()),
    };
    Ok(rows.iter().map(|row| (row.id("certificateid"), one(row))).collect())
}
