//! Methods of dashboards, on a server in a box.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// Host `web` linked to template `child`, which is linked to `base` with the item `k` and its graph.
struct World {
    server: Server,
    group: String,
    template: String,
    host: String,
    item: String,
    graph: String,
}

impl World {
    fn new() -> Self {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "Hosts" }));
        let of = server.create("templategroup.create", &json!({ "name": "Templates" }));
        let template = |host: &str, above: &[&str]| {
            let above: Json = above.iter().map(|id| json!({ "templateid": id })).collect();
            let groups = json!([{ "groupid": of }]);
            let template = json!({ "host": host, "groups": groups, "templates": above });
            server.create("template.create", &template)
        };
        let base = template("base", &[]);
        let item = json!({ "hostid": base, "name": "k", "key_": "k", "type": 2, "value_type": 3 });
        let item = server.create("item.create", &item);
        let shown = json!([{ "itemid": item, "color": "00AA00" }]);
        let graph = server.create("graph.create", &json!({ "name": "g", "gitems": shown }));
        let child = template("child", &[&base]);
        let host = json!({ "host": "web", "groups": [{ "groupid": group }],
                           "templates": [{ "templateid": child }] });
        let host = server.create("host.create", &host);
        Self { server, group, template: base, host, item, graph }
    }

    fn call(&self, method: &str, params: Json) -> Result<Json, (i64, String)> {
        self.server.call(method, &params)
    }

    /// A dashboard of one page with these widgets.
    fn make(&self, name: &str, widgets: Json) -> String {
        let pages = json!([{ "widgets": widgets }]);
        self.server.create("dashboard.create", &json!({ "name": name, "pages": pages }))
    }

    /// A dashboard of the template with the item and the graph.
    fn of_template(&self) -> String {
        let widget =
            |kind: &str, x: i64, fields: Json| json!({ "type": kind, "x": x, "fields": fields });
        let widgets = json!([
            widget("item", 0, json!([field(4, "itemid.0", &self.item)])),
            widget("graph", 9, json!([field(6, "graphid.0", &self.graph), field(1, "s", "t")])),
        ]);
        let pages = json!([{ "name": "p", "widgets": widgets }]);
        let dashboard = json!({ "templateid": self.template, "name": "d", "pages": pages });
        self.server.create("templatedashboard.create", &dashboard)
    }

    fn pages(&self, id: &str) -> Json {
        let params = json!({ "dashboardids": id, "output": [], "selectPages": "extend" });
        self.call("dashboard.get", params).unwrap()[0]["pages"].take()
    }

    fn refuses(&self, method: &str, params: Json, error: &str) {
        let refused = self.call(method, params.clone()).unwrap_err();
        assert_eq!(refused.1, error, "{method} {params}");
    }
}

fn field(kind: i64, name: &str, value: &str) -> Json {
    json!({ "type": kind, "name": name, "value": value })
}

#[test]
fn dashboards_have_pages_widgets_and_fields() {
    let world = World::new();
    let fields = json!([{ "type": 0, "value": 5 }, field(2, "groupids.0", &world.group)]);
    let id = world.make("d", json!([{ "type": "problems", "y": 3, "fields": fields }]));
    let found = world.call("dashboard.get", json!({ "dashboardids": id })).unwrap();
    assert_eq!(
        found,
        json!([{ "dashboardid": id, "name": "d", "userid": "1", "private": "1",
                 "display_period": "30", "auto_start": "1", "uuid": "" }])
    );
    let mut pages = world.pages(&id);
    let page = pages[0]["dashboard_pageid"].take();
    let widget = pages[0]["widgets"][0]["widgetid"].take();
    assert_eq!(
        pages,
        json!([{ "dashboard_pageid": null, "name": "", "display_period": "0", "widgets": [{
            "widgetid": null, "type": "problems", "name": "", "x": "0", "y": "3", "width": "1",
            "height": "2", "view_mode": "0", "fields": [
                { "type": "0", "name": "", "value": "5" },
                { "type": "2", "name": "groupids.0", "value": world.group },
            ] }] }])
    );
    let changed = json!([
        { "name": "first" },
        { "dashboard_pageid": page, "widgets": [
            { "widgetid": widget, "x": 4, "fields": [{ "type": 0, "value": 6 }] },
            { "type": "clock", "x": 6 } ] },
    ]);
    world.call("dashboard.update", json!({ "dashboardid": id, "pages": changed })).unwrap();
    let pages = world.pages(&id);
    assert_eq!((&pages[0]["name"], &pages[1]["dashboard_pageid"]), (&json!("first"), &page));
    let kept = &pages[1]["widgets"][0];
    assert_eq!(
        (&kept["widgetid"], &kept["type"], &kept["x"]),
        (&widget, &json!("problems"), &json!("4"))
    );
    assert_eq!(kept["fields"], json!([{ "type": "0", "name": "", "value": "6" }]));
    assert_eq!(pages[1]["widgets"][1]["type"], "clock");
    let rest = json!([{ "dashboard_pageid": page }]);
    world.call("dashboard.update", json!({ "dashboardid": id, "pages": rest })).unwrap();
    assert_eq!(world.pages(&id)[0]["widgets"].as_array().unwrap().len(), 2, "widgets stay");
    world.call("dashboard.delete", json!([id])).unwrap();
    for table in ["dashboards", "dashboard_pages", "widgets", "widget_values", "widget_groups"] {
        assert_eq!(world.server.count(&format!("SELECT COUNT(*) AS n FROM {table}")), 0, "{table}");
    }
}

