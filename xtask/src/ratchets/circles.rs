//! Circles of imports between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use syn::visit::{self, Visit};
use syn::{Item, UseTree, Visibility};

use super::source::File;

/// A path of names from the root of the crate.
type Names = Vec<String>;

/// The files of the largest circle: each leads to each other by imports and paths. Empty without one.
pub(super) fn largest(files: &[File]) -> Vec<String> {
    let modules: BTreeMap<&[String], usize> =
        files.iter().enumerate().map(|(n, file)| (&file.module[..], n)).collect();
    let tree = Tree { exports: files.iter().map(exports).collect(), modules };
    let mut graph = DiGraph::<usize, ()>::new();
    let nodes: Vec<_> = (0..files.len()).map(|n| graph.add_node(n)).collect();
    for (from, file) in files.iter().enumerate() {
        for to in uses(file).iter().filter_map(|path| tree.file(path, 0)) {
            if to != from {
                graph.update_edge(nodes[from], nodes[to], ());
            }
        }
    }
    let largest = tarjan_scc(&graph).into_iter().max_by_key(Vec::len).unwrap_or_default();
    if largest.len() < 2 {
        return Vec::new();
    }
    let mut names: Vec<String> = largest.iter().map(|n| files[graph[*n]].name.clone()).collect();
    names.sort();
    names
}

struct Tree<'a> {
    modules: BTreeMap<&'a [String], usize>,
    /// What each file makes visible under its own path: name → where it is from.
    exports: Vec<BTreeMap<String, Names>>,
}

impl Tree<'_> {
    /// The file that defines what the path means. Exports are followed to what they export.
    fn file(&self, path: &[String], depth: usize) -> Option<usize> {
        let length = (0..=path.len()).rev().find(|n| self.modules.contains_key(&path[..*n]))?;
        let file = self.modules[&path[..length]];
        match path.get(length).and_then(|name| self.exports[file].get(name)) {
            Some(origin) if depth < 8 => self.file(origin, depth + 1),
            _ => Some(file),
        }
    }
}

/// `pub use` of a file.
fn exports(file: &File) -> BTreeMap<String, Names> {
    let mut found = BTreeMap::new();
    for item in &file.items {
        if let Item::Use(item) = item
            && !matches!(item.vis, Visibility::Inherited)
        {
            flatten(&item.tree, &mut Vec::new(), &mut |path, name| {
                // `pub use child::X` without `self::`.
                let own = absolute(file, path).unwrap_or_else(|| [&file.module[..], path].concat());
                found.insert(name, own);
            });
        }
    }
    found
}

/// Paths that a file uses within its crate.
fn uses(file: &File) -> BTreeSet<Names> {
    let mut paths = Paths { file, found: BTreeSet::new() };
    file.items.iter().for_each(|item| paths.visit_item(item));
    paths.found
}

struct Paths<'a> {
    file: &'a File,
    found: BTreeSet<Names>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !matches!(item.vis, Visibility::Inherited) {
            return;
        }
        let (file, found) = (self.file, &mut self.found);
        flatten(&item.tree, &mut Vec::new(), &mut |path, _| found.extend(absolute(file, path)));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.found.extend(absolute(self.file, &names));
        visit::visit_path(self, path);
    }
}

/// Each path of a `use` with the name that it gets here.
fn flatten(tree: &UseTree, before: &mut Names, each: &mut impl FnMut(&[String], String)) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, each);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, each)),
        UseTree::Glob(_) => each(before, "*".to_owned()),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let path = if name == "self" {
                before.clone()
            } else {
                [&before[..], std::slice::from_ref(&name)].concat()
            };
            each(&path, path.last().cloned().unwrap_or_default());
        }
        UseTree::Rename(name) => {
            each(&[&before[..], &[name.ident.to_string()]].concat(), name.rename.to_string());
        }
    }
}

/// The path from the root; `None` for one that does not begin with `crate`, `super` or `self`.
fn absolute(file: &File, path: &[String]) -> Option<Names> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([&file.module[..], &path[1..]].concat()),
        "super" => {
            let parent = file.module.len().checked_sub(ups)?;
            Some([&file.module[..parent], &path[ups..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(sources: &[(&str, &str)]) -> Vec<String> {
        let file = |(module, source): &(&str, &str)| File {
            name: format!("{module}.rs"),
            module: module.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            items: syn::parse_file(source).unwrap().items,
        };
        largest(&sources.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn imports_and_paths_make_circles() {
        let found = circle(&[
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::B;"),
            ("b", "fn f() { crate::c::g() }"),
            ("c", "use super::a::{self, A}; fn g() {}"),
        ]);
        assert_eq!(found, ["a.rs", "b.rs", "c.rs"]);
        assert!(
            circle(&[("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", "")]).is_empty()
        );
    }

    #[test]
    fn exports_lead_to_what_they_export() {
        let root = ("", "mod a; mod b; pub use b::B; pub(crate) use a::A as First;");
        assert!(circle(&[root, ("a", "use crate::B;"), ("b", "")]).is_empty());
        let both = circle(&[root, ("a", "use crate::B;"), ("b", "use crate::First;")]);
        assert_eq!(both, ["a.rs", "b.rs"]);
    }
}
