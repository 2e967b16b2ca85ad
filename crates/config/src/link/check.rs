//! Which linkages are refused as such: circles, and templates linked twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Below, LinkError, links_of, targets};
use crate::Edit;
use crate::db::{DbResult, query_by_ids};

/// The part of the linkage that a check needs: links from hosts and templates up to templates.
struct Graph {
    up: HashMap<u64, BTreeSet<u64>>,
    names: HashMap<u64, String>,
}

impl Graph {
    fn parents(&self, id: u64) -> impl Iterator<Item = u64> + '_ {
        self.up.get(&id).into_iter().flatten().copied()
    }

    fn name(&self, id: u64) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// A way from `from` up to `to`.
    fn path(&self, from: u64, to: u64) -> Option<Vec<u64>> {
        let mut back: BTreeMap<u64, u64> = BTreeMap::new();
        let mut frontier = vec![from];
        while let Some(at) = frontier.pop() {
            if at == to {
                let mut path = vec![to];
                while let Some(before) = path.last().and_then(|id| back.get(id)) {
                    path.push(*before);
                }
                path.reverse();
                return Some(path);
            }
            for parent in self.parents(at) {
                if parent != from && !back.contains_key(&parent) {
                    back.insert(parent, at);
                    frontier.push(parent);
                }
            }
        }
        None
    }

    /// Templates above `id`, how often each is reached, and by which of the direct parents.
    fn above(&self, id: u64) -> BTreeMap<u64, Vec<u64>> {
        let mut reached: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for direct in self.parents(id) {
            let mut frontier = vec![direct];
            let mut seen = BTreeSet::new();
            while let Some(at) = frontier.pop() {
                if seen.insert(at) {
                    reached.entry(at).or_default().push(direct);
                    frontier.extend(self.parents(at));
                }
            }
        }
        reached
    }
}

/// Checks the links that are about to be made.
pub(super) fn check(edit: &mut Edit<'_>, hosts: &[u64], below: &Below) -> Result<(), LinkError> {
    let mut graph = load(edit, hosts, below)?;
    for (template, hosts) in below {
        for host in hosts {
            if let Some(path) = graph.path(*template, *host) {
                let mut circle: Vec<u64> = path;
                circle.push(*template);
                let circle: Vec<String> =
                    circle.iter().map(|id| format!("\"{}\"", graph.name(*id))).collect();
                return Err(LinkError::conflict(format!(
                    "Cannot link template \"{}\" to template \"{}\", because a circular linkage \
                     ({}) would occur.",
                    graph.name(*template),
                    graph.name(*host),
                    circle.join(" -> ")
                )));
            }
        }
    }
    for (template, hosts) in below {
        for host in hosts {
            graph.up.entry(*host).or_default().insert(*template);
        }
    }
    let affected = affected(edit, hosts)?;
    let words = targets(edit, &affected)?;
    for (id, target) in &words {
        for (template, by) in graph.above(*id) {
            if by.len() > 1 {
                return Err(twice(&graph, *id, target.word(), template, &by, below));
            }
        }
    }
    Ok(())
}

/// The hosts, and what is linked below them.
fn affected(edit: &mut Edit<'_>, hosts: &[u64]) -> DbResult<Vec<u64>> {
    let mut seen: BTreeSet<u64> = hosts.iter().copied().collect();
    let mut frontier: Vec<u64> = seen.iter().copied().collect();
    while !frontier.is_empty() {
        let below = super::linked_below(edit, &frontier)?;
        frontier = below.into_values().flatten().filter(|id| seen.insert(*id)).collect();
    }
    Ok(seen.into_iter().collect())
}

fn twice(
    graph: &Graph,
    host: u64,
    word: &str,
    template: u64,
    by: &[u64],
    below: &Below,
) -> LinkError {
    // Name the template that is being linked, if one of the two ways is new and longer.
    let culprit = by
        .iter()
        .find(|direct| **direct != template && below.contains_key(direct))
        .or_else(|| by.iter().find(|direct| **direct != template))
        .copied()
        .unwrap_or(template);
    LinkError::conflict(format!(
        "Cannot link template \"{}\" to {word} \"{}\", because its parent template \"{}\" would \
         be linked twice.",
        graph.name(culprit),
        graph.name(host),
        graph.name(template)
    ))
}

/// All links above and below the hosts and the templates.
fn load(edit: &mut Edit<'_>, hosts: &[u64], below: &Below) -> DbResult<Graph> {
    let mut up: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    let mut seen: BTreeSet<u64> = affected(edit, hosts)?.into_iter().collect();
    seen.extend(below.keys());
    let mut frontier: Vec<u64> = seen.iter().copied().collect();
    while !frontier.is_empty() {
        let links = links_of(edit, &frontier)?;
        frontier = links.values().flatten().copied().filter(|id| seen.insert(*id)).collect();
        up.extend(links);
    }
    let all: Vec<u64> = seen.into_iter().collect();
    let sql = "SELECT hostid, host FROM hosts WHERE hostid IN ({ids})";
    let names = query_by_ids(edit, sql, &[], &all)?
        .iter()
        .map(|row| (row.id("hostid"), row.text("host").to_owned()))
        .collect();
    Ok(Graph { up, names })
}
