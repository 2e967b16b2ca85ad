//! Which items a graph may show, and which names it may have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::Edit;
use config::db::{Row, Value, placeholders, query_by_ids};
use config::objects::GraphItem;
use const_format::formatcp;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_REAL};
use objects::{HostKind, Origin, ValueType};

use super::Kind;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::object::taken as repeated;
use crate::permission::{Need, and, on_hosts};

/// A graph as it will be.
pub(super) struct Graph {
    /// 0 = a new one.
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) items: Vec<GraphItem>,
    /// Items that the ends of the axis follow; 0 = none.
    pub(super) axes: [u64; 2],
    /// 2 and 3 are pies.
    pub(super) graphtype: i64,
}

impl Graph {
    fn is_pie(&self) -> bool {
        matches!(self.graphtype, 2 | 3)
    }
}

/// Items that the user may change, with their hosts.
pub(super) struct Items(HashMap<u64, Row>);

impl Items {
    /// Loads what the graphs name.
    pub(super) fn load(call: &Call<'_>, edit: &mut Edit<'_>, graphs: &[Graph]) -> ApiResult<Self> {
        let named = graphs
            .iter()
            .flat_map(|graph| graph.items.iter().map(|item| item.itemid).chain(graph.axes));
        let ids: BTreeSet<u64> = named.filter(|id| *id > 0).collect();
        let right = and(on_hosts(call.user(), Need::Write, "i.hostid"));
        let sql = format!(
            "SELECT i.itemid, i.name, i.flags, i.ruleid, i.value_type, i.hostid, h.kind, h.host \
             FROM items i JOIN hosts h ON h.hostid = i.hostid WHERE i.itemid IN ({{ids}}){right}"
        );
        let rows = query_by_ids(edit, &sql, &[], &Vec::from_iter(ids))?;
        Ok(Self(rows.into_iter().map(|row| (row.id("itemid"), row)).collect()))
    }

    /// The item, if graphs of this kind may show it.
    fn get(&self, id: u64, kind: Kind) -> ApiResult<&Row> {
        let fits = |row: &&Row| match Origin::from_number(row.int("flags")) {
            Some(Origin::Plain | Origin::Discovered) => true,
            Some(Origin::Prototype) => kind == Kind::Prototype,
            _ => false,
        };
        self.0.get(&id).filter(fits).ok_or_else(ApiError::no_object)
    }

    /// Whether the graph belongs to a template.
    pub(super) fn are_of_template(&self, graph: &Graph) -> bool {
        let first = graph.items.first().and_then(|item| self.0.get(&item.itemid));
        first.is_some_and(|row| HostKind::Template.is(row.int("kind")))
    }

    /// Refuses items that the graph may not show, alone or together.
    pub(super) fn check(&self, graph: &Graph, kind: Kind) -> ApiResult<()> {
        let name = &graph.name;
        let mut rows = Vec::with_capacity(graph.items.len());
        for item in &graph.items {
            rows.push(self.get(item.itemid, kind)?);
        }
        rows.iter().try_for_each(|row| check_number(row, kind.word(), name))?;
        let axes: Vec<u64> = graph.axes.into_iter().filter(|id| *id > 0).collect();
        for id in axes {
            let row = self.get(id, kind)?;
            check_number(row, "graph", name)?;
            rows.push(row);
        }
        if kind == Kind::Prototype {
            check_prototypes(graph, &rows[..graph.items.len()])?;
        }
        let hosts: BTreeMap<u64, i64> =
            rows.iter().map(|row| (row.id("hostid"), row.int("kind"))).collect();
        if hosts.len() > 1 && hosts.values().any(|kind| HostKind::Template.is(*kind)) {
            return Err(ApiError::params(format!(
                "{} \"{name}\" with templated items cannot contain items from other hosts.",
                kind.title()
            )));
        }
        check_pie(graph, kind)
    }
}

fn check_number(row: &Row, word: &str, graph: &str) -> ApiResult<()> {
    if ValueType::from_number(row.int("value_type")).is_some_and(ValueType::is_numeric) {
        return Ok(());
    }
    let item = row.text("name");
    let text = format!("Cannot add a non-numeric item \"{item}\" to {word} \"{graph}\".");
    Err(ApiError::params(text))
}

/// A graph prototype shows item prototypes of one discovery rule.
fn check_prototypes(graph: &Graph, rows: &[&Row]) -> ApiResult<()> {
    let prototypes = rows.iter().filter(|row| Origin::Prototype.is(row.int("flags")));
    let rules: BTreeSet<u64> = prototypes.map(|row| row.id("ruleid")).collect();
    let name = &graph.name;
    match rules.len() {
        0 => Err(ApiError::params(format!(
            "Graph prototype \"{name}\" must have at least one item prototype."
        ))),
        1 => Ok(()),
        _ => Err(ApiError::params(format!(
            "Graph prototype \"{name}\" contains item prototypes from multiple discovery rules."
        ))),
    }
}

