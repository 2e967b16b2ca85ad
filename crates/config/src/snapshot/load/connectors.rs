//! Connectors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use const_format::formatcp;
use eval::macros::Place;
use objects::EvalType;

use crate::db::{DbResult, Reader, Row};
use crate::snapshot::connector::{
    Connector, ConnectorAuth, ConnectorData, Connectors, Receiver, TagCondition, TagFilter,
    ValueTypes,
};
use crate::snapshot::{Resolver, Snapshot};

/// The API's `status` of connectors that are switched on.
const ON: i64 = 1;
/// The API's `data_type` of events.
const EVENTS: i64 = 1;
/// The API's `authtype` of tokens.
const BEARER: i64 = 5;
/// Time limit of a message, and time between attempts, where the text is no time.
const DEFAULT_S: u32 = 5;

/// Those that are switched on; `snapshot` has the global macros.
pub(super) fn read(connection: &mut dyn Reader, snapshot: &Snapshot) -> DbResult<Connectors> {
    let resolver = Resolver::new(snapshot, &[]);
    let tags = "SELECT connectorid, tag, operator, value FROM connector_tags ORDER BY connectorid, tag, position";
    let mut conditions: BTreeMap<u64, Vec<TagCondition>> = BTreeMap::new();
    for row in connection.query(tags, &[])? {
        let one = TagCondition::from_api(row.text("tag"), row.int("operator"), row.text("value"));
        conditions.entry(row.id("connectorid")).or_default().extend(one);
    }
    let sql = formatcp!("SELECT * FROM connectors WHERE status = {ON} ORDER BY connectorid");
    let mut found = Connectors::default();
    for row in connection.query(sql, &[])? {
        let conditions = conditions.remove(&row.id("connectorid")).unwrap_or_default();
        let connector = connector(&row, &resolver, conditions);
        if let ConnectorData::Values(types) = connector.data {
            found.types = found.types.union(types);
        }
        found.list.push(Arc::new(connector));
    }
    Ok(found)
}

fn connector(row: &Row, resolver: &Resolver<'_>, conditions: Vec<TagCondition>) -> Connector {
    let number = |name: &str| usize::try_from(row.int(name)).unwrap_or(0);
    let eval = EvalType::from_number(row.int("tags_evaltype")).unwrap_or(EvalType::AndOr);
    Connector {
        id: row.id("connectorid"),
        name: row.text("name").to_owned(),
        data: match row.int("data_type") {
            EVENTS => ConnectorData::Events,
            _ => ConnectorData::Values(ValueTypes::from_bits(row.int("item_value_type"))),
        },
        tags: TagFilter { eval, conditions },
        receiver: receiver(row, resolver),
        records_max: Some(number("max_records")).filter(|records| *records > 0),
        senders: number("max_senders").max(1),
        attempts: number("max_attempts").max(1),
        attempt_interval: seconds(row.text("attempt_interval")),
    }
}

fn receiver(row: &Row, resolver: &Resolver<'_>) -> Receiver {
    let text = |name: &str| resolver.text(row.text(name), Place::ItemScript).into_owned();
    let auth = match row.int("authtype") {
        BEARER => ConnectorAuth::Bearer(text("token")),
        number => ConnectorAuth::Http {
            number: u8::try_from(number).unwrap_or(0),
            user: text("username"),
            password: text("password"),
        },
    };
    Receiver {
        url: text("url"),
        timeout: seconds(&text("timeout")),
        auth,
        proxy: text("http_proxy"),
        verify_peer: row.int("verify_peer") == 1,
        verify_host: row.int("verify_host") == 1,
        cert_file: text("ssl_cert_file"),
        key_file: text("ssl_key_file"),
        key_password: text("ssl_key_password"),
    }
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs(eval::num::parse_seconds(text).unwrap_or(DEFAULT_S).into())
}
