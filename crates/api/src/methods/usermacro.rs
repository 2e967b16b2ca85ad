//! User macros of hosts and templates, and global ones.

use config::Edit;
use config::db::Row;
use config::table;
use const_format::formatcp;
use objects::UserType;
use objects::sql::{FLAGS_DISCOVERED, KIND_OWNERS, MACRO_SECRET};
use serde_json::Map;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get};
use crate::methods::{group, host, template};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, OneOf, Text};
use crate::object::{Field, Object, field, taken};
use crate::owned::macros::{MacroInput, SECRET, canonical};
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::plain::{self, Draft, Plain, Spec};
use crate::relate::Relation;
use crate::write::names;

pub(crate) const METHODS: &[Method] = &[
    Method::user("usermacro.get", get),
    Method::admin("usermacro.create", |call, input| plain::insert(&HOSTS, call, input)),
    Method::admin("usermacro.update", |call, input| plain::change(&HOSTS, call, input)),
    Method::admin("usermacro.delete", |call, input| plain::remove(&HOSTS, call, input)),
    Method::super_admin("usermacro.createglobal", |call, input| {
        plain::insert(&GLOBAL, call, input)
    }),
    Method::super_admin("usermacro.updateglobal", |call, input| {
        plain::change(&GLOBAL, call, input)
    }),
    Method::super_admin("usermacro.deleteglobal", |call, input| {
        plain::remove(&GLOBAL, call, input)
    }),
];

const FIELDS: &[Field] = &[
    field("hostmacroid", Id, ReadOnly, "Id of the macro."),
    field("hostid", Id, Required, "Host or template that it belongs to."),
    field("macro", Name(255), Required, "`{$NAME}` or `{$NAME:context}`."),
    field("value", Text(2048), Required, "Value; secrets are never shown."),
    field("description", Text(65_535), Optional, "Free text."),
    field("type", OneOf(&[0, 1, 2]), Optional, "0 text, 1 secret, 2 vault path."),
    field("automatic", OneOf(&[0, 1]), Optional, "1 made by discovery; 0 makes it the user's own."),
];

const GLOBAL_FIELDS: &[Field] = &[
    field("globalmacroid", Id, ReadOnly, "Id of the macro."),
    field("macro", Name(255), Required, "`{$NAME}` or `{$NAME:context}`."),
    field("value", Text(2048), Required, "Value; secrets are never shown."),
    field("description", Text(65_535), Optional, "Free text."),
    field("type", OneOf(&[0, 1, 2]), Optional, "0 text, 1 secret, 2 vault path."),
];

pub(crate) static HOST_MACRO: Object = Object {
    name: "usermacro",
    table: "hostmacros",
    key: "hostmacroid",
    keys: "hostmacroids",
    fields: FIELDS,
    strict: false,
    sort: &["macro"],
};

