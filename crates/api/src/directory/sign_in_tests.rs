//! Sign-ins with a simulated LDAP server that knows Ann and does not distinguish spellings of her name.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::simulator::{Bind, Search, Simulator};
use crate::session::BAD_LOGIN;
use crate::testing::Server;

const RIGHT: Bind = |dn, password| if dn.is_empty() || password == "right" { 0 } else { 49 };
const ANN: Search = |_| (&[("uid=ann,dc=example", &[("uid", "Ann"), ("memberOf", "cn=ops")])], 0);

/// A server whose users of this directory are provisioned into `group`.
struct Bed {
    server: Server,
    directory: String,
    group: String,
}

impl Bed {
    fn start(bind: Bind, search: Search) -> Self {
        let server = Server::start();
        let group = server.create("usergroup.create", &json!({ "name": "ops" }));
        let fields = json!({
            "idp_type": 1, "name": "ldap", "host": "127.0.0.1",
            "port": Simulator::start(bind, search).port, "base_dn": "dc=example",
            "search_attribute": "uid", "provision_status": 1, "group_membership": "memberOf",
            "group_name": "cn", "provision_groups": [{
                "name": "ops", "roleid": 3, "user_groups": [{ "usrgrpid": group }] }],
        });
        let directory = server.create("userdirectory.create", &fields);
        let settings = json!({ "authentication_type": 1, "ldap_auth_enabled": 1,
                               "ldap_jit_status": 1, "disabled_usrgrpid": 9 });
        server.call("authentication.update", &settings).unwrap();
        Self { server, directory, group }
    }

    fn sign_in(&self, name: &str, password: &str) -> Result<Json, (i64, String)> {
        let params = json!({ "username": name, "password": password });
        self.server.call_as(None, "user.login", &params)
    }

    fn users(&self) -> i64 {
        let sql = "SELECT COUNT(*) AS n FROM users WHERE LOWER(username) LIKE '%ann%'";
        self.server.count(sql)
    }

    fn annid(&self) -> i64 {
        self.server.count("SELECT userid AS n FROM users WHERE username = 'Ann'")
    }
}

fn refused<T>() -> Result<T, (i64, String)> {
    Err((-32500, BAD_LOGIN.to_owned()))
}

#[test]
fn spelling_variants_of_a_name_are_one_user() {
    let bed = Bed::start(RIGHT, ANN);
    for name in ["ANN", "ann ", "Ann", " aNN"] {
        bed.sign_in(name, "right").unwrap();
        assert_eq!(bed.users(), 1, "{name}");
    }
    let disable = json!({ "usrgrpid": bed.group, "users_status": 1 });
    bed.server.call("usergroup.update", &disable).unwrap();
    for name in ["Ann", "ANN", "ann "] {
        let error = bed.sign_in(name, "right").unwrap_err().1;
        assert_eq!(error, crate::session::NO_ACCESS, "{name}");
    }
}

#[test]
fn parallel_first_sign_ins_make_one_user() {
    let bed = Bed::start(RIGHT, ANN);
    std::thread::scope(|scope| {
        let all =
            ["ann", "Ann", "ANN", "ann "].map(|name| scope.spawn(|| bed.sign_in(name, "right")));
        all.into_iter().for_each(|one| drop(one.join().unwrap().unwrap()));
    });
    assert_eq!(bed.users(), 1);
}

#[test]
fn provisioning_takes_over_no_other_user() {
    let bed = Bed::start(RIGHT, ANN);
    let internal = json!({ "name": "internal", "gui_access": 1 });
    let internal = bed.server.create("usergroup.create", &internal);
    let user = json!({ "username": "aNn", "passwd": "Xy9!longpass", "roleid": "1",
                       "usrgrps": [{ "usrgrpid": internal }] });
    bed.server.create("user.create", &user);
    assert_eq!(bed.sign_in("ann", "right"), refused());
    assert_eq!(bed.users(), 1);
}

