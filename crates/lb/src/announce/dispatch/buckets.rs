//! Which machine serves which connections: a connection has a bucket, and a bucket has a machine.

use std::collections::BTreeSet;
use std::net::IpAddr;

use sha2::{Digest, Sha256};

/// Buckets of a group, among which the hash of a client's address and port chooses.
pub(super) const BUCKETS: u16 = 1024;

/// The machine of each bucket. Every machine of the group computes the same; a machine that leaves or joins moves
/// only the buckets that it had or gets (rendezvous hashing).
pub(super) fn assign(machines: &BTreeSet<IpAddr>) -> Vec<IpAddr> {
    let of = |bucket| {
        machines.iter().copied().max_by_key(|machine| (weight(*machine, bucket), *machine))
    };
    (0..BUCKETS).filter_map(of).collect()
}

/// All versions of the program must compute the same, or machines would disagree during an upgrade.
fn weight(machine: IpAddr, bucket: u16) -> [u8; 32] {
    let mut hash = Sha256::new();
    match machine {
        IpAddr::V4(address) => hash.update(address.octets()),
        IpAddr::V6(address) => hash.update(address.octets()),
    }
    hash.update(bucket.to_be_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machines(numbers: &[u8]) -> BTreeSet<IpAddr> {
        numbers.iter().map(|number| IpAddr::from([10, 0, 0, *number])).collect()
    }

    #[test]
    fn only_the_buckets_of_a_lost_machine_move() {
        let (all, left) = (assign(&machines(&[1, 2, 3, 4])), assign(&machines(&[1, 2, 4])));
        let lost = IpAddr::from([10, 0, 0, 3]);
        let mut moved = BTreeSet::new();
        for (before, after) in all.iter().zip(&left) {
            if *before == lost {
                moved.insert(*after);
            } else {
                assert_eq!(before, after);
            }
        }
        assert_eq!(moved, machines(&[1, 2, 4]), "all others share them");
    }

    #[test]
    fn machines_get_similar_numbers_of_buckets() {
        for count in [1, 2, 3, 8, 32] {
            let numbers: Vec<u8> = (1..=count).collect();
            let buckets = assign(&machines(&numbers));
            assert_eq!(buckets.len(), usize::from(BUCKETS));
            let fair = usize::from(BUCKETS) / usize::from(count);
            for machine in machines(&numbers) {
                let own = buckets.iter().filter(|one| **one == machine).count();
                assert!((fair / 2..=fair * 2).contains(&own), "{own} of {fair}");
            }
        }
        assert!(assign(&BTreeSet::new()).is_empty());
    }

    #[test]
    fn all_versions_assign_alike() {
        let mixed = ["10.0.0.1", "10.0.0.2", "fd00::1"].map(|one| one.parse().unwrap()).into();
        let first: Vec<String> = assign(&mixed)[..6].iter().map(IpAddr::to_string).collect();
        assert_eq!(first.join(" "), "10.0.0.1 fd00::1 fd00::1 10.0.0.2 10.0.0.2 fd00::1");
    }
}
