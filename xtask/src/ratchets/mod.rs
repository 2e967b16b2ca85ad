//! Counts what makes code hard to change, per crate, and compares with `xtask/ratchets.toml`. A count may
//! only fall: what is there today is tolerated, nothing is added.

mod bare;
mod circles;
mod source;
mod spots;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use source::File;

/// Where each counted thing is, by measure.
type Places = BTreeMap<&'static str, Vec<String>>;
/// Counts of one crate, by measure.
type Counts = BTreeMap<String, usize>;

/// Measures with what to do about a new case.
const MEASURES: [(&str, &str); 6] = [
    (
        "bare-numbers",
        "name the number: a type of the crate objects, or a constant of objects::sql in SQL",
    ),
    ("circle", "move what both sides need into a module below them, so that imports lead one way"),
    ("empty-docs", "say what the name does not: unit, range, source, what happens on failure"),
    ("long-functions", "over 70 lines: name the steps, and make them functions"),
    ("many-fields", "over 12 fields: find the smaller concept in the structure"),
    ("tuple-parameters", "give the pair a name: a structure, or two parameters"),
];

const LIST: &str = "xtask/ratchets.toml";
const HEADER: &str = "# What `cargo xtask ratchets` counts in each crate (test code not included). Numbers may only fall;\n\
                      # `cargo xtask ratchets --write` lowers them.\n";

/// `cargo xtask ratchets [--list MEASURE] [--write]`: compares, lists, or lowers the numbers.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> anyhow::Result<String> {
    let arguments: Vec<String> = arguments.collect();
    let found = count(&root())?;
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let problems = compare(&written()?, &found);
            if !problems.is_empty() {
                bail!("{}", problems.join("\n"));
            }
            Ok(format!("{} crates: no count has risen\n", found.len()))
        }
        ["--list", measure] => Ok(list(&found, measure)),
        ["--write"] => {
            let known = written().unwrap_or_default();
            // A crate starts with what it has when it comes.
            let mut old = found.clone();
            old.retain(|name, _| known.contains_key(name));
            let risen: Vec<String> =
                compare(&known, &old).into_iter().filter(|p| p.contains(" rose ")).collect();
            if !risen.is_empty() {
                bail!("{}", risen.join("\n"));
            }
            let text = format!("{HEADER}{}", toml::to_string(&numbers(&found))?);
            std::fs::write(root().join(LIST), text).context(LIST)?;
            Ok(format!("{LIST} is written\n"))
        }
        _ => bail!("usage: cargo xtask ratchets [--list MEASURE | --write]"),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

fn written() -> anyhow::Result<BTreeMap<String, Counts>> {
    let text = std::fs::read_to_string(root().join(LIST)).context(LIST)?;
    toml::from_str(&text).context(LIST)
}

/// What each crate below `root/crates` has.
fn count(root: &Path) -> anyhow::Result<BTreeMap<String, Places>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = source::of_crate(&folder).with_context(|| name.clone())?;
        found.insert(name, places(&files));
    }
    Ok(found)
}

fn places(files: &[File]) -> Places {
    let mut places = spots::find(files);
    places.insert("bare-numbers", bare::find(files));
    places.insert("circle", circles::largest(files));
    places
}

fn numbers(found: &BTreeMap<String, Places>) -> BTreeMap<&str, BTreeMap<&str, usize>> {
    let counts = |places: &Places| {
        places.iter().map(|(m, at)| (*m, at.len())).filter(|(_, n)| *n > 0).collect()
    };
    found.iter().map(|(name, places)| (name.as_str(), counts(places))).collect()
}

/// Counts that rose, with where to look and what to do; and those that fell and are not written yet.
fn compare(known: &BTreeMap<String, Counts>, found: &BTreeMap<String, Places>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, places) in found {
        for (measure, advice) in MEASURES {
            let at = places.get(measure).map_or(&[][..], Vec::as_slice);
            let before = known.get(name).and_then(|counts| counts.get(measure)).copied();
            let before = before.unwrap_or(0);
            if at.len() > before {
                problems.push(format!(
                    "{name}: {measure} rose from {before} to {}: {advice}. All of them: cargo xtask \
                     ratchets --list {measure}",
                    at.len()
                ));
            } else if at.len() < before {
                problems.push(format!(
                    "{name}: {measure} fell from {before} to {}; keep it with cargo xtask ratchets --write",
                    at.len()
                ));
            }
        }
    }
    problems
}

fn list(found: &BTreeMap<String, Places>, measure: &str) -> String {
    let of = |(name, places): (&String, &Places)| {
        let at = places.get(measure)?.iter().map(|at| format!("{name}: {at}\n")).collect();
        Some::<String>(at)
    };
    found.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_count_has_risen() {
        let found = count(&root()).unwrap();
        assert!(found.len() > 10, "the crates were not found");
        assert_eq!(compare(&written().unwrap(), &found), Vec::<String>::new());
    }

    #[test]
    fn a_count_that_changed_is_a_problem() {
        let places = |n| Places::from([("many-fields", vec!["a.rs:1".to_owned(); n])]);
        let found = BTreeMap::from([("x".to_owned(), places(2))]);
        let known =
            |n| BTreeMap::from([("x".to_owned(), Counts::from([("many-fields".to_owned(), n)]))]);
        assert!(compare(&known(2), &found).is_empty());
        assert!(compare(&known(1), &found)[0].starts_with("x: many-fields rose from 1 to 2"));
        assert!(compare(&known(3), &found)[0].starts_with("x: many-fields fell from 3 to 2"));
        assert!(compare(&BTreeMap::new(), &found)[0].contains("rose from 0"));
    }
}
