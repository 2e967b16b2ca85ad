//! Groups of pools: which of several pools gets the requests.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// Largest ratio of a member.
const RATIO_MAX: u16 = 1_000;
/// Members of a group.
const MEMBERS_MAX: usize = 64;

/// A group of pools. It stands where a pool may stand.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PoolGroup {
    /// Name, unique among groups and pools.
    pub name: String,
    /// Servers that a priority needs in order to get requests; at least 1. If none has as many, the highest
    /// with any gets them.
    #[serde(default = "one")]
    pub min_servers: u16,
    /// At least one.
    pub members: Vec<Member>,
}

/// A pool of a group.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Name of the pool.
    pub pool: String,
    /// Only the members with the highest number get requests, as long as they have servers.
    #[serde(default)]
    pub priority: u16,
    /// Share of the requests among members of one priority, up to 1,000; 0: only clients with its cookie.
    #[serde(default = "one")]
    pub ratio: u16,
}

fn one() -> u16 {
    1
}

impl PoolGroup {
    /// Checks the group by itself: pools are not looked up.
    ///
    /// # Errors
    /// The first problem, without the group's name.
    pub fn check(&self) -> Result<(), String> {
        if self.min_servers == 0 {
            return Err("'min_servers' is at least 1".to_owned());
        }
        if !(1..=MEMBERS_MAX).contains(&self.members.len()) {
            return Err(format!(
                "'members' has {} pools; 1 to {MEMBERS_MAX} are expected",
                self.members.len()
            ));
        }
        let mut names = HashSet::new();
        for (at, member) in self.members.iter().enumerate() {
            if !names.insert(&member.pool) {
                return Err(format!("member {}: pool '{}' is a member twice", at + 1, member.pool));
            }
            if member.ratio > RATIO_MAX {
                return Err(format!("member {}: 'ratio' is at most {RATIO_MAX}", at + 1));
            }
        }
        if self.members.iter().all(|member| member.ratio == 0) {
            return Err("no member has a 'ratio' above 0, so no new client gets a pool".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_names_the_member_that_is_wrong() {
        for (text, error) in [
            ("[{pool: a}, {pool: b, priority: 7, ratio: 0}]", ""),
            ("[]", "'members' has 0 pools"),
            ("[{pool: a}, {pool: a}]", "member 2: pool 'a' is a member twice"),
            ("[{pool: a, ratio: 1000}, {pool: b, ratio: 1001}]", "member 2: 'ratio'"),
            ("[{pool: a, ratio: 0}]", "no member has a 'ratio' above 0"),
        ] {
            let group: PoolGroup =
                serde_saphyr::from_str(&format!("name: g\nmembers: {text}\n")).unwrap();
            let found = group.check().err().unwrap_or_default();
            assert!(found.starts_with(error) && found.is_empty() == error.is_empty(), "{found}");
        }
        let zero = "name: g\nmin_servers: 0\nmembers: [{pool: a}]\n";
        let zero: PoolGroup = serde_saphyr::from_str(zero).unwrap();
        assert!(zero.check().unwrap_err().contains("min_servers"));
    }
}
