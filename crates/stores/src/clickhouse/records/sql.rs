//! Conditions of a query as SQL. Nothing of a filter is copied: numbers are written again, and bytes of texts that
//! are not letters or digits by their numbers.

use std::fmt::Write;
use std::net::{IpAddr, Ipv6Addr};

use transactions::{Condition, Filter, Network, Pattern, Test};

use super::table::octets;

/// The first and last IPv4 address, mapped into IPv6.
const IPV4: (u128, u128) = (0xffff_0000_0000, 0xffff_ffff_ffff);

/// What rows must be that begin within this time and meet a filter.
pub(super) fn condition(from_us: u64, to_us: u64, filter: &Filter) -> String {
    let mut sql = format!("began >= {from_us} AND began <= {to_us}");
    for one in filter.conditions() {
        let not = if one.negated { "NOT " } else { "" };
        // Writing to a text cannot fail.
        let _ = write!(sql, " AND {not}({})", test(one));
    }
    sql
}

fn test(condition: &Condition) -> String {
    let name = format!("`{}`", condition.column.name);
    let any: Vec<String> = match &condition.test {
        Test::Numbers(ranges) => ranges
            .iter()
            .map(|(low, high)| range(&name, &low.to_string(), &high.to_string()))
            .collect(),
        Test::Texts(patterns) => patterns.iter().map(|pattern| of_text(&name, pattern)).collect(),
        Test::Networks(networks) => networks.iter().map(|one| of_network(&name, one)).collect(),
    };
    any.join(" OR ")
}

fn range(name: &str, low: &str, high: &str) -> String {
    format!("({name} >= {low} AND {name} <= {high})")
}

fn of_text(name: &str, pattern: &Pattern) -> String {
    match pattern {
        Pattern::Equals(text) => format!("{name} = {}", literal(text)),
        // Releases differ in what they find of nothing.
        Pattern::Begins(text) | Pattern::Ends(text) | Pattern::Contains(text)
            if text.is_empty() =>
        {
            "1".to_owned()
        }
        Pattern::Begins(text) => format!("startsWith({name}, {})", literal(text)),
        Pattern::Ends(text) => format!("endsWith({name}, {})", literal(text)),
        Pattern::Contains(text) => format!("position({name}, {}) > 0", literal(text)),
    }
}

fn of_network(name: &str, network: &Network) -> String {
    let bits = u128::from_be_bytes(octets(network.address));
    let host_bits = match network.address {
        IpAddr::V4(_) => 32 - u32::from(network.prefix).min(32),
        IpAddr::V6(_) => 128 - u32::from(network.prefix).min(128),
    };
    let hosts = 1_u128.checked_shl(host_bits).map_or(u128::MAX, |hosts| hosts - 1);
    let (first, last) = (bits & !hosts, bits | hosts);
    let within = range(name, &address(first), &address(last));
    // A network of IPv6 has no IPv4 addresses.
    match network.address {
        IpAddr::V6(_) if first <= IPV4.0 && IPV4.1 <= last => {
            format!("({within} AND NOT {})", range(name, &address(IPV4.0), &address(IPV4.1)))
        }
        _ => within,
    }
}

fn address(bits: u128) -> String {
    format!("toFixedString({}, 16)", literal(&Ipv6Addr::from_bits(bits).octets()))
}

/// Any bytes as a literal.
fn literal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('\'');
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\x{byte:02X}");
            }
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(filter: &str) -> String {
        let all = condition(1, 9, &filter.parse().unwrap());
        all.strip_prefix("began >= 1 AND began <= 9").unwrap().to_owned()
    }

    #[test]
    fn conditions_become_sql() {
        assert_eq!(sql(""), "");
        assert_eq!(
            sql("status=5xx,404"),
            " AND ((`status` >= 500 AND `status` <= 599) OR (`status` >= 404 AND `status` <= 404))"
        );
        assert_eq!(
            sql("total>=1s"),
            format!(" AND ((`total` >= 1000000 AND `total` <= {}))", u64::MAX)
        );
        assert_eq!(sql("tries!=1"), " AND NOT ((`tries` >= 1 AND `tries` <= 1))");
        assert_eq!(sql("path^=/a"), " AND (startsWith(`path`, '\\x2Fa'))");
        assert_eq!(sql("path!*=a,"), " AND NOT (position(`path`, 'a') > 0 OR 1)");
    }

    #[test]
    fn texts_of_filters_cannot_end_their_literal() {
        for evil in
            ["x' OR 1=1 --", "x\\", "x\\' OR '1", "`status`", "x'); DROP TABLE transactions; --"]
        {
            let sql = sql(&format!("user=\"{evil}\""));
            let inner = sql.strip_prefix(" AND (`user` = '").unwrap().strip_suffix("')").unwrap();
            let plain = inner.replace("\\x", "");
            assert!(plain.chars().all(|c| c.is_ascii_alphanumeric()), "{sql}");
        }
        assert_eq!(literal(b"\0\xff'a\\"), "'\\x00\\xFF\\x27a\\x5C'");
    }

    #[test]
    fn networks_are_ranges_of_their_own_family() {
        let v4 = sql("client=10.0.0.0/8");
        assert!(v4.contains("\\xFF\\xFF\\x0A\\xFF\\xFF\\xFF', 16)") && !v4.contains("NOT"), "{v4}");
        assert!(sql("client=::/0").contains("AND NOT ("));
        assert!(!sql("client=2001:db8::/32").contains("NOT"));
        let one = sql("client=::1");
        let last = address(1);
        assert!(one.contains(&format!(">= {last} AND `client` <= {last}")), "{one}");
    }
}
