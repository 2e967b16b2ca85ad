//! Services, pools and engines by id, with what their analytics need to know of them.

use std::collections::BTreeMap;

use crate::db::{DbResult, Reader};

/// All objects of the load balancer that have a host with their figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// By `virtualserviceid`.
    pub services: BTreeMap<u64, CatalogueService>,
    /// By `poolid`.
    pub pools: BTreeMap<u64, CataloguePool>,
    /// By `engineid`.
    pub engines: BTreeMap<u64, CatalogueEngine>,
}

/// What figures of a virtual service need beside the reports of engines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogueService {
    pub name: String,
    /// `poolid` of the default pool, or of the members of the default pool group.
    pub pools: Vec<u64>,
    /// Names of certificates, and until when they are valid: Unix time in seconds.
    pub certificates: Vec<(String, u64)>,
}

/// The names by which engines report the servers of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CataloguePool {
    pub name: String,
    /// Names of its servers, in their order.
    pub servers: Vec<String>,
}

/// Whether reports of an engine can be expected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogueEngine {
    pub name: String,
    /// It has a certificate.
    pub enrolled: bool,
}

impl Catalogue {
    /// Reads all objects.
    ///
    /// # Errors
    /// The database.
    pub fn read(connection: &mut dyn Reader) -> DbResult<Self> {
        let mut all = Self::default();
        let sql = "SELECT virtualserviceid, name, poolid FROM virtualservices";
        for row in connection.query(sql, &[])? {
            let pools = Some(row.id("poolid")).filter(|pool| *pool != 0).into_iter().collect();
            let name = row.text("name").to_owned();
            let service = CatalogueService { name, pools, certificates: Vec::new() };
            all.services.insert(row.id("virtualserviceid"), service);
        }
        let sql = "SELECT v.virtualserviceid, m.poolid FROM virtualservices v \
                   JOIN pool_group_members m ON m.poolgroupid = v.poolgroupid \
                   ORDER BY v.virtualserviceid, m.position";
        for row in connection.query(sql, &[])? {
            if let Some(service) = all.services.get_mut(&row.id("virtualserviceid")) {
                service.pools.push(row.id("poolid"));
            }
        }
        let sql = "SELECT v.virtualserviceid, c.name, c.valid_until FROM virtualservice_certificates v \
                   JOIN certificates c ON c.certificateid = v.certificateid \
                   WHERE c.certificate <> '' ORDER BY v.virtualserviceid, v.position";
        for row in connection.query(sql, &[])? {
            if let Some(service) = all.services.get_mut(&row.id("virtualserviceid")) {
                service.certificates.push((row.text("name").to_owned(), row.id("valid_until")));
            }
        }
        for row in connection.query("SELECT poolid, name FROM pools", &[])? {
            let pool = CataloguePool { name: row.text("name").to_owned(), servers: Vec::new() };
            all.pools.insert(row.id("poolid"), pool);
        }
        let sql = "SELECT poolid, name FROM pool_servers ORDER BY poolid, position";
        for row in connection.query(sql, &[])? {
            if let Some(pool) = all.pools.get_mut(&row.id("poolid")) {
                pool.servers.push(row.text("name").to_owned());
            }
        }
        let sql = "SELECT e.engineid, e.name, COALESCE(c.fingerprint, '') AS fingerprint FROM engines e \
                   LEFT JOIN engine_certificates c ON c.engineid = e.engineid";
        for row in connection.query(sql, &[])? {
            let enrolled = !row.text("fingerprint").is_empty();
            let engine = CatalogueEngine { name: row.text("name").to_owned(), enrolled };
            all.engines.insert(row.id("engineid"), engine);
        }
        Ok(all)
    }
}
