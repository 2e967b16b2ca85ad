//! Discovery on a real database.

mod cost;
mod fates;
mod graphs;
mod host_parts;
mod host_portions;
mod hosts;
mod making;
mod others;
mod portions;
mod shipped;

use crate::table;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use model::{ItemId, LldValue, Timestamp};
use objects::{OnFail, StepKind};

use super::{Summary, process};
use crate::db::{DbResult, Location, SharedDisk, Value};
use crate::link::{LinkError, link_templates};
use crate::objects::*;
use crate::{Config, Edit};

thread_local! {
    /// The portion of configurations that tests of this thread open. 0: the default.
    static PORTION: Cell<usize> = const { Cell::new(0) };
}

/// A host with a rule.
struct Box {
    config: Arc<Config>,
    host: u64,
    rule: u64,
    dir: tempfile::TempDir,
}

type More<'a> = &'a [(&'static str, Value)];

impl Box {
    /// A host `h` with a trapper rule `rule`, with these columns.
    fn new(more: More<'_>) -> Self {
        Self::with_sync(more, Arc::new(File::sync_data))
    }

    /// The same; `sync` is called after each transaction, without the lock of changes.
    fn with_sync(more: More<'_>, sync: SharedDisk) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("c.db"));
        let config = Arc::new(Config::open_with(location, sync).unwrap());
        match PORTION.get() {
            0 => {}
            objects => config.set_portion(objects),
        }
        let mut b = Self { config, host: 0, rule: 0, dir };
        b.host = b.new_host("h", 0);
        b.rule = b.new_rule(b.host, "rule", more);
        b
    }

    fn edit<T>(&self, work: impl FnOnce(&mut Edit<'_>) -> Result<T, LinkError>) -> T {
        self.config.write(work).unwrap()
    }

    fn new_host(&self, name: &str, kind: i64) -> u64 {
        self.edit(|e| {
            let row = [("host", name.into()), ("name", name.into()), ("kind", Value::from(kind))];
            let id = e.insert_new(&table::HOSTS, &row)?;
            Ok(id)
        })
    }

    fn new_rule(&self, host: u64, key: &str, more: More<'_>) -> u64 {
        let mut all = vec![("flags", Value::from(1)), ("value_type", Value::from(4))];
        all.extend_from_slice(more);
        self.item_on(host, key, &all, &[])
    }

    fn item_on(&self, host: u64, key: &str, more: More<'_>, tags: &[(&str, &str)]) -> u64 {
        let mut columns: Columns = vec![
            ("hostid", host.into()),
            ("key_", key.into()),
            ("name", format!("name of {key}").into()),
            ("type", Value::from(2)),
            ("value_type", Value::from(3)),
        ];
        for (name, value) in more {
            columns.retain(|(known, _)| known != name);
            columns.push((*name, value.clone()));
        }
        let (name, value) = (String::from("component"), String::from("{#T}"));
        let mut all = vec![Tag { tag: name, value }];
        all.extend(tags.iter().map(|(t, v)| Tag { tag: (*t).into(), value: (*v).into() }));
        let step = |params: &str| Step {
            kind: StepKind::JsonPath,
            params: params.into(),
            error_handler: OnFail::Original,
            error_handler_params: String::new(),
        };
        let preprocessing = if key.contains("{#") { vec![step("$['{#N}']")] } else { vec![] };
        let new = NewItem { columns, preprocessing, tags: all };
        self.edit(|e| Ok(create_items(e, &[new])?[0]))
    }

    /// An item prototype of the rule.
    fn item(&self, key: &str, more: More<'_>) -> u64 {
        self.item_of(self.host, self.rule, key, more)
    }

    fn item_of(&self, host: u64, rule: u64, key: &str, more: More<'_>) -> u64 {
        let mut all = vec![("flags", Value::from(2)), ("ruleid", rule.into())];
        all.extend_from_slice(more);
        self.item_on(host, key, &all, &[])
    }

    /// A trigger prototype, or a trigger if the description has no macros.
    fn trigger(&self, description: &str, expression: &str, more: More<'_>, on: &[u64]) -> u64 {
        let prototype = description.contains("{#");
        self.edit(|e| {
            let resolved = resolve(e, expression, "", prototype).unwrap();
            let mut columns: Columns = vec![
                ("description", description.into()),
                ("flags", Value::from(if prototype { 2 } else { 0 })),
            ];
            columns.extend_from_slice(more);
            let new = NewTrigger {
                columns,
                expression: resolved.expression,
                recovery: resolved.recovery,
                functions: resolved.functions,
                tags: vec![Tag { tag: "t".into(), value: "{#N}".into() }],
                depends_on: on.to_vec(),
            };
            Ok(create_triggers(e, &[new])?[0])
        })
    }

    fn discover_at(&self, rows: &str, clock_s: u64) -> Summary {
        self.discover_rule(self.rule, rows, clock_s)
    }

    fn discover_rule(&self, rule: u64, rows: &str, clock_s: u64) -> Summary {
        self.try_discover(rule, rows, clock_s).unwrap()
    }

    fn try_discover(&self, rule: u64, rows: &str, clock_s: u64) -> DbResult<Summary> {
        let rows = Ok(rows.to_owned());
        let value = LldValue { rule: ItemId(rule), at: Timestamp::default(), rows };
        process(&self.config, &value, clock_s)
    }

    /// Expects no error.
    fn discover(&self, rows: &str) -> Summary {
        let summary = self.discover_at(rows, 1_000);
        assert_eq!((summary.supported, &*summary.error), (true, ""), "{rows}");
        summary
    }

    /// Column `v` of the rows, sorted, joined by `|`.
    fn shown(&self, sql: &str) -> String {
        let mut shown: Vec<String> = self.edit(|e| {
            Ok(e.query(sql, &[])?.iter().map(|row| row.get("v").unwrap().to_string()).collect())
        });
        shown.sort();
        shown.join("|")
    }

    /// Keys of discovered items.
    fn keys(&self) -> String {
        self.shown("SELECT key_ AS v FROM items WHERE flags = 4")
    }

    /// Column of the item with this key.
    fn of(&self, key: &str, column: &str) -> String {
        self.shown(&format!("SELECT {column} AS v FROM items WHERE key_ = '{key}'"))
    }

    /// Descriptions and expressions of discovered triggers.
    fn triggers(&self) -> String {
        self.edit(|e| {
            let calls = e.query(
                "SELECT f.functionid, i.key_, f.name, f.parameter FROM functions f \
                 JOIN items i ON i.itemid = f.itemid",
                &[],
            )?;
            let calls: BTreeMap<u64, String> = calls
                .iter()
                .map(|r| {
                    let params = r.text("parameter").replacen('$', r.text("key_"), 1);
                    (r.id("functionid"), format!("{}({params})", r.text("name")))
                })
                .collect();
            let rows =
                e.query("SELECT * FROM triggers WHERE flags = 4 ORDER BY description", &[])?;
            let shown = rows.iter().map(|row| {
                let text = replace_ids(row.text("expression"), &mut |id| calls[&id].clone());
                format!("{}: {text}", row.text("description"))
            });
            Ok(shown.collect::<Vec<_>>().join("|"))
        })
    }

    /// `a>b`: trigger a depends on b.
    fn dependencies(&self) -> String {
        self.shown(
            "SELECT a.description || '>' || b.description AS v FROM trigger_depends d \
             JOIN triggers a ON a.triggerid = d.triggerid \
             JOIN triggers b ON b.triggerid = d.depends_on WHERE a.flags = 4",
        )
    }

    /// The rows again: nothing is written, the snapshot stays, and also with everything compared
    /// in full.
    fn stays(&self, rows: &str) {
        let before = self.config.snapshot().revision;
        for _ in 0..2 {
            let again = self.discover_at(rows, 1_000);
            assert!(!again.changed(), "{again:?}");
            // Forgets what was found, as every change elsewhere does.
            self.config.lld().objects_changed();
        }
        assert_eq!(self.config.snapshot().revision, before);
    }
}

/// `[{"{#N}": "a", "{#T}": "x"}, …]` of `a:x b:y`.
fn rows(list: &str) -> String {
    let row = |one: &str| {
        let (n, t) = one.split_once(':').unwrap_or((one, "x"));
        serde_json::json!({ "{#N}": n, "{#T}": t })
    };
    serde_json::Value::Array(list.split_whitespace().map(row).collect()).to_string()
}

/// A filter on one macro in the API's form.
fn filter(lld_macro: &str, operator: u8, value: &str) -> serde_json::Value {
    serde_json::json!({ "evaltype": "0", "formula": "", "conditions": [{
        "macro": lld_macro, "operator": operator.to_string(), "value": value, "formulaid": "A",
    }]})
}
