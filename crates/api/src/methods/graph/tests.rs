//! Methods of graphs, graph prototypes and graph items, on a server in a box.

use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// Host `web` linked to template `base`, which has the items `a`, `b` and `text`, and a rule with the prototypes
/// `p[{#A}]` and `q[{#A}]`.
struct Fixture {
    server: Server,
    host: String,
    template: String,
    rule: String,
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
        let host = server.create(
            "host.create",
            &json!({ "host": "web", "groups": [{ "groupid": group }],
                     "templates": [{ "templateid": template }] }),
        );
        let item = |key: &str, value_type: i64| {
            json!({ "hostid": template, "name": key, "key_": key, "type": 2,
                    "value_type": value_type })
        };
        for (key, value_type) in [("a", 3), ("b", 0), ("text", 4)] {
            server.create("item.create", &item(key, value_type));
        }
        let rule = json!({ "hostid": template, "name": "rule", "key_": "rule", "type": 2 });
        let rule = server.create("discoveryrule.create", &rule);
        for key in ["p[{#A}]", "q[{#A}]"] {
            let mut prototype = item(key, 3);
            prototype["ruleid"] = rule.as_str().into();
            server.create("itemprototype.create", &prototype);
        }
        Self { server, host, template, rule }
    }

    /// The id of an item of `web` or `base`.
    fn item(&self, host: &str, key: &str) -> String {
        self.server.text(&format!(
            "SELECT i.itemid FROM items i JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.host = '{host}' AND i.key_ = '{key}'"
        ))
    }

    fn shown(&self, host: &str, keys: &[&str]) -> Json {
        keys.iter()
            .map(|key| json!({ "itemid": self.item(host, key), "color": "00AA00" }))
            .collect()
    }

    fn make(&self, name: &str, host: &str, keys: &[&str]) -> String {
        let graph = json!({ "name": name, "gitems": self.shown(host, keys) });
        let method = if name.contains("{#") { "graphprototype.create" } else { "graph.create" };
        self.server.create(method, &graph)
    }

    /// Names and keys of the graphs of a host, prototypes too.
    fn graphs(&self, host: &str) -> Vec<String> {
        let params = json!({ "hostids": host, "output": ["name"], "selectItems": ["key_"],
                             "sortfield": "name" });
        let mut all = Vec::new();
        for method in ["graph.get", "graphprototype.get"] {
            let found = self.server.call(method, &params).unwrap();
            for graph in found.as_array().unwrap() {
                let keys = graph["items"].as_array().unwrap().iter();
                let keys: Vec<&str> = keys.map(|item| item["key_"].as_str().unwrap()).collect();
                all.push(format!("{}: {}", graph["name"].as_str().unwrap(), keys.join(" ")));
            }
        }
        all
    }
}

#[test]
fn hosts_inherit_graphs_and_follow_changes() {
    let f = Fixture::new();
    let graph = f.make("load", "base", &["a", "b"]);
    f.make("disk {#A}", "base", &["p[{#A}]", "a"]);
    assert_eq!(f.graphs(&f.host), ["load: a b", "disk {#A}: p[{#A}] a"]);
    let a = f.item("base", "a");
    let change = json!({ "graphid": graph, "name": "load 2", "width": 500, "ymax_type": 2,
                         "ymax_itemid": a, "gitems": f.shown("base", &["b"]) });
    f.server.call("graph.update", &change).unwrap();
    assert_eq!(f.graphs(&f.host), ["load 2: b", "disk {#A}: p[{#A}] a"]);
    let params = json!({ "hostids": f.host, "output": ["width", "ymax_itemid", "templateid"] });
    let found = f.server.call("graph.get", &params).unwrap();
    let expected = (json!("500"), json!(f.item("web", "a")), json!(graph));
    assert_eq!(
        (&found[0]["width"], &found[0]["ymax_itemid"], &found[0]["templateid"]),
        (&expected.0, &expected.1, &expected.2)
    );
    f.server.call("graph.delete", &json!([graph])).unwrap();
    assert_eq!(f.graphs(&f.host), ["disk {#A}: p[{#A}] a"]);
}

