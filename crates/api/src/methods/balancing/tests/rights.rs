//! What users who see some hosts only learn of the servers of pools.

use serde_json::{Value as Json, json};

use super::{Edge, servers};

/// A pool with a server that is a host with an open problem, which has the tag `scope`.
struct Watched {
    edge: Edge,
    hosts: String,
    host: String,
}

impl Watched {
    fn start() -> Self {
        let edge = Edge::start();
        let server = &edge.server;
        let hosts = server.create("hostgroup.create", &json!({ "name": "hosts" }));
        let host = json!({ "host": "app1", "groups": [{ "groupid": hosts }] });
        let host = server.create("host.create", &host);
        let item = json!({ "hostid": host, "name": "i", "key_": "i", "type": 2, "value_type": 3 });
        server.create("item.create", &item);
        let trigger = json!({ "description": "High CPU", "expression": "last(/app1/i)>0" });
        let trigger = server.create("trigger.create", &trigger);
        server.write_state_sql(&[
            &format!("INSERT INTO events (eventid, objectid, value) VALUES (7, {trigger}, 1)"),
            &format!(
                "INSERT INTO problems (eventid, objectid, name, severity) \
                 VALUES (7, {trigger}, 'CPU of app1', 4)"
            ),
            "INSERT INTO event_tags (eventtagid, eventid, tag, value) VALUES (1, 7, 'scope', 'x')",
        ]);
        let monitor = json!({ "name": "problems", "type": "trigger" });
        let monitor = server.create("healthmonitor.create", &monitor);
        let mut linked = servers("s1");
        linked[0]["hostid"] = host.clone().into();
        let change = json!({ "poolid": edge.pool, "servers": linked, "healthmonitorid": monitor });
        server.call("pool.update", &change).unwrap();
        Self { edge, hosts, host }
    }

    /// A session of an administrator who sees the host, with a filter on this tag.
    fn filtered(&self, tag: &str) -> String {
        let rights = json!([{ "id": self.hosts, "permission": 2 }]);
        let filters = json!([{ "groupid": self.hosts, "tag": tag, "value": "" }]);
        let group = json!({ "name": tag, "rights": rights, "tag_filters": filters });
        let group = self.edge.server.create("usergroup.create", &group);
        let user = json!({ "username": tag, "passwd": "Pa55word-x", "roleid": "2",
                           "usrgrps": { "usrgrpid": group } });
        self.edge.server.create("user.create", &user);
        self.edge.server.login(tag, "Pa55word-x")
    }

    fn call(&self, session: &str, method: &str, params: &Json) -> Json {
        self.edge.server.call_as(Some(session), method, params).unwrap()
    }
}

#[test]
fn pools_hide_the_ids_of_unseen_hosts() {
    let all = Watched::start();
    let stranger = all.edge.server.user("stranger", "2", &[]);
    let seeing = all.edge.server.user("seeing", "2", &[(&all.hosts, 2)]);
    let shown = json!({ "output": ["poolid"], "selectServers": ["hostid", "name"] });
    for (session, host) in [(&stranger, "0"), (&seeing, all.host.as_str())] {
        let pools = all.call(session, "pool.get", &shown);
        assert_eq!(pools[0]["servers"], json!([{ "name": "s1", "hostid": host }]));
    }
    let of_host = json!({ "hostids": [all.host], "countOutput": true });
    assert_eq!(all.call(&stranger, "pool.get", &of_host), "0");
    assert_eq!(all.call(&seeing, "pool.get", &of_host), "1");
    all.edge.server.answers(&[("pool.get", of_host, json!("1"))]);
}

#[test]
fn health_shows_what_problem_get_would_show() {
    let all = Watched::start();
    let health = json!({ "poolids": [all.edge.pool] });
    let checks = |session: &str| {
        all.call(session, "pool.health", &health)[0]["servers"][0]["host_checks"].clone()
    };
    let with = |reason: &str| json!([{ "name": "problems", "result": "fails", "effect": "down", "reason": reason }]);
    assert_eq!(checks(&all.filtered("scope")), with("problem: CPU of app1"));
    assert_eq!(checks(&all.filtered("other")), with(""), "a tag filter hides the problem");
    let stranger = all.edge.server.user("stranger", "2", &[]);
    assert_eq!(checks(&stranger), json!([]), "of a host that the user does not see");
}
