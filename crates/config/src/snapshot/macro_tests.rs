//! Macros in what a snapshot holds: what works where, and what stays secret.

use crate::table;
use model::{HostId, ItemId};

use super::tests::{host, item, open, write};
use super::*;
use crate::Edit;
use crate::db::{DbResult, Value};

/// A host with an interface, an inventory and macros of each kind.
fn rich_host(edit: &mut Edit<'_>) -> DbResult<u64> {
    let id = host(edit, "web")?;
    edit.update(
        &table::HOSTS,
        id,
        &[("name", "Web server".into()), ("inventory_mode", Value::from(0))],
    )?;
    for (name, value, kind) in [
        ("{$PLAIN}", "plain", 0),
        ("{$SECRET}", "hidden", 1),
        ("{$VAULT}", "path:key", 2),
        ("{$NESTED}", "{HOST.HOST}", 0),
    ] {
        let row = [
            ("hostid", Value::from(id)),
            ("macro", name.into()),
            ("value", value.into()),
            ("type", Value::from(kind)),
        ];
        edit.insert_new(&table::HOSTMACROS, &row)?;
    }
    let row = [("hostid", Value::from(id)), ("name", "os".into()), ("value", "Plan 9".into())];
    edit.insert(&table::HOST_INVENTORY, &row)?;
    interface(edit, id, 1, "10.0.0.1", "web.example", "10050")?;
    Ok(id)
}

fn interface(
    edit: &mut Edit<'_>,
    host: u64,
    main: i64,
    ip: &str,
    dns: &str,
    port: &str,
) -> DbResult<u64> {
    let row = [
        ("hostid", Value::from(host)),
        ("type", Value::from(1)),
        ("main", Value::from(main)),
        ("useip", Value::from(1)),
        ("ip", ip.into()),
        ("dns", dns.into()),
        ("port", port.into()),
    ];
    edit.insert_new(&table::INTERFACES, &row)
}

#[test]
fn keys() {
    let (_dir, config) = open();
    let cases = [
        ("k[{HOST.HOST},{HOST.NAME}]", "k[web,Web server]", None),
        ("k[{HOST.IP}{HOST.DNS},{HOST.CONN}]", "k[10.0.0.1web.example,10.0.0.1]", None),
        ("k[{HOSTNAME},{IPADDRESS}]", "k[web,10.0.0.1]", None),
        (
            "k[{HOST.PORT},{HOST.ID},{INVENTORY.OS}]",
            "k[{HOST.PORT},{HOST.ID},{INVENTORY.OS}]",
            None,
        ),
        ("k[{HOST.HOST1},{ITEM.KEY},{TIME}]", "k[{HOST.HOST1},{ITEM.KEY},{TIME}]", None),
        ("k[{$PLAIN},{$NESTED},{$UNDEFINED}]", "k[plain,{HOST.HOST},{$UNDEFINED}]", None),
        ("k[{{HOST.HOST}.uppercase()}]", "k[WEB]", None),
        ("k[{$SECRET},a]", "k[hidden,a]", Some("k[******,a]")),
        ("k[{{$SECRET}.uppercase()}]", "k[HIDDEN]", Some("k[******]")),
    ];
    let ids = write(&config, |edit| {
        let host = rich_host(edit)?;
        cases.iter().map(|(key, ..)| item(edit, host, key, &[])).collect::<DbResult<Vec<u64>>>()
    });
    let snapshot = config.snapshot();
    for ((written, key, shown), id) in cases.into_iter().zip(ids) {
        let item = snapshot.items.get(&ItemId(id)).unwrap();
        assert_eq!((&*item.key, item.shown_key()), (key, shown.unwrap_or(key)), "{written}");
        assert_eq!((item.written_key(), item.invalid.as_deref()), (written, None), "{written}");
    }
}

#[test]
fn senders_name_keys_as_they_are_configured() {
    let (_dir, config) = open();
    let id = write(&config, |edit| {
        let host = rich_host(edit)?;
        item(edit, host, "k[{$PLAIN},{$SECRET}]", &[("type", Value::from(2))])
    });
    let snapshot = config.snapshot();
    let item = snapshot.items.get(&ItemId(id)).unwrap();
    let keys = [&*item.key, item.shown_key(), item.written_key()];
    assert_eq!(keys, ["k[{$PLAIN},{$SECRET}]"; 3]);
}

