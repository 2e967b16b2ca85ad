use serde_json::{Value as Json, json};

use crate::testing::Server;

/// A server with two hosts in groups of their own, each with a trigger.
struct World {
    server: Server,
    icon: String,
    groups: [String; 2],
    hosts: [String; 2],
    triggers: [String; 2],
}

impl World {
    fn new() -> Self {
        let server = Server::start();
        let icon = server.text("SELECT imageid FROM images WHERE name = 'Server_(64)'");
        let make = |name: &str| {
            let group = server.create("hostgroup.create", &json!({ "name": name }));
            let host = json!({ "host": name, "groups": [{ "groupid": group }] });
            let host = server.create("host.create", &host);
            let item =
                json!({ "hostid": host, "name": "k", "key_": "k", "type": 2, "value_type": 3 });
            server.create("item.create", &item);
            let expression = format!("last(/{name}/k)=1");
            let trigger = json!({ "description": name, "expression": expression });
            (group, host, server.create("trigger.create", &trigger))
        };
        let (one, other) = (make("one"), make("other"));
        let (groups, hosts, triggers) = ([one.0, other.0], [one.1, other.1], [one.2, other.2]);
        Self { server, icon, groups, hosts, triggers }
    }

    fn element(&self, reference: &str, kind: i64, elements: Json) -> Json {
        json!({ "selementid": reference, "elementtype": kind, "elements": elements,
                "iconid_off": self.icon })
    }

    /// A map of both hosts with a link, the first group, and both triggers in one element.
    fn map(&self, name: &str) -> Json {
        let [one, other] = &self.hosts;
        let triggers = self.triggers.iter().map(|id| json!({ "triggerid": id }));
        json!({
            "name": name, "width": 600, "height": 400,
            "selements": [
                self.element("a", 0, json!([{ "hostid": one }])),
                self.element("b", 0, json!([{ "hostid": other }])),
                self.element("c", 3, json!([{ "groupid": self.groups[0] }])),
                self.element("d", 2, triggers.collect()),
            ],
            "links": [
                { "selementid1": "a", "selementid2": "b", "color": "00CC00",
                  "linktriggers": [{ "triggerid": self.triggers[0], "color": "DD0000" }] },
                { "selementid1": "c", "selementid2": "d" },
            ],
        })
    }

    fn create(&self, map: &Json) -> String {
        self.server.create("map.create", map)
    }

    /// A member of a map.
    fn get(&self, id: &str, select: &str, fields: Json) -> Json {
        let params = json!({ "sysmapids": id, "output": ["sysmapid"], select: fields });
        let mut found = self.server.call("map.get", &params).unwrap();
        let member = found[0].as_object_mut().unwrap().iter_mut().next_back().unwrap();
        member.1.take()
    }

    fn elements(&self, id: &str) -> Json {
        let shown = self.get(id, "selectSelements", json!(["elements"]));
        shown.as_array().unwrap().iter().map(|one| one["elements"].clone()).collect()
    }
}

#[test]
fn links_name_the_elements_of_their_call() {
    let world = World::new();
    let id = world.create(&world.map("plan"));
    let elements = world.get(&id, "selectSelements", json!("extend"));
    let links = world.get(&id, "selectLinks", json!("extend"));
    assert_eq!(links[0]["selementid1"], elements[0]["selementid"]);
    assert_eq!(links[1]["selementid2"], elements[3]["selementid"]);
    assert_eq!(links[0]["linktriggers"][0]["triggerid"], json!(world.triggers[0]));
    assert_eq!(elements[3]["elements"].as_array().unwrap().len(), 2);
    let host = &elements[0];
    assert_eq!((&host["label_location"], &host["width"]), (&json!("-1"), &json!("200")));
    assert_eq!((&host["permission"], &host["urls"]), (&json!(2), &json!([])));
}