#[test]
fn links_give_graphs_and_unlinking_keeps_or_clears_them() {
    let f = Fixture::new();
    f.make("load", "base", &["a", "b"]);
    f.make("disk {#A}", "base", &["p[{#A}]"]);
    let all = ["load: a b", "disk {#A}: p[{#A}]"];
    let link = |templates: Json, member: &str| {
        f.server.call("host.update", &json!({ "hostid": f.host, member: templates })).unwrap();
    };
    let one = json!([{ "templateid": f.template }]);
    link(one.clone(), "templates_clear");
    assert!(f.graphs(&f.host).is_empty());
    link(one, "templates");
    assert_eq!(f.graphs(&f.host), all);
    link(json!([]), "templates");
    assert_eq!(f.graphs(&f.host), all);
    let own = "SELECT COUNT(*) AS n FROM graphs WHERE templateid > 0";
    assert_eq!(f.server.count(own), 0, "they are the host's own");
    // A host's own item prototypes do not become inherited ones.
    let rule = f.item("web", "rule");
    f.server.call("discoveryrule.delete", &json!([rule])).unwrap();
    link(json!([{ "templateid": f.template }]), "templates");
    assert_eq!(f.server.count(own), 2, "the equal one is inherited again");
}

#[test]
fn graphs_over_other_items_of_the_same_name_refuse_a_link() {
    let f = Fixture::new();
    let other = f.server.create(
        "template.create",
        &json!({ "host": "other", "groups": [{ "groupid": f.server.text(
            "SELECT groupid FROM groups_ WHERE name = 'Templates'") }] }),
    );
    let item = json!({ "hostid": other, "name": "c", "key_": "c", "type": 2, "value_type": 3 });
    f.server.create("item.create", &item);
    f.make("load", "other", &["c"]);
    f.make("load", "base", &["a"]);
    let both = json!({ "hostid": f.host,
                       "templates": [{ "templateid": f.template }, { "templateid": other }] });
    f.server.refuses(&[(
        "host.update",
        both,
        -32602,
        "Graph \"load\" already exists on \"web\" (inherited from another template).",
    )]);
}

#[test]
fn graphs_lose_deleted_items_and_go_with_the_last_one() {
    let f = Fixture::new();
    let a = f.item("base", "a");
    let graph = json!({ "name": "axis", "gitems": f.shown("base", &["b"]), "ymin_type": 2,
                        "ymin_itemid": a });
    f.server.create("graph.create", &graph);
    f.make("load", "base", &["a", "b"]);
    f.make("one", "base", &["a"]);
    f.server.call("item.delete", &json!([a])).unwrap();
    assert_eq!(f.graphs(&f.host), ["axis: b", "load: b"]);
    let axes = "SELECT COUNT(*) AS n FROM graphs WHERE ymin_type <> 0 OR ymin_itemid <> 0";
    assert_eq!(f.server.count(axes), 0);
    f.server.call("template.delete", &json!([f.template])).unwrap();
    for table in ["graphs", "graph_items"] {
        assert_eq!(f.server.count(&format!("SELECT COUNT(*) AS n FROM {table}")), 0, "{table}");
    }
}

#[test]
fn what_writes_refuse_and_items_without_an_order() {
    let f = Fixture::new();
    let own = json!({ "hostid": f.host, "name": "own", "key_": "own", "type": 2, "value_type": 3 });
    f.server.create("item.create", &own);
    let graph = f.make("load", "base", &["a", "b"]);
    let orders = format!("SELECT SUM(sortorder) AS n FROM graph_items WHERE graphid = {graph}");
    assert_eq!(f.server.count(&orders), 1, "0 and 1");
    let inherited = f.server.text("SELECT graphid FROM graphs WHERE templateid > 0");
    let (a, text) = (f.item("base", "a"), f.item("base", "text"));
    let shown = |item: &str, more: Json| {
        let mut one = json!({ "itemid": item });
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([one])
    };
    let color = json!({ "color": "00AA00" });
    let new = |gitems: Json| json!({ "name": "new", "gitems": gitems });
    let create = |params: Json, code: i64, text: &'static str| ("graph.create", params, code, text);
    let prototype =
        |params: Json, text: &'static str| ("graphprototype.create", params, -32602, text);
    let mixed = json!([{ "itemid": a, "color": "00AA00" },
                       { "itemid": f.item("web", "own"), "color": "00AA00" }]);
    let fixed = json!({ "name": "new", "gitems": shown(&a, color.clone()), "ymin_type": 1,
                        "ymax_type": 1, "yaxismin": 5, "yaxismax": "5.0" });
    let absent = "No permissions to referred object or it does not exist!";
    f.server.refuses(&[
        create(json!({ "gitems": [] }), -32602, "Missing \"name\" field for graph."),
        create(new(json!([])), -32602, "Missing items for graph \"new\"."),
        create(new(shown(&a, json!({}))), -32602, "No \"color\" given for graph."),
        create(new(shown(&a, json!({ "color": "x" }))), -32602, "Color \"x\" is not correct"),
        create(new(shown("999999", color.clone())), -32500, absent),
        create(
            new(shown(&text, color.clone())),
            -32602,
            "Cannot add a non-numeric item \"text\" to graph \"new\".",
        ),
        create(
            new(mixed),
            -32602,
            "Graph \"new\" with templated items cannot contain items from other hosts.",
        ),
        create(fixed, -32602, "Y axis MAX value must be greater than Y axis MIN value."),
        create(
            json!({ "name": "load", "gitems": shown(&a, color.clone()) }),
            -32602,
            "Graph \"load\" already exists on the template \"base\".",
        ),
        create(
            json!({ "name": "new", "gitems": shown(&a, color.clone()), "width": "wide" }),
            -32500,
            "Incorrect value \"wide\" for int field \"width\".",
        ),
        prototype(
            new(shown(&a, color)),
            "Graph prototype \"new\" must have at least one item prototype.",
        ),
        (
            "graph.update",
            json!({ "graphid": inherited, "width": 500 }),
            -32602,
            "Cannot update a templated graph \"load\".",
        ),
        ("graph.update", json!({ "graphid": 999_999 }), -32602, absent),
        ("graph.delete", json!([inherited]), -32602, "Cannot delete templated graph."),
        ("graph.delete", json!([999_999]), -32500, absent),
    ]);
}

