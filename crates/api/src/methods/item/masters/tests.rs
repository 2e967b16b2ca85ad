use serde_json::json;

use crate::Json;
use crate::testing::Server;

struct Fixture {
    server: Server,
    host: String,
    template: String,
}

impl Fixture {
    /// A host with a linked template.
    fn new() -> Self {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "g" }));
        let templates = server.create("templategroup.create", &json!({ "name": "t" }));
        let template = server.create(
            "template.create",
            &json!({ "host": "base", "groups": { "groupid": templates } }),
        );
        let host = server.create(
            "host.create",
            &json!({
                "host": "h", "groups": { "groupid": group },
                "templates": { "templateid": template },
            }),
        );
        Self { server, host, template }
    }

    /// Creates an item, dependent where there is a master.
    fn item(&self, host: &str, key: &str, master: Option<&str>) -> Result<String, String> {
        let mut item =
            json!({ "hostid": host, "name": key, "key_": key, "type": 2, "value_type": 3 });
        if let Some(master) = master {
            item["type"] = 18.into();
            item["master_itemid"] = master.into();
        }
        let result = self.server.call("item.create", &item).map_err(|(_, text)| text)?;
        Ok(result["itemids"][0].as_str().unwrap().to_owned())
    }

    /// Gives items their masters, all in one call.
    fn depend(&self, pairs: &[(&str, &str)]) -> Result<(), String> {
        let one = |(id, master): &(&str, &str)| json!({ "itemid": id, "type": 18, "master_itemid": master });
        let params: Json = pairs.iter().map(one).collect();
        self.server.call("item.update", &params).map(drop).map_err(|(_, text)| text)
    }

    fn copy_of(&self, parent: &str) -> String {
        self.server.text(&format!("SELECT itemid FROM items WHERE templateid = {parent}"))
    }
}

#[test]
fn items_of_one_call_close_no_circle() {
    let f = Fixture::new();
    let master = f.item(&f.host, "m", None).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|key| f.item(&f.host, key, Some(&master)).unwrap());
    let circle = "Invalid parameter \"/1/master_itemid\": circular item dependency is not allowed.";
    for pairs in [
        &[(&*a, &*a)][..],
        &[(&*a, &*b), (&*b, &*a)],
        &[(&*a, &*b), (&*b, &*c), (&*c, &*a)],
        &[(&*master, &*a)],
    ] {
        assert_eq!(f.depend(pairs), Err(circle.to_owned()), "{pairs:?}");
    }
    assert_eq!(f.depend(&[(&a, &b), (&b, &master)]), Ok(()), "only the order is odd");
    // Round in one call: what it was is no reason to refuse.
    assert_eq!(f.depend(&[(&b, &a), (&a, &master)]), Ok(()));
}

#[test]
fn dependent_items_have_three_levels_at_most() {
    let f = Fixture::new();
    let refused = |key: &str, master: &str, on: &str| {
        Err(format!(
            "Cannot set dependency for item with key \"{key}\" on the master item with key \
             \"{master}\" on the {on}: allowed count of dependency levels would be exceeded."
        ))
    };
    let mut above = f.item(&f.host, "m", None).unwrap();
    let first = above.clone();
    for key in ["d1", "d2", "d3"] {
        above = f.item(&f.host, key, Some(&above)).unwrap();
    }
    assert_eq!(f.item(&f.host, "d4", Some(&above)).map(drop), refused("d4", "d3", "host \"h\""));
    // The levels below an item count as well.
    let other = f.item(&f.host, "other", None).unwrap();
    assert_eq!(f.depend(&[(&first, &other)]), refused("d3", "d2", "host \"h\""));
    // So do those of the hosts that inherit.
    let (x, y) = (f.item(&f.template, "x", None).unwrap(), f.item(&f.template, "y", None).unwrap());
    let mut above = f.copy_of(&x);
    for key in ["e1", "e2", "e3"] {
        above = f.item(&f.host, key, Some(&above)).unwrap();
    }
    assert_eq!(f.depend(&[(&x, &y)]), refused("e3", "e2", "host \"h\""));
}
