//! One condition of a filter, and how a row meets it.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use memchr::memmem;

use crate::columns::{Column, address};

/// What a text must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    Equals(Vec<u8>),
    Begins(Vec<u8>),
    Ends(Vec<u8>),
    Contains(Vec<u8>),
}

impl Pattern {
    fn fits(&self, text: &[u8]) -> bool {
        match self {
            Self::Equals(pattern) => text == pattern,
            Self::Begins(pattern) => text.starts_with(pattern),
            Self::Ends(pattern) => text.ends_with(pattern),
            Self::Contains(pattern) => memmem::find(text, pattern).is_some(),
        }
    }
}

/// A network: an address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    pub address: IpAddr,
    pub prefix: u8,
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        let (own, other, bits) = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (u128::from(own.to_bits()), u128::from(other.to_bits()), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits(), other.to_bits(), 128),
            _ => return false,
        };
        let host_bits = bits - u32::from(self.prefix).min(bits);
        host_bits == 128 || own >> host_bits == other >> host_bits
    }
}

/// What a value must be: any of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// Ranges, both ends included.
    Numbers(Vec<(u64, u64)>),
    Texts(Vec<Pattern>),
    Networks(Vec<Network>),
}

/// A test of a column, or its opposite.
#[derive(Debug, Clone)]
pub struct Condition {
    pub column: &'static Column,
    pub test: Test,
    pub negated: bool,
}

/// What is known of all rows of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    All,
    None,
    /// Each row has to be looked at.
    Some,
}

impl Condition {
    pub(crate) fn accepts_number(&self, number: u64) -> bool {
        let Test::Numbers(ranges) = &self.test else { return false };
        ranges.iter().any(|(low, high)| (*low..=*high).contains(&number)) != self.negated
    }

    pub(crate) fn accepts_entry(&self, entry: &[u8]) -> bool {
        let met = match &self.test {
            Test::Numbers(_) => return false,
            Test::Texts(patterns) => patterns.iter().any(|pattern| pattern.fits(entry)),
            Test::Networks(networks) => {
                let address = address(entry);
                networks.iter().any(|network| network.contains(address))
            }
        };
        met != self.negated
    }

    /// The verdict on numbers of this range.
    pub(crate) fn verdict(&self, range: &RangeInclusive<u64>) -> Verdict {
        let Test::Numbers(ranges) = &self.test else { return Verdict::Some };
        let (min, max) = (*range.start(), *range.end());
        if min == max {
            return if self.accepts_number(min) { Verdict::All } else { Verdict::None };
        }
        let within = ranges.iter().any(|(low, high)| *low <= min && max <= *high);
        let apart = ranges.iter().all(|(low, high)| max < *low || *high < min);
        match (within, apart, self.negated) {
            (true, _, false) | (_, true, true) => Verdict::All,
            (true, _, true) | (_, true, false) => Verdict::None,
            _ => Verdict::Some,
        }
    }
}
