//! What must be unique among objects, checked when an import has written all of them: until then, objects that exchange
//! their addresses, ports or names are in conflict.

use config::db::Row;

use super::kinds::Kind;
use crate::call::Call;
use crate::error::ApiResult;

/// Something that two objects of a kind must not share.
struct Shared {
    kind: Kind,
    /// Pairs: `name`, `other`, and `what` they share.
    pairs: &'static str,
    problem: fn(&Row) -> String,
}

const ALL: [Shared; 4] = [
    Shared {
        kind: Kind::Vip,
        pairs: "SELECT a.name, b.name AS other, a.ipv4 AS what FROM vips a \
                JOIN vips b ON b.ipv4 = a.ipv4 AND b.vipid <> a.vipid WHERE a.ipv4 <> '' ORDER BY a.name",
        problem: address,
    },
    Shared {
        kind: Kind::Vip,
        pairs: "SELECT a.name, b.name AS other, a.ipv6 AS what FROM vips a \
                JOIN vips b ON b.ipv6 = a.ipv6 AND b.vipid <> a.vipid WHERE a.ipv6 <> '' ORDER BY a.name",
        problem: address,
    },
    Shared {
        kind: Kind::VirtualService,
        pairs: "SELECT a.name, b.name AS other, a.port AS what FROM virtualservices a \
                JOIN virtualservices b ON b.vipid = a.vipid AND b.port = a.port \
                AND b.virtualserviceid <> a.virtualserviceid \
                AND (b.type = 'udp') = (a.type = 'udp') ORDER BY a.name",
        problem: |row| {
            let (port, other) = (row.int("what"), row.text("other"));
            format!(
                "port {port} of this VIP belongs to virtual service \"{other}\", too; choose another port or VIP"
            )
        },
    },
    Shared {
        kind: Kind::PoolGroup,
        pairs: "SELECT g.name, p.name AS other, g.name AS what FROM pool_groups g \
                JOIN pools p ON p.name = g.name ORDER BY g.name",
        problem: |_| "a pool has this name, too; choose another name".to_owned(),
    },
];

fn address(row: &Row) -> String {
    format!("{} belongs to VIP \"{}\", too", row.text("what"), row.text("other"))
}

/// Refuses what two objects share. `is_written`: the error is about such an object.
pub(super) fn check(call: &Call<'_>, is_written: &dyn Fn(Kind, &str) -> bool) -> ApiResult<()> {
    for Shared { kind, pairs, problem } in ALL {
        let rows = call.rows(pairs, &[])?;
        let named = rows.iter().find(|row| is_written(kind, row.text("name")));
        if let Some(row) = named.or(rows.first()) {
            return Err(kind.error(row.text("name"), problem(row)));
        }
    }
    Ok(())
}
