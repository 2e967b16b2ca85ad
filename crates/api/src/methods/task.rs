//! `task.create` of type 6: check items and discovery rules now. It is done at once, so that
//! nothing is kept that `task.get` could show.

use objects::{ItemType, Origin, Status};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use const_format::formatcp;
use model::ItemId;
use objects::sql::{FLAGS_WITH_VALUES, KIND_HOST};
use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::effect::Effect;
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::params;
use crate::permission::{Need, action_allowed, on_hosts};
use crate::write::only;

pub(crate) const METHODS: &[Method] =
    &[Method::user("task.create", create), Method::super_admin("task.get", get)];

/// The type of a task that checks an item now.
const CHECK_NOW: i64 = 6;
/// Tasks of one call.
const TASKS_MAX: usize = 100_000;
/// Masters of masters; configuration allows three.
const MASTERS_MAX: usize = 10;

/// Ids that clients get for their tasks.
static LAST_TASK: AtomicU64 = AtomicU64::new(0);

/// An item, as far as it matters here.
#[derive(Clone)]
struct Target {
    /// `None`: a type that this version does not know.
    kind: Option<ItemType>,
    /// It and its host are switched on.
    on: bool,
    what: &'static str,
    name: String,
    /// Visible name of its host.
    host: String,
    master: u64,
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let tasks = params::objects(input)?;
    if tasks.len() > TASKS_MAX {
        let count = tasks.len();
        let text = format!("One call may bring {TASKS_MAX} tasks, this one has {count}.");
        return Err(ApiError::params(text));
    }
    let asked: Vec<u64> =
        tasks.iter().map(|(path, task)| read(task, path)).collect::<ApiResult<_>>()?;
    // Without the right to check now it takes the right to change the item.
    let allowed = action_allowed(call.user(), "invoke_execute_now");
    let need = if allowed { Need::Read } else { Need::Write };
    let known = load(call, &asked, Some(need))?;
    let mut given: BTreeMap<ItemId, u64> = BTreeMap::new();
    let mut ids = Vec::with_capacity(asked.len());
    for id in asked {
        let item = ItemId(checked(call, id, &known)?);
        let next = || LAST_TASK.fetch_add(1, Ordering::Relaxed) + 1;
        ids.push(given.entry(item).or_insert_with(next).to_string());
    }
    let items: Vec<ItemId> = given.into_keys().collect();
    call.after_commit(Effect::CheckNow(items)).map_err(ApiError::application)?;
    Ok(json!({ "taskids": ids }))
}

/// Members of tasks, as `output` may name them.
const FIELDS: &[&str] =
    &["taskid", "type", "status", "clock", "ttl", "proxyid", "request", "result"];

/// Tasks that are kept until they are done: none is, so none is found.
fn get(_call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let Json::Object(members) = input else { return Ok(json!([])) };
    only(members, "/", &["taskids", "output", "preservekeys"])?;
    params::ids(input, "taskids")?;
    let output = input.get("output").map(|wanted| Output::parse(wanted, "/output")).transpose()?;
    if let Some(Some(Output::Fields(names))) = output
        && let Some(at) = names.iter().position(|name| !FIELDS.contains(&name.as_str()))
    {
        let path = format!("/output/{}", at + 1);
        let names: Vec<String> = FIELDS.iter().map(|name| format!("\"{name}\"")).collect();
        let text = format!("value must be one of {}", names.join(", "));
        return Err(ApiError::at(&path, text));
    }
    Ok(json!([]))
}

/// The item that a task names.
fn read(task: &Json, path: &str) -> ApiResult<u64> {
    let only = |object: &Json, path: &str, known: &[&str]| {
        object.as_object().map_or(Ok(()), |members| only(members, path, known))
    };
    let member = |object: &Json, path: &str, name: &str| {
        let missing = || ApiError::at(path, format_args!("the parameter \"{name}\" is missing"));
        object.get(name).cloned().ok_or_else(missing)
    };
    let kind = params::int(&member(task, path, "type")?, &format!("{path}/type"))?;
    if kind != CHECK_NOW {
        return Err(ApiError::at(
            &format!("{path}/type"),
            "value must be 6: of the others, 1 and 2, this server has none",
        ));
    }
    only(task, path, &["type", "request", "proxyid"])?;
    let (request, path) = (member(task, path, "request")?, format!("{path}/request"));
    // Clients of PHP's making send an empty array for an object without members.
    if !request.is_object() && request != json!([]) {
        return Err(ApiError::at(&path, "an array is expected"));
    }
    only(&request, &path, &["itemid"])?;
    params::id(&member(&request, &path, "itemid")?, &format!("{path}/itemid"))
}