#[test]
fn wrong_dashboards_are_refused() {
    let world = World::new();
    world.make("taken", json!([]));
    let page = |page: Json| json!({ "name": "n", "pages": [page] });
    let widgets = |widgets: Json| page(json!({ "widgets": widgets }));
    let fields = |fields: Json| widgets(json!([{ "type": "item", "fields": fields }]));
    let at = |path: &str, what: &str| format!("Invalid parameter \"/1{path}\": {what}.");
    let many: Vec<Json> = (0..51).map(|_| json!({})).collect();
    let clocks = |places: &[[i64; 4]]| -> Json {
        let clock = |[x, y, width, height]: &[i64; 4]| json!({ "type": "clock", "x": x, "y": y, "width": width, "height": height });
        widgets(places.iter().map(clock).collect())
    };
    for (dashboard, error) in [
        (json!({ "name": "n" }), at("", "the parameter \"pages\" is missing")),
        (json!({ "name": "n", "pages": [] }), at("/pages", "cannot be empty")),
        (
            json!({ "name": "n", "pages": many }),
            at("/pages", "maximum number of array elements is 50"),
        ),
        (json!({ "name": "taken", "pages": [{}] }), "Dashboard \"taken\" already exists.".into()),
        (
            page(json!({ "dashboard_pageid": 1 })),
            at("/pages/1", "unexpected parameter \"dashboard_pageid\""),
        ),
        (
            page(json!({ "display_period": 5 })),
            at(
                "/pages/1/display_period",
                "value must be one of 0, 10, 30, 60, 120, 600, 1800, 3600",
            ),
        ),
        (widgets(json!([{}])), at("/pages/1/widgets/1", "the parameter \"type\" is missing")),
        (clocks(&[[72, 0, 1, 1]]), at("/pages/1/widgets/1/x", "value must be one of 0-71")),
        (
            clocks(&[[71, 0, 2, 1]]),
            "Widget at X:71, Y:0 on page #1 of dashboard \"n\" is out of bounds.".into(),
        ),
        (
            clocks(&[[0, 63, 1, 2]]),
            "Widget at X:0, Y:63 on page #1 of dashboard \"n\" is out of bounds.".into(),
        ),
        (
            clocks(&[[0, 0, 5, 5], [4, 4, 1, 1]]),
            "Overlapping widgets at X:4, Y:4 on page #1 of dashboard \"n\".".into(),
        ),
        (
            fields(json!([{ "type": 14, "value": 1 }])),
            at(
                "/pages/1/widgets/1/fields/1/type",
                "value must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13",
            ),
        ),
        (
            fields(json!([{ "type": 0 }])),
            at("/pages/1/widgets/1/fields/1", "the parameter \"value\" is missing"),
        ),
        (
            fields(json!([field(0, "n", "x")])),
            at("/pages/1/widgets/1/fields/1/value", "an integer is expected"),
        ),
        (fields(json!([field(4, "n", "99")])), "Item with ID \"99\" is not available.".into()),
        (
            fields(json!([field(13, "n", "99")])),
            "Media type with ID \"99\" is not available.".into(),
        ),
        (
            json!({ "name": "n", "pages": [{}], "users": [{ "userid": 99, "permission": 2 }] }),
            "User with ID \"99\" is not available.".into(),
        ),
        (
            json!({ "name": "n", "pages": [{}], "userid": 99 }),
            "User with ID \"99\" is not available.".into(),
        ),
    ] {
        world.refuses("dashboard.create", dashboard, &error);
    }
    assert_eq!(world.server.count("SELECT COUNT(*) AS n FROM dashboards"), 1);
}

