//! What the choice of a pool and of a server depends on.

use std::net::IpAddr;
use std::sync::Arc;

use proxying::http1::Request;

use crate::config::{Algorithm, PersistenceKind};
use crate::pool::group::{Client, Target};
use crate::pool::{Pool, Wish, hash};

/// A client, with its request unless its connection is passed on as it is.
pub(crate) struct Known<'k> {
    pub(crate) address: IpAddr,
    pub(crate) request: Option<&'k Request<'k>>,
}

impl Known<'_> {
    /// One of the target's pools.
    pub(crate) fn pool_of<'t>(&self, target: &'t Target, now_ms: u64) -> &'t Arc<Pool> {
        match target {
            Target::Pool(pool) => pool,
            Target::Group(group) => group.choose(self, now_ms),
        }
    }

    /// What the choice of a server of the pool needs to know.
    pub(crate) fn wish(&self, pool: &Pool) -> Wish {
        let hash = self.key(pool).or_else(|| match (pool.algorithm, self.request) {
            (Algorithm::UriHash, Some(request)) => Some(hash(request.target.path_and_query)),
            (Algorithm::HeaderHash, _) => self.header(pool.hash_key.as_deref()?),
            _ => None,
        });
        let sticky = match &pool.persistence {
            Some((PersistenceKind::Cookie, name)) => {
                self.cookie(name).and_then(|value| pool.by_cookie(value))
            }
            _ => None,
        };
        Wish { hash, sticky, ..Wish::default() }
    }

    fn header(&self, name: &str) -> Option<u64> {
        self.request?.value(name.as_bytes()).map(hash)
    }
}

impl Client for Known<'_> {
    fn cookie(&self, name: &str) -> Option<&[u8]> {
        self.request?.cookie(name.as_bytes())
    }

    fn key(&self, pool: &Pool) -> Option<u64> {
        let header = match &pool.persistence {
            Some((PersistenceKind::Header, name)) => self.header(name),
            _ => None,
        };
        header.or_else(|| pool.source_hash(self.address))
    }
}
