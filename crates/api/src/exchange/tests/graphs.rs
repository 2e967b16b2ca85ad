//! Graphs over items of several hosts, and graph prototypes of several rules.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// Hosts `a` and `b` in groups of their own, each with an item `i`.
struct Fixture {
    server: Server,
    groups: [String; 2],
    hosts: [String; 2],
    items: [String; 2],
}

impl Fixture {
    fn new() -> Self {
        let server = Server::start();
        let groups =
            ["A", "B"].map(|name| server.create("hostgroup.create", &json!({ "name": name })));
        let host = |name: &str, group: &str| {
            server.create("host.create", &json!({ "host": name, "groups": [{ "groupid": group }] }))
        };
        let hosts = [host("a", &groups[0]), host("b", &groups[1])];
        let item = |host: &String| server.create("item.create", &item(host, "i"));
        let items = [item(&hosts[0]), item(&hosts[1])];
        Self { server, groups, hosts, items }
    }

    fn graph(&self, name: &str, items: &[&String], more: &Json) -> String {
        let mut graph = json!({ "name": name, "gitems": shown(items) });
        graph.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.server.create("graph.create", &graph)
    }

    /// The export of a host as the user of the session has it, by default the super administrator.
    fn exported(&self, session: Option<&str>, host: &str) -> Json {
        let params = json!({ "format": "json", "options": { "hosts": [host] } });
        let text = match session {
            Some(_) => self.server.call_as(session, "configuration.export", &params),
            None => self.server.call("configuration.export", &params),
        };
        let text = text.unwrap();
        serde_json::from_str(text.as_str().unwrap()).unwrap()
    }

    fn import(&self, tree: &Json) {
        let all = json!({ "createMissing": true, "updateExisting": true, "deleteMissing": true });
        let params = json!({ "format": "json", "source": tree.to_string(), "rules": {
            "hosts": { "updateExisting": true }, "graphs": all, "discoveryRules": all } });
        self.server.call("configuration.import", &params).unwrap();
    }

    fn names(&self, method: &str, host: &str) -> Vec<String> {
        let params = json!({ "hostids": host, "output": ["name"], "sortfield": "graphid" });
        let found = self.server.call(method, &params).unwrap();
        let name = |graph: &Json| graph["name"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(name).collect()
    }
}

fn item(host: &str, key: &str) -> Json {
    json!({ "hostid": host, "name": key, "key_": key, "type": 2, "value_type": 3 })
}

fn shown(items: &[&String]) -> Json {
    items.iter().map(|id| json!({ "itemid": id, "color": "00AA00" })).collect()
}

fn graph_names(tree: &Json) -> Vec<&str> {
    let graphs = tree["zabbix_export"]["graphs"].as_array().unwrap();
    graphs.iter().map(|graph| graph["name"].as_str().unwrap()).collect()
}

#[test]
fn exports_have_graphs_of_readable_hosts_alone() {
    let f = Fixture::new();
    let [a, b] = &f.items;
    f.graph("axis", &[a], &json!({ "ymax_type": 2, "ymax_itemid": b }));
    f.graph("both", &[a, b], &json!({}));
    f.graph("own", &[a], &json!({}));
    let user = f.server.user("u", "2", &[(&f.groups[0], 3)]);
    assert_eq!(graph_names(&f.exported(Some(&user), &f.hosts[0])), ["own"]);
    assert_eq!(graph_names(&f.exported(None, &f.hosts[0])), ["axis", "both", "own"]);
}

#[test]
fn only_graphs_of_imported_hosts_may_be_missing() {
    let f = Fixture::new();
    let [a, b] = &f.items;
    f.graph("both", &[b, a], &json!({}));
    f.graph("gone", &[a], &json!({ "ymax_type": 2, "ymax_itemid": b }));
    f.graph("of others too", &[a, b], &json!({}));
    let mut tree = f.exported(None, &f.hosts[0]);
    let graphs = tree["zabbix_export"]["graphs"].as_array_mut().unwrap();
    graphs.retain(|graph| graph["name"] == "both");
    graphs[0]["width"] = "500".into();
    f.import(&tree);
    assert_eq!(f.names("graph.get", &f.hosts[0]), ["both", "of others too"]);
    assert_eq!(f.server.text("SELECT width FROM graphs WHERE name = 'both'"), "500");
}

#[test]
fn rules_have_graph_prototypes_of_one_name() {
    let f = Fixture::new();
    let host = &f.hosts[0];
    for key in ["r", "s"] {
        let rule = json!({ "hostid": host, "name": key, "key_": key, "type": 2 });
        let rule = f.server.create("discoveryrule.create", &rule);
        let mut prototype = item(host, &format!("{key}[{{#A}}]"));
        prototype["ruleid"] = rule.into();
        let prototype = f.server.create("itemprototype.create", &prototype);
        let graph = json!({ "name": "load {#A}", "gitems": shown(&[&f.items[0], &prototype]) });
        f.server.create("graphprototype.create", &graph);
    }
    let ids = "SELECT SUM(graphid) AS n FROM graphs WHERE flags = 2";
    let before = f.server.count(ids);
    let tree = f.exported(None, host);
    f.import(&tree);
    assert_eq!(f.names("graphprototype.get", host), ["load {#A}"; 2]);
    assert_eq!(f.server.count(ids), before);
    assert_eq!(f.exported(None, host), tree);
}
