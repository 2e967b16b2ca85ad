//! The audit log: who changed what, and who signed in.

use config::audit::{AuditAction, Author, note_access};
use config::db::Value;
use stdx::sync::lock;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Int, Text};
use crate::object::{Field, Object, field};
use crate::params;

pub(crate) const METHODS: &[Method] = &[Method::super_admin("auditlog.get", get)];

const FIELDS: &[Field] = &[
    field("auditid", Text(25), ReadOnly, "Id of the entry; ids sort by time."),
    field("userid", Id, ReadOnly, "Id of the user; 0 = the server, or an unknown user."),
    field("username", Text(0), ReadOnly, "Name of the user at that time; `System` = the server."),
    field("clock", Int(0, i64::MAX), ReadOnly, "Unix time."),
    field("ip", Text(0), ReadOnly, "Address that the call came from."),
    field(
        "action",
        Int(0, 12),
        ReadOnly,
        "0 add, 1 update, 2 delete, 4 sign-out, 7 script, 8 sign-in, 9 refused sign-in.",
    ),
    field(
        "resourcetype",
        Int(0, 1100),
        ReadOnly,
        "Kind of the object; the numbers are 7.0's up to 54. 1100 = a problem that was changed by a link.",
    ),
    field("resourceid", Id, ReadOnly, "Id of the object."),
    field("resource_cuid", Text(25), ReadOnly, "Always 0."),
    field("resourcename", Text(0), ReadOnly, "Name of the object."),
    field("recordsetid", Text(25), ReadOnly, "Entries of one call have the same."),
    field("details", Text(0), ReadOnly, "JSON: `{\"host.name\":[\"update\",\"new\",\"old\"]}`."),
];