#[test]
fn a_path_in_a_vault_is_no_value() {
    let (_dir, config) = open();
    let [key, script, period] = write(&config, |edit| {
        let host = rich_host(edit)?;
        let key = item(edit, host, "k[{$VAULT}]", &[])?;
        let script =
            item(edit, host, "s", &[("type", Value::from(13)), ("params", "{$VAULT}".into())])?;
        Ok([key, script, item(edit, host, "p", &[("timeout", "{$VAULT}".into())])?])
    });
    let snapshot = config.snapshot();
    for id in [key, script] {
        let item = snapshot.items.get(&ItemId(id)).unwrap();
        let error = item.invalid.as_deref().unwrap_or_default();
        assert!(error.contains("no vault is connected") && !error.contains("path"), "{error}");
        assert!(!format!("{item:?}").contains("path:key"), "{item:?}");
    }
    let item = snapshot.items.get(&ItemId(period)).unwrap();
    assert_eq!((item.invalid.as_deref(), &*item.extra.as_ref().unwrap().timeout), (None, "******"));
}

#[test]
fn secret_macros_resolve_only_in_fields_that_stay_hidden() {
    let (_dir, config) = open();
    let ids = write(&config, |edit| {
        let host = rich_host(edit)?;
        let script =
            item(edit, host, "s", &[("type", Value::from(13)), ("params", "{$SECRET}".into())])?;
        let delay = item(edit, host, "d", &[("delay", "{$SECRET}".into())])?;
        let allowed = [("type", Value::from(2)), ("trapper_hosts", "{$SECRET},{HOST.IP}".into())];
        let allowed = item(edit, host, "a", &allowed)?;
        let steps = item(edit, host, "p", &[])?;
        for (n, (kind, params)) in
            [(5, "{$SECRET}\n\\0"), (21, "return '{$SECRET}{HOST.HOST}'")].into_iter().enumerate()
        {
            let row = [
                ("itemid", Value::from(steps)),
                ("step", Value::from(i64::try_from(n).unwrap())),
                ("type", Value::from(kind)),
                ("params", params.into()),
                ("error_handler", Value::from(3)),
                ("error_handler_params", "bad {$SECRET} {$PLAIN}".into()),
            ];
            edit.insert(&table::ITEM_PREPROCESSING, &row)?;
        }
        Ok([script, delay, allowed, steps])
    });
    let snapshot = config.snapshot();
    let [script, delay, allowed, steps] = ids.map(|id| snapshot.items.get(&ItemId(id)).unwrap());
    assert_eq!(script.extra.as_ref().unwrap().params, "hidden");
    assert!(delay.invalid.as_ref().is_some_and(|error| error.contains("******")), "{delay:?}");
    assert_eq!(allowed.extra.as_ref().unwrap().trapper_hosts, "******,10.0.0.1");
    let parsed = format!("{:?}", steps.steps);
    assert!(parsed.contains("hidden{HOST.HOST}"), "{parsed}");
    assert!(parsed.contains("bad ****** plain"), "{parsed}");
    assert_eq!(parsed.matches("hidden").count(), 1, "only the script reads it: {parsed}");
}

#[test]
fn interfaces_name_the_main_one() {
    let (_dir, config) = open();
    let cases = [
        ("{HOST.IP}", "{HOST.HOST}.example", "10.0.0.1", "web.example"),
        ("{HOST.CONN}", "{HOST.NAME}", "10.0.0.1", "Web server"),
        ("{$SECRET}", "{$PLAIN}", "******", "plain"),
        ("{INVENTORY.OS}", "{HOST.PORT}", "{INVENTORY.OS}", "{HOST.PORT}"),
    ];
    let (host, ids) = write(&config, |edit| {
        let host = rich_host(edit)?;
        let ids: DbResult<Vec<u64>> =
            cases.iter().map(|(ip, dns, ..)| interface(edit, host, 0, ip, dns, "1")).collect();
        Ok((host, ids?))
    });
    let snapshot = config.snapshot();
    let host = snapshot.hosts.get(&HostId(host)).unwrap();
    for ((_, _, ip, dns), id) in cases.into_iter().zip(ids) {
        let interface = host.interface(model::InterfaceId(id)).unwrap();
        assert_eq!((&*interface.ip, &*interface.dns), (ip, dns));
    }
    for (name, value) in [
        ("INVENTORY.OS", Some("Plan 9")),
        ("INVENTORY.ALIAS", Some("")),
        ("INVENTORY.NOTHING", None),
        ("HOST.PORT", Some("10050")),
        ("HOST.DESCRIPTION", None),
    ] {
        assert_eq!(host.macro_value(name).as_deref(), value, "{name}");
    }
}

