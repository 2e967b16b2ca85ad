//! Scripts: what actions and users run on hosts and events.

mod kinds;
mod places;
mod run;

use std::collections::BTreeMap;

use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;
use objects::{ExecuteOn, ScriptScope, ScriptType};
use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::methods::action;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Json as Document, Name, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::params;
use crate::permission::on_groups;
use crate::plain::{self, Child, Draft, Key, Plain, Spec, Unique, delete_rows, need};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("script.get", get),
    Method::super_admin("script.create", plain::create::<Script>),
    Method::super_admin("script.update", plain::update::<Script>),
    Method::super_admin("script.delete", plain::delete::<Script>),
    Method::user("script.execute", run::execute),
    Method::user("script.getscriptsbyhosts", run::by_hosts),
    Method::user("script.getscriptsbyevents", run::by_events),
];

const FIELDS: &[Field] = &[
    field("scriptid", Id, ReadOnly, "Id of the script."),
    field("name", Name(255), Required, "Name."),
    field("command", Text(65_535), Optional, "Command, or JavaScript of a webhook."),
    field("host_access", OneOf(&[2, 3]), Optional, "Right on the host: 2 = read, 3 = write."),
    field("usrgrpid", Id, Optional, "User group that may run it; 0 = all."),
    field("groupid", Id, Optional, "Host group on which it runs; 0 = all."),
    field("description", Text(65_535), Optional, "Description."),
    field("confirmation", Text(255), Optional, "Question before it runs."),
    field(
        "type",
        OneOf(ScriptType::NUMBERS),
        Required,
        "0 = shell, 1 = IPMI, 2 = SSH, 3 = Telnet, 5 = webhook, 6 = URL.",
    ),
    field(
        "execute_on",
        OneOf(ExecuteOn::NUMBERS),
        Optional,
        "Shell: 0 = agent, 1 = server, 2 = proxy or server.",
    ),
    field("timeout", Name(32), Optional, "Webhook: time limit, 1 to 60 seconds."),
    field("parameters", Document, Optional, "Webhook: `[{name, value}]`."),
    field(
        "scope",
        OneOf(ScriptScope::NUMBERS),
        Required,
        "1 = operations of actions, 2 = hosts, 4 = events.",
    ),
    field("port", Text(64), Optional, "SSH, Telnet: port."),
    field("authtype", OneOf(&[0, 1]), Optional, "SSH: 0 = password, 1 = key."),
    field("username", Text(64), Optional, "SSH, Telnet: user name."),
    field("password", Text(64), Optional, "SSH, Telnet: password, or passphrase of the key."),
    field("publickey", Text(64), Optional, "SSH: file of the public key."),
    field("privatekey", Text(64), Optional, "SSH: file of the private key."),
    field("menu_path", Text(255), Optional, "Place in the menu, with `/`."),
    field("url", Text(2_048), Optional, "URL: the address."),
    field("new_window", OneOf(&[0, 1]), Optional, "URL: 1 = in a new window."),
    field("manualinput", OneOf(&[0, 1]), Optional, "1 = the user gives an input."),
    field("manualinput_prompt", Text(255), Optional, "Question for the input."),
    field("manualinput_validator", Text(2_048), Optional, "Pattern or list of the input."),
    field("manualinput_validator_type", OneOf(&[0, 1]), Optional, "0 = pattern, 1 = list."),
    field("manualinput_default_value", Text(255), Optional, "Input that is shown first."),
];

pub(crate) static SCRIPT: Object = Object {
    name: "script",
    table: "(SELECT s.*, '[]' AS parameters FROM scripts s)",
    key: "scriptid",
    keys: "scriptids",
    fields: FIELDS,
    strict: true,
    sort: &["scriptid", "name"],
};

const PARAMETER: &[Field] = &[
    field("name", Name(255), Required, "Name."),
    field("value", Text(2_048), Required, "Value, with macros."),
];

static SPEC: Spec = Spec {
    options: &[
        "hostids",
        "groupids",
        "usrgrpids",
        "selectActions",
        "selectHosts",
        "selectHostGroups",
        "selectGroups",
    ],
    unique: Some(Unique {
        columns: &["name", "menu_path"],
        among: None,
        error: "Script \"{name}\" already exists.",
    }),
    children: &[Child {
        unique: &["name"],
        ..Child::new(
            "parameters",
            &table::SCRIPT_PARAMS,
            "scriptid",
            Key::Position("position"),
            PARAMETER,
        )
    }],
    ..Spec::new(&SCRIPT, &table::SCRIPTS, &[("scriptids", "t.scriptid IN ({ids})")])
};

