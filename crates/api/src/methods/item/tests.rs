//! Methods of items, prototypes and rules, on a server in a box.

mod counts;
mod formulas;

use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// A host `web` with interfaces for agent and SNMP, a template `base` linked to it, and ids.
struct Fixture {
    server: Server,
    host: String,
    template: String,
    agent: String,
    snmp: String,
}

impl Fixture {
    fn new() -> Self {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "Hosts" }));
        let templates = server.create("templategroup.create", &json!({ "name": "Templates" }));
        let template = server.create(
            "template.create",
            &json!({ "host": "base", "groups": [{ "groupid": templates }] }),
        );
        let address = json!({ "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "" });
        let interface = |kind: i64, port: &str, details: Json| {
            let mut all = address.clone();
            all["type"] = kind.into();
            all["port"] = port.into();
            if !details.is_null() {
                all["details"] = details;
            }
            all
        };
        let host = server.create(
            "host.create",
            &json!({
                "host": "web", "groups": [{ "groupid": group }],
                "templates": [{ "templateid": template }],
                "interfaces": [
                    interface(1, "10050", Json::Null),
                    interface(2, "161", json!({ "version": 2, "community": "c" })),
                ],
            }),
        );
        let found = server
            .call("hostinterface.get", &json!({ "hostids": host, "sortfield": "interfaceid" }))
            .unwrap();
        let id = |kind: &str| {
            let one = found.as_array().unwrap().iter().find(|i| i["type"] == kind).unwrap();
            one["interfaceid"].as_str().unwrap().to_owned()
        };
        let (agent, snmp) = (id("1"), id("2"));
        Self { server, host, template, agent, snmp }
    }

    /// An item on the host with these members beside the usual ones; `null` removes one.
    fn item(&self, more: &Json) -> Result<String, String> {
        let mut all =
            json!({ "hostid": self.host, "name": "n", "key_": "k", "type": 2, "value_type": 3 });
        merge(&mut all, more);
        let result = self.server.call("item.create", &all).map_err(|(_, data)| data)?;
        let id = result["itemids"][0].as_str().unwrap().to_owned();
        self.server.call("item.delete", &json!([id])).unwrap();
        Ok(id)
    }
}

fn merge(all: &mut Json, more: &Json) {
    for (name, value) in more.as_object().unwrap() {
        if value.is_null() {
            all.as_object_mut().unwrap().remove(name);
        } else {
            all[name] = value.clone();
        }
    }
}

#[test]
fn what_create_takes_and_refuses() {
    let f = Fixture::new();
    let step = |kind: i64, params: &str, handler: i64| {
        json!({ "preprocessing": [{
            "type": kind, "params": params, "error_handler": handler, "error_handler_params": "",
        }] })
    };
    let cases = [
        (json!({}), ""),
        (json!({ "name": null }), "\"/1\": the parameter \"name\" is missing"),
        (json!({ "key_": "a[" }), "\"/1/key_\": unexpected end of key"),
        (json!({ "key_": "a b" }), "\"/1/key_\": incorrect syntax near \" b\""),
        (json!({ "foo": 1 }), "\"/1\": unexpected parameter \"foo\""),
        (json!({ "uuid": "x" }), "\"/1/uuid\": value must be empty"),
        (json!({ "delay": "30s" }), "\"/1/delay\": value must be 0"),
        (json!({ "value_type": 1, "units": "B" }), "\"/1/units\": value must be empty"),
        (json!({ "value_type": 4, "trends": "1d" }), "\"/1/trends\": value must be 0"),
        (json!({ "history": "1" }), "\"/1/history\": value must be one of 0, 3600-788400000"),
        (json!({ "history": "{$H}", "trends": "0" }), ""),
        (json!({ "type": 0, "delay": "1m" }), "\"/1\": the parameter \"interfaceid\" is missing"),
        (
            json!({ "type": 0, "delay": "1m", "interfaceid": f.snmp }),
            "\"/1/interfaceid\": the host interface ID of type \"Agent\" is expected",
        ),
        (
            json!({ "type": 0, "delay": "0", "interfaceid": f.agent }),
            "\"/1/delay\": cannot be equal to zero without custom intervals",
        ),
        (
            json!({ "type": 0, "delay": "1x", "interfaceid": f.agent }),
            "\"/1/delay\": a time unit is expected",
        ),
        (json!({ "type": 0, "delay": "0;wd1", "interfaceid": f.agent }), ""),
        (
            json!({ "type": 0, "delay": "1m", "interfaceid": f.agent, "timeout": "700s" }),
            "\"/1/timeout\": value must be one of 1-600",
        ),
        (json!({ "type": 18 }), "\"/1\": the parameter \"master_itemid\" is missing"),
        (
            json!({ "type": 18, "master_itemid": "99999" }),
            "\"/1/master_itemid\": an item ID is expected",
        ),
        (
            json!({ "type": 15, "delay": "1m", "params": "last(" }),
            "\"/1/params\": incorrect expression starting from",
        ),
        (json!({ "type": 19, "delay": "1m" }), "\"/1\": the parameter \"url\" is missing"),
        (
            json!({ "type": 19, "delay": "1m", "url": "x", "post_type": 2, "posts": "x" }),
            "\"/1/posts\": JSON is expected",
        ),
        (
            json!({ "type": 19, "delay": "1m", "url": "x", "headers": [{ "name": "a" }] }),
            "\"/1/headers/1\": the parameter \"value\" is missing",
        ),
        (
            json!({ "type": 13, "delay": "1m", "params": "x" }),
            "\"/1\": the parameter \"username\" is missing",
        ),
        (json!({ "type": 7, "key_": "mqtt.get[x]" }), ""),
        (json!({ "tags": [{ "tag": "" }] }), "\"/1/tags/1/tag\": cannot be empty"),
        (step(12, "", 0), "\"/1/preprocessing/1/params/1\": cannot be empty"),
        (step(1, "x", 0), "\"/1/preprocessing/1/params/1\": a floating point value is expected"),
        (step(5, "a", 0), "\"/1/preprocessing/1/params\": the parameter \"2\" is missing"),
        (step(19, "", 1), "\"/1/preprocessing/1/error_handler\": value must be 0"),
        (step(26, "-1", 1), ""),
        (step(20, "1h", 0), ""),
        (step(99, "", 0), "\"/1/preprocessing/1/type\": value must be one of 1, 2, 3"),
    ];
    for (more, refused) in cases {
        let got = f.item(&more).err().unwrap_or_default();
        if refused.is_empty() {
            assert_eq!(got, "", "{more}");
        } else {
            assert!(got.contains(refused), "{more}: {got}");
        }
    }
}