#[test]
fn graphs_of_one_call_have_different_uuids() {
    let f = Fixture::new();
    let uuid = |end: u8| format!("5f8ba0c4a4b14c7f9c1b4a3b6f7d8e{end:02x}");
    let graph = |name: &str, uuid: &str| json!({ "name": name, "uuid": uuid, "gitems": f.shown("base", &["a"]) });
    let error =
        |end| format!("Invalid parameter \"/2\": value (uuid)=({}) already exists.", uuid(end));
    let both = json!([graph("x", &uuid(1)), graph("y", &uuid(1))]);
    assert_eq!(f.server.call("graph.create", &both).unwrap_err().1, error(1));
    let both = json!([graph("x", &uuid(1)), graph("y", &uuid(2))]);
    let ids = f.server.call("graph.create", &both).unwrap()["graphids"].clone();
    let change = |n: usize| json!({ "graphid": ids[n], "uuid": uuid(3) });
    let refused = f.server.call("graph.update", &json!([change(0), change(1)])).unwrap_err();
    assert_eq!(refused.1, error(3));
}

#[test]
fn users_see_graphs_of_hosts_that_they_see() {
    let f = Fixture::new();
    f.make("load", "base", &["a"]);
    let group = f.server.text("SELECT groupid FROM groups_ WHERE name = 'Hosts'");
    let user = f.server.user("reader", "1", &[(&group, 2)]);
    let none = f.server.user("stranger", "1", &[]);
    for (session, graphs) in [(&user, 1), (&none, 0)] {
        for method in ["graph.get", "graphitem.get"] {
            let found = f.server.call_as(Some(session), method, &json!({})).unwrap();
            assert_eq!(found.as_array().unwrap().len(), graphs, "{method}");
        }
    }
    let admin = f.server.user("admin", "2", &[(&group, 2)]);
    let graph = json!({ "name": "x", "gitems": f.shown("web", &["a"]) });
    let refused = f.server.call_as(Some(&admin), "graph.create", &graph).unwrap_err();
    assert_eq!(refused.1, "No permissions to referred object or it does not exist!");
}

