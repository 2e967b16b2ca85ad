mod tls;

use super::*;
use crate::Edit;
use crate::db::DbError;
use crate::schema::Table;
use crate::snapshot::tests::{open, write};
use crate::table;

fn add(edit: &mut Edit<'_>, table: &'static Table, row: &[(&str, Value)]) -> DbResult<u64> {
    edit.insert_new(table, row)
}

/// A group with a service on two addresses, two pools, a monitor and a certificate; returns the group.
fn group(edit: &mut Edit<'_>) -> DbResult<u64> {
    let group = add(edit, &table::ENGINEGROUPS, &[("name", "edge".into())])?;
    let vip = [("name", "v".into()), ("ipv4", "192.0.2.1".into()), ("ipv6", "2001:db8::1".into())];
    let vip = add(edit, &table::VIPS, &vip)?;
    let monitor = [("name", "m".into()), ("type", "http".into()), ("body", "ok".into())];
    let monitor = add(edit, &table::HEALTHMONITORS, &monitor)?;
    let mut pools = Vec::new();
    for name in ["app", "api"] {
        let columns = [
            ("name", name.into()),
            ("healthmonitorid", monitor.into()),
            ("persistence", r#"{"type":"cookie","name":"srv"}"#.into()),
            ("slow_start", "30s".into()),
        ];
        let pool = add(edit, &table::POOLS, &columns)?;
        let server = [
            ("poolid", pool.into()),
            ("name", "s1".into()),
            ("address", "2001:db8::2".into()),
            ("port", 8080.into()),
            ("max_connections", 7.into()),
        ];
        edit.insert(&table::POOL_SERVERS, &server)?;
        pools.push(pool);
    }
    let certificate = [
        ("name", "www".into()),
        ("certificate", "-----BEGIN CERTIFICATE-----".into()),
        ("private_key", "-----BEGIN PRIVATE KEY-----".into()),
    ];
    let certificate = add(edit, &table::CERTIFICATES, &certificate)?;
    let rule = format!(
        r#"[{{"if":{{"path_prefix":"/api"}},"then":{{"poolid":"{}","mirror":{{"poolid":"{}"}}}}}}]"#,
        pools[1], pools[0]
    );
    let mirror = format!(r#"{{"poolid":"{}","percent":5}}"#, pools[1]);
    let service = [
        ("name", "web".into()),
        ("enginegroupid", group.into()),
        ("vipid", vip.into()),
        ("port", 443.into()),
        ("poolid", pools[0].into()),
        ("rules", rule.into()),
        ("mirror", mirror.into()),
        ("timeouts", r#"{"server":"9s"}"#.into()),
        ("rate_limit", r#"{"by":"client_ip","requests":7,"per":"1m"}"#.into()),
        ("compression", r#"{"algorithms":["br","gzip"],"level":7}"#.into()),
        ("cache", r#"{"size":"64M","max_object":"1M"}"#.into()),
        ("authentication", r#"{"basic":[{"name":"a","users":{"u":"$6$s$h"}}]}"#.into()),
    ];
    let service = add(edit, &table::VIRTUALSERVICES, &service)?;
    let link = [("virtualserviceid", service.into()), ("certificateid", certificate.into())];
    edit.insert(&table::VIRTUALSERVICE_CERTIFICATES, &link)?;
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
        edit.update(Table::named(table), rows[0].id(key), &[(column, value.into())])?;
        Ok(rows[0].get(column).cloned().unwrap())
    })
}

#[test]
fn configuration_has_what_enabled_services_of_a_group_use() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    let found = desired(&config, edge);
    let engine = balancing::Config::parse(&found.text).unwrap();
    let [service] = &engine.virtual_services[..] else { panic!("{}", found.text) };
    service.check().unwrap();
    let listen = service.listen.addresses().iter().map(ToString::to_string);
    assert_eq!(listen.collect::<Vec<_>>(), ["192.0.2.1:443", "[2001:db8::1]:443"]);
    assert_eq!((service.pool.as_str(), service.timeouts.server.0.as_secs()), ("app", 9));
    assert_eq!(service.rate_limit.as_ref().unwrap().requests.get(), 7);
    assert_eq!(service.compression.as_ref().unwrap().level, 7);
    assert_eq!(service.cache.as_ref().unwrap().max_object.0, 1 << 20);
    assert_eq!(service.authentication.as_ref().unwrap().basic[0].users["u"].0, "$6$s$h");
    assert_eq!(service.rules[0].then.pool.as_deref(), Some("api"));
    assert_eq!(service.rules[0].then.mirror.as_ref().unwrap().pool, "app");
    let mirror = service.mirror.as_ref().unwrap();
    assert_eq!((mirror.pool.as_str(), mirror.percent.parts(), mirror.concurrent), ("api", 500, 64));
    assert_eq!(service.tls.as_ref().unwrap().certificates, ["www"]);
    let pools: Vec<&str> = engine.pools.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(pools, ["app", "api"]);
    for pool in &engine.pools {
        pool.check().unwrap();
        assert_eq!(pool.slow_start.unwrap().0.as_secs(), 30);
        assert_eq!(pool.health.0[0].body.as_deref(), Some("ok"));
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
fn a_pool_has_its_first_monitor_and_further_ones() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    set(&config, "pools", "min_monitors", 1);
    write(&config, |edit| {
        let icmp =
            add(edit, &table::HEALTHMONITORS, &[("name", "ping".into()), ("type", "icmp".into())])?;
        let pools = edit.query("SELECT poolid FROM pools WHERE name = 'app'", &[])?;
        let row = [("poolid", pools[0].id("poolid").into()), ("healthmonitorid", icmp.into())];
        edit.insert(&table::POOL_MONITORS, &row)
    });
    let engine = balancing::Config::parse(&desired(&config, edge).text).unwrap();
    let names = |at: usize| -> Vec<String> {
        engine.pools[at].monitors().into_iter().map(|monitor| monitor.name).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["m".into(), "ping".into()], vec!["m".into()]));
    assert_eq!((engine.pools[0].monitors_needed(), engine.pools[1].monitors_needed()), (1, 1));
    engine.pools[0].check().unwrap();
}

#[test]
fn a_service_of_a_pool_group_has_the_pools_of_its_members() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    let other = write(&config, |edit| {
        let pools = edit.query("SELECT poolid FROM pools ORDER BY name", &[])?;
        let group = add(edit, &table::POOL_GROUPS, &[("name", "canary".into())])?;
        for (position, pool) in pools.iter().enumerate() {
            let member = [
                ("poolgroupid", group.into()),
                ("position", (position as u64).into()),
                ("poolid", pool.id("poolid").into()),
                ("ratio", (9 - 8 * position as u64).into()),
            ];
            edit.insert(&table::POOL_GROUP_MEMBERS, &member)?;
        }
        Ok(group)
    });
    set(&config, "virtualservices", "poolid", 0);
    set(&config, "virtualservices", "poolgroupid", other);
    let rule = format!(r#"[{{"then":{{"poolgroupid":"{other}"}}}}]"#);
    set(&config, "virtualservices", "rules", rule);
    let engine = balancing::Config::parse(&desired(&config, edge).text).unwrap();
    assert_eq!(engine.virtual_services[0].pool, "canary");
    assert_eq!(engine.virtual_services[0].rules[0].then.pool.as_deref(), Some("canary"));
    let [canary] = &engine.pool_groups[..] else { panic!("{engine:?}") };
    canary.check().unwrap();
    let members = canary.members.iter().map(|member| (member.pool.as_str(), member.ratio));
    assert_eq!(members.collect::<Vec<_>>(), [("api", 9), ("app", 1)]);
    assert_eq!(engine.pools.len(), 2);
    let all = config.read(Objects::all).unwrap();
    assert_eq!(all.alone(&all.services[0]).config().pool_groups.len(), 1);
    set(&config, "virtualservices", "poolgroupid", 0);
    let error = config.read(|connection| Desired::of_group(connection, edge)).unwrap_err();
    assert_eq!(error.to_string(), "virtual service 'web': it has no pool");
}

#[test]
fn scripts_name_the_pools_that_they_may_choose() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    let ids = config.read(|connection| connection.query("SELECT poolid FROM pools", &[])).unwrap();
    let pools: Vec<_> =
        ids.iter().map(|row| format!(r#"{{"poolid":"{}"}}"#, row.id("poolid"))).collect();
    let pools = pools.join(",");
    let rule = format!(r#"[{{"then":{{"script":{{"request":"return","pools":[{pools}]}}}}}}]"#);
    set(&config, "virtualservices", "rules", rule);
    let engine = balancing::Config::parse(&desired(&config, edge).text).unwrap();
    let rule = &engine.virtual_services[0].rules[0];
    rule.check().unwrap();
    let mut names = rule.then.script.as_ref().unwrap().pools.clone();
    names.sort();
    assert_eq!(names, ["api", "app"]);
    assert_eq!(engine.pools.len(), 2);
}

#[test]
fn a_damaged_object_is_named() {
    let (_dir, config) = open();
    let edge = write(&config, group);
    for (table, column, value, error) in [
        ("virtualservices", "limits", r#"{"url":1}"#, "virtual service 'web': unknown field `url`"),
        ("virtualservices", "rules", "[", "virtual service 'web': 'rules'"),
        ("pools", "algorithm", "fastest", "pool 'app': unknown variant `fastest`"),
        ("healthmonitors", "interval", "soon", "health monitor 'm': 'soon' is not a duration"),
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
            add(edit, &table::ENGINES, &row)
        })
    };
    let first = make(1_000);
    let enrol = |token, now_s| enrol(&config, token, now_s, "f1").unwrap();
    assert_eq!(enrol("wrong", 999), None);
    assert_eq!(enrol("secret", 1_000), None, "too late");
    assert_eq!(of_token(&config, "secret", 999).unwrap(), Some(first));
    assert_eq!(known(&config, first).unwrap().unwrap().fingerprint, "");
    assert_eq!(enrol("secret", 999), Some(first));
    assert_eq!(known(&config, first).unwrap().unwrap().fingerprint, "f1");
    assert_eq!(enrol("secret", 999), None, "used");
    assert_eq!(enrol("", 999), None);
    assert_eq!(known(&config, first + 1).unwrap(), None);
}

#[test]
fn enrolled_again_engine_has_only_its_new_certificate() {
    let (_dir, config) = open();
    let mut engine = 0;
    for fingerprint in ["f1", "f2"] {
        let row = [
            ("name", fingerprint.into()),
            ("enrolment_digest", digest("secret").into()),
            ("enrolment_expires_at", 1_000.into()),
        ];
        write(&config, |edit| {
            if engine == 0 {
                engine = add(edit, &table::ENGINES, &row)?
            } else {
                edit.update(&table::ENGINES, engine, &row)?
            }
            Ok(())
        });
        enrol(&config, "secret", 999, fingerprint).unwrap();
        assert_eq!(known(&config, engine).unwrap().unwrap().fingerprint, fingerprint);
    }
    write(&config, |edit| edit.delete(&table::ENGINES, "engineid", &[engine]));
    assert_eq!(known(&config, engine).unwrap(), None);
}

#[test]
fn the_first_authority_stays() {
    let (_dir, config) = open();
    let with = |text: &str| StoredAuthority { certificate: text.into(), private_key: text.into() };
    assert_eq!(authority(&config, &with("a")).unwrap(), with("a"));
    assert_eq!(authority(&config, &with("b")).unwrap(), with("a"));
}

#[test]
fn changes_of_the_load_balancer_alone_are_noticed() {
    let (_dir, config) = open();
    let before = revision(&config).unwrap();
    write(&config, |edit| add(edit, &table::REGEXPS, &[("name", "r".into())]));
    let other = revision(&config).unwrap();
    assert!(other > before);
    assert!(!changed_since(&config, before).unwrap());
    write(&config, group);
    assert!(changed_since(&config, before).unwrap() && changed_since(&config, other).unwrap());
    let engine = write(&config, |edit| add(edit, &table::ENGINES, &[("name", "lb-1".into())]));
    let newest = revision(&config).unwrap();
    assert!(!changed_since(&config, newest).unwrap());
    write(&config, |edit| {
        let known = [("engineid", engine.into()), ("fingerprint", "f".into())];
        edit.insert(&table::ENGINE_CERTIFICATES, &known)
    });
    orders::keep_account(&config, "https://ca", "[]", "{}").unwrap();
    assert!(revision(&config).unwrap() > newest && !changed_since(&config, newest).unwrap());
}

#[test]
fn the_last_report_of_each_engine_is_stored() {
    let (_dir, config) = open();
    let engine = write(&config, |edit| add(edit, &table::ENGINES, &[("name", "lb-1".into())]));
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

#[test]
fn the_catalogue_has_each_object_with_what_belongs_to_it() {
    let (_dir, config) = open();
    let group = write(&config, group);
    let engine = [("name", "lb-1".into()), ("enginegroupid", group.into())];
    let engine = write(&config, |edit| add(edit, &table::ENGINES, &engine));
    let found = config.read(Catalogue::read).unwrap();
    let service = found.services.values().next().unwrap();
    assert_eq!((found.services.len(), service.name.as_str()), (1, "web"));
    assert_eq!(service.certificates, [("www".to_owned(), 0)]);
    assert_eq!(found.pools[&service.pools[0]].name, "app");
    assert_eq!(found.pools[&service.pools[0]].servers, ["s1"]);
    assert_eq!(found.pools.len(), 2);
    assert_eq!(
        found.engines[&engine],
        CatalogueEngine { name: "lb-1".to_owned(), enrolled: false }
    );
    let known = [("engineid", engine.into()), ("fingerprint", "f".into())];
    write(&config, |edit| edit.insert(&table::ENGINE_CERTIFICATES, &known));
    assert!(config.read(Catalogue::read).unwrap().engines[&engine].enrolled);
}