#[test]
fn a_templates_items_live_on_its_hosts() {
    let f = Fixture::new();
    let new = json!({
        "hostid": f.template, "name": "Ping", "key_": "agent.ping", "type": 0, "delay": "1m",
        "value_type": 3, "tags": [{ "tag": "a", "value": "b" }],
    });
    let parent = f.server.create("item.create", &new);
    let ask = json!({
        "hostids": f.host, "output": ["key_", "interfaceid", "templateid", "delay", "lastvalue"],
        "selectTags": "extend", "selectHosts": ["host"],
    });
    let found = f.server.call("item.get", &ask).unwrap();
    let child = found[0]["itemid"].as_str().unwrap().to_owned();
    let expect = json!([{
        "itemid": child, "key_": "agent.ping", "interfaceid": f.agent, "templateid": parent,
        "delay": "1m", "lastvalue": "0", "tags": [{ "tag": "a", "value": "b" }],
        "hosts": [{ "hostid": f.host, "host": "web" }],
    }]);
    assert_eq!(found, expect);
    f.server.call("item.update", &json!({ "itemid": parent, "delay": "2m" })).unwrap();
    assert_eq!(f.server.call("item.get", &ask).unwrap()[0]["delay"], "2m");
    for (method, params, refused) in [
        (
            "item.update",
            json!({ "itemid": child, "name": "x" }),
            "Invalid parameter \"/1\": cannot update readonly parameter \"name\" of inherited \
             object.",
        ),
        ("item.delete", json!([child]), "Invalid parameter \"/1\": cannot delete inherited item."),
        (
            "item.create",
            new,
            "An item with key \"agent.ping\" already exists on the template \"base\".",
        ),
    ] {
        let (code, data) = f.server.call(method, &params).unwrap_err();
        assert_eq!((code, data.as_str()), (-32602, refused), "{method}");
    }
    let item = config::db::Value::from(child.parse::<u64>().unwrap()).as_int();
    let live = |f: &Fixture| {
        let id = model::ItemId(u64::try_from(item).unwrap());
        f.server.api.deps.config.snapshot().items.get(&id).is_some()
    };
    assert!(live(&f), "the snapshot has it");
    f.server.call("item.delete", &json!([parent])).unwrap();
    assert!(!live(&f), "and has it no more");
    assert_eq!(f.server.call("item.get", &ask).unwrap(), json!([]));
}

