//! Ids as the API shows them: positive 64-bit numbers, decimal strings in JSON.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub u64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<u64> for $name {
            fn from(id: u64) -> Self {
                Self(id)
            }
        }
    )+};
}

ids! {
    /// A host or a template: they share one id space.
    HostId,
    /// A host group or a template group: they share one id space.
    GroupId,
    /// An item, an item prototype or a discovery rule: they share one id space.
    ItemId,
    /// An interface of a host.
    InterfaceId,
    /// A trigger or a trigger prototype.
    TriggerId,
    /// A function call in a trigger's expression.
    FunctionId,
    /// An event; a problem is known by the id of the event that opened it.
    EventId,
    /// A user.
    UserId,
    /// A media type: a way to reach users.
    MediaTypeId,
    /// A message to one address of one user, with all attempts to send it.
    AlertId,
}

/// Ids of one run are neighbours in hash tables: eight entries of 4 or 8 bytes are one line of the
/// processor's cache.
const RUN_BITS: u32 = 3;

impl ItemId {
    /// A hash for [`hashbrown`](https://docs.rs/hashbrown) tables that are large. An item's neighbours are
    /// its neighbours in the table, so that the items of a host need few lines of the processor's
    /// caches. The lower bits choose the place, the upper seven tell entries near it apart.
    #[inline]
    pub const fn near_hash(self) -> u64 {
        // Multiples of the golden ratio fill a table evenly.
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        const TAG: u64 = 0x7f << 57;
        let run = (self.0 >> RUN_BITS).wrapping_mul(GOLDEN) >> 32;
        let place = run << RUN_BITS | self.0 & ((1 << RUN_BITS) - 1);
        self.0.wrapping_mul(GOLDEN) & TAG | place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of the fullest of `buckets` groups of eight places.
    fn fullest(ids: impl Iterator<Item = u64>, buckets: usize) -> usize {
        let mut counts = vec![0; buckets];
        for id in ids {
            counts[(ItemId(id).near_hash() >> RUN_BITS) as usize % buckets] += 1;
        }
        counts.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn neighbours_are_near_and_have_different_tags() {
        for first in [0, 8, 1 << 20, (1 << 40) + 16] {
            let hashes: Vec<u64> = (first..first + 8).map(|id| ItemId(id).near_hash()).collect();
            let places: Vec<u64> = hashes.iter().map(|hash| hash & 0xffff_ffff).collect();
            assert!(places.windows(2).all(|pair| pair[1] == pair[0] + 1), "{places:x?}");
            let mut tags: Vec<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            tags.sort_unstable();
            tags.dedup();
            assert_eq!(tags.len(), 8, "{first}");
        }
    }

    #[test]
    fn runs_fill_a_table_evenly() {
        // Ids one after the other, of every second host, and far apart.
        let all = 0..1_u64 << 17;
        assert!(fullest(all.clone(), 1 << 14) <= 24);
        assert!(fullest(all.clone().filter(|id| id / 45 % 2 == 0), 1 << 13) <= 40);
        assert!(fullest(all.map(|id| id * 4_096), 1 << 14) <= 32);
    }
}
