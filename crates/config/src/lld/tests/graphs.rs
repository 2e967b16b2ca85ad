//! Graphs.

use super::*;

impl Box {
    /// A graph prototype over these items, or a graph if the name has no macros.
    fn graph(&self, name: &str, items: &[u64], more: More<'_>) -> u64 {
        let flags = if name.contains("{#") { 2 } else { 0 };
        let mut columns: Columns = vec![("name", name.into()), ("flags", Value::from(flags))];
        columns.extend_from_slice(more);
        let item = |itemid: &u64| GraphItem {
            itemid: *itemid,
            color: "00AA00".to_owned(),
            ..GraphItem::default()
        };
        let items = items.iter().map(item).collect();
        self.edit(|e| Ok(create_graphs(e, &[NewGraph { columns, items }])?[0]))
    }

    /// `name: keys of its items` of discovered graphs.
    fn graphs(&self) -> String {
        self.shown(
            "SELECT g.name || ':' || GROUP_CONCAT(i.key_) AS v FROM graphs g \
             JOIN graph_items f ON f.graphid = g.graphid JOIN items i ON i.itemid = f.itemid \
             WHERE g.flags = 4 GROUP BY g.graphid",
        )
    }
}

#[test]
fn rows_give_graphs_of_their_items() {
    let b = Box::new(&[]);
    let (p, q) = (b.item("p[{#N}]", &[]), b.item("q[{#N}]", &[]));
    let plain = b.item_on(b.host, "plain", &[], &[]);
    b.graph("G {#N}", &[p, q, plain], &[("ymax_type", 2.into()), ("ymax_itemid", q.into())]);
    let summary = b.discover(&rows("a b"));
    assert_eq!(summary.created.graphs, 2);
    assert_eq!(b.graphs(), "G a:p[a],q[a],plain|G b:p[b],q[b],plain");
    let axes = "SELECT i.key_ AS v FROM graphs g JOIN items i ON i.itemid = g.ymax_itemid \
                WHERE g.flags = 4";
    assert_eq!(b.shown(axes), "q[a]|q[b]");
    b.stays(&rows("a b"));
}

#[test]
fn graphs_follow_their_prototype_and_keep_their_ids() {
    let b = Box::new(&[]);
    let (p, q) = (b.item("p[{#N}]", &[]), b.item("q[{#N}]", &[]));
    let graph = b.graph("G {#N}", &[p], &[]);
    b.discover(&rows("a"));
    let ids = "SELECT graphid AS v FROM graphs WHERE flags = 4";
    let before = b.shown(ids);
    let item = |itemid| GraphItem { itemid, color: "AA0000".to_owned(), ..GraphItem::default() };
    b.edit(|e| {
        let columns = vec![("name", "H {#N}".into()), ("width", 500.into())];
        let items = Some(vec![item(p), item(q)]);
        update_graphs(e, &[GraphChange { id: graph, columns, items }])
    });
    assert_eq!(b.discover(&rows("a")).updated.graphs, 1);
    assert_eq!((b.graphs(), b.shown(ids)), ("H a:p[a],q[a]".to_owned(), before));
    assert_eq!(b.shown("SELECT width AS v FROM graphs WHERE flags = 4"), "500");
    assert_eq!(
        b.shown(
            "SELECT color AS v FROM graph_items WHERE graphid IN \
                        (SELECT graphid FROM graphs WHERE flags = 4)"
        ),
        "AA0000|AA0000"
    );
    b.stays(&rows("a"));
}

#[test]
fn swapped_items_are_no_lasting_difference() {
    let b = Box::new(&[]);
    let (p, q) = (b.item("p[{#N}]", &[]), b.item("q[{#N}]", &[]));
    let graph = b.graph("G {#N}", &[p, q], &[]);
    b.discover(&rows("a"));
    let sql = format!("SELECT gitemid AS v FROM graph_items WHERE graphid = {graph}");
    let rows_of: Vec<u64> = b.shown(&sql).split('|').map(|id| id.parse().unwrap()).collect();
    let item = |gitemid, itemid| {
        let color = "00AA00".to_owned();
        GraphItem { gitemid, itemid, color, ..GraphItem::default() }
    };
    let items = Some(vec![item(rows_of[0], q), item(rows_of[1], p)]);
    b.edit(|e| update_graphs(e, &[GraphChange { id: graph, columns: vec![], items }]));
    b.discover(&rows("a"));
    b.stays(&rows("a"));
    assert_eq!(b.graphs(), "G a:p[a],q[a]");
}

#[test]
fn graph_prototypes_go_with_their_last_item_prototype() {
    let b = Box::new(&[("lifetime_type", 2.into())]);
    let p = b.item("p[{#N}]", &[]);
    let plain = b.item_on(b.host, "plain", &[], &[]);
    b.graph("G {#N}", &[p, plain], &[]);
    b.graph("plain", &[plain], &[]);
    b.discover(&rows("a"));
    b.edit(|e| Ok(delete_items(e, &[p])?));
    assert_eq!(b.shown("SELECT name AS v FROM graphs"), "plain");
}

#[test]
fn lost_graphs_are_kept_for_the_lifetime() {
    let b = Box::new(&[("lifetime", "100s".into()), ("enabled_lifetime_type", 1.into())]);
    let p = b.item("p[{#N}]", &[]);
    let graph = b.graph("G {#N}", &[p], &[]);
    b.discover(&rows("a b"));
    b.edit(|e| {
        let columns = vec![("discover", 1.into())];
        update_graphs(e, &[GraphChange { id: graph, columns, items: None }])
    });
    assert_eq!(b.discover_at(&rows("a b"), 1_010).lost.graphs, 2);
    let marks = "SELECT status || ' ' || lastcheck || ' ' || ts_delete AS v FROM graph_discovery";
    assert_eq!(b.shown(marks), "1 1010 1110|1 1010 1110");
    b.discover_at(&rows("a b"), 1_109);
    assert_eq!(b.graphs(), "G a:p[a]|G b:p[b]");
    b.discover_at(&rows("a b"), 1_110);
    assert_eq!(b.graphs(), "");
    assert_eq!(b.keys(), "p[a]|p[b]");
}

#[test]
fn taken_name_is_refused() {
    let b = Box::new(&[]);
    let p = b.item("p[{#N}]", &[]);
    let plain = b.item_on(b.host, "plain", &[], &[]);
    b.graph("G a", &[plain], &[]);
    b.graph("G {#N}", &[p], &[]);
    let summary = b.discover_at(&rows("a b"), 1_000);
    let error = "Cannot make graph \"G a\": the host has a graph of this name.";
    assert_eq!((&*summary.error, b.graphs()), (error, "G b:p[b]".to_owned()));
}

#[test]
fn graphs_go_with_their_items_and_prototypes() {
    let b = Box::new(&[("lifetime_type", 2.into())]);
    let (p, q) = (b.item("p[{#N}]", &[]), b.item("q[{#N}]", &[]));
    b.graph("G {#N}", &[p], &[]);
    let both = b.graph("B {#N}", &[p, q], &[]);
    b.discover(&rows("a b"));
    b.discover(&rows("a"));
    assert_eq!(b.graphs(), "B a:p[a],q[a]|G a:p[a]");
    b.edit(|e| Ok(delete_items(e, &[p])?));
    assert_eq!(b.graphs(), "B a:q[a]");
    b.edit(|e| Ok(delete_graphs(e, &[both])?));
    assert_eq!(b.shown("SELECT name AS v FROM graphs"), "");
    assert_eq!(b.shown("SELECT gitemid AS v FROM graph_items"), "");
}