#[test]
fn changing_the_type_brings_its_rules() {
    let f = Fixture::new();
    let id = f.server.create(
        "item.create",
        &json!({ "hostid": f.host, "name": "n", "key_": "k", "type": 2, "value_type": 0,
                 "units": "B" }),
    );
    for (more, refused) in [
        (json!({ "type": 0, "interfaceid": f.agent }), "cannot be equal to zero"),
        (json!({ "type": 15, "delay": "1m" }), "\"/1/params\": cannot be empty"),
        (json!({ "hostid": f.host }), "unexpected parameter \"hostid\""),
        (json!({ "value_type": 4, "trends": "1d" }), "\"/1/trends\": value must be 0"),
        (json!({ "tags": null }), "\"/1/tags\": an array is expected"),
    ] {
        let mut params = json!({ "itemid": id });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let (_, data) = f.server.call("item.update", &params).unwrap_err();
        assert!(data.contains(refused), "{more}: {data}");
    }
    let params = json!({ "itemid": id, "type": 0, "delay": "1m", "interfaceid": f.agent });
    f.server.call("item.update", &params).unwrap();
    f.server.call("item.update", &json!({ "itemid": id, "value_type": 4, "type": 7 })).unwrap();
    let ask = json!({ "itemids": id, "output": ["type", "interfaceid", "units", "trends"] });
    let expect = json!([{
        "itemid": id, "type": "7", "interfaceid": "0", "units": "", "trends": "0",
    }]);
    assert_eq!(f.server.call("item.get", &ask).unwrap(), expect);
}

#[test]
fn filters_of_rules_are_kept_as_clients_know_them() {
    let f = Fixture::new();
    let rule = |filter: &Json| {
        let params = json!({
            "hostid": f.template, "name": "r", "key_": "r", "type": 2, "filter": filter,
            "lld_macro_paths": [{ "lld_macro": "{#A}", "path": "$.a" }],
        });
        let made = f.server.call("discoveryrule.create", &params).map_err(|(_, data)| data)?;
        let id = made["itemids"][0].as_str().unwrap().to_owned();
        let ask = json!({ "itemids": id, "output": ["itemid"], "selectFilter": ["eval_formula"] });
        let shown = f.server.call("discoveryrule.get", &ask).unwrap();
        f.server.call("discoveryrule.delete", &json!([id])).unwrap();
        Ok::<_, String>(shown[0]["filter"]["eval_formula"].as_str().unwrap().to_owned())
    };
    let on = |names: &[&str]| -> Json {
        names.iter().map(|name| json!({ "macro": name, "value": "x" })).collect()
    };
    for (evaltype, names, formula) in [
        (0, &["{#A}", "{#A}"][..], "A or B"),
        (0, &["{#A}", "{#B}", "{#A}"], "(A or B) and C"),
        (1, &["{#B}", "{#A}"], "A and B"),
        (2, &["{#A}", "{#B}", "{#A}"], "(A or B) or C"),
        (0, &[], ""),
    ] {
        let filter = json!({ "evaltype": evaltype, "conditions": on(names) });
        assert_eq!(rule(&filter).as_deref(), Ok(formula), "{filter}");
    }
    let own = |formula: &str| {
        json!({ "evaltype": 3, "formula": formula, "conditions": [
            { "macro": "{#A}", "value": "x", "formulaid": "A" },
            { "macro": "{#B}", "operator": 12, "formulaid": "B" },
        ] })
    };
    assert_eq!(rule(&own("not A and (B or A)")).as_deref(), Ok("not A and (B or A)"));
    for (filter, refused) in [
        (own("A and C"), "/filter/formula\": missing filter condition \"C\""),
        (own("A"), "/filter/conditions/2/formulaid\": an identifier is not defined"),
        (own("A and"), "/filter/formula\": incorrect syntax near \"d\""),
        (json!({ "conditions": [] }), "/filter\": the parameter \"evaltype\" is missing"),
        (
            json!({ "evaltype": 0, "conditions": on(&["A"]) }),
            "/filter/conditions/1/macro\": a low-level discovery macro is expected",
        ),
    ] {
        let got = rule(&filter).unwrap_err();
        assert!(got.contains(refused), "{filter}: {got}");
    }
}