pub(crate) static GLOBAL_MACRO: Object = Object {
    name: "usermacro",
    table: "globalmacros",
    key: "globalmacroid",
    keys: "globalmacroids",
    fields: GLOBAL_FIELDS,
    strict: false,
    sort: &["macro"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if params::flag(input.get("globalmacro")) {
        let mut get = Get::new(call, input, &GLOBAL_MACRO, &[])?;
        get.by_ids("globalmacroids", "t.globalmacroid IN ({ids})")?;
        // Global macros are shown to those who may change them and to administrators.
        if call.user().kind == UserType::User || (get.flag("editable") && !call.is_super_admin()) {
            get.and("1 = 0", []);
        }
        get.need(&["type"]);
        forbid_guessing(&mut get, input);
        let mut found = get.run()?;
        hide_secrets(&mut found);
        return Ok(found.finish());
    }
    let mut get = Get::new(call, input, &HOST_MACRO, &[])?;
    get.by_ids("hostmacroids", "t.hostmacroid IN ({ids})")?;
    get.by_ids("hostids", "t.hostid IN ({ids})")?;
    get.by_ids(
        "groupids",
        "t.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))",
    )?;
    get.by_ids(
        "templateids",
        "t.hostid IN (SELECT hostid FROM host_templates WHERE templateid IN ({ids}))",
    )?;
    get.and(
        formatcp!(
            "EXISTS (SELECT 1 FROM hosts k WHERE k.hostid = t.hostid AND k.kind IN {KIND_OWNERS})"
        ),
        [],
    );
    if params::flag(input.get("inherited")) {
        // Host macros are never inherited from a prototype here.
        get.and(
            formatcp!("t.hostid IN (SELECT hostid FROM hosts WHERE flags = {FLAGS_DISCOVERED})"),
            [],
        );
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.hostid") {
        get.and(condition, []);
    }
    get.need(&["type", "hostid"]);
    forbid_guessing(&mut get, input);
    get.works_on(&["value"]);
    get.answer(|found| {
        hide_secrets(found);
        attach(found)
    })
}

/// Conditions on the value do not see secret ones: nobody may guess them, nor their beginnings.
fn forbid_guessing(get: &mut Get<'_, '_>, input: &Json) {
    let names = |option: &str| input.get(option).and_then(|members| members.get("value")).is_some();
    if names("search") || names("filter") {
        get.and(formatcp!("t.type <> {MACRO_SECRET}"), []);
    }
}

fn hide_secrets(found: &mut Found<'_, '_>) {
    for row in found.rows.iter_mut().filter(|row| row.row.int("type") == SECRET) {
        row.out.remove("value");
    }
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let owners: Vec<(u64, u64)> =
        found.rows.iter().map(|row| (row.id, row.row.id("hostid"))).collect();
    for (option, relation) in [
        ("selectHosts", Relation::new("hosts", &host::HOST).sorted("host")),
        ("selectTemplates", Relation::new("templates", &template::TEMPLATE).sorted("host")),
    ] {
        if let Some(wanted) = found.wants_uncounted(option)? {
            found.relate_as(&relation, &wanted, &owners)?;
        }
    }
    for (option, member, groups_of) in [
        ("selectHostGroups", "hostgroups", &group::HOST_GROUP),
        ("selectTemplateGroups", "templategroups", &group::TEMPLATE_GROUP),
        ("selectGroups", "groups", &group::HOST_GROUP),
    ] {
        let Some(wanted) = found.wants_uncounted(option)? else { continue };
        let hosts: Vec<u64> = owners.iter().map(|(_, host)| *host).collect();
        let groups = found.call.pairs(
            "SELECT hostid, groupid FROM host_groups WHERE hostid IN ({ids}) ORDER BY groupid",
            &hosts,
        )?;
        let mut pairs = Vec::new();
        for (id, host) in &owners {
            let own = groups.iter().filter(|(of, _)| of == host);
            pairs.extend(own.map(|(_, group)| (*id, *group)));
        }
        found.relate_as(&Relation::new(member, groups_of), &wanted, &pairs)?;
    }
    Ok(())
}

/// What is written.
struct Macros(&'static Spec);

/// Macros of hosts and templates.
static HOSTS: Macros = Macros(&Spec {
    fixed: &["hostid"],
    of_host: Some("hostid"),
    ..Spec::new(&HOST_MACRO, &table::HOSTMACROS, &[])
});

static GLOBAL: Macros = Macros(&Spec::new(&GLOBAL_MACRO, &table::GLOBALMACROS, &[]));

impl Plain for Macros {
    fn spec(&self) -> &'static Spec {
        self.0
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let one = parse(draft)?;
        if draft.id == 0 {
            for (name, value) in one.new_row()? {
                draft.set(name, value);
            }
        }
        Ok(())
    }

    fn may_write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        let mut seen = Vec::new();
        for (n, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.gives("macro")) {
            let (name, host) = (draft.text("macro", None), draft.text("hostid", rows.get(n)));
            let same = (host, canonical(&name));
            if seen.contains(&same) {
                return Err(match self.0.of_host {
                    Some(_) => taken(&draft.path, "hostid, macro", format!("{}, {name}", same.0)),
                    None => taken(&draft.path, "macro", name),
                });
            }
            seen.push(same);
        }
        Ok(())
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        self.check_free(edit, draft, before)?;
        let Some(row) = before else { return Ok(()) };
        let one = parse(draft)?;
        one.refuse_automatic(row)?;
        draft.columns = one.changes(row)?;
        Ok(())
    }
}

fn parse(draft: &Draft<'_>) -> ApiResult<MacroInput> {
    let none = Map::new();
    MacroInput::read(draft.input.as_object().unwrap_or(&none), &draft.path, "")
}

impl Macros {
    /// The same name may be written in several ways, so the database cannot compare them.
    fn check_free(
        &self,
        edit: &mut Edit<'_>,
        draft: &Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if !draft.gives("macro") {
            return Ok(());
        }
        let Spec { table, object, of_host, .. } = self.0;
        let host = draft.value("hostid", before);
        let name = canonical(&draft.text("macro", None));
        let (condition, values) = match of_host {
            Some(column) => (format!(" WHERE {column} = ?"), vec![host]),
            None => (String::new(), Vec::new()),
        };
        let rows = edit.query(&format!("SELECT * FROM {table}{condition}"), &values)?;
        let same =
            |row: &&Row| row.id(object.key) != draft.id && canonical(row.text("macro")) == name;
        let Some(row) = rows.iter().find(same) else { return Ok(()) };
        let mut text = format!("Macro \"{}\" already exists", row.text("macro"));
        if of_host.is_some() {
            let hosts = names(edit, "hosts", "hostid", "name", &[row.id("hostid")])?;
            text += &format!(" on \"{}\"", hosts.values().next().map_or("", String::as_str));
        }
        Err(ApiError::params(format!("{text}.")))
    }
}

#[cfg(test)]
mod tests;
