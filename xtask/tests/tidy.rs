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

/// Longer names of tests are cut in the list of results, and read twice.
const TEST_NAME_MAX: usize = 59;

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

/// Folders and files that may write the configuration database by SQL of their own: the verbs that record
/// changes, the schema and its history, and the drivers. Helpers of tests may, too.
const SQL_WRITERS: &[&str] = &[
    "config/src/db/",
    "config/src/edit.rs",
    "config/src/edit/",
    "config/src/schema/",
    "config/src/statements.rs",
    "stores/",
    "vedette-odbc/",
    "api/src/testing.rs",
];

/// Statements on connections of the configuration that no verb of `Edit` records.
fn unrecorded_writes(name: &str, source: &str) -> usize {
    let is_test = ["/tests/", "/tests.rs", "_tests.rs"].iter().any(|part| name.contains(part));
    if is_test || SQL_WRITERS.iter().any(|writer| name.starts_with(writer)) {
        return 0;
    }
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    let code: String = code.split_whitespace().collect();
    let calls = ["connection.execute(", ".unrecorded()", ".batch(\"", "connection.batch("];
    calls.iter().map(|call| code.matches(call).count()).sum()
}

#[test]
fn the_configuration_is_written_by_verbs_that_record_it() {
    let crates = root().join("crates");
    let mut files = Vec::new();
    sources(&crates, &mut files);
    let found: Vec<PathBuf> = files
        .into_iter()
        .filter(|path| {
            let name = path.strip_prefix(&crates).unwrap().to_str().unwrap();
            unrecorded_writes(name, &read(path)) > 0
        })
        .collect();
    assert_eq!(found, Vec::<PathBuf>::new(), "write by the verbs of config::Edit");
    let wrong = "edit.unrecorded()\n    .execute(sql, &[])";
    assert_eq!(unrecorded_writes("api/src/call.rs", wrong), 1);
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(document: &str) -> Vec<String> {
    let mut fenced = false;
    let headings = document.lines().filter_map(|line| {
        fenced ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        (!fenced && title != line).then(|| title.strip_prefix(' ')).flatten()
    });
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    headings
        .map(|title| {
            title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
        })
        .collect()
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
        let text = read(document);
        for target in text.split("](").skip(1).filter_map(|part| part.split(')').next()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let led = match file {
                "" => document.clone(),
                _ => document.parent().unwrap().join(file),
            };
            let is_document = led.extension().is_some_and(|e| e == "md");
            if !led.exists()
                || is_document
                    && !anchor.is_empty()
                    && !anchors(&read(&led)).iter().any(|a| a == anchor)
            {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    assert!(links > 10, "the documents have {links} links; ARCHITECTURE.md alone has more");
}

#[test]
fn anchors_are_those_of_headings() {
    let document = "# Limits: 20 %, `a_b`\n```\n# not one\n```\n#hashtag\n## Next";
    assert_eq!(anchors(document), ["limits-20--a_b", "next"]);
}

/// Names of tests in a source of Rust or Python that have more than [`TEST_NAME_MAX`] characters.
fn long_test_names(source: &str) -> Vec<&str> {
    let rust =
        source.split("#[test]").skip(1).filter_map(|rest| rest.split_once("fn ")).map(|r| r.1);
    let python = source.split("def ").filter(|rest| rest.starts_with("test_"));
    let names = rust.chain(python).filter_map(|rest| rest.split(['(', '<']).next());
    names.filter(|name| name.len() > TEST_NAME_MAX).collect()
}

#[test]
fn names_of_tests_fit_on_a_line() {
    let root = root();
    let mut files = Vec::new();
    for dir in ["crates", "xtask", "tests"] {
        texts(&root.join(dir), &mut files);
    }
    let mut long = Vec::new();
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "rs" || e == "py")) {
        let source = read(path);
        long.extend(long_test_names(&source).iter().map(|n| format!("{}: {n}", path.display())));
    }
    assert_eq!(long, Vec::<String>::new(), "say what is tested, not how: at most {TEST_NAME_MAX}");
    let name = "x".repeat(TEST_NAME_MAX + 1);
    assert_eq!(long_test_names(&format!("#[test]\nfn {name}() {{}}")), [&name]);
    assert_eq!(long_test_names(&format!("    def test_{name}(self):")), [format!("test_{name}")]);
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
