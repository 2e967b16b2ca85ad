mod changes;

use std::net::{IpAddr, Ipv4Addr};

use avi::Members;
use serde_json::{Value as Json, json};

use super::{Credential, Reply, Request, Verb, cookies, handle, login};
use crate::call::Gone;
use crate::rpc::Origin;
use crate::testing::Server;

fn origin() -> Origin {
    Origin { peer: IpAddr::V4(Ipv4Addr::LOCALHOST), gone: Gone::default() }
}

/// A client of Avi that has signed in.
struct Client {
    server: Server,
    session: String,
}

impl Client {
    fn start() -> Self {
        let server = Server::start();
        let session = server.login("Admin", "zabbix");
        Self { server, session }
    }

    fn request(&self, verb: Verb, path: &str, body: &Json) -> Request {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        };
        let csrf = cookies(&self.session, false)[0].split(['=', ';']).nth(1).map(str::to_owned);
        Request {
            verb,
            path: path.to_owned(),
            query: pairs.map(pair).collect(),
            host: "lb:8443".to_owned(),
            credential: Credential::Session(self.session.clone()),
            csrf,
            tenant: Some("admin".to_owned()),
            body: body.to_string().into_bytes(),
        }
    }

    fn send(&self, verb: Verb, path: &str, body: &Json) -> Reply {
        handle(&self.server.api, &self.request(verb, path, body), &origin())
    }

    /// The body of a response with this status.
    fn expect(&self, status: u16, verb: Verb, path: &str, body: &Json) -> Json {
        let reply = self.send(verb, path, body);
        let shown = reply.body.unwrap_or_default();
        assert_eq!(reply.status, status, "{verb:?} {path} {body}: {shown}");
        shown
    }

    fn get(&self, path: &str) -> Json {
        self.expect(200, Verb::Get, path, &Json::Null)
    }

    fn create(&self, kind: &str, body: &Json) -> Json {
        self.expect(201, Verb::Post, kind, body)
    }

    fn refused(&self, status: u16, verb: Verb, path: &str, body: &Json, text: &str) {
        let shown = self.expect(status, verb, path, body);
        let error = shown["error"].as_str().unwrap();
        assert!(error.contains(text), "{error} lacks {text}");
    }

    /// Objects of the JSON-RPC API.
    fn objects(&self, method: &str) -> Json {
        let params = json!({ "output": "extend", "selectServers": "extend" });
        let plain = json!({ "output": "extend" });
        let params = if method == "pool.get" { params } else { plain };
        self.server.call(method, &params).unwrap()
    }
}

fn path(object: &Json) -> String {
    let uuid = object["uuid"].as_str().unwrap();
    format!("{}/{uuid}", uuid.split('-').next().unwrap())
}

fn pool(name: &str) -> Json {
    let ip = json!({ "addr": "10.0.0.1", "type": "V4" });
    json!({ "name": name, "lb_algorithm": "LB_ALGORITHM_ROUND_ROBIN", "servers": [{ "ip": ip, "port": 8080 }] })
}

