//! What follows from weights: the order of turns, and the points of a consistent hash.

use super::{Server, hash};

/// Smooth weighted round robin, computed once: at each step everyone gains their weight, and the richest is
/// taken and pays the sum.
pub(super) fn schedule(weights: &[u16]) -> Vec<u16> {
    /// Longest schedule; larger weights are scaled.
    const LONGEST: u64 = 4096;
    let divisor = weights.iter().fold(0, |divisor, weight| gcd(divisor, u64::from(*weight)));
    let scaled = |weight: &u16| u64::from(*weight).checked_div(divisor).unwrap_or(0);
    let sum: u64 = weights.iter().map(scaled).sum();
    let shrink = sum.div_ceil(LONGEST).max(1);
    let weights: Vec<i64> = weights
        .iter()
        .map(|weight| scaled(weight).div_ceil(shrink))
        .map(|weight| i64::try_from(weight).unwrap_or(0))
        .collect();
    let sum: i64 = weights.iter().sum();
    let mut credit = vec![0_i64; weights.len()];
    let mut order = Vec::new();
    for _ in 0..sum {
        for (credit, weight) in credit.iter_mut().zip(&weights) {
            *credit += weight;
        }
        let richest = (0..credit.len()).rev().max_by_key(|at| credit[*at]).unwrap_or(0);
        credit[richest] -= sum;
        order.push(u16::try_from(richest).unwrap_or(0));
    }
    order
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Points of a consistent hash, sorted: a server has 128 per weight.
pub(super) fn ring(servers: &[Server]) -> Vec<(u64, u16)> {
    /// Points of a server per weight.
    const POINTS: u64 = 128;
    /// Points of a pool's largest server.
    const MOST: u64 = 2048;
    let mut ring = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let points = (u64::from(server.weight) * POINTS).min(MOST);
        let index = u16::try_from(index).unwrap_or(u16::MAX);
        ring.extend((0..points).map(|n| (hash(format!("{}#{n}", server.name).as_bytes()), index)));
    }
    ring.sort_unstable();
    ring
}