#[test]
fn prototypes_belong_to_their_rule() {
    let f = Fixture::new();
    let rule = f.server.create(
        "discoveryrule.create",
        &json!({ "hostid": f.template, "name": "r", "key_": "r", "type": 2 }),
    );
    let mut new = json!({
        "hostid": f.template, "ruleid": rule, "name": "p", "key_": "p", "type": 2, "value_type": 3,
    });
    let (_, data) = f.server.call("itemprototype.create", &new).unwrap_err();
    assert!(data.contains("must contain at least one low-level discovery macro"), "{data}");
    new["key_"] = "p[{#A}]".into();
    f.server.create("itemprototype.create", &new);
    let ask = json!({
        "hostids": f.host, "output": ["key_"], "selectDiscoveryRule": ["key_"],
    });
    let found = f.server.call("itemprototype.get", &ask).unwrap();
    assert_eq!(found[0]["discoveryRule"]["key_"], "r", "the copy belongs to the copied rule");
    assert_ne!(found[0]["discoveryRule"]["itemid"], *rule);
    let result = f.server.call("discoveryrule.delete", &json!([rule])).unwrap();
    assert_eq!(result, json!({ "ruleids": [rule] }));
    assert_eq!(f.server.call("itemprototype.get", &ask).unwrap(), json!([]));
}

/// A template `source` with an item `m`, a value map, and a rule that has everything.
fn source_rule(f: &Fixture) -> String {
    let group = f.server.call("template.get", &json!({ "selectTemplateGroups": ["groupid"] }));
    let group = group.unwrap()[0]["templategroups"][0]["groupid"].clone();
    let source = json!({ "host": "source", "groups": [{ "groupid": group }] });
    let source = f.server.create("template.create", &source);
    let new = |method: &str, more: Json| f.server.create(method, &more);
    let own = |method: &str, more: Json| {
        let mut all = json!({ "hostid": source });
        merge(&mut all, &more);
        f.server.create(method, &all)
    };
    let map = json!({ "name": "vm", "mappings": [{ "value": "1", "newvalue": "on" }] });
    let map = own("valuemap.create", map);
    own("item.create", json!({ "name": "m", "key_": "m", "type": 2, "value_type": 3 }));
    let step =
        json!([{ "type": 1, "params": "2", "error_handler": 0, "error_handler_params": "" }]);
    let rule = json!({ "name": "r", "key_": "r", "type": 0, "delay": "1m", "preprocessing": [{
            "type": 5, "params": "a\nb", "error_handler": 2, "error_handler_params": "x" }],
        "filter": { "evaltype": 0, "conditions": [{ "macro": "{#A}", "value": "x" }] },
        "lld_macro_paths": [{ "lld_macro": "{#A}", "path": "$.a" }] });
    let rule = own("discoveryrule.create", rule);
    let item = |more: Json| {
        let mut all = json!({ "ruleid": rule, "name": "p", "value_type": 3 });
        merge(&mut all, &more);
        own("itemprototype.create", all)
    };
    let first = item(json!({ "key_": "p[{#A}]", "type": 0, "delay": "1m", "valuemapid": map,
        "tags": [{ "tag": "a", "value": "b" }], "preprocessing": step }));
    item(json!({ "key_": "d[{#A}]", "type": 18, "master_itemid": first }));
    let trigger = json!({ "description": "t{#A}", "expression": "last(/source/p[{#A}])=1" });
    let trigger = new("triggerprototype.create", trigger);
    let second = json!({ "description": "u{#A}", "tags": [{ "tag": "x", "value": "" }],
        "expression": "last(/source/d[{#A}])=2 or last(/source/m)=1",
        "dependencies": [{ "triggerid": trigger }] });
    new("triggerprototype.create", second);
    let group = f.server.create("hostgroup.create", &json!({ "name": "VMs" }));
    let host = json!({ "ruleid": rule, "host": "h{#A}", "groupLinks": [{ "groupid": group }],
        "groupPrototypes": [{ "name": "x{#A}" }], "templates": [{ "templateid": f.template }],
        "tags": [{ "tag": "a" }], "macros": [{ "macro": "{$S}", "value": "s", "type": 1 }] });
    new("hostprototype.create", host);
    rule
}