fn load(call: &Call<'_>, ids: &[u64], need: Option<Need>) -> ApiResult<HashMap<u64, Target>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut sql = String::from(formatcp!(
        "SELECT i.itemid, i.name, i.type, i.status, i.flags, i.master_itemid, \
           h.name AS host_name, h.status AS host_status FROM items i \
           JOIN hosts h ON h.hostid = i.hostid AND h.kind = {KIND_HOST} WHERE i.flags IN {FLAGS_WITH_VALUES}"
    ));
    if let Some(condition) = need.and_then(|need| on_hosts(call.user(), need, "i.hostid")) {
        sql += &format!(" AND {condition}");
    }
    sql += " AND i.itemid IN ({ids})";
    let rows = call.read(|c| Ok(config::db::query_by_ids(c, &sql, &[], &ids)?))?;
    let target = |row: &config::db::Row| Target {
        kind: ItemType::from_number(row.int("type")),
        on: Status::Enabled.is(row.int("status")) && Status::Enabled.is(row.int("host_status")),
        what: if Origin::Rule.is(row.int("flags")) { "discovery rule" } else { "item" },
        name: row.text("name").to_owned(),
        host: row.text("host_name").to_owned(),
        master: row.id("master_itemid"),
    };
    Ok(rows.iter().map(|row| (row.id("itemid"), target(row))).collect())
}

/// What has to be asked for an item: itself, or its master's master.
fn checked(call: &Call<'_>, id: u64, known: &HashMap<u64, Target>) -> ApiResult<u64> {
    let mut target = known.get(&id).ok_or_else(ApiError::no_object)?.clone();
    let mut at = id;
    for _ in 0..MASTERS_MAX {
        if !target.on {
            let Target { what, name, host, .. } = &target;
            return refused(&format!("{what} \"{name}\" on host \"{host}\" is not monitored"));
        }
        if target.kind != Some(ItemType::Dependent) {
            break;
        }
        // Users who see an item see its master, which is of the same host.
        let mut above = load(call, &[target.master], None)?;
        let Some(master) = above.remove(&target.master) else { break };
        (at, target) = (target.master, master);
    }
    if target.kind.is_some_and(ItemType::is_checked_on_demand) {
        return Ok(at);
    }
    let what = if at == id { target.what } else { "master item" };
    refused(&format!("wrong {what} type"))
}