#[test]
fn a_pool_is_created_changed_and_deleted() {
    let client = Client::start();
    let created = client.create("pool", &pool("p1"));
    let uuid = created["uuid"].as_str().unwrap();
    assert_eq!(created["url"], format!("https://lb:8443/api/pool/{uuid}"));
    assert_eq!(created["append_port"], "NON_DEFAULT_80_443", "defaults of Avi");
    assert_eq!(client.objects("pool.get")[0]["algorithm"], "round_robin");
    let found = client.get("pool?name=p1&include_name=&skip_default=true");
    assert_eq!(
        (&found["count"], &found["results"][0]["servers"]),
        (&1.into(), &pool("p1")["servers"])
    );
    assert_eq!(found["results"][0]["append_port"], Json::Null);
    assert!(found["results"][0]["tenant_ref"].as_str().unwrap().ends_with("#admin"));
    assert_eq!(client.get("pool?name=p2"), json!({ "count": 0, "results": [] }));
    // A client sends back what it has read.
    let mut sent = created.clone();
    sent["enabled"] = false.into();
    let put = client.expect(200, Verb::Put, &path(&created), &sent);
    assert_eq!(client.objects("pool.get")[0]["servers"][0]["state"], "down");
    assert_ne!(put["_last_modified"], created["_last_modified"]);
    client.refused(412, Verb::Put, &path(&created), &sent, "Read it again");
    // Versions that no response had are those of another server.
    sent["_last_modified"] = "1".into();
    client.expect(200, Verb::Put, &path(&created), &sent);
    let body = json!({ "replace": { "enabled": true } });
    assert_eq!(client.expect(200, Verb::Patch, &path(&created), &body)["enabled"], true);
    assert_eq!(client.objects("pool.get")[0]["servers"][0]["state"], "up");
    client.refused(409, Verb::Post, "pool", &pool("p1"), "already exists");
    client.refused(
        400,
        Verb::Post,
        "pool",
        &json!({ "name": "x", "waf": 1 }),
        "waf: unknown member",
    );
    client.refused(400, Verb::Post, "pool", &json!([]), "JSON object");
    client.expect(204, Verb::Delete, &path(&created), &Json::Null);
    client.refused(404, Verb::Get, &path(&created), &Json::Null, "not found");
    client.refused(404, Verb::Delete, &path(&created), &Json::Null, "not found");
    assert_eq!(client.objects("pool.get"), json!([]));
}

#[test]
fn changes_of_others_are_seen() {
    let client = Client::start();
    let created = client.create("pool", &pool("p1"));
    let id = client.objects("pool.get")[0]["poolid"].clone();
    let change = json!({ "poolid": id, "algorithm": "random", "name": "p2" });
    client.server.call("pool.update", &change).unwrap();
    let found = client.get(&path(&created));
    assert_eq!(
        (&found["lb_algorithm"], &found["name"]),
        (&"LB_ALGORITHM_RANDOM".into(), &"p2".into())
    );
    assert_eq!(client.get("pool?name=p1")["count"], 0);
    assert_eq!(client.get("pool?name=p2")["results"][0]["uuid"], created["uuid"]);
    // An object of the UI has a UUID, too, and keeps it when it is changed here.
    let other =
        json!({ "name": "ui", "servers": [{ "name": "s", "address": "10.0.0.9", "port": 80 }] });
    client.server.create("pool.create", &other);
    let seen = client.get("pool?name=ui")["results"][0].clone();
    assert_eq!(seen["servers"][0]["hostname"], "s");
    let put = client.expect(200, Verb::Put, &path(&seen), &seen);
    assert_eq!(put["uuid"], seen["uuid"]);
    assert_eq!(client.get("pool")["count"], 2);
    // A deleted one is gone here, too.
    client.server.call("pool.delete", &json!([id])).unwrap();
    client.refused(404, Verb::Get, &path(&created), &Json::Null, "not found");
    assert_eq!(client.get("pool")["count"], 1);
    client.create("pool", &pool("p1"));
}

#[test]
fn an_incomplete_object_waits_for_what_it_lacks() {
    let client = Client::start();
    let empty = client.create("pool", &json!({ "name": "p1" }));
    let service =
        json!({ "name": "vs1", "pool_ref": "/api/pool?name=p1", "services": [{ "port": 80 }] });
    let service = client.create("virtualservice", &service);
    assert_eq!(client.objects("virtualservice.get"), json!([]));
    let put = client.expect(200, Verb::Put, &path(&empty), &pool("p1"));
    assert_eq!(put["uuid"], empty["uuid"]);
    let made = client.objects("virtualservice.get");
    assert_eq!((&made[0]["name"], &made[0]["port"]), (&"vs1".into(), &"80".into()));
    assert_eq!(client.objects("vip.get")[0]["ipv4"], "0.0.0.0");
    assert_eq!(client.objects("enginegroup.get")[0]["name"], "Default-Group");
    let shown = client.get(&(path(&service) + "?include_name"));
    let reference = format!("https://lb:8443/api/{}#p1", path(&empty));
    assert_eq!(shown["pool_ref"], reference);
    client.refused(
        412,
        Verb::Delete,
        &path(&empty),
        &Json::Null,
        "referred by: ['virtualservice vs1']",
    );
    client.refused(
        412,
        Verb::Put,
        &path(&empty),
        &json!({ "name": "p1" }),
        "the pool has no servers",
    );
    client.expect(204, Verb::Delete, &path(&service), &Json::Null);
    // A service that the balancer does not have keeps nothing.
    client.expect(200, Verb::Put, &path(&empty), &json!({ "name": "p1" }));
    let waiting = json!({ "name": "vs2", "pool_ref": empty["url"], "services": [{ "port": 81 }] });
    let waiting = client.create("virtualservice", &waiting);
    client.expect(204, Verb::Delete, &path(&empty), &Json::Null);
    client.expect(204, Verb::Delete, &path(&waiting), &Json::Null);
}