#[test]
fn pages_of_other_dashboards_are_refused() {
    let world = World::new();
    let (one, other) = (world.make("one", json!([])), world.make("other", json!([])));
    let page = world.pages(&other)[0]["dashboard_pageid"].clone();
    let update = json!({ "dashboardid": one, "pages": [{ "dashboard_pageid": page }] });
    let refused = world.call("dashboard.update", update).unwrap_err();
    assert_eq!(refused.0, -32500);
    let update = json!({ "dashboardid": one, "pages": [{ "widgets": [{ "widgetid": 1 }] }] });
    assert_eq!(world.call("dashboard.update", update).unwrap_err().0, -32500);
    let of_template = world.of_template();
    let update = json!({ "dashboardid": of_template, "name": "x" });
    assert_eq!(world.call("dashboard.update", update).unwrap_err().0, -32500);
    assert_eq!(world.call("dashboard.delete", json!([of_template])).unwrap_err().0, -32500);
    assert_eq!(world.call("templatedashboard.delete", json!([one])).unwrap_err().0, -32500);
}

#[test]
fn users_see_their_own_shared_and_public_dashboards() {
    let world = World::new();
    let server = &world.server;
    let admin = server.user("ann", "2", &[]);
    let me = server.text("SELECT userid FROM users WHERE username = 'ann'");
    let group = server.text("SELECT usrgrpid FROM usergroups WHERE name = 'ann'");
    let share = |name: &str, more: Json| {
        let mut dashboard = json!({ "name": name, "pages": [{}] });
        dashboard.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.create("dashboard.create", &dashboard)
    };
    share("private", json!({}));
    let public = share("public", json!({ "private": 0 }));
    share("read", json!({ "users": [{ "userid": me, "permission": 2 }] }));
    let write = share("write", json!({ "userGroups": [{ "usrgrpid": group, "permission": 3 }] }));
    let call = |method: &str, params: Json| server.call_as(Some(&admin), method, &params);
    let own = json!({ "name": "own", "pages": [{}] });
    call("dashboard.create", own).unwrap();
    let names = |editable: bool| -> Vec<String> {
        let params = json!({ "output": ["name"], "sortfield": "name", "editable": editable });
        let found = call("dashboard.get", params).unwrap();
        let names = found.as_array().unwrap().iter();
        names.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(false), ["own", "public", "read", "write"]);
    assert_eq!(names(true), ["own", "write"]);
    let rename = |id: &str| json!({ "dashboardid": id, "auto_start": 0 });
    call("dashboard.update", rename(&write)).unwrap();
    assert_eq!(call("dashboard.update", rename(&public)).unwrap_err().0, -32500);
    assert_eq!(call("dashboard.delete", json!([public])).unwrap_err().0, -32500);
    let give = json!({ "dashboardid": write, "userid": me });
    call("dashboard.update", give).unwrap();
    let give = call("dashboard.update", json!({ "dashboardid": write, "userid": 1 })).unwrap_err();
    assert_eq!(give.1, "Only super admins can set dashboard owner.");
    let hidden = json!({ "type": "item", "fields": [field(4, "itemid.0", &world.item)] });
    let update = json!({ "dashboardid": write, "pages": [{ "widgets": [hidden] }] });
    let refused = call("dashboard.update", update).unwrap_err().1;
    assert_eq!(refused, format!("Item with ID \"{}\" is not available.", world.item));
    world.refuses("user.delete", json!([me]), "User \"ann\" is dashboard \"write\" owner.");
}

