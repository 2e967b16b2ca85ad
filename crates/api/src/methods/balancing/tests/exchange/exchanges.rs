//! Files in which objects exchange what only one of them can have.

use serde_json::{Value as Json, json};

use super::super::{Edge, servers};
use super::{compare, fates, import, rules, source};

/// Two services at two VIPs, beside the one of `Edge`.
fn estate() -> Edge {
    let edge = Edge::start();
    let make = |method: &str, params: Json| edge.server.create(method, &params);
    let vip =
        make("vip.create", json!({ "name": "w", "ipv4": "192.0.2.2", "ipv6": "2001:db8::2" }));
    for (name, vip, port) in [("api", &edge.vip, 80), ("shop", &edge.vip, 81), ("far", &vip, 443)] {
        make(
            "virtualservice.create",
            json!({ "name": name, "enginegroupid": edge.group, "vipid": vip, "port": port, "poolid": edge.pool }),
        );
    }
    edge
}

/// The file of the server with other texts in the place of these, all at once.
fn changed(edge: &Edge, texts: &[(&str, &str)]) -> String {
    let mut text = source(&edge.server);
    for (n, (from, _)) in texts.iter().enumerate() {
        assert!(text.contains(from), "{from}: {text}");
        text = text.replace(from, &format!("<{n}>"));
    }
    for (n, (_, to)) in texts.iter().enumerate() {
        text = text.replace(&format!("<{n}>"), to);
    }
    text
}

/// Where the engines' services listen.
fn listening(edge: &Edge) -> Vec<String> {
    let configuration = edge.configuration();
    let services = configuration["configuration"]["virtual_services"].as_array().unwrap();
    let one = |service: &Json| {
        format!("{} {}", service["name"].as_str().unwrap(), service["listen"])
            .replace(['[', ']', '"'], "")
    };
    let mut all: Vec<String> = services.iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn services_exchange_their_ports() {
    let edge = estate();
    let text = changed(
        &edge,
        &[
            ("192.0.2.1:80", "192.0.2.1:81"),
            ("192.0.2.1:81", "192.0.2.1:443"),
            ("192.0.2.1:443", "192.0.2.1:80"),
        ],
    );
    let compared = compare(&edge.server, &text, &json!({})).unwrap();
    let result = import(&edge.server, &text, &json!({})).unwrap();
    assert_eq!(fates(&compared), fates(&result));
    assert_eq!(
        listening(&edge)[..],
        [
            "api 192.0.2.1:81",
            "far 192.0.2.2:443,2001:db8::2:443",
            "shop 192.0.2.1:443",
            "web 192.0.2.1:80"
        ]
    );
}

#[test]
fn vips_exchange_their_addresses_and_names() {
    let edge = estate();
    let text = changed(&edge, &[("192.0.2.1", "192.0.2.2"), ("192.0.2.2", "192.0.2.1")]);
    import(&edge.server, &text, &json!({})).unwrap();
    let vips = |edge: &Edge| {
        edge.server.text("SELECT GROUP_CONCAT(name || ' ' || ipv4, ', ') FROM (SELECT name, ipv4 FROM vips ORDER BY name)")
    };
    assert_eq!(vips(&edge), "v 192.0.2.2, w 192.0.2.1");
    assert_eq!(listening(&edge)[0], "api 192.0.2.2:80");
    // Another name for the same addresses: the VIP with the old one goes.
    let mut config = balancing::Config::parse(&source(&edge.server)).unwrap();
    let notes = config.controller.as_mut().unwrap();
    notes.vips.iter_mut().find(|vip| vip.name == "w").unwrap().name = "x".to_owned();
    let far = notes.virtual_services.iter_mut().find(|service| service.name == "far").unwrap();
    far.vip = Some("x".to_owned());
    let all = json!({ "rules": rules(true) });
    let result = import(&edge.server, &config.render().unwrap(), &all).unwrap();
    let found = fates(&result);
    assert!(found.contains(&"vips removed w".to_owned()), "{found:?}");
    assert_eq!(vips(&edge), "v 192.0.2.2, x 192.0.2.1");
}

#[test]
fn pool_becomes_a_group_and_a_pool_again() {
    let edge = estate();
    let green = json!({ "name": "green", "servers": servers("s2") });
    edge.server.create("pool.create", &green);
    let before = source(&edge.server);
    let mut config = balancing::Config::parse(&before).unwrap();
    let mut pool = config
        .pools
        .iter()
        .position(|pool| pool.name == "app")
        .map(|at| config.pools.remove(at))
        .unwrap();
    pool.name = "blue".to_owned();
    config.pools.push(pool);
    let notes = config.controller.as_mut().unwrap();
    for note in notes.pools.iter_mut().filter(|note| note.name == "app") {
        note.name = "blue".to_owned();
    }
    let group = "virtual_services: []\npool_groups: [{name: app, members: [{pool: blue}, {pool: green}]}]\npools: []\n";
    config.pool_groups = balancing::Config::parse(group).unwrap().pool_groups;
    let all = json!({ "rules": rules(true) });
    let found = fates(&import(&edge.server, &config.render().unwrap(), &all).unwrap());
    assert!(found.contains(&"pool_groups added app".to_owned()), "{found:?}");
    assert!(found.contains(&"pools removed app".to_owned()), "{found:?}");
    let groups = "SELECT COUNT(*) FROM virtualservices WHERE poolgroupid <> 0 AND poolid = 0";
    assert_eq!(edge.server.text(groups), "4");
    import(&edge.server, &before, &all).unwrap();
    assert_eq!(edge.server.text(groups), "0");
    assert_eq!(edge.server.text("SELECT COUNT(*) FROM pool_groups"), "0");
}

#[test]
fn what_two_objects_share_in_the_end_is_refused() {
    let edge = estate();
    let before = source(&edge.server);
    let update = json!({ "updateExisting": true });
    for (texts, text) in [
        (
            &[("192.0.2.1:80", "192.0.2.1:81")][..],
            "Virtual service \"api\": port 81 of this VIP belongs to virtual service \"shop\", too",
        ),
        (&[("192.0.2.2", "192.0.2.1")], "VIP \"w\": 192.0.2.1 belongs to VIP \"v\", too"),
    ] {
        let error = import(&edge.server, &changed(&edge, texts), &json!({})).unwrap_err();
        assert!(error.starts_with(text), "{error}");
        assert_eq!(source(&edge.server), before, "nothing has changed");
    }
    // The rules leave the VIPs, so their services stay where they are.
    let text = changed(&edge, &[("192.0.2.1", "192.0.2.2"), ("192.0.2.2", "192.0.2.1")]);
    let only = json!({ "rules": { "virtual_services": update } });
    let found = fates(&import(&edge.server, &text, &only).unwrap());
    assert!(found.contains(&"vips skipped v".to_owned()), "{found:?}");
    assert_eq!(source(&edge.server), before);
}
