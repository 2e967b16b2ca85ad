use super::*;
use crate::Edit;
use crate::db::DbError;
use crate::schema::Table;
use crate::snapshot::tests::{open, write};

fn add(edit: &mut Edit<'_>, table: &str, row: &[(&str, Value)]) -> DbResult<u64> {
    edit.insert_new(table, row)
}

/// A group with a service on two addresses, two pools, a monitor and a certificate; returns the group.
fn group(edit: &mut Edit<'_>) -> DbResult<u64> {
    let group = add(edit, "enginegroups", &[("name", "edge".into())])?;
    let vip = [("name", "v".into()), ("ipv4", "192.0.2.1".into()), ("ipv6", "2001:db8::1".into())];
    let vip = add(edit, "vips", &vip)?;
    let monitor = [("name", "m".into()), ("type", "http".into()), ("body", "ok".into())];
    let monitor = add(edit, "healthmonitors", &monitor)?;
    let mut pools = Vec::new();
    for name in ["app", "api"] {
        let columns = [
            ("name", name.into()),
            ("healthmonitorid", monitor.into()),
            ("persistence", r#"{"type":"cookie","name":"srv"}"#.into()),
        ];
        let pool = add(edit, "pools", &columns)?;
        let server = [
            ("poolid", pool.into()),
            ("name", "s1".into()),
            ("address", "2001:db8::2".into()),
            ("port", 8080.into()),
            ("max_connections", 7.into()),
        ];
        edit.insert("pool_servers", &server)?;
        pools.push(pool);
    }
    let certificate = [
        ("name", "www".into()),
        ("certificate", "-----BEGIN CERTIFICATE-----".into()),
        ("private_key", "-----BEGIN PRIVATE KEY-----".into()),
    ];
    let certificate = add(edit, "certificates", &certificate)?;
    let rule = format!(r#"[{{"if":{{"path_prefix":"/api"}},"then":{{"poolid":"{}"}}}}]"#, pools[1]);
    let service = [
        ("name", "web".into()),
        ("enginegroupid", group.into()),
        ("vipid", vip.into()),
        ("port", 443.into()),
        ("poolid", pools[0].into()),
        ("rules", rule.into()),
        ("timeouts", r#"{"server":"9s"}"#.into()),
    ];
    let service = add(edit, "virtualservices", &service)?;
    let link = [("virtualserviceid", service.into()), ("certificateid", certificate.into())];
    edit.insert("virtualservice_certificates", &link)?;
    Ok(group)
}

fn desired(config: &Config, group: u64) -> Desired {
    config.read(|connection| Desired::of_group(connection, group)).unwrap()
}

/// Changes the oldest row of a table; returns what the column had.
fn set(config: &Config, table: &str, column: &str, value: impl Into<Value>) -> Value {
    let key = Table::named(table).key[0];
    let sql = format!("SELECT {key}, {column} FROM {table} ORDER BY {key} LIMIT 1");
    write(config, |edit| {
        let rows = edit.query(&sql, &[])?;
        edit.update(table, rows[0].id(key), &[(column, value.into())])?;
        Ok(rows[0].get(column).cloned().unwrap())
    })
}

#[test]
fn a_configuration_has_what_the_enabled_services_of_its_group_use() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    let found = desired(&config, edge);
    let engine = balancing::Config::parse(&found.text).unwrap();
    let [service] = &engine.virtual_services[..] else { panic!("{}", found.text) };
    service.check().unwrap();
    let listen = service.listen.addresses().iter().map(ToString::to_string);
    assert_eq!(listen.collect::<Vec<_>>(), ["192.0.2.1:443", "[2001:db8::1]:443"]);
    assert_eq!((service.pool.as_str(), service.timeouts.server.0.as_secs()), ("app", 9));
    assert_eq!(service.rules[0].then.pool.as_deref(), Some("api"));
    assert_eq!(service.tls.as_ref().unwrap().certificates, ["www"]);
    let pools: Vec<&str> = engine.pools.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(pools, ["app", "api"]);
    for pool in &engine.pools {
        pool.check().unwrap();
        assert_eq!(pool.health.as_ref().unwrap().body.as_deref(), Some("ok"));
        assert_eq!(pool.servers[0].max_connections.unwrap().get(), 7);
    }
    assert_eq!(desired(&config, edge).text, found.text, "equal objects give equal texts");
    assert_eq!(found.hash, digest(&found.text));
    set(&config, "virtualservices", "status", 1);
    let empty = desired(&config, edge);
    assert!(empty.hash != found.hash && !empty.text.contains("PRIVATE"), "{}", empty.text);
    assert_eq!(desired(&config, 99).hash, empty.hash, "a group without services");
}

#[test]
fn a_damaged_object_is_named() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    for (table, column, value, error) in [
        ("virtualservices", "limits", r#"{"url":1}"#, "virtual service 'web': unknown field `url`"),
        ("virtualservices", "rules", "[", "virtual service 'web': 'rules'"),
        ("pools", "algorithm", "fastest", "pool 'app': unknown variant `fastest`"),
        ("healthmonitors", "interval", "soon", "health monitor 'm': 'soon' is no duration"),
    ] {
        let before = set(&config, table, column, value);
        let found = config.read(|connection| Desired::of_group(connection, edge)).unwrap_err();
        assert!(found.to_string().starts_with(error), "{found}");
        set(&config, table, column, before);
    }
    desired(&config, edge);
}

#[test]
fn a_token_enrols_one_engine_once_and_in_time() {
    let (_dir, config) = open();
    let make = |expires: i64| {
        write(&config, |edit| {
            let row = [
                ("name", "lb-1".into()),
                ("enrolment_digest", digest("secret").into()),
                ("enrolment_expires_at", expires.into()),
            ];
            add(edit, "engines", &row)
        })
    };
    let first = make(1_000);
    assert_eq!(enrol(&config, "wrong", 999).unwrap(), None);
    assert_eq!(enrol(&config, "secret", 1_000).unwrap(), None, "too late");
    assert_eq!(enrol(&config, "secret", 999).unwrap(), Some(first));
    assert_eq!(enrol(&config, "secret", 999).unwrap(), None, "used");
    assert_eq!(enrol(&config, "", 999).unwrap(), None);
}

#[test]
fn the_last_report_of_each_engine_is_stored() {
    let (_dir, config) = open();
    let engine = write(&config, |edit| add(edit, "engines", &[("name", "lb-1".into())]));
    let stored = || {
        config
            .read::<_, DbError>(|connection| {
                let rows = connection.query("SELECT * FROM engine_states", &[])?;
                Ok(rows.iter().map(|row| row.text("running_hash").to_owned()).collect::<Vec<_>>())
            })
            .unwrap()
    };
    let with = |hash: &str| Report { running_hash: hash.to_owned(), ..Report::default() };
    report(&config, engine, &with("a")).unwrap();
    report(&config, engine, &with("b")).unwrap();
    report(&config, engine + 1, &with("c")).unwrap();
    assert_eq!(stored(), ["b"]);
    let none = config.read(|connection| Desired::of_engine(connection, engine + 1)).unwrap();
    assert!(none.is_none());
}