#[test]
fn an_update_keeps_what_it_leaves_out() {
    let world = World::new();
    let mut map = world.map("plan");
    map["shapes"] = json!([{ "type": 1, "text": "a", "x": 5 }]);
    map["lines"] = json!([{ "x1": 1, "y1": 2, "x2": 30, "y2": 40 }]);
    let id = world.create(&map);
    let elements = world.get(&id, "selectSelements", json!(["selementid"]));
    let shape = world.get(&id, "selectShapes", json!(["sysmap_shapeid"]));
    let first = &elements[0]["selementid"];
    let update = json!({
        "sysmapid": id, "width": 700,
        "selements": [{ "selementid": first, "label": "new" }, world.element("x", 4, json!([]))],
        "links": [{ "selementid1": first, "selementid2": "x" }],
        "shapes": [{ "sysmap_shapeid": shape[0]["sysmap_shapeid"], "text": "b" }],
    });
    world.server.call("map.update", &update).unwrap();
    let now = world.get(&id, "selectSelements", json!(["selementid", "label", "elements"]));
    assert_eq!(now.as_array().unwrap().len(), 2);
    assert_eq!((&now[0]["selementid"], &now[0]["label"]), (first, &json!("new")));
    assert_eq!(now[0]["elements"], json!([{ "hostid": world.hosts[0] }]));
    let links = world.get(&id, "selectLinks", json!(["selementid2", "color"]));
    let link = json!({ "selementid2": now[1]["selementid"], "color": "000000" });
    assert_eq!(links, json!([link]));
    let shapes = world.get(&id, "selectShapes", json!("extend"));
    assert_eq!(
        (&shapes[0]["text"], &shapes[0]["x"], &shapes[0]["sysmap_shapeid"]),
        (&json!("b"), &json!("5"), &shape[0]["sysmap_shapeid"])
    );
    let lines = world.get(&id, "selectLines", json!(["x2", "line_width"]));
    assert_eq!(lines, json!([{ "x2": "30", "line_width": "1" }]), "not given");
}

#[test]
fn elements_go_with_what_they_show() {
    let world = World::new();
    let inner = world.create(&json!({ "name": "inner", "width": 9, "height": 9 }));
    let mut map = world.map("plan");
    let of_map = world.element("e", 1, json!([{ "sysmapid": inner }]));
    map["selements"].as_array_mut().unwrap().push(of_map);
    let id = world.create(&map);
    let count = || world.elements(&id).as_array().unwrap().len();
    let links = || world.get(&id, "selectLinks", json!(["linkid"])).as_array().unwrap().len();
    assert_eq!((count(), links()), (5, 2));
    world.server.call("trigger.delete", &json!([world.triggers[0]])).unwrap();
    assert_eq!(world.elements(&id)[3], json!([{ "triggerid": world.triggers[1] }]));
    world.server.call("map.delete", &json!([inner])).unwrap();
    assert_eq!((count(), links()), (4, 2));
    world.server.call("host.delete", &json!([world.hosts[1]])).unwrap();
    assert_eq!((count(), links()), (2, 0), "its trigger is gone as well");
    world.server.call("host.delete", &json!([world.hosts[0]])).unwrap();
    world.server.call("hostgroup.delete", &json!([world.groups[0]])).unwrap();
    assert_eq!(count(), 0);
}