#[test]
fn rules_are_copied_with_all_that_is_theirs() {
    let f = Fixture::new();
    let rule = source_rule(&f);
    let copy = |host: &str| json!({ "discoveryids": [rule], "hostids": [host] });
    let none = json!({ "discoveryids": ["9"], "hostids": [f.host] });
    f.server.refuses(&[
        ("discoveryrule.copy", json!({}), -32602, "No discovery rule IDs given."),
        ("discoveryrule.copy", json!({ "discoveryids": [rule] }), -32602, "No host IDs given."),
        ("discoveryrule.copy", none, -32500, "No permissions to referred object"),
        ("discoveryrule.copy", copy("9"), -32500, "No permissions to referred object"),
        (
            "discoveryrule.copy",
            copy(&f.host),
            -32602,
            "Incorrect item key \"m\" provided for trigger expression on \"web\".",
        ),
    ]);
    let get = |method: &str, params: Json| f.server.call(method, &params).unwrap();
    assert_eq!(get("discoveryrule.get", json!({ "hostids": f.host })), json!([]), "all or nothing");
    let item = json!({ "hostid": f.host, "name": "m", "key_": "m", "type": 2, "value_type": 3 });
    f.server.call("item.create", &item).unwrap();
    f.server.call("discoveryrule.copy", &copy(&f.host)).unwrap();
    let found = get(
        "discoveryrule.get",
        json!({ "hostids": f.host, "output": ["key_", "templateid", "interfaceid"],
        "selectPreprocessing": ["params"], "selectLLDMacroPaths": "extend",
        "selectHostPrototypes": ["host"] }),
    );
    let new = found[0]["itemid"].clone();
    let prototype = found[0]["hostPrototypes"][0]["hostid"].clone();
    assert_eq!(
        found,
        json!([{ "itemid": new, "key_": "r", "templateid": "0",
        "interfaceid": f.agent, "preprocessing": [{ "params": "a\nb" }],
        "lld_macro_paths": [{ "lld_macro": "{#A}", "path": "$.a" }],
        "hostPrototypes": [{ "hostid": prototype, "host": "h{#A}" }] }])
    );
    let found = get(
        "itemprototype.get",
        json!({ "discoveryids": new, "sortfield": "itemid",
        "output": ["key_", "master_itemid", "valuemapid", "interfaceid"],
        "selectTags": "extend", "selectPreprocessing": ["type"] }),
    );
    let master = found[0]["itemid"].clone();
    assert_eq!(
        found[0],
        json!({ "itemid": master, "key_": "p[{#A}]", "master_itemid": "0",
        "valuemapid": "0", "interfaceid": f.agent, "tags": [{ "tag": "a", "value": "b" }],
        "preprocessing": [{ "type": "1" }] })
    );
    assert_eq!(found[1]["master_itemid"], master);
    let found = get(
        "triggerprototype.get",
        json!({ "discoveryids": new, "sortfield": "triggerid",
        "output": ["description", "expression"], "expandExpression": true,
        "selectTags": ["tag"], "selectDependencies": ["description"] }),
    );
    assert_eq!(found[0]["expression"], "last(/web/p[{#A}])=1");
    assert_eq!(found[1]["expression"], "last(/web/d[{#A}])=2 or last(/web/m)=1");
    assert_eq!(found[1]["tags"], json!([{ "tag": "x" }]));
    assert_eq!(found[1]["dependencies"][0]["description"], "t{#A}");
    let found = get(
        "hostprototype.get",
        json!({ "hostids": prototype, "output": [],
        "selectTags": ["tag"], "selectMacros": ["macro"], "selectTemplates": "count",
        "selectGroupPrototypes": ["name"] }),
    );
    assert_eq!(
        found,
        json!([{ "hostid": prototype, "tags": [{ "tag": "a" }],
        "macros": [{ "macro": "{$S}" }], "templates": "1",
        "groupPrototypes": [{ "name": "x{#A}" }] }])
    );
    assert_eq!(
        f.server.count("SELECT COUNT(*) AS n FROM hostmacros WHERE type = 1 OR value <> ''"),
        1,
        "the copy of a secret is a text without a value"
    );
    let taken = "An LLD rule with key \"r\" already exists on the host \"web\".";
    f.server.refuses(&[("discoveryrule.copy", copy(&f.host), -32602, taken)]);
}

#[test]
fn a_rule_needs_its_master_and_interface_where_it_is_copied_to() {
    let f = Fixture::new();
    let rule = source_rule(&f);
    let group = f.server.create("hostgroup.create", &json!({ "name": "Bare" }));
    let bare = json!({ "host": "bare", "groups": [{ "groupid": group }] });
    let bare = f.server.create("host.create", &bare);
    let copy = |rule: &str| json!({ "discoveryids": [rule], "hostids": [bare] });
    let master =
        json!({ "hostid": f.host, "name": "m", "key_": "master", "type": 2, "value_type": 4 });
    let master = f.server.create("item.create", &master);
    let dependent = json!({ "hostid": f.host, "name": "dep", "key_": "dep", "type": 18,
        "master_itemid": master });
    let dependent = f.server.create("discoveryrule.create", &dependent);
    f.server.refuses(&[
        (
            "discoveryrule.copy",
            copy(&rule),
            -32602,
            "Cannot find host interface on \"bare\" for item key \"r\".",
        ),
        (
            "discoveryrule.copy",
            copy(&dependent),
            -32500,
            "Discovery rule \"dep\" cannot be copied without its master item.",
        ),
    ]);
}