#[test]
fn failures_of_spelling_variants_count_together() {
    let bed = Bed::start(RIGHT, ANN);
    bed.sign_in("ann", "right").unwrap();
    for name in ["Ann", "ANN", "ann", "ann ", " ANn"] {
        assert_eq!(bed.sign_in(name, "wrong"), refused());
    }
    for name in ["Ann", "aNN", "ann  "] {
        assert_eq!(bed.sign_in(name, "right"), refused(), "{name} is blocked");
    }
    bed.server.call("user.unblock", &json!([bed.annid().to_string()])).unwrap();
    bed.sign_in("ANN", "right").unwrap();
}

#[test]
fn refused_sign_ins_by_ldap_compare_one_hash() {
    let bed = Bed::start(RIGHT, ANN);
    bed.sign_in("ann", "right").unwrap();
    let hasher = &bed.server.api.sessions.hasher;
    let check = |name: &str, password: &str| {
        let before = hasher.compared();
        assert_eq!(bed.sign_in(name, password), refused());
        assert_eq!(hasher.compared() - before, 1, "{name} {password}");
    };
    check("Ann", "");
    (0..5).for_each(|_| check("Ann", "wrong"));
    check("nobody", "wrong");
    bed.server.write_sql(&["UPDATE userdirectories SET port = '1'"]);
    check("other", "unavailable");
}

#[test]
fn last_super_admin_is_not_deprovisioned() {
    let bed = Bed::start(RIGHT, |_| (&[], 0));
    let sql = format!("UPDATE users SET userdirectoryid = {} WHERE userid = 1", bed.directory);
    bed.server.write_sql(&[&sql]);
    let error = bed.server.call("user.provision", &json!(["1"])).unwrap_err().1;
    assert!(error.contains("At least one active user must exist"), "{error}");
    assert_eq!(bed.server.count("SELECT roleid AS n FROM users WHERE userid = 1"), 3);
}

#[test]
fn users_lose_role_and_groups_without_a_disabled_group() {
    static GONE: AtomicBool = AtomicBool::new(false);
    let search: Search = |base| match GONE.load(Ordering::SeqCst) {
        true => (&[], 0),
        false => ANN(base),
    };
    let bed = Bed::start(RIGHT, search);
    let session = bed.sign_in("ann", "right").unwrap();
    bed.server.write_sql(&["UPDATE settings SET value = '999' WHERE name = 'disabled_usrgrpid'"]);
    GONE.store(true, Ordering::SeqCst);
    let ann = bed.annid();
    bed.server.call("user.provision", &json!([ann.to_string()])).unwrap();
    let count = |sql: &str| bed.server.count(&format!("{sql} WHERE userid = {ann}"));
    assert_eq!(count("SELECT roleid AS n FROM users"), 0);
    assert_eq!(count("SELECT COUNT(*) AS n FROM user_groups"), 0);
    assert!(!bed.server.api.is_signed_in(session.as_str().unwrap()));
}

#[test]
fn sign_ins_write_nothing_while_the_account_is_unchanged() {
    static MAIL: AtomicBool = AtomicBool::new(false);
    let search: Search = |base| match MAIL.load(Ordering::SeqCst) {
        true => (&[("uid=ann", &[("uid", "Ann"), ("memberOf", "cn=ops"), ("mail", "a@b.c")])], 0),
        false => ANN(base),
    };
    let bed = Bed::start(RIGHT, search);
    let media = json!([{ "name": "mail", "mediatypeid": 1, "attribute": "mail" }]);
    let update = json!({ "userdirectoryid": bed.directory, "provision_media": media });
    bed.server.call("userdirectory.update", &update).unwrap();
    // Names are case-sensitive: of these two, one is found in the directory first.
    let mut names = ["ann", "Ann"].into_iter().cycle();
    let mut provisioned = || {
        bed.sign_in(names.next().unwrap(), "right").unwrap();
        bed.server.count("SELECT ts_provisioned AS n FROM users WHERE username = 'Ann'")
    };
    let pass = |seconds| bed.server.clock.advance(Duration::from_secs(seconds));
    let first = provisioned();
    pass(3_600);
    assert_eq!(provisioned(), first, "within the interval");
    MAIL.store(true, Ordering::SeqCst);
    assert_eq!(provisioned(), first + 3_600, "there is an address");
    pass(60);
    assert_eq!(provisioned(), first + 3_600);
    pass(3_541);
    assert_eq!(provisioned(), first + 7_201, "after the interval");
}