#[test]
fn wrong_maps_are_refused() {
    let world = World::new();
    world.create(&world.map("taken"));
    let with = |change: Json| {
        let mut map = world.map("new");
        map.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        map
    };
    let element = |change: Json| {
        let mut one = world.element("a", 0, json!([{ "hostid": world.hosts[0] }]));
        one.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        with(json!({ "selements": [one], "links": [] }))
    };
    let mut nameless = world.element("", 4, json!([]));
    nameless.as_object_mut().unwrap().shift_remove("selementid");
    let empty = json!({ "selementid1": "", "selementid2": "" });
    let two = json!([{ "hostid": world.hosts[0] }, { "hostid": world.hosts[1] }]);
    for (map, code) in [
        (with(json!({ "name": "taken" })), -32602),
        (with(json!({ "name": "" })), -32602),
        (with(json!({ "width": 0 })), -32602),
        (with(json!({ "height": 65_536 })), -32602),
        (with(json!({ "grid_size": 33 })), -32602),
        (with(json!({ "label_type": 5 })), -32602),
        (with(json!({ "label_format": 1, "label_type_host": 5 })), -32602),
        (with(json!({ "label_format": 1, "label_type_image": 3 })), -32602),
        (with(json!({ "urls": [{ "name": "n", "url": "javascript:alert(1)" }] })), -32602),
        (
            with(json!({ "urls": [{ "name": "n", "url": "a" }, { "name": "n", "url": "b" }] })),
            -32602,
        ),
        (with(json!({ "users": [{ "userid": "1", "permission": 1 }] })), -32602),
        (with(json!({ "links": [{ "selementid1": "a", "selementid2": "z" }] })), -32602),
        (with(json!({ "links": [{ "selementid1": "a" }] })), -32602),
        (with(json!({ "selements": [nameless], "links": [{}] })), -32602),
        (with(json!({ "selements": [nameless], "links": [empty] })), -32602),
        (with(json!({ "lines": [{ "line_color": "red" }] })), -32602),
        (with(json!({ "lines": [{ "x1": 601 }] })), -32602),
        (with(json!({ "shapes": [{ "x": 1 }] })), -32602),
        (with(json!({ "shapes": [{ "type": 0, "sysmap_shapeid": 99 }] })), -32602),
        (element(json!({ "elementtype": 7 })), -32602),
        (element(json!({ "elements": [] })), -32500),
        (element(json!({ "elements": two })), -32602),
        (element(json!({ "elements": [{ "groupid": world.groups[0] }] })), -32500),
        (element(json!({ "elements": [{ "hostid": "99999" }] })), -32500),
        (element(json!({ "iconid_off": "0" })), -32602),
    ] {
        let refused = world.server.call("map.create", &map).unwrap_err();
        assert_eq!(refused.0, code, "{map}: {}", refused.1);
    }
}

#[test]
fn a_map_does_not_show_itself() {
    let world = World::new();
    let one = world.create(&json!({ "name": "one", "width": 9, "height": 9 }));
    let of = |map: &str| json!([world.element("a", 1, json!([{ "sysmapid": map }]))]);
    let other = json!({ "name": "other", "width": 9, "height": 9, "selements": of(&one) });
    let other = world.create(&other);
    for map in [&one, &other] {
        let update = json!({ "sysmapid": one, "selements": of(map) });
        let refused = world.server.call("map.update", &update).unwrap_err();
        assert_eq!(refused, (-32602, "Circular reference in maps.".to_owned()));
    }
}

#[test]
fn deeply_nested_maps_are_read_and_changed() {
    const FIRST: i64 = 500_000;
    const LAST: i64 = 520_000;
    let world = World::new();
    let [group, _] = &world.groups;
    let session = world.server.user("ann", "1", &[(group.as_str(), 2)]);
    // Each map shows the next one, the last one shows a host.
    let numbers = format!(
        "WITH RECURSIVE n(i) AS (SELECT {FIRST} UNION ALL SELECT i + 1 FROM n WHERE i < {LAST})"
    );
    world.server.write_sql(&[
        &format!(
            "INSERT INTO maps (sysmapid, name, width, height, private) {numbers} \
             SELECT i, 'map ' || i, 9, 9, 0 FROM n"
        ),
        &format!(
            "INSERT INTO map_elements (selementid, sysmapid, elementtype, elementid) {numbers} \
             SELECT i, i, CASE i WHEN {LAST} THEN 0 ELSE 1 END, \
             CASE i WHEN {LAST} THEN {} ELSE i + 1 END FROM n",
            world.hosts[0]
        ),
    ]);
    let count = |params: Json| world.server.call_as(Some(&session), "map.get", &params).unwrap();
    assert_eq!(count(json!({ "countOutput": true })), (LAST - FIRST + 1).to_string());
    assert_eq!(count(json!({ "countOutput": true, "sysmapids": [FIRST, FIRST + 7] })), "2");
    let of = |map: i64| json!([world.element("a", 1, json!([{ "sysmapid": map }]))]);
    let update = |map: i64, shown: i64| {
        world.server.call("map.update", &json!({ "sysmapid": map, "selements": of(shown) }))
    };
    update(FIRST, FIRST + 2).unwrap();
    let refused = update(LAST, FIRST).unwrap_err();
    assert_eq!(refused, (-32602, "Circular reference in maps.".to_owned()));
}

