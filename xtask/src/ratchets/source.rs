//! The parsed files of a crate, without test code.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use syn::{Attribute, Item};

/// One file.
pub(super) struct File {
    /// Path within the crate.
    pub(super) name: String,
    /// Path of the module: empty for the root of the crate.
    pub(super) module: Vec<String>,
    /// Items without those of tests.
    pub(super) items: Vec<Item>,
}

/// All files below `src`, in order of their names.
pub(super) fn of_crate(folder: &Path) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    let mut tests = BTreeSet::new();
    read(&folder.join("src"), &mut Vec::new(), &mut files, &mut tests)?;
    let is_test = |file: &File| (1..=file.module.len()).any(|n| tests.contains(&file.module[..n]));
    files.retain(|file| !is_test(file));
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn read(
    folder: &Path,
    module: &mut Vec<String>,
    files: &mut Vec<File>,
    tests: &mut BTreeSet<Vec<String>>,
) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            module.push(name);
            read(&path, module, files, tests)?;
            module.pop();
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let mut own = module.clone();
            if !["lib", "main", "mod"].contains(&stem) {
                own.push(stem.to_owned());
            }
            let file = parse(&path, own).with_context(|| path.display().to_string())?;
            tests.extend(file.1);
            files.push(file.0);
        }
    }
    Ok(())
}

/// The file, and the modules that it declares for tests.
fn parse(path: &Path, module: Vec<String>) -> anyhow::Result<(File, Vec<Vec<String>>)> {
    let syntax = syn::parse_file(&std::fs::read_to_string(path)?)?;
    let mut tests = Vec::new();
    let mut items = syntax.items;
    items.retain(|item| {
        let is_test = attributes(item).iter().any(is_of_tests);
        if is_test && let Item::Mod(declared) = item {
            tests.push([&module[..], &[declared.ident.to_string()]].concat());
        }
        !is_test
    });
    let name = path.display().to_string();
    let name = name.rsplit_once("/src/").map_or(name.as_str(), |(_, within)| within).to_owned();
    Ok((File { name, module, items }, tests))
}

fn is_of_tests(attribute: &Attribute) -> bool {
    let text = |list: &syn::MetaList| list.tokens.to_string();
    attribute.path().is_ident("test")
        || matches!(&attribute.meta, syn::Meta::List(list)
            if list.path.is_ident("cfg") && text(list).split(|c: char| !c.is_alphanumeric()).any(|word| word == "test"))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
