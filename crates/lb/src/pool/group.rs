//! Groups of pools: which pool gets a request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::arrange;
use super::{Pool, hash};
use crate::config::{self, PersistenceKind};

/// Where a virtual service or a rule sends requests.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Pool(Arc<Pool>),
    Group(Arc<Group>),
}

impl Target {
    /// All pools that may be chosen.
    pub(crate) fn pools(&self) -> impl Iterator<Item = &Arc<Pool>> {
        let (one, levels) = match self {
            Self::Pool(pool) => (Some(pool), None),
            Self::Group(group) => (None, Some(&group.levels)),
        };
        one.into_iter().chain(levels.into_iter().flatten().flat_map(|level| &level.pools))
    }

    /// The same one for copies of requests, whose turns are not those of clients.
    pub(crate) fn for_copies(&self) -> Self {
        match self {
            Self::Pool(pool) => Self::Pool(Arc::new(pool.for_copies())),
            Self::Group(group) => Self::Group(Arc::new(group.for_copies())),
        }
    }
}

/// A group of pools.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    min_servers: usize,
    /// By priority, the highest first.
    levels: Vec<Level>,
    /// It outlives a change of the configuration.
    turn: Arc<AtomicUsize>,
}

/// Members with one priority.
#[derive(Debug)]
struct Level {
    pools: Vec<Arc<Pool>>,
    ratios: Vec<u16>,
    /// Members by ratio, interleaved.
    schedule: Vec<u16>,
}

/// What a client is recognised by.
pub(crate) trait Client {
    /// The value of its cookie with this name.
    fn cookie(&self, name: &str) -> Option<&[u8]>;
    /// The hash of its address or of the header by which the pool recognises clients.
    fn key(&self, pool: &Pool) -> Option<u64>;
}

impl Group {
    /// A checked group; `before` is the one that it replaces.
    ///
    /// # Errors
    /// A member that does not exist.
    pub(crate) fn compile(
        config: &config::PoolGroup,
        pools: &BTreeMap<String, Arc<Pool>>,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        config.check()?;
        let mut levels: BTreeMap<u16, (Vec<Arc<Pool>>, Vec<u16>)> = BTreeMap::new();
        for (at, member) in config.members.iter().enumerate() {
            let pool = pools.get(&member.pool).ok_or_else(|| {
                let (number, name) = (at + 1, &member.pool);
                format!("member {number}: pool '{name}' does not exist; add it to 'pools'")
            })?;
            let (pools, ratios) = levels.entry(member.priority).or_default();
            pools.push(Arc::clone(pool));
            ratios.push(member.ratio);
        }
        let levels = levels.into_values().rev().map(|(pools, ratios)| Level {
            schedule: arrange::schedule(&ratios),
            pools,
            ratios,
        });
        Ok(Self {
            name: config.name.clone(),
            min_servers: usize::from(config.min_servers),
            levels: levels.collect(),
            turn: before.map(|before| Arc::clone(&before.turn)).unwrap_or_default(),
        })
    }

    fn for_copies(&self) -> Self {
        let level = |level: &Level| Level {
            pools: level.pools.iter().map(|pool| Arc::new(pool.for_copies())).collect(),
            ratios: level.ratios.clone(),
            schedule: level.schedule.clone(),
        };
        Self {
            name: self.name.clone(),
            min_servers: self.min_servers,
            levels: self.levels.iter().map(level).collect(),
            turn: Arc::default(),
        }
    }

    /// The pool for a request.
    pub(crate) fn choose(&self, client: &dyn Client, now_ms: u64) -> &Arc<Pool> {
        let level = self.active(now_ms);
        level
            .of_cookie(client, now_ms)
            .or_else(|| level.of_key(client, now_ms))
            .or_else(|| level.in_turn(&self.turn, now_ms))
            .unwrap_or(&level.pools[0])
    }

    /// The members that get requests: the highest priority with enough servers, or with any.
    fn active(&self, now_ms: u64) -> &Level {
        let with = |least| self.levels.iter().find(|level| level.has_servers(least, now_ms));
        with(self.min_servers)
            .or_else(|| with(1))
            .or_else(|| self.levels.iter().find(|level| !level.schedule.is_empty()))
            .unwrap_or(&self.levels[0])
    }
}

impl Level {
    /// Pools that get clients without persistence.
    fn open(&self) -> impl Iterator<Item = &Arc<Pool>> {
        self.pools.iter().zip(&self.ratios).filter(|(_, ratio)| **ratio > 0).map(|(pool, _)| pool)
    }

    fn has_servers(&self, least: usize, now_ms: u64) -> bool {
        self.open().flat_map(|pool| pool.usable(now_ms)).take(least).count() == least
    }

    /// The pool of the client's cookie, as long as it has any server.
    fn of_cookie(&self, client: &dyn Client, now_ms: u64) -> Option<&Arc<Pool>> {
        self.pools.iter().find(|pool| {
            let Some((PersistenceKind::Cookie, name)) = &pool.persistence else { return false };
            let known = client.cookie(name).and_then(|value| pool.by_cookie(value));
            known.is_some_and(|server| pool.keeps(server, now_ms) || pool.is_usable(now_ms))
        })
    }

    /// A pool by what its members recognise clients by: the same client has the same pool, and a change of
    /// the ratios of two pools moves only as many clients as it must.
    fn of_key(&self, client: &dyn Client, now_ms: u64) -> Option<&Arc<Pool>> {
        let key = client.key(self.open().next()?)?;
        // Servers are chosen by the key itself; the choice of the pool must not depend on the same bits.
        let key = u128::from(hash(&key.to_be_bytes()));
        let ratio_of = |(pool, ratio): (&Arc<Pool>, &u16)| {
            if pool.is_usable(now_ms) { u128::from(*ratio) } else { 0 }
        };
        let ratios = || self.pools.iter().zip(&self.ratios).map(ratio_of);
        let all: u128 = ratios().sum();
        let mut place = (key * all) >> 64;
        let index = ratios().position(|ratio| {
            let here = place < ratio;
            place = place.saturating_sub(ratio);
            here
        });
        self.pools.get(index?)
    }

    /// The pool whose turn it is. The turn of a pool without servers goes to the next one.
    fn in_turn(&self, turn: &AtomicUsize, now_ms: u64) -> Option<&Arc<Pool>> {
        let all = self.schedule.len();
        (0..all)
            .map(|_| self.schedule[turn.fetch_add(1, Relaxed) % all])
            .map(|member| &self.pools[usize::from(member)])
            .find(|pool| pool.is_usable(now_ms))
            .or_else(|| self.open().find(|pool| pool.is_usable(now_ms)))
            .or_else(|| self.open().next())
    }
}

#[cfg(test)]
mod tests;
