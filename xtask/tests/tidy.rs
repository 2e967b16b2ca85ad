//! Rules about the tree itself: layers, sizes, links.
#![allow(clippy::unwrap_used, reason = "a panic is how a rule fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files may grow to this many lines; what is longer stands on [`LONG_FILES`].
const FILE_LINES_MAX: usize = 500;

/// Files that programs write, for programs to read.
const GENERATED: &[&str] = &["web/src/api/schema.ts"];

/// Files over the limit with their length when they were put here. The list may only shrink.
const LONG_FILES: &[(&str, usize)] = &[];

/// Endings of the files whose texts are checked; `packaging` and `scripts` are checked as a whole.
const TEXTS: &[&str] = &["c", "h", "md", "php", "proto", "py", "rs", "sh", "ts", "tsx", "yaml"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Crate name, layer, own crates it depends on (dev-dependencies may look anywhere).
fn manifests() -> Vec<(String, i64, Vec<String>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let dir = entry.unwrap().path();
        let manifest: toml::Table = read(&dir.join("Cargo.toml")).parse().unwrap();
        let package = &manifest["package"];
        let name = package["name"].as_str().unwrap().to_owned();
        assert_eq!(dir.file_name().unwrap().to_str(), Some(name.as_str()), "folder = crate name");
        let layer = package["metadata"]["layer"].as_integer().unwrap();
        let dependencies = manifest.get("dependencies").and_then(|d| d.as_table());
        let names = dependencies.map(|d| d.keys().cloned().collect()).unwrap_or_default();
        found.push((name, layer, names));
    }
    found
}

/// The layer rule as a function, so that it can be shown to fail.
fn forbidden(manifests: &[(String, i64, Vec<String>)]) -> Vec<String> {
    let layers: BTreeMap<&str, i64> = manifests.iter().map(|(n, l, _)| (n.as_str(), *l)).collect();
    let mut found = Vec::new();
    for (name, layer, dependencies) in manifests {
        for dependency in dependencies {
            if let Some(of) = layers.get(dependency.as_str())
                && of >= layer
            {
                found.push(format!("{name} (layer {layer}) uses {dependency} (layer {of})"));
            }
        }
    }
    found
}

#[test]
fn a_crate_uses_only_lower_layers() {
    let manifests = manifests();
    assert!(manifests.len() >= 7, "the crates were not found");
    assert_eq!(forbidden(&manifests), Vec::<String>::new());
}

#[test]
fn the_layer_rule_sees_forbidden_edges() {
    let edge = |name: &str, layer, uses: &str| (name.to_owned(), layer, vec![uses.to_owned()]);
    let same = [edge("collect", 4, "pipeline"), edge("pipeline", 4, "serde")];
    assert_eq!(forbidden(&same).len(), 1);
    let upward = [edge("model", 1, "eval"), edge("eval", 2, "model")];
    assert_eq!(forbidden(&upward), ["model (layer 1) uses eval (layer 2)"]);
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["target", "node_modules", "dist", "fixtures"].contains(&name) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") || name.ends_with(".ts") || name.ends_with(".tsx") {
            found.push(path);
        }
    }
}

#[test]
fn files_stay_readable() {
    let root = root();
    let mut files = Vec::new();
    for dir in ["crates", "xtask", "web"] {
        if root.join(dir).is_dir() {
            sources(&root.join(dir), &mut files);
        }
    }
    assert!(files.len() > 20, "the sources were not found");
    let mut problems = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        if GENERATED.contains(&name.as_str()) {
            continue;
        }
        let lines = read(&path).lines().count();
        match LONG_FILES.iter().find(|(listed, _)| *listed == name) {
            None if lines > FILE_LINES_MAX => {
                problems.push(format!("{name}: {lines} lines; which concept is missing?"));
            }
            Some((_, before)) if lines > *before => {
                problems.push(format!("{name}: grew from {before} to {lines} lines"));
            }
            Some(_) if lines <= FILE_LINES_MAX => {
                problems.push(format!("{name}: {lines} lines; take it off the list"));
            }
            _ => {}
        }
    }
    for (listed, _) in LONG_FILES {
        if !root.join(listed).exists() {
            problems.push(format!("{listed}: gone; take it off the list"));
        }
    }
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn links_in_documents_lead_somewhere() {
    let root = root();
    let mut documents = Vec::new();
    texts(&root, &mut documents);
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    documents.sort();
    let mut links = 0;
    let mut broken = Vec::new();
    for document in &documents {
        for part in read(document).split("](").skip(1) {
            let target = part.split(')').next().unwrap_or("");
            let file = target.split('#').next().unwrap_or("");
            if file.is_empty() || file.contains("://") {
                continue;
            }
            links += 1;
            if !document.parent().unwrap().join(file).exists() {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    assert!(links > 10, "the documents have {links} links; ARCHITECTURE.md alone has more");
}

/// The list of forbidden phrases that `docs/style.md` ends with.
fn forbidden_phrases() -> Vec<String> {
    let page = read(&root().join("docs/style.md"));
    let list = page.split_once("## Forbidden phrases").unwrap().1;
    list.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

/// The phrases in a text, as whole words, in any case and also across line breaks. An identifier
/// with underscores is one word.
fn phrases_in<'a>(text: &str, phrases: &'a [String]) -> Vec<&'a str> {
    let text = text.to_lowercase();
    // Splitting is slow without optimisation, and most files contain no phrase.
    let possible = |phrase: &&String| phrase.split(' ').all(|word| text.contains(word));
    let phrases: Vec<&String> = phrases.iter().filter(possible).collect();
    if phrases.is_empty() {
        return Vec::new();
    }
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let line = format!(" {} ", words.join(" "));
    let times = |phrase: &str| line.matches(&format!(" {phrase} ")).count();
    phrases.into_iter().flat_map(|p| std::iter::repeat_n(p.as_str(), times(p))).collect()
}

/// Documents, source code, scripts and packaging below a folder. Fixtures are recorded, not written.
fn texts(dir: &Path, found: &mut Vec<PathBuf>) {
    let whole = [root().join("packaging"), root().join("scripts")];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let skipped = ["target", "node_modules", "dist", "fixtures", "var"];
            if !name.starts_with('.') && !skipped.contains(&name) {
                texts(&path, found);
            }
        } else {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
            if TEXTS.contains(&ending) || whole.iter().any(|folder| path.starts_with(folder)) {
                found.push(path);
            }
        }
    }
}

#[test]
fn texts_have_no_forbidden_phrases() {
    let (root, phrases) = (root(), forbidden_phrases());
    assert!(phrases.len() > 15, "the list in docs/style.md was not found");
    let mut files = Vec::new();
    texts(&root, &mut files);
    assert!(files.len() > 500, "the texts were not found");
    // These two name the phrases.
    let own = ["docs/style.md", "xtask/tests/tidy.rs"];
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| !own.iter().any(|name| path.ends_with(name))) {
        for phrase in phrases_in(&read(path), &phrases) {
            problems.push(format!("{}: \"{phrase}\"; see docs/style.md", path.display()));
        }
    }
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn forbidden_phrases_are_found_as_words_across_lines() {
    let phrases = ["of people".to_owned(), "anew".to_owned()];
    assert_eq!(phrases_in("Groups of\n//! People, made Anew.", &phrases), ["of people", "anew"]);
    assert!(phrases_in("of peoples, renew, canew, made_anew", &phrases).is_empty());
}