/// A pie has one sum at most.
fn check_pie(graph: &Graph, kind: Kind) -> ApiResult<()> {
    let sums = graph.items.iter().filter(|item| item.is_sum()).count();
    if graph.is_pie() && sums > 1 {
        return Err(ApiError::params(format!(
            "Cannot add more than one item with type \"Graph sum\" on {} \"{}\".",
            kind.word(),
            graph.name
        )));
    }
    Ok(())
}

/// Where a name must be unique: on a host or template, for prototypes on a discovery rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    host: u64,
    /// 0 = none.
    rule: u64,
}

impl Place {
    fn of(row: &Row, kind: Kind) -> Option<Self> {
        let (host, rule) = (row.id("hostid"), row.id("ruleid"));
        match kind {
            Kind::Graph => Some(Self { host, rule: 0 }),
            Kind::Prototype => (rule > 0).then_some(Self { host, rule }),
        }
    }

    /// As messages name it.
    fn words(self, edit: &mut Edit<'_>) -> ApiResult<String> {
        let sql = "SELECT h.host, h.kind, COALESCE(r.key_, '') AS key_ FROM hosts h \
                   LEFT JOIN items r ON r.itemid = ? WHERE h.hostid = ?";
        let rows = edit.query(sql, &[self.rule.into(), self.host.into()])?;
        let Some(row) = rows.first() else { return Err(ApiError::no_object()) };
        let what = if HostKind::Template.is(row.int("kind")) { "template" } else { "host" };
        let owner = format!("the {what} \"{}\"", row.text("host"));
        Ok(match self.rule {
            0 => owner,
            _ => format!("the LLD rule with key \"{}\" of {owner}", row.text("key_")),
        })
    }
}

/// Refuses a name that another graph of the same place has, also among these graphs.
pub(super) fn check_names(
    edit: &mut Edit<'_>,
    items: &Items,
    graphs: &[Graph],
    kind: Kind,
) -> ApiResult<()> {
    let places = |graph: &Graph| -> BTreeSet<Place> {
        let rows = graph.items.iter().filter_map(|item| items.0.get(&item.itemid));
        rows.filter_map(|row| Place::of(row, kind)).collect()
    };
    let taken = taken_names(edit, graphs, &places, kind)?;
    let mut given: BTreeSet<(Place, &str)> = BTreeSet::new();
    for (n, graph) in graphs.iter().enumerate() {
        for place in places(graph) {
            if !given.insert((place, &graph.name)) {
                return Err(repeated(&format!("/{}", n + 1), "name", &graph.name));
            }
            let changes = |id: &u64| graphs.iter().any(|graph| graph.id == *id);
            let others = taken.get(&(place, graph.name.clone()));
            if others.is_some_and(|ids| ids.iter().any(|id| !changes(id))) {
                let (title, name) = (kind.title(), &graph.name);
                let place = place.words(edit)?;
                let text = format!("{title} \"{name}\" already exists on {place}.");
                return Err(ApiError::params(text));
            }
        }
    }
    Ok(())
}

/// Graphs that these places have under the names of the graphs.
fn taken_names(
    edit: &mut Edit<'_>,
    graphs: &[Graph],
    places: &dyn Fn(&Graph) -> BTreeSet<Place>,
    kind: Kind,
) -> ApiResult<HashMap<(Place, String), BTreeSet<u64>>> {
    let names: BTreeSet<&str> = graphs.iter().map(|graph| graph.name.as_str()).collect();
    let hosts: BTreeSet<u64> = graphs.iter().flat_map(places).map(|place| place.host).collect();
    let hosts = Vec::from_iter(hosts);
    let flags = match kind {
        Kind::Graph => FLAGS_REAL,
        Kind::Prototype => formatcp!("({FLAGS_PROTOTYPE})"),
    };
    let mut taken: HashMap<(Place, String), BTreeSet<u64>> = HashMap::new();
    for portion in Vec::from_iter(names).chunks(500) {
        let sql = format!(
            "SELECT DISTINCT g.graphid, g.name, i.hostid, i.ruleid FROM items i \
             JOIN graph_items f ON f.itemid = i.itemid JOIN graphs g ON g.graphid = f.graphid \
             WHERE g.flags IN {flags} AND g.name IN ({}) AND i.hostid IN ({{ids}})",
            placeholders(portion.len())
        );
        let names: Vec<Value> = portion.iter().map(|name| Value::from(*name)).collect();
        for row in query_by_ids(edit, &sql, &names, &hosts)? {
            let Some(place) = Place::of(&row, kind) else { continue };
            let ids = taken.entry((place, row.text("name").to_owned())).or_default();
            ids.insert(row.id("graphid"));
        }
    }
    Ok(taken)
}