#[test]
fn a_service_with_two_ports_is_two_services() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let vip = json!([{ "vip_id": "1", "ip_address": { "addr": "192.0.2.1", "type": "V4" } }]);
    let vsvip = client.create("vsvip", &json!({ "name": "v1", "vip": vip }));
    let service = json!({
        "name": "web", "pool_ref": "/api/pool?name=p1", "vsvip_ref": vsvip["url"],
        "services": [{ "port": 80 }, { "port": 81 }],
    });
    let created = client.create("virtualservice", &service);
    let names = |client: &Client| {
        let services = client.objects("virtualservice.get");
        let names = services.as_array().unwrap().iter().map(|one| one["name"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&client), ["web", "web (81)"]);
    assert_eq!(client.get("virtualservice")["count"], 1);
    assert_eq!(client.get("virtualservice?name=web (81)")["count"], 0);
    client.refused(412, Verb::Delete, &path(&vsvip), &Json::Null, "virtualservice web");
    let body = json!({ "delete": { "services": [{ "port": 80 }] } });
    let patched = client.expect(200, Verb::Patch, &path(&created), &body);
    assert_eq!(
        (patched["services"].as_array().unwrap().len(), names(&client)),
        (1, vec!["web".into()])
    );
    client.expect(204, Verb::Delete, &path(&created), &Json::Null);
    client.expect(204, Verb::Delete, &path(&vsvip), &Json::Null);
    // An address within the service makes a VIP that ends with it.
    let inline = json!({ "name": "in", "pool_ref": "/api/pool?name=p1", "vip": vip, "services": [{ "port": 80 }] });
    let created = client.create("virtualservice", &inline);
    assert_eq!(client.objects("vip.get")[0]["name"], "vsvip-in");
    client.expect(204, Verb::Delete, &path(&created), &Json::Null);
    assert_eq!(client.objects("vip.get"), json!([]));
}

#[test]
fn a_changed_profile_changes_what_refers_to_it() {
    let client = Client::start();
    let kind = "applicationpersistenceprofile";
    let cookie = |name: &str| {
        json!({
            "name": "sticky", "persistence_type": "PERSISTENCE_TYPE_HTTP_COOKIE",
            "http_cookie_persistence_profile": { "cookie_name": name },
        })
    };
    let profile = client.create(kind, &cookie("A"));
    let mut refers = pool("p1");
    refers["application_persistence_profile_ref"] = profile["url"].clone();
    client.create("pool", &refers);
    let persistence = |client: &Client| client.objects("pool.get")[0]["persistence"].clone();
    assert_eq!(persistence(&client)["name"], "A");
    client.expect(200, Verb::Put, &path(&profile), &cookie("B"));
    assert_eq!(persistence(&client)["name"], "B");
    client.refused(400, Verb::Put, &path(&profile), &cookie("no token"), "persistence");
    assert_eq!(client.get(&path(&profile))["http_cookie_persistence_profile"]["cookie_name"], "B");
    client.refused(412, Verb::Delete, &path(&profile), &Json::Null, "referred by: ['pool p1']");
    refers["application_persistence_profile_ref"] = "/api/sslprofile?name=System-Standard".into();
    client.refused(400, Verb::Post, "pool", &refers, "applicationpersistenceprofile is expected");
    refers["application_persistence_profile_ref"] = format!("/api/{kind}?name=none").into();
    client.refused(400, Verb::Post, "pool", &refers, "does not exist");
    // Built-in objects are found, and cannot be changed.
    let system = client.get("applicationprofile?name=System-HTTP")["results"][0].clone();
    client.refused(
        403,
        Verb::Delete,
        &path(&system),
        &Json::Null,
        "Cannot delete system default object",
    );
    client.refused(403, Verb::Put, &path(&system), &system, "system object");
    client.refused(403, Verb::Post, "tenant", &json!({ "name": "t" }), "one tenant");
    assert_eq!(client.get("tenant?name=admin")["count"], 1);
}

