//! Global correlation: rules that close problems when a new one opens.

use super::super::{Reload, Table};
use super::{id, int, owned, table, text};

tables! { TABLES:
    CORRELATIONS = table(
        "correlations",
        &["correlationid"],
        // The writer of events follows the revision of the snapshot.
        Reload::Discovery,
        &[
            id("correlationid"),
            text("name"),
            text("description"),
            int("status", "0"),
            int("evaltype", "0"),
            text("formula"),
        ],
        &[&["name"]],
    );
    CORRELATION_CONDITIONS = table(
        "correlation_conditions",
        &["correlationid", "position"],
        Reload::Discovery,
        &[
            owned("correlationid", "correlations"),
            int("position", "0"),
            int("type", "0"),
            int("operator", "0"),
            // Host groups that conditions name cannot be deleted.
            id("groupid"),
            text("tag"),
            text("oldtag"),
            text("newtag"),
            text("value"),
            text("formulaid"),
        ],
        &[&["groupid"]],
    );
    CORRELATION_OPERATIONS = table(
        "correlation_operations",
        &["correlationid", "position"],
        Reload::Discovery,
        &[owned("correlationid", "correlations"), int("position", "0"), int("type", "0")],
        &[],
    );
}