#[test]
fn fields_go_with_what_they_refer_to() {
    let world = World::new();
    let own =
        json!({ "hostid": world.host, "name": "own", "key_": "own", "type": 2, "value_type": 3 });
    let own = world.server.create("item.create", &own);
    let group = world.server.create("hostgroup.create", &json!({ "name": "gone" }));
    let fields = json!([
        field(2, "a", &group),
        field(3, "b", &world.host),
        field(4, "c", &own),
        field(1, "d", "kept")
    ]);
    let id = world.make("d", json!([{ "type": "item", "fields": fields }]));
    let left = || {
        let pages = world.pages(&id);
        let fields = pages[0]["widgets"][0]["fields"].as_array().unwrap().iter();
        fields.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(left(), "abcd");
    world.call("hostgroup.delete", json!([group])).unwrap();
    assert_eq!(left(), "bcd");
    world.call("host.delete", json!([world.host])).unwrap();
    assert_eq!(left(), "d");
}

#[test]
fn hosts_show_dashboards_with_their_own_items() {
    let world = World::new();
    let id = world.of_template();
    let own = |table: &str, key: &str, above: &str| {
        world.server.text(&format!(
            "SELECT t.{key} FROM {table} t JOIN {table} u ON t.templateid = u.{key} \
             WHERE u.templateid = {above}"
        ))
    };
    let params = json!({ "hostids": world.host, "selectPages": ["widgets"] });
    let mut found = world.call("hostdashboard.get", params).unwrap();
    let pages = found[0]["pages"].take();
    assert_eq!(
        found,
        json!([{ "hostid": world.host, "dashboardid": id, "name": "d", "display_period": "30",
                 "auto_start": "1", "templateid": world.template, "pages": null }])
    );
    let value = |n: usize| &pages[0]["widgets"][n]["fields"][0]["value"];
    assert_eq!(*value(0), own("items", "itemid", &world.item));
    assert_eq!(*value(1), own("graphs", "graphid", &world.graph));
    for (method, params, expected) in [
        ("hostdashboard.get", json!({ "countOutput": true }), json!("1")),
        (
            "hostdashboard.get",
            json!({ "countOutput": true, "groupCount": true, "hostids": world.host }),
            json!([{ "hostid": world.host, "rowscount": "1" }]),
        ),
        (
            "host.get",
            json!({ "hostids": world.host, "output": ["hostid"], "selectDashboards": ["name"] }),
            json!([{ "hostid": world.host, "dashboards": [{ "name": "d" }] }]),
        ),
        (
            "host.get",
            json!({ "hostids": world.host, "output": ["hostid"], "selectDashboards": "count" }),
            json!([{ "hostid": world.host, "dashboards": "1" }]),
        ),
        (
            "template.get",
            json!({ "templateids": world.template, "output": ["host"], "selectDashboards": ["name"] }),
            json!([{ "templateid": world.template, "host": "base", "dashboards": [{ "name": "d" }] }]),
        ),
        (
            "templatedashboard.get",
            json!({ "countOutput": true, "groupCount": true }),
            json!([{ "templateid": world.template, "rowscount": "1" }]),
        ),
    ] {
        assert_eq!(world.call(method, params.clone()).unwrap(), expected, "{method} {params}");
    }
    let reader = world.server.user("ann", "1", &[(world.group.as_str(), 2)]);
    let count = |method: &str| {
        let params = json!({ "countOutput": true });
        world.server.call_as(Some(&reader), method, &params).unwrap()
    };
    assert_eq!(count("templatedashboard.get"), "1", "of a template above a host that is readable");
    assert_eq!(count("hostdashboard.get"), "1");
    world.call("template.delete", json!([world.template])).unwrap();
    assert_eq!(world.server.count("SELECT COUNT(*) AS n FROM dashboards"), 0);
}

#[test]
fn dashboards_of_templates_show_the_templates_items() {
    let world = World::new();
    world.of_template();
    let other =
        json!({ "hostid": world.host, "name": "o", "key_": "o", "type": 2, "value_type": 3 });
    let other = world.server.create("item.create", &other);
    let with = |more: Json| {
        let mut dashboard = json!({ "templateid": world.template, "name": "n", "pages": [{}] });
        dashboard.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        dashboard
    };
    let of_other = json!([{ "widgets": [{ "type": "item", "fields": [field(4, "i", &other)] }] }]);
    let uuid = world.server.text("SELECT uuid FROM dashboards");
    let not_there = "No permissions to referred object or it does not exist!";
    for (dashboard, error) in [
        (with(json!({ "pages": of_other })), format!("Item with ID \"{other}\" is not available.")),
        (with(json!({ "name": "d" })), "Dashboard \"d\" already exists.".to_owned()),
        (
            with(json!({ "uuid": uuid })),
            "Invalid parameter \"/1\": template dashboard with the same UUID already exists."
                .to_owned(),
        ),
        (with(json!({ "templateid": world.host })), not_there.to_owned()),
        (
            with(json!({ "userid": 1 })),
            "Invalid parameter \"/1\": unexpected parameter \"userid\".".to_owned(),
        ),
    ] {
        world.refuses("templatedashboard.create", dashboard, &error);
    }
}

#[test]
fn exports_of_dashboards_can_be_imported() {
    let world = World::new();
    world.of_template();
    let all = json!({ "createMissing": true, "updateExisting": true, "deleteMissing": true });
    for format in ["yaml", "xml", "json"] {
        let params = json!({ "format": format, "options": { "templates": [world.template] } });
        let export = || {
            let source = world.call("configuration.export", params.clone()).unwrap();
            source.as_str().unwrap().to_owned()
        };
        let source = export();
        assert!(source.contains("itemid.0") && source.contains("GRAPH"), "{source}");
        let import = json!({ "format": format, "source": source,
                             "rules": { "templateDashboards": all } });
        let compared = world.call("configuration.importcompare", import.clone()).unwrap();
        assert_eq!(compared, json!([]), "{format}");
        let id = world.server.text("SELECT dashboardid FROM dashboards");
        world.call("configuration.import", import.clone()).unwrap();
        assert_eq!(world.server.text("SELECT dashboardid FROM dashboards"), id, "{format}");
        assert_eq!(undated(&export()), undated(&source), "{format}");
        let uuid = "5f8ba0c4a4b14c7f9c1b4a3b6f7d8e11";
        let rename = json!({ "dashboardid": id, "name": "other", "uuid": uuid });
        world.call("templatedashboard.update", rename).unwrap();
        world.call("configuration.import", import).unwrap();
        assert_eq!(world.server.text("SELECT GROUP_CONCAT(name) FROM dashboards"), "d", "{format}");
        assert_eq!(undated(&export()), undated(&source), "{format}");
    }
}

/// An export without its date.
fn undated(source: &str) -> String {
    source.lines().filter(|line| !line.contains("date:")).collect()
}

#[test]
fn stored_dashboards_become_objects() {
    let world = World::new();
    let uuid = "5f8ba0c4a4b14c7f9c1b4a3b6f7d8e12";
    // The template had another name then.
    let value = json!({ "host": "before", "key": "k" });
    let fields = json!([{ "type": "ITEM", "name": "itemid.0", "value": value }]);
    let doc = json!({ "uuid": uuid, "name": "kept", "auto_start": "NO", "pages": [
        { "widgets": [{ "type": "item", "width": "18", "hide_header": "YES", "fields": fields }] }] });
    let broken = json!({ "name": "broken", "pages": [{ "widgets": [{ "type": "item", "fields": [
        { "type": "GRAPH", "name": "g", "value": { "host": "base", "name": "none" } }] }] }] });
    let row = |id: u32, name: &str, doc: &Json| {
        format!(
            "INSERT INTO parts (partid, hostid, kind, name, doc) \
             VALUES ({id}, {}, 'dashboard', '{name}', '{doc}')",
            world.template
        )
    };
    let rows = [row(1, "kept", &doc), row(2, "broken", &broken)];
    world.server.write_sql(&rows.each_ref().map(String::as_str));
    for _ in 0..2 {
        world.server.api.convert_stored_objects().unwrap();
        assert_eq!(world.server.text("SELECT SUM(partid) FROM parts"), "2", "one cannot be read");
        let params = json!({ "output": ["uuid", "auto_start"], "selectPages": ["widgets"] });
        let mut found = world.call("templatedashboard.get", params).unwrap();
        assert_eq!(found.as_array().unwrap().len(), 1);
        assert_eq!((&found[0]["uuid"], &found[0]["auto_start"]), (&json!(uuid), &json!("0")));
        let widget = found[0]["pages"][0]["widgets"][0].take();
        assert_eq!((&widget["width"], &widget["view_mode"]), (&json!("18"), &json!("1")));
        let field = json!({ "type": "4", "name": "itemid.0", "value": world.item });
        assert_eq!(widget["fields"], json!([field]));
    }
}

#[test]
fn the_audit_log_names_dashboards() {
    let world = World::new();
    let id = world.make("d", json!([]));
    world.call("dashboard.update", json!({ "dashboardid": id, "name": "e" })).unwrap();
    world.call("dashboard.delete", json!([id])).unwrap();
    let of_template = world.of_template();
    world.call("templatedashboard.delete", json!([of_template])).unwrap();
    for (kind, name, count) in [(33, "d", 3), (43, "d", 2)] {
        let params = json!({ "output": ["resourcename", "action"], "filter": { "resourcetype": kind },
                             "sortfield": "clock" });
        let found = world.call("auditlog.get", params).unwrap();
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), count, "{found:?}");
        assert!(found.iter().any(|one| one["resourcename"] == name));
    }
}

#[test]
fn a_role_can_deny_changes_of_dashboards() {
    let world = World::new();
    let rules = json!({ "actions": [{ "name": "edit_dashboards", "status": 0 }] });
    let role = json!({ "name": "reader", "type": 1, "rules": rules });
    let role = world.server.create("role.create", &role);
    let session = world.server.user("ann", &role, &[]);
    let call = |method: &str, params: Json| world.server.call_as(Some(&session), method, &params);
    assert_eq!(call("dashboard.get", json!({})).unwrap(), json!([]));
    let refused = call("dashboard.create", json!({ "name": "n", "pages": [{}] })).unwrap_err();
    assert_eq!(refused, (-32500, "No permissions to call \"dashboard.create\".".to_owned()));
}