#[test]
fn lists_have_pages() {
    let client = Client::start();
    for name in ["a", "b", "c"] {
        client.create("pool", &pool(name));
    }
    let first = client.get("pool?page_size=2&fields=name");
    let next = first["next"].as_str().unwrap();
    assert_eq!(
        (&first["count"], next),
        (&3.into(), "https://lb:8443/api/pool?page=2&page_size=2&fields=name")
    );
    let members: &Members = first["results"][1].as_object().unwrap();
    assert_eq!(members.keys().collect::<Vec<_>>(), ["url", "uuid", "name"]);
    let last = client.get("pool?page=2&page_size=2");
    assert_eq!((&last["results"][0]["name"], &last["next"]), (&"c".into(), &Json::Null));
    client.refused(400, Verb::Get, "pool?page=0", &Json::Null, "page: ");
    client.refused(404, Verb::Get, "wafpolicy", &Json::Null, "no objects");
    client.refused(
        405,
        Verb::Post,
        &format!("pool/{}", members["uuid"].as_str().unwrap()),
        &json!({}),
        "POST",
    );
}

#[test]
fn sessions_and_rights_are_those_of_the_api() {
    let client = Client::start();
    let api = &client.server.api;
    let refused = login(api, &json!({ "username": "Admin", "password": "wrong" }), &origin());
    assert_eq!((refused.status, refused.session), (401, None));
    let signed_in = login(api, &json!({ "username": "Admin", "password": "zabbix" }), &origin());
    assert_eq!(signed_in.body.unwrap()["session_cookie_name"], "avi-sessionid");
    let session = signed_in.session.unwrap();
    assert!(cookies(&session, true)[1].contains(&format!("avi-sessionid={session};")));
    assert!(cookies(&session, true).iter().all(|cookie| cookie.ends_with("; Secure")));
    let send = |change: &dyn Fn(&mut Request)| {
        let mut request = client.request(Verb::Post, "pool", &pool("p"));
        change(&mut request);
        handle(api, &request, &origin()).status
    };
    assert_eq!(send(&|request| request.csrf = None), 403);
    assert_eq!(send(&|request| request.credential = Credential::None), 401);
    assert_eq!(send(&|request| request.credential = Credential::Session("0".repeat(32))), 401);
    assert_eq!(send(&|request| request.tenant = Some("other".to_owned())), 404);
    let basic = |password: &str| Credential::Basic("Admin".to_owned(), password.to_owned());
    assert_eq!(send(&|request| request.credential = basic("wrong")), 401);
    assert_eq!(send(&|request| request.credential = basic("zabbix")), 201);
    // An admin reads, and a user does not even read.
    for (name, role, read) in [("reader", "2", 200), ("nobody", "1", 403)] {
        let session = client.server.user(name, role, &[]);
        let mut request = client.request(Verb::Get, "pool", &Json::Null);
        request.credential = Credential::Bearer(session);
        assert_eq!(handle(api, &request, &origin()).status, read, "{name}");
        request.verb = Verb::Delete;
        request.path = "pool/pool-1".to_owned();
        assert_eq!(handle(api, &request, &origin()).status, 403, "{name}");
    }
}