fn refused<T>(why: &str) -> ApiResult<T> {
    Err(ApiError::params(format!("Cannot send request: {why}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Server;

    fn task(item: &str) -> Json {
        json!({ "type": 6, "request": { "itemid": item } })
    }

    struct Bed {
        server: Server,
        group: String,
        host: String,
    }

    impl Bed {
        fn new() -> Self {
            let server = Server::start();
            let group = server.create("hostgroup.create", &json!({ "name": "all" }));
            let host = json!({ "host": "h", "groups": [{ "groupid": group }] });
            let host = server.create("host.create", &host);
            Self { server, group, host }
        }

        fn make(&self, method: &str, key: &str, kind: u8, more: &Json) -> String {
            let mut item = json!({
                "hostid": self.host, "name": key, "key_": key, "type": kind,
            });
            if method == "item.create" {
                item["value_type"] = json!(4);
            }
            if ![2, 18].contains(&kind) {
                item["delay"] = json!("1h");
            }
            for (name, value) in more.as_object().unwrap() {
                item[name] = value.clone();
            }
            self.server.create(method, &item)
        }

        fn asked(&self) -> Vec<String> {
            std::mem::take(&mut *self.server.asked.lock().unwrap())
        }
    }

    #[test]
    fn nothing_is_kept() {
        let server = Server::start();
        let fields = json!({ "output": ["taskid", "status"], "taskids": ["1"] });
        server.answers(&[
            ("task.get", json!({}), json!([])),
            ("task.get", json!([]), json!([])),
            ("task.get", fields, json!([])),
        ]);
        server.refuses(&[
            ("task.get", json!({ "filter": {} }), -32602, "unexpected parameter \"filter\""),
            ("task.get", json!({ "output": ["x"] }), -32602, "Invalid parameter \"/output/1\""),
            ("task.get", json!({ "taskids": "x" }), -32602, "/taskids"),
        ]);
    }

    #[test]
    fn items_are_checked_now() {
        let bed = Bed::new();
        let item = |key: &str, kind, more| bed.make("item.create", key, kind, &more);
        let internal = item("zabbix[uptime]", 5, json!({}));
        let script = item("s", 21, json!({ "params": "return 1" }));
        let rule =
            bed.make("discoveryrule.create", "zabbix[host,discovery,interfaces]", 5, &json!({}));
        let below = item("b", 18, json!({ "master_itemid": internal }));
        let lowest = item("c", 18, json!({ "master_itemid": below }));
        bed.asked();
        let call = |tasks: Json| bed.server.call("task.create", &tasks).unwrap();
        let ids = |ids: &[&String]| {
            let mut ids: Vec<u64> = ids.iter().map(|id| id.parse().unwrap()).collect();
            ids.sort_unstable();
            vec![format!("check {:?}", ids.into_iter().map(ItemId).collect::<Vec<_>>())]
        };
        assert_eq!(call(task(&script))["taskids"].as_array().unwrap().len(), 1);
        assert_eq!(bed.asked(), ids(&[&script]));
        let made = call(json!([task(&script), task(&rule), task(&script)]));
        assert_eq!(made["taskids"][0], made["taskids"][2]);
        assert_ne!(made["taskids"][0], made["taskids"][1]);
        assert_eq!(bed.asked(), ids(&[&script, &rule]));
        call(json!([task(&below), task(&lowest)]));
        assert_eq!(bed.asked(), ids(&[&internal]));
    }

    #[test]
    fn what_cannot_be_checked_now() {
        let bed = Bed::new();
        let item = |key: &str, kind, more| bed.make("item.create", key, kind, &more);
        let good = item("zabbix[uptime]", 5, json!({}));
        let off = item("zabbix[boottime]", 5, json!({ "status": 1 }));
        let trapper = item("t", 2, json!({}));
        let below = item("b", 18, json!({ "master_itemid": trapper }));
        let rule = bed.make("discoveryrule.create", "r", 2, &json!({}));
        let refuse = |tasks: Json, code: i64, text: &str| {
            bed.server.refuses(&[("task.create", tasks, code, text)]);
        };
        let behind = item("o", 18, json!({ "master_itemid": off }));
        let sleeping = "item \"zabbix[boottime]\" on host \"h\" is not monitored";
        for (item, why) in [
            (&off, sleeping),
            (&behind, sleeping),
            (&trapper, "wrong item type"),
            (&below, "wrong master item type"),
            (&rule, "wrong discovery rule type"),
        ] {
            let text = format!("Cannot send request: {why}.");
            refuse(json!([task(&good), task(item)]), -32602, &text);
        }
        let request = |request: Json| json!([{ "type": 6, "request": request }]);
        refuse(json!([]), -32602, "\"/\": cannot be empty");
        refuse(task("99999"), -32500, "No permissions to referred object");
        refuse(json!([{ "type": 6 }]), -32602, "\"/1\": the parameter \"request\" is missing");
        refuse(json!([{ "request": {} }]), -32602, "\"/1\": the parameter \"type\" is missing");
        refuse(json!([{ "type": 1, "request": {} }]), -32602, "\"/1/type\": value must be");
        refuse(request(json!({})), -32602, "\"/1/request\": the parameter \"itemid\" is missing");
        refuse(request(json!({ "itemid": "x" })), -32602, "\"/1/request/itemid\": a number");
        let more = request(json!({ "itemid": good, "x": 1 }));
        refuse(more, -32602, "\"/1/request\": unexpected parameter \"x\"");
        bed.asked();
        let host = json!({ "hostid": bed.host, "status": 1 });
        bed.server.call("host.update", &host).unwrap();
        let text = "item \"zabbix[uptime]\" on host \"h\" is not monitored.";
        refuse(task(&good), -32602, text);
        assert!(!bed.asked().iter().any(|what| what.starts_with("check")));
    }

    #[test]
    fn who_may_check_now() {
        let bed = Bed::new();
        let item = bed.make("item.create", "zabbix[uptime]", 5, &json!({}));
        let rights = json!([{ "id": bed.group, "permission": 2 }]);
        let users = json!({ "name": "readers", "hostgroup_rights": rights });
        let users = bed.server.create("usergroup.create", &users);
        let rules = json!({ "actions": [{ "name": "invoke_execute_now", "status": 0 }] });
        let role = json!({ "name": "no checks", "type": 1, "rules": rules });
        let role = bed.server.create("role.create", &role);
        let none = bed.server.create("usergroup.create", &json!({ "name": "others" }));
        for (name, role, group, may) in
            [("a", "1", &users, true), ("b", &*role, &users, false), ("c", "1", &none, false)]
        {
            let user = json!({
                "username": name, "passwd": "Long-enough-1", "roleid": role,
                "usrgrps": [{ "usrgrpid": group }],
            });
            bed.server.create("user.create", &user);
            let session = bed.server.login(name, "Long-enough-1");
            let told = bed.server.call_as(Some(&session), "task.create", &task(&item));
            assert_eq!(told.is_ok(), may, "{name}: {told:?}");
        }
    }
}
