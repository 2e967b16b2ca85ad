//! Groups by discovery.

use super::*;

#[test]
fn patterns_of_groups_keep_their_ids() {
    let s = scene();
    let groups = json!({ "groupPrototypes": [{ "name": "a/{#A}" }, { "name": "b/{#A}" }] });
    let id = s.server.create("hostprototype.create", &s.prototype(groups));
    let other = json!({ "host": "o{#A}", "groupPrototypes": [{ "name": "a/{#A}" }] });
    let other = s.server.create("hostprototype.create", &s.prototype(other));
    let of = |id: &str| {
        s.get(json!({ "hostids": id, "output": [], "selectGroupPrototypes": "extend" }))[0]["groupPrototypes"]
            .clone()
    };
    let (now, others) = (of(&id), of(&other));
    let gid = |at: usize| now[at]["group_prototypeid"].clone();
    let update = |groups: Json| {
        let change = json!({ "hostid": id, "groupPrototypes": groups });
        s.server.call("hostprototype.update", &change).map_err(|error| error.1)
    };
    for (groups, names) in [
        (json!([{ "group_prototypeid": gid(0) }, { "name": "b/{#A}" }]), ["a/{#A}", "b/{#A}"]),
        (
            json!([{ "group_prototypeid": gid(0), "name": "b/{#A}" },
                   { "group_prototypeid": gid(1), "name": "c/{#A}" }]),
            ["b/{#A}", "c/{#A}"],
        ),
    ] {
        update(groups).unwrap();
        let wanted = [0, 1].map(|at| json!({ "group_prototypeid": gid(at), "name": names[at] }));
        assert_eq!(of(&id), json!(wanted));
    }
    for (groups, text) in [
        (json!([{ "group_prototypeid": 999_999, "name": "x{#A}" }]), "belongs to another object"),
        (json!([{ "group_prototypeid": others[0]["group_prototypeid"] }]), "another object"),
        (
            json!([{ "group_prototypeid": gid(0) }, { "group_prototypeid": gid(0) }]),
            "(group_prototypeid)=(",
        ),
        (
            json!([{ "group_prototypeid": gid(0), "name": "c/{#A}" },
                   { "group_prototypeid": gid(1) }]),
            "/1/groupPrototypes/2\": value (name)=(c/{#A}) already exists",
        ),
        (json!([{ "name": "" }]), "cannot be empty"),
        (json!([{}]), "\"name\" is missing"),
    ] {
        let refused = update(groups.clone()).unwrap_err();
        assert!(refused.contains(text), "{groups}: {refused}");
    }
    let new = json!({ "host": "n{#A}", "groupPrototypes": [
        { "group_prototypeid": gid(0), "name": "x{#A}" }] });
    let refused = s.server.call("hostprototype.create", &s.prototype(new)).unwrap_err();
    assert!(refused.1.contains("unexpected parameter \"group_prototypeid\""), "{refused:?}");
}