#[test]
fn conditions_of_discovery_rules() {
    use eval::macros::Place;
    let (_dir, config) = open();
    let host = HostId(write(&config, rich_host));
    let snapshot = config.snapshot();
    let hosts = [host];
    let resolver = Resolver::new(&snapshot, &hosts);
    for (text, filter, other) in [
        ("^({HOST.HOST}|{HOST.NAME})$", "^(web|Web server)$", "^({HOST.HOST}|{HOST.NAME})$"),
        (
            "{HOST.IP} {HOST.PORT} {HOST.ID}",
            "10.0.0.1 {HOST.PORT} {HOST.ID}",
            "{HOST.IP} {HOST.PORT} {HOST.ID}",
        ),
        ("{$PLAIN}{$SECRET}{$VAULT}", "plain************", "plain************"),
    ] {
        assert_eq!(resolver.text(text, Place::DiscoveryFilter), filter);
        assert_eq!(resolver.text(text, Place::DiscoveryRule), other);
    }
    assert_eq!(resolver.fault(), None);
}

#[test]
fn what_checks_need_beside_the_key() {
    use super::source::{Http, Login, Snmp, Source};
    let (_dir, config) = open();
    // A quote within a macro's value stays within its field.
    let pairs = r#"[{"name":"X-{$PLAIN}","value":"{$QUOTES}"},{"name":"b","value":"{HOST.HOST}"}]"#;
    let (ids, hostid) = write(&config, |edit| {
        let host = rich_host(edit)?;
        let row = [
            ("hostid", Value::from(host)),
            ("macro", "{$QUOTES}".into()),
            ("value", "\"}],".into()),
        ];
        edit.insert_new(&table::HOSTMACROS, &row)?;
        let row = [
            ("hostid", Value::from(host)),
            ("type", Value::from(2)),
            ("details", r#"{"version":"2","bulk":"0","community":"{$QUOTES}"}"#.into()),
        ];
        edit.insert_new(&table::INTERFACES, &row)?;
        let of = |kind: i64| ("type", Value::from(kind));
        let user = ("username", "{$PLAIN}".into());
        let ssh = [of(13), user, ("password", "{$SECRET}".into()), ("authtype", Value::from(1))];
        let url = ("url", "http://{HOST.CONN}/{$SECRET}".into());
        let posts = ("posts", "{\"a\":\"{$QUOTES} {$UNKNOWN}\"}".into());
        let json = [posts, ("post_type", Value::from(2))];
        let ids = [
            item(edit, host, "ssh", &ssh)?,
            item(edit, host, "snmp", &[of(20), ("snmp_oid", "get[{$PLAIN}]".into())])?,
            item(
                edit,
                host,
                "http",
                &[of(19), url, ("headers", pairs.into()), json[0].clone(), json[1].clone()],
            )?,
            item(edit, host, "script", &[of(21), ("parameters", pairs.into())])?,
            item(edit, host, "agent", &[of(0)])?,
        ];
        Ok((ids, host))
    });
    let snapshot = config.snapshot();
    let found = ids.map(|id| {
        let extra = snapshot.items.get(&ItemId(id)).unwrap().extra.clone();
        extra.map_or(Source::Key, |extra| extra.source.clone())
    });
    let text = str::to_owned;
    let pairs = vec![(text("X-plain"), text("\"}],")), (text("b"), text("web"))];
    let http = Http {
        url: text("http://10.0.0.1/hidden"),
        headers: pairs.clone(),
        posts: text("{\"a\":\"\\\"}], {$UNKNOWN}\"}"),
        post_type: 2,
        status_codes: text("200"),
        follow_redirects: true,
        ..Http::default()
    };
    let login = Login {
        username: text("plain"),
        password: text("hidden"),
        by_key: true,
        ..Login::default()
    };
    let expected = [
        Source::Login(login),
        Source::Snmp("get[plain]".into()),
        Source::Http(Box::new(http)),
        // Parameters of scripts know the host.
        Source::Script(pairs),
        Source::Key,
    ];
    assert_eq!(found, expected);
    let host = snapshot.hosts.get(&HostId(hostid)).unwrap();
    let snmp = host.interfaces.iter().find_map(|interface| interface.snmp.clone()).unwrap();
    let expected = Snmp {
        version: 2,
        bulk: false,
        max_repetitions: 10,
        community: text("\"}],"),
        ..Snmp::default()
    };
    assert_eq!(*snmp, expected);
}
