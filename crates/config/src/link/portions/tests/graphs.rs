//! Graphs that hosts take over, and those that are in their way.

use super::*;

impl Box {
    /// A graph of these items.
    fn graph(&self, name: &str, items: &[u64]) -> Result<u64, LinkError> {
        let item = |itemid: &u64| GraphItem { itemid: *itemid, ..GraphItem::default() };
        let items = items.iter().map(item).collect();
        let new = NewGraph { columns: vec![("name", name.into())], items };
        self.config.write(|edit| Ok(create_graphs(edit, &[new])?[0]))
    }

    fn item_of(&self, host: u64, key: &str) -> u64 {
        let made = self.config.write(|edit| create_items(edit, &[item(host, key)]));
        made.unwrap()[0]
    }

    /// A template with this item and a graph of it.
    fn with_graph(&self, template: &str, key: &str, name: &str) -> u64 {
        let template = self.config.write(|edit| host(edit, template, 1)).unwrap();
        self.graph(name, &[self.item_of(template, key)]).unwrap();
        template
    }

    /// `name number` of inherited graphs of hosts.
    fn inherited_graphs(&self) -> Vec<String> {
        self.read(
            "SELECT g.name || ' ' || COUNT(DISTINCT g.graphid) AS v FROM graphs g \
             JOIN graph_items f ON f.graphid = g.graphid JOIN items i ON i.itemid = f.itemid \
             JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = 0 AND g.templateid > 0 \
             GROUP BY g.name",
        )
    }

    fn rename(&self, graph: u64, name: &str) -> Result<(), LinkError> {
        let change = GraphChange { id: graph, columns: vec![("name", name.into())], items: None };
        self.config.write(|edit| update_graphs(edit, &[change]))
    }
}

const OTHER_ITEMS: &str = "Graph \"load\" already exists on \"h2\" (items are not identical).";

#[test]
fn own_graph_of_any_host_refuses_a_link() {
    let b = Box::new(3);
    let second = b.with_graph("second", "s", "load");
    let own = b.item_of(b.hosts[2], "own");
    b.graph("load", &[own]).unwrap();
    let before = b.links();
    for to in [b.hosts.clone(), vec![b.app()]] {
        let refused = b.link(&to, second).unwrap_err().to_string();
        assert_eq!(refused, OTHER_ITEMS);
        assert_eq!((b.links(), b.inherited("s")[0], b.left()), (before, 0, 0));
    }
}

#[test]
fn own_graph_of_the_same_items_is_inherited_by_a_link() {
    let b = Box::new(3);
    let second = b.with_graph("second", "s", "load");
    let own = b.item_of(b.hosts[2], "s");
    let graph = b.graph("load", &[own]).unwrap();
    b.link(&b.hosts, second).unwrap();
    assert_eq!((b.inherited_graphs(), b.left()), (vec!["load 3".to_owned()], 0));
    let sql = format!("SELECT templateid AS v FROM graphs WHERE graphid = {graph}");
    assert_ne!(b.read(&sql), ["0"], "the host keeps its graph");
}

#[test]
fn graph_of_other_hosts_items_too_refuses_a_link() {
    let b = Box::new(3);
    let second = b.with_graph("second", "s", "load");
    let items = [b.item_of(b.hosts[2], "s"), b.item_of(b.hosts[0], "s")];
    b.graph("load", &items).unwrap();
    for to in [&b.hosts[2..], &b.hosts] {
        let refused = b.link(to, second).unwrap_err().to_string();
        assert!(refused.ends_with("(items are not identical)."), "{refused}");
    }
    assert_eq!(b.read("SELECT gitemid AS v FROM graph_items").len(), 3);
}

#[test]
fn templates_with_graphs_of_one_name_are_not_both_linked() {
    for hosts in [1, 3] {
        let b = Box::new(hosts);
        let (second, third) =
            (b.with_graph("second", "s", "load"), b.with_graph("third", "t", "load"));
        let refused = b
            .config
            .write(|edit| super::super::super::link_templates(edit, &b.hosts, &[second, third]))
            .unwrap_err();
        let text = "Graph \"load\" already exists on \"h0\"";
        assert_eq!(refused.to_string(), format!("{text}."), "{hosts} hosts");
        b.link(&b.hosts, second).unwrap();
        let refused = b.link(&b.hosts, third).unwrap_err().to_string();
        let expected = format!("{text} (inherited from another template).");
        assert_eq!(refused, expected, "{hosts} hosts");
    }
}

#[test]
fn new_graphs_and_names_are_checked_on_all_hosts() {
    let b = Box::new(3);
    let item = b.create(&["a"]).unwrap()[0];
    let own = b.item_of(b.hosts[2], "own");
    b.graph("load", &[own]).unwrap();
    assert_eq!(b.graph("load", &[item]).unwrap_err().to_string(), OTHER_ITEMS);
    let graph = b.graph("free", &[item]).unwrap();
    let refused = b.rename(graph, "load").unwrap_err().to_string();
    assert_eq!(refused, "Graph \"load\" already exists on \"h2\".");
    assert_eq!((b.inherited_graphs(), b.left()), (vec!["free 3".to_owned()], 0));
    b.rename(graph, "other").unwrap();
    assert_eq!((b.inherited_graphs(), b.left()), (vec!["other 3".to_owned()], 0));
}

#[test]
fn later_conflict_of_a_graph_leaves_the_items() {
    let b = Box::new(3);
    let second = b.with_graph("second", "s", "load");
    let more = b.item_of(second, "m");
    b.graph("more", &[more]).unwrap();
    b.stopped_after_one_host(|edit| super::super::super::link_templates(edit, &b.hosts, &[second]));
    let own = b.item_of(b.hosts[2], "own");
    b.graph("load", &[own]).unwrap();
    let b = b.start_again();
    assert_eq!((b.inherited("s")[0], b.left()), (3, 0));
    assert_eq!(b.inherited_graphs(), ["load 2", "more 3"]);
}