#[test]
fn what_objects_show_of_graphs() {
    let f = Fixture::new();
    let graph = f.make("load", "base", &["a", "b"]);
    let disk = f.make("disk {#A}", "base", &["p[{#A}]", "a"]);
    let name = json!(["name"]);
    let shown = |id: &str, name: &str| json!([{ "graphid": id, "name": name }]);
    let (a, p) = (f.item("base", "a"), f.item("base", "p[{#A}]"));
    f.server.answers(&[
        (
            "item.get",
            json!({ "itemids": a, "output": ["itemid"], "selectGraphs": name }),
            json!([{ "itemid": a, "graphs": shown(&graph, "load") }]),
        ),
        (
            "itemprototype.get",
            json!({ "itemids": p, "output": ["itemid"], "selectGraphs": name }),
            json!([{ "itemid": p, "graphs": shown(&disk, "disk {#A}") }]),
        ),
        (
            "discoveryrule.get",
            json!({ "itemids": f.rule, "output": ["itemid"], "selectGraphs": name }),
            json!([{ "itemid": f.rule, "graphs": shown(&disk, "disk {#A}") }]),
        ),
        (
            "template.get",
            json!({ "templateids": f.template, "output": ["templateid"], "selectGraphs": "count" }),
            json!([{ "templateid": f.template, "graphs": "1" }]),
        ),
        ("host.get", json!({ "graphids": graph, "output": ["hostid"] }), json!([])),
        (
            "template.get",
            json!({ "graphids": graph, "output": ["templateid"] }),
            json!([{ "templateid": f.template }]),
        ),
        (
            "host.get",
            json!({ "with_graphs": true, "with_graph_prototypes": true, "output": ["host"] }),
            json!([{ "hostid": f.host, "host": "web" }]),
        ),
        (
            "item.get",
            json!({ "graphids": graph, "output": ["key_"], "sortfield": "itemid" }),
            json!([{ "itemid": a, "key_": "a" }, { "itemid": f.item("base", "b"), "key_": "b" }]),
        ),
        (
            "graph.get",
            json!({ "graphids": graph, "output": ["graphid"], "selectTemplates": ["host"],
                    "selectTemplateGroups": name }),
            json!([{ "graphid": graph, "templategroups": [{ "name": "Templates" }],
                     "templates": [{ "templateid": f.template, "host": "base" }] }]),
        ),
    ]);
}

#[test]
fn stored_graphs_of_earlier_versions_become_objects() {
    let f = Fixture::new();
    let doc = |name: &str, key: &str| {
        json!({ "uuid": format!("5f8ba0c4a4b14c7f9c1b4a3b6f7d8e{:02x}", name.len()), "name": name, "graph_items": [
                { "color": "1A7C11", "item": { "host": "base", "key": key } }] })
    };
    let (graph, prototype) = (doc("load", "a"), doc("disk {#A}", "p[{#A}]"));
    let broken = doc("gone", "no such item");
    let row = |id: u32, kind: &str, doc: &Json| {
        format!(
            "INSERT INTO parts (partid, hostid, kind, name, doc) \
             VALUES ({id}, {}, '{kind}', '{}', '{doc}')",
            f.template,
            doc["name"].as_str().unwrap()
        )
    };
    let rows = [
        row(1, "graph", &graph),
        row(2, "graph_prototype", &prototype),
        row(3, "graph", &broken),
        row(4, "dashboard", &json!({ "name": "d" })),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    f.server.write_sql(&rows);
    for _ in 0..2 {
        f.server.api.convert_stored_objects().unwrap();
        assert_eq!(f.graphs(&f.host), ["load: a", "disk {#A}: p[{#A}]"]);
        assert_eq!(f.server.count("SELECT SUM(partid) AS n FROM parts"), 7, "one cannot be read");
    }
}

#[test]
fn stored_graphs_follow_a_renamed_host() {
    let f = Fixture::new();
    let item = |key: &str| json!({ "host": "base", "key": key });
    let doc = json!({ "name": "load", "ymax_type_1": "ITEM", "ymax_item_1": item("b"),
                      "graph_items": [{ "color": "1A7C11", "item": item("a") }] });
    f.server.write_sql(&[&format!(
        "INSERT INTO parts (partid, hostid, kind, name, doc) \
         VALUES (1, {}, 'graph', 'load', '{doc}')",
        f.template
    )]);
    let renamed = json!({ "templateid": f.template, "host": "renamed" });
    f.server.call("template.update", &renamed).unwrap();
    f.server.api.convert_stored_objects().unwrap();
    assert_eq!(f.graphs(&f.host), ["load: a"]);
    assert_eq!(f.server.count("SELECT COUNT(*) AS n FROM parts"), 0);
}

#[test]
fn discovery_rules_are_copied_with_their_graph_prototypes() {
    let f = Fixture::new();
    f.make("disk {#A}", "base", &["p[{#A}]", "a"]);
    let group = f.server.text("SELECT groupid FROM groups_ WHERE name = 'Hosts'");
    let host = json!({ "host": "copy", "groups": [{ "groupid": group }] });
    let host = f.server.create("host.create", &host);
    let item = json!({ "hostid": host, "name": "a", "key_": "a", "type": 2, "value_type": 3 });
    f.server.create("item.create", &item);
    let copy = json!({ "discoveryids": [f.rule], "hostids": [host] });
    f.server.call("discoveryrule.copy", &copy).unwrap();
    assert_eq!(f.graphs(&host), ["disk {#A}: p[{#A}] a"]);
}