pub(crate) static AUDIT_LOG: Object = Object {
    name: "auditlog",
    table: "(SELECT * FROM auditlog UNION ALL SELECT * FROM access_log)",
    key: "auditid",
    keys: "auditids",
    fields: FIELDS,
    strict: true,
    sort: &["auditid", "userid", "clock"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let by_id = params::flag(input.get("preservekeys"));
    let mut plain = input.clone();
    if let Some(members) = plain.as_object_mut() {
        members.remove("preservekeys");
    }
    let options = ["auditids", "userids", "time_from", "time_till"];
    let mut get = Get::new(call, &plain, &AUDIT_LOG, &options)?;
    if let Some(ids) = input.get("auditids").filter(|ids| !ids.is_null()) {
        let mut wanted: Vec<Value> = Vec::new();
        for (n, id) in params::list(ids).into_iter().enumerate() {
            let path = format!("/auditids/{}", n + 1);
            let id = params::text(id, &path)?;
            if id.chars().count() != 25 {
                return Err(ApiError::at(&path, "must be 25 characters long"));
            }
            wanted.push(id.into());
        }
        match wanted.len() {
            0 => get.and("1 = 0", []),
            n => get.and(format!("t.auditid IN ({})", config::db::placeholders(n)), wanted),
        }
    }
    get.by_ids("userids", "t.userid IN ({ids})")?;
    for (option, condition) in [("time_from", "t.clock >= ?"), ("time_till", "t.clock <= ?")] {
        if let Some(at) = input.get(option).filter(|at| !at.is_null()) {
            get.and(condition, [params::int(at, &format!("/{option}"))?.into()]);
        }
    }
    get.need(&["auditid"]);
    let found = get.run()?;
    if !by_id || found.total.is_some() {
        return Ok(found.finish());
    }
    let keyed = found.rows.into_iter().map(|row| {
        let id = row.row.text("auditid").to_owned();
        (id, row.out.into_json())
    });
    Ok(crate::out::keyed(keyed.collect()))
}

/// Characters of a name that somebody tries to sign in with.
const NAME_MAX: usize = 100;

/// Notes that a user of this name has signed in or out, or that somebody has tried to (id 0: there is no
/// such user). A sign-in succeeds even if its entry cannot be written.
pub(crate) fn note(call: &Call<'_>, action: AuditAction, userid: u64, username: &str) {
    let Some(author) = entry(call, action, userid, username) else { return };
    let written: Result<(), config::db::DbError> =
        call.config().write_state(|state| note_access(state, action, &author));
    if let Err(error) = written {
        tracing::warn!(%error, "a sign-in could not be written to the audit log");
    }
}

/// The author of such an entry; `None` = there is to be none.
pub(crate) fn entry(
    call: &Call<'_>,
    action: AuditAction,
    userid: u64,
    username: &str,
) -> Option<Author> {
    if !call.config().snapshot().settings.audit.enabled {
        return None;
    }
    let refused = &call.api.sessions.refused;
    if action == AuditAction::FailedLogin && !lock(refused).admit(call.now()) {
        return None;
    }
    let username: String = username.chars().take(NAME_MAX).collect();
    Some(call.author_named(userid, &username))
}

#[cfg(test)]
mod tests {
    use config::Edit;
    use config::db::DbResult;
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn changes_are_in_the_log() {
        let server = Server::start();
        let id = server.create("hostgroup.create", &json!({ "name": "g" }));
        let call = |method: &str, params| server.call(method, &params).unwrap();
        call("hostgroup.update", json!({ "groupid": id, "name": "h" }));
        call("hostgroup.delete", json!([id]));
        let wanted = json!({ "filter": { "resourcetype": 14 }, "sortfield": "auditid" });
        let entries = call("auditlog.get", wanted);
        let shown: Vec<String> = entries
            .as_array()
            .unwrap()
            .iter()
            .map(|one| format!("{} {} {}", one["action"], one["resourceid"], one["username"]))
            .collect();
        let expected: Vec<String> =
            (0..3).map(|action| format!("\"{action}\" \"{id}\" \"Admin\"")).collect();
        assert_eq!(shown, expected);
        assert_eq!(entries[1]["details"], r#"{"hostgroup.name":["update","h","g"]}"#);
        let first = entries[0]["auditid"].as_str().unwrap();
        let options = json!({ "auditids": first, "preservekeys": true, "output": ["action"] });
        assert_eq!(call("auditlog.get", options), json!({ first: { "action": "0" } }));
        server.refuses(&[
            ("auditlog.get", json!({ "auditids": ["x"] }), -32602, "must be 25 characters long"),
            ("auditlog.get", json!({ "sortfield": "details" }), -32602, "value must be one of"),
        ]);
    }

    #[test]
    fn settings_are_in_the_log() {
        let server = Server::start();
        for (method, params) in [
            ("settings.update", json!({ "default_theme": "dark-theme", "search_limit": "1000" })),
            ("housekeeping.update", json!({ "hk_audit": "7d" })),
            ("authentication.update", json!({ "passwd_min_length": 10 })),
            (
                "autoregistration.update",
                json!({ "tls_accept": 2, "tls_psk_identity": "id",
                    "tls_psk": "0123456789abcdef0123456789abcdef" }),
            ),
        ] {
            server.call(method, &params).unwrap();
        }
        let options = json!({ "filter": { "resourcetype": [38, 40, 41, 42] },
            "output": ["action", "resourcetype", "resourceid", "resourcename", "details"],
            "sortfield": "auditid" });
        let entry = |kind: &str, details: &str| json!({ "action": "1", "resourcetype": kind, "resourceid": "1", "resourcename": "", "details": details });
        let keys = r#"{"autoregistration.tls_accept":["update","2","1"],"autoregistration.tls_psk_identity":["update","******",""],"autoregistration.tls_psk":["update","******",""]}"#;
        server.answers(&[(
            "auditlog.get",
            options,
            json!([
                entry("40", r#"{"settings.default_theme":["update","dark-theme","blue-theme"]}"#),
                entry("41", r#"{"housekeeping.hk_audit":["update","7d","31d"]}"#),
                entry("42", r#"{"authentication.passwd_min_length":["update","10","8"]}"#),
                entry("38", keys),
            ]),
        )]);
    }

    #[test]
    fn sign_ins_are_in_the_log() {
        let server = Server::start();
        let refused = json!({ "username": "Admin", "password": "no" });
        server.call_as(None, "user.login", &refused).unwrap_err();
        let unknown = json!({ "username": "stranger", "password": "no" });
        server.call_as(None, "user.login", &unknown).unwrap_err();
        let session = server.login("Admin", "zabbix");
        server.call_as(Some(&session), "user.logout", &json!([])).unwrap();
        let fields = ["action", "userid", "username", "ip"];
        let options =
            json!({ "output": fields, "filter": { "resourcetype": 0 }, "sortfield": "auditid" });
        let entry = |action: &str, id: &str, name: &str| json!({ "userid": id, "username": name, "ip": "127.0.0.1", "action": action });
        server.answers(&[(
            "auditlog.get",
            options,
            json!([
                entry("8", "1", "Admin"),
                entry("9", "1", "Admin"),
                entry("9", "0", "stranger"),
                entry("8", "1", "Admin"),
                entry("4", "1", "Admin"),
            ]),
        )]);
    }

    #[test]
    fn a_sign_in_does_not_need_its_entry() {
        let server = Server::start();
        let refuse = "CREATE TRIGGER full BEFORE INSERT ON access_log \
                      BEGIN SELECT RAISE(ABORT, 'disk full'); END";
        server.write_state_sql(&[refuse]);
        let session = server.login("Admin", "zabbix");
        assert!(server.api.is_signed_in(&session));
    }

    #[test]
    fn refused_sign_ins_are_written_up_to_a_limit_a_minute() {
        let server = Server::start();
        let refused = |n: u32| {
            for n in 0..n {
                let params = json!({ "username": format!("stranger{n}"), "password": "no" });
                server.call_as(None, "user.login", &params).unwrap_err();
            }
            let options = json!({ "filter": { "action": 9 }, "countOutput": true });
            server.call("auditlog.get", &options).unwrap()
        };
        assert_eq!(
            refused(crate::session::REFUSED_MAX + 5),
            crate::session::REFUSED_MAX.to_string()
        );
        server.clock.advance(std::time::Duration::from_secs(60));
        assert_eq!(refused(1), (crate::session::REFUSED_MAX + 1).to_string());
    }

    #[test]
    fn old_entries_expire_and_a_disabled_log_stays_empty() {
        let server = Server::start();
        let config = &server.api.deps.config;
        server.create("hostgroup.create", &json!({ "name": "g" }));
        assert_eq!(config::audit::delete_before(config, 1_700_000_000).unwrap(), 0);
        assert_eq!(config::audit::delete_before(config, 1_800_000_001).unwrap(), 2);
        let off = [("name", "auditlog_enabled".into()), ("value", "0".into())];
        let work = |edit: &mut Edit<'_>| edit.insert(&config::table::SETTINGS, &off);
        let written: DbResult<()> = config.write(work);
        written.unwrap();
        server.create("hostgroup.create", &json!({ "name": "h" }));
        server.login("Admin", "zabbix");
        server.answers(&[("auditlog.get", json!({ "countOutput": true }), json!("0"))]);
    }
}
