use serde_json::json;

use crate::testing::Server;

/// A report of Admin's, which goes to the user and the group with these ids.
fn store(server: &Server, user: &str, group: &str) {
    server.write_sql(&[
        "INSERT INTO dashboards (dashboardid, name, userid) VALUES (9, 'weekly', 1)",
        "INSERT INTO reports (reportid, userid, name, dashboardid, active_till) \
         VALUES (5, 1, 'weekly', 9, '2027-01-14')",
        &format!(
            "INSERT INTO report_users (reportid, userid, access_userid) VALUES (5, {user}, 1)"
        ),
        &format!("INSERT INTO report_user_groups (reportid, usrgrpid) VALUES (5, {group})"),
    ]);
}

#[test]
fn reports_keep_their_users_and_groups() {
    let server = Server::start();
    let group = server.create("usergroup.create", &json!({ "name": "readers" }));
    let user = json!({ "username": "ann", "passwd": "Xy9!longpass", "roleid": "1" });
    let user = server.create("user.create", &user);
    store(&server, &user, &group);
    server.answers(&[(
        "report.get",
        json!({ "output": ["name", "state", "active_till"], "selectUsers": "extend", "selectUserGroups": ["usrgrpid"] }),
        json!([{ "name": "weekly", "active_till": "2027-01-14", "state": "0",
                 "users": [{ "userid": user, "access_userid": "1", "exclude": "0" }],
                 "user_groups": [{ "usrgrpid": group }] }]),
    )]);
    server.refuses(&[
        ("user.delete", json!([user]), -32602, "User \"ann\" is report \"weekly\" recipient."),
        (
            "usergroup.delete",
            json!([group]),
            -32602,
            "User group \"readers\" is report \"weekly\" recipient.",
        ),
    ]);
    // The clock of the test stands at 2027-01-15.
    let count = |expired: bool| {
        server.call("report.get", &json!({ "expired": expired, "countOutput": true })).unwrap()
    };
    assert_eq!((count(true), count(false)), (json!("1"), json!("0")));
    server.answers(&[
        ("report.update", json!({ "reportid": 5, "users": [] }), json!({ "reportids": ["5"] })),
        ("user.delete", json!([user]), json!({ "userids": [user] })),
        ("report.delete", json!([5]), json!({ "reportids": ["5"] })),
        ("usergroup.delete", json!([group]), json!({ "usrgrpids": [group] })),
    ]);
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let user = json!({ "username": "ann", "passwd": "Xy9!longpass", "roleid": "1" });
    let user = server.create("user.create", &user);
    let group = server.create("usergroup.create", &json!({ "name": "readers" }));
    store(&server, &user, &group);
    for (change, text) in [
        (
            json!({ "active_since": "15.01.2027" }),
            "\"/1/active_since\": a date in YYYY-MM-DD format is expected.",
        ),
        (
            json!({ "active_since": "2040-01-01" }),
            "value must be between \"1970-01-01\" and \"2038-01-18\".",
        ),
        (
            json!({ "active_since": "2027-02-01" }),
            "\"active_till\" must be an empty string or greater than \"active_since\".",
        ),
        (json!({ "weekdays": 3 }), "\"/1/weekdays\": value must be 0."),
        (json!({ "cycle": 1 }), "\"/1/weekdays\": value must be one of 1-127."),
        (json!({ "dashboardid": 7 }), "Dashboard with ID \"7\" is not available."),
        (
            json!({ "users": [], "user_groups": [] }),
            "At least one user or user group must be specified.",
        ),
        (
            json!({ "users": [{ "userid": user, "exclude": 1 }], "user_groups": [] }),
            "If no user groups are specified, at least one user must be included in the mailing list.",
        ),
        (json!({ "users": [{ "userid": 999 }] }), "User with ID \"999\" is not available."),
        (
            json!({ "user_groups": [{ "usrgrpid": 999 }] }),
            "User group with ID \"999\" is not available.",
        ),
    ] {
        let mut params = json!({ "reportid": 5 });
        for (name, value) in change.as_object().unwrap() {
            params[name] = value.clone();
        }
        server.refuses(&[("report.update", params, -32602, text)]);
    }
    server.refuses(&[
        (
            "report.create",
            json!({ "name": "x" }),
            -32602,
            "the parameter \"dashboardid\" is missing.",
        ),
        ("report.update", json!({ "reportid": 99 }), -32602, "No permissions to referred object"),
    ]);
    let admin = server.user("admin", "2", &[]);
    let give = json!({ "reportid": 5, "userid": user });
    let refused = server.call_as(Some(&admin), "report.update", &give).unwrap_err();
    assert_eq!(refused.1, "Only super admins can set report owner.");
}