/// Scripts for a host: those for all hosts, and those for a group that has it, or in which a group has it.
const OF_HOSTS: &str = "(t.groupid = 0 OR EXISTS (SELECT 1 FROM groups_ g \
    JOIN groups_ sub ON sub.groupid = g.groupid \
      OR substr(sub.name, 1, length(g.name) + 1) = g.name || '/' \
    JOIN host_groups hg ON hg.groupid = sub.groupid \
    WHERE g.groupid = t.groupid AND hg.hostid IN ({ids})))";

#[derive(Default)]
struct Script;

/// `script.get`; users who are not super admins see no secrets, and cannot search for them.
fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if call.is_super_admin() {
        return plain::read(&Script, call, input);
    }
    let mut input = input.clone();
    for option in ["filter", "search"] {
        if let Some(Json::Object(fields)) = input.get_mut(option) {
            fields.retain(|name, _| !SECRET.contains(&name.as_str()));
        }
    }
    plain::read(&Script, call, &input)
}

/// What may hold secrets.
const SECRET: &[&str] = &["password", "parameters", "command"];

impl Plain for Script {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        get.by_ids("hostids", OF_HOSTS)?;
        get.by_ids("groupids", "(t.groupid = 0 OR t.groupid IN ({ids}))")?;
        // Scripts for all user groups stay with an empty list, too.
        if let Some(groups) = params::ids(input, "usrgrpids")? {
            let groups: Vec<u64> = groups.into_iter().chain([0]).collect();
            get.in_ids("t.usrgrpid IN ({ids})", &groups);
        }
        if call.is_super_admin() {
            return Ok(());
        }
        if get.flag("editable") {
            get.and("1 = 0", []);
        }
        get.and(
            "(t.usrgrpid = 0 OR t.usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid = ?))",
            [call.user().id.into()],
        );
        if let Some(right) = on_groups(call.user(), need(get), "t.groupid") {
            get.and(format!("(t.groupid = 0 OR {right})"), []);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if found.output.has("parameters") {
            show_parameters(found)?;
        }
        if !found.call.is_super_admin() && found.output.has("password") {
            for row in &mut found.rows {
                row.out.insert("password", "".into());
            }
        }
        if let Some(wanted) = found.wants_list("selectActions")? {
            let sql = "SELECT c.scriptid, o.actionid FROM operation_commands c \
                       JOIN operations o ON o.operationid = c.operationid \
                       WHERE c.scriptid IN ({ids}) ORDER BY c.scriptid, o.actionid";
            let pairs = found.call.pairs(sql, &found.ids())?;
            found.relate_as(&Relation::new("actions", &action::ACTION), &wanted, &pairs)?;
        }
        places::show(found)
    }

    fn given(&self, _: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        kinds::check_given(draft)
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        kinds::complete(draft, before)?;
        kinds::refer(call, edit, draft)
    }

    fn delete(&self, _: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("scriptid")).collect();
        let sql = "SELECT c.scriptid, a.name FROM operation_commands c \
                   JOIN operations o ON o.operationid = c.operationid \
                   JOIN actions a ON a.actionid = o.actionid \
                   WHERE c.scriptid IN ({ids}) ORDER BY c.scriptid, a.actionid";
        if let Some(used) = query_by_ids(edit, sql, &[], &ids)?.first() {
            let id = used.id("scriptid");
            let name = rows.iter().find(|row| row.id("scriptid") == id);
            return Err(ApiError::params(format!(
                "Cannot delete scripts. Script \"{}\" is used in action operation \"{}\".",
                name.map_or("", |row| row.text("name")),
                used.text("name")
            )));
        }
        delete_rows(&SPEC, edit, rows)
    }
}

/// Adds the parameters to each script.
fn show_parameters(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let ids = found.ids();
    let sql = "SELECT * FROM script_params WHERE scriptid IN ({ids}) ORDER BY scriptid, position";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    let is_shown = found.call.is_super_admin();
    let mut of_script: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in &rows {
        let value = if is_shown { row.text("value") } else { "" };
        let shown = json!({ "name": row.text("name"), "value": value });
        of_script.entry(row.id("scriptid")).or_default().push(shown);
    }
    for row in &mut found.rows {
        let own = of_script.remove(&row.id).unwrap_or_default();
        row.out.insert("parameters", own.into());
    }
    Ok(())
}

#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod tests;
