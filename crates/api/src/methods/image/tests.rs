use serde_json::{Value as Json, json};

use crate::testing::Server;

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn image(name: &str) -> Json {
    json!({ "name": name, "imagetype": 1, "image": PIXEL })
}

#[test]
fn a_new_server_has_the_icons_of_the_field() {
    let server = Server::start();
    let icon = json!({ "filter": { "name": "Server_(96)" }, "output": ["name", "imagetype"] });
    let found = server.call("image.get", &icon).unwrap();
    assert_eq!((&found[0]["name"], &found[0]["imagetype"]), (&json!("Server_(96)"), &json!("1")));
    let whole = json!({ "filter": { "name": "Server_(96)" }, "select_image": true });
    let found = server.call("image.get", &whole).unwrap();
    let shown = found[0].as_object().unwrap();
    assert_eq!(shown.keys().collect::<Vec<_>>(), ["imageid", "imagetype", "name", "image"]);
    assert!(shown["image"].as_str().unwrap().starts_with("iVBORw0KGgo"));
}

#[test]
fn images_are_checked_by_their_content() {
    let server = Server::start();
    let with = |image: &str| json!({ "name": "new", "imagetype": 1, "image": image });
    let gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    let large = "iVBORw0KGgo".to_owned() + &"A".repeat(1_500_000);
    server.refuses(&[
        ("image.create", with("bm90IGFuIGltYWdl"), -32602, "file format is unsupported"),
        ("image.create", with(""), -32602, ""),
        ("image.create", with(&PIXEL[..20]), -32602, "file format is unsupported"),
        ("image.create", with(&large), -32602, "image size must be less than 1 MB"),
        (
            "image.create",
            json!({ "name": "new", "image": PIXEL }),
            -32602,
            "\"imagetype\" is missing",
        ),
        ("image.create", json!({ "name": "new", "imagetype": 1 }), -32602, "\"image\" is missing"),
        ("image.create", image(""), -32602, "name"),
        ("image.create", image("Server_(96)"), -32602, "Image \"Server_(96)\" already exists."),
    ]);
    let id = server.create("image.create", &image("pixel"));
    server.create("image.create", &with(gif));
    server.call("image.update", &json!({ "imageid": id, "image": gif })).unwrap();
    let found = server.call("image.get", &json!({ "imageids": id, "select_image": true })).unwrap();
    assert_eq!(found[0]["image"], gif);
    let fixed = json!({ "imageid": id, "imagetype": 2 });
    server.refuses(&[("image.update", fixed, -32602, "unexpected parameter \"imagetype\"")]);
    let types = json!({ "filter": { "imagetype": 2 }, "countOutput": true });
    assert_eq!(server.call("image.get", &types).unwrap(), "0");
}

#[test]
fn only_super_admins_change_images() {
    let server = Server::start();
    let id = server.create("image.create", &image("pixel"));
    let admin = server.user("admin", "2", &[]);
    let found = server.call_as(Some(&admin), "image.get", &json!({ "imageids": id })).unwrap();
    assert_eq!(found[0]["name"], "pixel");
    for (method, params) in [
        ("image.create", image("other")),
        ("image.update", json!({ "imageid": id, "name": "other" })),
        ("image.delete", json!([id])),
    ] {
        let refused = server.call_as(Some(&admin), method, &params).unwrap_err();
        assert_eq!(refused.0, -32500, "{method}");
    }
}

#[test]
fn images_in_use_stay() {
    let server = Server::start();
    let id = server.create("image.create", &image("pixel"));
    let background = json!({ "name": "back", "imagetype": 2, "image": PIXEL });
    let background = server.create("image.create", &background);
    let mapping = json!({ "iconid": id, "inventory_link": 5, "expression": "Debian" });
    let icons = json!({ "name": "icons", "default_iconid": id, "mappings": [mapping] });
    let icons = server.create("iconmap.create", &icons);
    let refuse = |id: &str, text: &str| {
        let refused = server.call("image.delete", &json!([id])).unwrap_err();
        assert_eq!(refused.0, -32602);
        assert!(refused.1.contains(text), "{}", refused.1);
    };
    refuse(&id, "icons");
    server.call("iconmap.delete", &json!([icons])).unwrap();
    let element = json!({ "elementtype": 4, "iconid_off": id, "elements": [] });
    let map = json!({ "name": "plan", "width": 9, "height": 9, "backgroundid": background,
                      "selements": [element] });
    let map = server.create("map.create", &map);
    refuse(&id, "plan");
    refuse(&background, "plan");
    server.call("map.delete", &json!([map])).unwrap();
    server.call("image.delete", &json!([id, background])).unwrap();
}
