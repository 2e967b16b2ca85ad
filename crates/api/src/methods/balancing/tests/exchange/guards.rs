//! Secrets, hostile names and rights.

use serde_json::{Value as Json, json};

use super::super::{Edge, certificate, ec_key, pem};
use super::{LONE, compare, estate, fates, has_only, import, rules, source};

#[test]
fn secrets_that_are_stored_stay_and_new_ones_replace_them() {
    let edge = Edge::start();
    let text = source(&edge.server);
    let key = ec_key();
    let (new, written) = (certificate(&key, "new.example.com"), pem(&key));
    let mut config = balancing::Config::parse(&text).unwrap();
    config.certificates[0].cert = balancing::Pem::Text(new);
    let refused = import(&edge.server, &config.render().unwrap(), &json!({})).unwrap_err();
    assert!(
        refused.starts_with("Certificate \"www\": ") && refused.contains("does not belong"),
        "{refused}"
    );
    config.certificates[0].key = balancing::Pem::Text(written.clone());
    let result = import(&edge.server, &config.render().unwrap(), &json!({})).unwrap();
    let update = &result["objects"]["certificates"]["updated"][0];
    assert_eq!(update["before"]["private_key"], "******");
    assert_eq!(update["after"]["private_key"], "****** (changed)");
    assert!(!result.to_string().contains(written.lines().nth(1).unwrap()));
    assert_eq!(edge.server.text("SELECT private_key FROM certificates"), written);
}

#[test]
fn names_cannot_add_lines_to_a_file() {
    let edge = Edge::start();
    let name = "x\nvirtual_services: []\u{85}a: \u{2028}b";
    let renamed = json!({ "certificateid": edge.certificate, "name": name });
    edge.server.call("certificate.update", &renamed).unwrap();
    let text = source(&edge.server);
    let config = balancing::Config::parse(&text).unwrap();
    assert_eq!(config.certificates[0].name, name);
    assert_eq!(config.virtual_services.len(), 1);
    has_only(&compare(&edge.server, &text, &json!({})).unwrap(), "unchanged");
}

#[test]
fn rights_decide_who_exports_and_imports() {
    let edge = estate();
    let server = &edge.server;
    let text = source(server);
    let denied = |name: &str, method: &str| {
        let rules = json!({ "api.mode": 0, "api": [method] });
        let role = json!({ "name": name, "type": 3, "rules": rules });
        server.user(name, &server.create("role.create", &role), &[])
    };
    let changed = text.replace("name: both", "name: both2");
    let params = json!({ "source": changed, "rules": rules(false) });
    let as_user = |session: &str, method: &str, params: &Json| {
        server.call_as(Some(session), method, params).map_err(|(_, text)| text)
    };
    let user = server.user("caller", "1", &[]);
    let admin = server.user("viewer", "2", &[]);
    for method in ["loadbalancer.import", "loadbalancer.importcompare"] {
        for session in [&user, &admin] {
            let found = as_user(session, method, &params).unwrap_err();
            assert!(found.starts_with("No permissions to call"), "{found}");
        }
    }
    assert!(as_user(&user, "loadbalancer.export", &json!({})).is_err());
    let shown = as_user(&admin, "loadbalancer.export", &json!({})).unwrap().to_string();
    assert!(!shown.contains("app-host") && shown.contains("which you may not see"), "{shown}");

    let blind = denied("blind", "certificate.get");
    let found = as_user(&blind, "loadbalancer.export", &json!({})).unwrap_err();
    assert_eq!(found, "No permissions to call \"certificate.get\".");
    assert!(as_user(&blind, "loadbalancer.importcompare", &params).is_err());

    let weak = denied("weak", "poolgroup.create");
    let found = as_user(&weak, "loadbalancer.import", &params).unwrap_err();
    assert_eq!(found, "No permissions to call \"poolgroup.create\".");
    let same = json!({ "source": text, "rules": rules(false) });
    has_only(&as_user(&weak, "loadbalancer.import", &same).unwrap(), "unchanged");
    assert_eq!(server.text("SELECT COUNT(*) AS n FROM pool_groups"), "1");
}

#[test]
fn a_file_of_a_lone_engine_can_replace_all_objects() {
    let edge = estate();
    let mut config = balancing::Config::parse(&source(&edge.server)).unwrap();
    config.controller = None;
    let all = json!({ "rules": rules(true) });
    let found = fates(&import(&edge.server, &config.render().unwrap(), &all).unwrap());
    assert!(found.contains(&"health_monitors removed unused".to_owned()), "{found:?}");
    let monitors = edge.server.text("SELECT COUNT(*) FROM healthmonitors WHERE name = 'overload'");
    assert_eq!(monitors, "1", "a pool of the file still has it");
    let all = json!({ "rules": rules(true), "enginegroupid": edge.group });
    let found = fates(&import(&edge.server, LONE, &all).unwrap());
    assert!(found.contains(&"health_monitors removed overload".to_owned()), "{found:?}");
    assert!(found.contains(&"vips removed v".to_owned()), "{found:?}");
    has_only(&import(&edge.server, LONE, &all).unwrap(), "unchanged");
}

#[test]
fn a_service_does_not_get_a_vip_with_other_addresses() {
    let edge = Edge::start();
    let text = source(&edge.server).replace("192.0.2.1:443", "192.0.2.9:444");
    let text = text.replace("192.0.2.1", "192.0.2.9");
    let update = json!({ "updateExisting": true });
    let skipping = json!({ "rules": { "virtual_services": update } });
    let refused = import(&edge.server, &text, &skipping).unwrap_err();
    assert!(
        refused.starts_with("Virtual service \"web\": its VIP \"v\" has other addresses"),
        "{refused}"
    );
    let both = json!({ "rules": { "virtual_services": update, "vips": update } });
    import(&edge.server, &text, &both).unwrap();
    let service = &edge.configuration()["configuration"]["virtual_services"][0];
    assert_eq!(service["listen"].to_string().trim_matches(['[', ']']), "\"192.0.2.9:444\"");
}