#[test]
fn users_who_stay_signed_in_are_provisioned_again() {
    static GONE: AtomicBool = AtomicBool::new(false);
    let search: Search = |base| match GONE.load(Ordering::SeqCst) {
        true => (&[], 0),
        false => ANN(base),
    };
    let bed = Bed::start(RIGHT, search);
    let session = bed.sign_in("ann", "right").unwrap();
    let server = &bed.server;
    server.write_sql(&["UPDATE users SET autologout = '0'"]);
    let is_signed_in = || server.api.is_signed_in(session.as_str().unwrap());
    let provision = |seconds| {
        server.clock.advance(Duration::from_secs(seconds));
        let before = is_signed_in();
        server.api.write_accesses();
        super::due::provision_due(&server.api);
        (before, is_signed_in())
    };
    let sql = "SELECT ts_provisioned AS n FROM users WHERE username = 'Ann'";
    let start = server.count(sql);
    assert_eq!((provision(3_600), server.count(sql)), ((true, true), start), "too early");
    assert_eq!((provision(60), server.count(sql)), ((true, true), start + 3_660));
    server.clock.advance(Duration::from_secs(7_200));
    super::due::provision_due(&server.api);
    assert_eq!(server.count(sql), start + 3_660, "the session was not used");
    GONE.store(true, Ordering::SeqCst);
    server.write_sql(&["UPDATE userdirectories SET host = '127.0.0.2'"]);
    assert_eq!(provision(1), (true, true), "the server is unavailable");
    server.write_sql(&["UPDATE userdirectories SET host = '127.0.0.1'"]);
    assert_eq!(provision(1), (true, false));
}

#[test]
fn only_the_directory_changes_its_users() {
    let bed = Bed::start(RIGHT, ANN);
    bed.sign_in("ann", "right").unwrap();
    let (server, ann) = (&bed.server, bed.annid().to_string());
    let medium = json!({ "mediatypeid": 1, "sendto": ["a@b.c"] });
    let media = json!({ "userid": ann, "medias": [medium, medium] });
    server.call("user.update", &media).unwrap();
    let given = server.count("SELECT MIN(mediaid) AS n FROM media");
    let sql = format!("UPDATE media SET userdirectory_mediaid = 1 WHERE mediaid = {given}");
    server.write_sql(&[&sql]);
    let update = |change: Json| {
        let mut params = change;
        params["userid"] = json!(ann);
        server.call("user.update", &params).map(drop)
    };
    for (change, path, name) in [
        (json!({ "username": "other" }), "/1", "username"),
        (json!({ "passwd": "Xy9!longpass" }), "/1", "passwd"),
        (json!({ "roleid": 1 }), "/1", "roleid"),
        (json!({ "usrgrps": [{ "usrgrpid": 7 }] }), "/1", "usrgrps"),
        (
            json!({ "medias": [{ "mediaid": given, "mediatypeid": 1, "sendto": ["d@b.c"] }] }),
            "/1/medias/1",
            "sendto",
        ),
        (
            json!({ "medias": [{ "mediaid": given, "mediatypeid": 3, "sendto": "a@b.c" }] }),
            "/1/medias/1",
            "mediatypeid",
        ),
    ] {
        let error = format!(
            "Invalid parameter \"{path}\": cannot update readonly parameter \"{name}\" of provisioned user."
        );
        assert_eq!(update(change), Err((-32602, error)));
    }
    update(json!({ "username": "Ann", "roleid": 3, "usrgrps": [{ "usrgrpid": bed.group }], "theme": "dark-theme" }))
        .unwrap();
    let period = "1-5,08:00-18:00";
    update(json!({ "medias": [{ "mediaid": given, "mediatypeid": 1, "sendto": ["a@b.c"], "period": period }] }))
        .unwrap();
    update(json!({ "medias": [] })).unwrap();
    let left = "SELECT COUNT(*) AS n FROM media WHERE period = '1-5,08:00-18:00'";
    assert_eq!((server.count(left), server.count("SELECT COUNT(*) AS n FROM media")), (1, 1));
}