#[test]
fn maps_show_no_prototypes() {
    let world = World::new();
    let host = &world.hosts[0];
    let rule = json!({ "hostid": host, "name": "r", "key_": "r", "type": 2 });
    let rule = world.server.create("discoveryrule.create", &rule);
    let item = json!({ "ruleid": rule, "hostid": host, "name": "{#A}", "key_": "p[{#A}]",
                       "type": 2, "value_type": 3 });
    world.server.create("itemprototype.create", &item);
    let trigger = json!({ "description": "{#A}", "expression": "last(/one/p[{#A}])=1" });
    let trigger = world.server.create("triggerprototype.create", &trigger);
    let mut map = world.map("plan");
    map["selements"][3]["elements"] = json!([{ "triggerid": trigger }]);
    assert_eq!(world.server.call("map.create", &map).unwrap_err().0, -32500);
}

#[test]
fn users_see_their_own_shared_and_public_maps() {
    let world = World::new();
    let server = &world.server;
    let session = server.user("ann", "1", &[(world.groups[0].as_str(), 2)]);
    let user = server.text("SELECT userid FROM users WHERE username = 'ann'");
    let group = server.text("SELECT usrgrpid FROM usergroups WHERE name = 'ann'");
    let plain = |name: &str, more: Json| {
        let mut map = json!({ "name": name, "width": 9, "height": 9 });
        map.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.create(&map)
    };
    plain("private", json!({}));
    let public = plain("public", json!({ "private": 0 }));
    plain("read", json!({ "users": [{ "userid": user, "permission": 2 }] }));
    let group = json!({ "userGroups": [{ "usrgrpid": group, "permission": 3 }] });
    let write = plain("write", group);
    let call = |method: &str, params: Json| server.call_as(Some(&session), method, &params);
    let own = json!({ "name": "own", "width": 9, "height": 9 });
    call("map.create", own).unwrap();
    let names = |more: Json| -> Vec<String> {
        let mut params = json!({ "output": ["name"], "sortfield": "name" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = call("map.get", params).unwrap();
        let names = found.as_array().unwrap().iter();
        names.map(|map| map["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(json!({})), ["own", "public", "read", "write"]);
    assert_eq!(names(json!({ "editable": true })), ["own", "write"]);
    call("map.update", json!({ "sysmapid": write, "width": 10 })).unwrap();
    let refused = call("map.update", json!({ "sysmapid": public, "width": 10 })).unwrap_err();
    assert_eq!(refused.0, -32500);
    assert_eq!(call("map.delete", json!([public])).unwrap_err().0, -32602);
    let hidden = world.element("a", 0, json!([{ "hostid": world.hosts[1] }]));
    let update = json!({ "sysmapid": write, "selements": [hidden] });
    assert_eq!(call("map.update", update).unwrap_err().0, -32500, "an unreadable host");
}

#[test]
fn unreadable_elements_have_no_permission() {
    let world = World::new();
    let session = world.server.user("ann", "1", &[(world.groups[0].as_str(), 2)]);
    let mut map = world.map("plan");
    map["private"] = 0.into();
    let hidden = json!([{ "triggerid": world.triggers[1] }]);
    let hidden = json!({ "selementid1": "a", "selementid2": "c", "linktriggers": hidden });
    map["links"].as_array_mut().unwrap().insert(1, hidden);
    world.create(&map);
    let params = json!({ "selectSelements": ["permission"], "selectLinks": ["permission"] });
    let found = world.server.call_as(Some(&session), "map.get", &params).unwrap();
    let permissions = |member: &str| -> Vec<i64> {
        let list = found[0][member].as_array().unwrap().iter();
        list.map(|one| one["permission"].as_i64().unwrap()).collect()
    };
    assert_eq!(permissions("selements"), [2, -1, 2, 2], "one readable trigger suffices");
    assert_eq!(permissions("links"), [2, -1, 2], "of their triggers");
}

#[test]
fn maps_need_rights_on_what_they_show() {
    let world = World::new();
    let rights = [(world.groups[0].as_str(), 3)];
    let admin = world.server.user("adm", "2", &rights);
    let stranger = world.server.user("ann", "1", &[]);
    let mut map = world.map("plan");
    map["private"] = 0.into();
    let id = world.create(&map);
    let one = json!({ "name": "one", "width": 9, "height": 9,
                      "selements": [world.element("a", 0, json!([{ "hostid": world.hosts[0] }]))] });
    let one = world.create(&one);
    let count = |session: &str, editable: bool| {
        let params = json!({ "countOutput": true, "editable": editable });
        world.server.call_as(Some(session), "map.get", &params).unwrap()
    };
    assert_eq!((count(&admin, false), count(&admin, true)), (json!("2"), json!("1")));
    assert_eq!(count(&stranger, false), "0", "no element is readable");
    let update = |id: &str| {
        let params = json!({ "sysmapid": id, "width": 10 });
        world.server.call_as(Some(&admin), "map.update", &params)
    };
    assert_eq!(update(&id).unwrap_err().0, -32500, "of one host only");
    update(&one).unwrap();
}

#[test]
fn members_that_maps_do_not_have_are_ignored() {
    let world = World::new();
    let map = json!({ "name": "plan", "width": 9, "height": 9, "colour": 1,
                      "urls": [{ "name": "n", "url": "http://x", "colour": 1 }] });
    let id = world.create(&map);
    let urls = world.get(&id, "selectUrls", json!(["name", "elementtype"]));
    assert_eq!(urls, json!([{ "name": "n", "elementtype": "0" }]));
}

#[test]
fn urls_of_the_map_reach_its_elements() {
    let world = World::new();
    let mut map = world.map("plan");
    map["urls"] = json!([
        { "name": "host", "url": "http://x/{HOST.ID}", "elementtype": 0 },
        { "name": "group", "url": "http://x/{HOSTGROUP.ID}", "elementtype": 3 },
    ]);
    let id = world.create(&map);
    let params = json!({ "sysmapids": id, "selectSelements": ["urls"], "expandUrls": true });
    let found = world.server.call("map.get", &params).unwrap();
    let url = |n: usize| found[0]["selements"][n]["urls"][0]["url"].clone();
    assert_eq!(url(0), format!("http://x/{}", world.hosts[0]));
    assert_eq!(url(2), format!("http://x/{}", world.groups[0]));
    assert_eq!(url(3), Json::Null);
}

#[test]
fn exports_of_maps_can_be_imported() {
    let world = World::new();
    let inner = world.create(&json!({ "name": "inner", "width": 9, "height": 9 }));
    let mut map = world.map("plan");
    map["shapes"] = json!([{ "type": 0, "text": "a\nb" }]);
    map["urls"] = json!([{ "name": "host", "url": "http://x/{HOST.ID}", "elementtype": 0 }]);
    let of_map = world.element("e", 1, json!([{ "sysmapid": inner }]));
    map["selements"].as_array_mut().unwrap().push(of_map);
    let id = world.create(&map);
    let export = |format: &str, ids: &[&str]| {
        let params = json!({ "format": format, "options": { "maps": ids } });
        world.server.call("configuration.export", &params).unwrap()
    };
    let all = json!({ "createMissing": true, "updateExisting": true });
    for format in ["yaml", "xml", "json"] {
        let source = export(format, &[&id]);
        let stored = source.as_str().unwrap();
        assert!(stored.contains("Server_(64)") && stored.contains("iVBORw0KGgo"), "{stored}");
        let copy = stored.replace("plan", &format!("plan{format}"));
        let params = json!({ "format": format, "source": copy,
                             "rules": { "maps": all, "images": all } });
        world.server.call("configuration.import", &params).unwrap();
        let copied = format!("SELECT sysmapid FROM maps WHERE name = 'plan{format}'");
        let copied = world.server.text(&copied);
        assert_eq!(world.elements(&copied), world.elements(&id), "{format}");
        world.server.call("configuration.import", &params).unwrap();
        assert_eq!(world.elements(&copied), world.elements(&id), "{format} again");
        let again = export(format, &[&copied]);
        assert_eq!(again.as_str().unwrap().len(), copy.len(), "{format}");
    }
    let source = export("yaml", &[&id]);
    let lost = source.as_str().unwrap().replace("host: other", "host: nobody");
    let params = json!({ "format": "yaml", "source": lost, "rules": { "maps": all } });
    let refused = world.server.call("configuration.import", &params).unwrap_err();
    assert_eq!(refused.1, "Cannot find host \"nobody\" used in map \"plan\".");
}

#[test]
fn exports_need_permission_on_what_the_map_shows() {
    let world = World::new();
    let session = world.server.user("ann", "1", &[(world.groups[0].as_str(), 2)]);
    let readable = world.element("a", 0, json!([{ "hostid": world.hosts[0] }]));
    let export = |element: Option<Json>, links: Json| {
        let elements: Vec<Json> = [readable.clone()].into_iter().chain(element).collect();
        let map = json!({ "name": "plan", "width": 9, "height": 9, "private": 0,
                          "selements": elements, "links": links });
        let id = world.create(&map);
        let params = json!({ "format": "json", "options": { "maps": [id] } });
        let result = world.server.call_as(Some(&session), "configuration.export", &params);
        world.server.call("map.delete", &json!([id])).unwrap();
        result
    };
    let triggers: Json = world.triggers.iter().map(|id| json!({ "triggerid": id })).collect();
    let inner = json!({ "name": "inner", "width": 9, "height": 9 });
    let inner = world.create(&inner);
    let link = json!([{ "selementid1": "a", "selementid2": "a", "linktriggers": triggers }]);
    assert!(export(None, json!([])).unwrap().as_str().unwrap().contains("plan"));
    for (element, links) in [
        (Some(world.element("b", 0, json!([{ "hostid": world.hosts[1] }]))), json!([])),
        (Some(world.element("b", 3, json!([{ "groupid": world.groups[1] }]))), json!([])),
        (Some(world.element("b", 1, json!([{ "sysmapid": inner }]))), json!([])),
        (Some(world.element("b", 2, triggers)), json!([])),
        (None, link),
    ] {
        assert_eq!(export(element, links).unwrap_err().0, -32500);
    }
}

#[test]
fn the_audit_log_names_maps_and_images() {
    let world = World::new();
    let id = world.create(&world.map("plan"));
    world.server.call("map.update", &json!({ "sysmapid": id, "width": 700 })).unwrap();
    world.server.call("map.delete", &json!([id])).unwrap();
    let params = json!({ "output": ["resourcename", "action"], "filter": { "resourcetype": 19 } });
    let found = world.server.call("auditlog.get", &params).unwrap();
    let actions: Vec<&Json> = found.as_array().unwrap().iter().map(|one| &one["action"]).collect();
    assert_eq!(found[0]["resourcename"], "plan");
    assert_eq!(actions.len(), 3, "{found}");
}

#[test]
fn the_audit_log_has_what_changes_on_elements() {
    let world = World::new();
    let mut element = world.element("a", 0, json!([{ "hostid": world.hosts[0] }]));
    element["tags"] = json!([{ "tag": "t", "value": "v" }]);
    element["urls"] = json!([{ "name": "n", "url": "http://x" }]);
    let map = json!({ "name": "plan", "width": 9, "height": 9, "selements": [element] });
    let id = world.create(&map);
    let stored = world.get(&id, "selectSelements", json!(["selementid"]))[0]["selementid"].clone();
    element["selementid"] = stored.clone();
    let mut update = |url: &str| {
        element["urls"][0]["url"] = url.into();
        let update = json!({ "sysmapid": id, "selements": [element] });
        world.server.call("map.update", &update).unwrap();
        let params =
            json!({ "output": ["details"], "filter": { "resourcetype": 19, "action": 1 } });
        let found = world.server.call("auditlog.get", &params).unwrap();
        let details = found.as_array().unwrap().iter();
        details.map(|one| one["details"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(update("http://x").is_empty(), "nothing changes");
    let [changed] = &update("http://y")[..] else { panic!("one change") };
    let at = format!("map.selements[{}].urls[", stored.as_str().unwrap());
    assert!(changed.contains(&at) && changed.contains("http://y"), "{changed}");
    assert!(!changed.contains("tags"), "{changed}");
}
