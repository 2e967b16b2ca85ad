use serde_json::json;

use super::*;
use crate::testing::Server;

const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const NOW: u64 = 1_800_000_000;
/// The problem on a host that Bob may change.
const PROBLEM: u64 = 1;

/// A server with a problem on `web & <db>`, and Bob with a role and a permission for the host.
struct World {
    server: Server,
    bob: u64,
}

impl World {
    fn new(role: &str, permission: i64) -> Self {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "g" }));
        let host = json!({ "host": "h", "name": "web & <db>", "groups": { "groupid": group } });
        let host = server.create("host.create", &host);
        let item = json!({ "hostid": host, "name": "t", "key_": "t", "type": 2, "value_type": 3 });
        server.create("item.create", &item);
        let trigger =
            json!({ "description": "t", "expression": "last(/h/t)>0", "manual_close": 1 });
        let trigger = server.create("trigger.create", &trigger);
        server.write_state_sql(&[&format!(
            "INSERT INTO events (eventid, objectid, value, clock, severity, name) \
             VALUES ({PROBLEM}, {trigger}, 1, 1799999400, 4, 'Load is \"high\" > 5')"
        )]);
        server.user("bob", role, &[(&group, permission)]);
        server.write_sql(&["UPDATE users SET timezone = 'Asia/Tokyo' WHERE username = 'bob'"]);
        let bob = server.text("SELECT userid FROM users WHERE username = 'bob'").parse().unwrap();
        Self { server, bob }
    }

    fn link(&self, kind: LinkKind) -> Link {
        Link { kind, user: self.bob, problem: PROBLEM, until: (NOW + 60) as u32 }
    }

    fn token(&self, kind: LinkKind) -> String {
        self.signed(&self.link(kind))
    }

    fn signed(&self, link: &Link) -> String {
        LinkKey::of(&self.server.api.deps.config).unwrap().sign(link)
    }

    fn look(&self, token: &str) -> Result<About, Refusal> {
        look(&self.server.api, token, PEER)
    }

    fn act(&self, token: &str) -> Result<About, Refusal> {
        act(&self.server.api, token, PEER)
    }

    /// What was changed since the last call.
    fn updates(&self) -> Vec<String> {
        let mut asked = self.server.asked.lock().unwrap();
        let asked = std::mem::take(&mut *asked);
        asked.into_iter().filter(|text| text.starts_with("update ")).collect()
    }

    fn page_of(&self, token: &str) -> (u16, String) {
        let (status, html) = page::page(&self.look(token));
        (status.as_u16(), html)
    }

    fn refuses(&self, token: &str, refusal: &Refusal) {
        assert_eq!(&self.look(token).unwrap_err(), refusal);
        assert_eq!(&self.act(token).unwrap_err(), refusal);
        assert_eq!(self.updates(), [""; 0]);
    }
}

fn not_allowed(why: &str) -> Refusal {
    Refusal::NotAllowed(why.to_owned())
}

#[test]
fn each_link_does_what_it_says_once() {
    for (kind, change, word) in [
        (LinkKind::Acknowledge, "acknowledge: Some(true)", "acknowledge"),
        (LinkKind::Suppress, "suppression: Some(Until(UnixSeconds(1800003600)))", "suppress"),
        (LinkKind::Close, "close: true", "close"),
    ] {
        let world = World::new("1", 3);
        let token = world.token(kind);
        for _ in 0..3 {
            assert_eq!(world.look(&token).unwrap().progress, Progress::Possible);
        }
        assert_eq!(world.updates(), [""; 0], "looking changes nothing");
        assert_eq!(world.act(&token).unwrap().progress, Progress::Done);
        let updates = world.updates();
        assert_eq!(updates.len(), 1);
        let user = format!("user: UserId({})", world.bob);
        for part in ["events: [EventId(1)]", &user, change] {
            assert!(updates[0].contains(part), "{part} in {updates:?}");
        }
        for same in [token.clone(), token.to_uppercase()] {
            world.refuses(&same, &Refusal::Used);
        }
        let log = json!({ "filter": { "resourcetype": 1100 } });
        let log = world.server.call("auditlog.get", &log).unwrap();
        assert_eq!(log.as_array().unwrap().len(), 1);
        assert_eq!((&log[0]["username"], &log[0]["ip"]), (&json!("bob"), &json!("127.0.0.1")));
        assert_eq!(log[0]["resourcename"], "Load is \"high\" > 5");
        assert_eq!(log[0]["details"], format!(r#"{{"problem.link":["add","{word}"]}}"#));
        // Another message has another link.
        let link = Link { until: (NOW + 61) as u32, ..world.link(kind) };
        assert_eq!(world.act(&world.signed(&link)).unwrap().progress, Progress::Done);
    }
}

#[test]
fn links_expire_and_used_ones_are_forgotten_then() {
    let world = World::new("1", 2);
    let token = world.token(LinkKind::Acknowledge);
    world.act(&token).unwrap();
    world.server.clock.advance(std::time::Duration::from_secs(60));
    session::remove_ended(&world.server.api).unwrap();
    world.updates();
    world.refuses(&token, &Refusal::Used);
    world.server.clock.advance(std::time::Duration::from_secs(1));
    session::remove_ended(&world.server.api).unwrap();
    assert_eq!(world.server.count("SELECT COUNT(*) AS n FROM used_links"), 0);
    world.refuses(&token, &Refusal::Expired);
}

#[test]
fn links_of_others_are_unknown() {
    let world = World::new("1", 3);
    world.refuses("x", &Refusal::Unknown);
    let token = world.token(LinkKind::Close);
    world.refuses(&format!("{token}a"), &Refusal::Unknown);
    world.refuses(&world.token(LinkKind::Reply), &Refusal::Unknown);
    world.server.write_state_sql(&["DELETE FROM state_settings WHERE name = 'link_key'"]);
    world.refuses(&token, &Refusal::Unknown);
    world.token(LinkKind::Close);
    world.refuses(&token, &Refusal::Unknown);
}

#[test]
fn many_bad_links_make_a_source_wait() {
    let world = World::new("1", 3);
    let token = world.token(LinkKind::Acknowledge);
    while world.look("x") == Err(Refusal::Unknown) {}
    world.refuses("x", &Refusal::TooMany);
    let other = IpAddr::from([192, 0, 2, 1]);
    assert_eq!(look(&world.server.api, "x", other), Err(Refusal::Unknown));
    // Others behind the same address still use theirs.
    assert!(world.look(&token).is_ok());
    world.server.clock.advance(std::time::Duration::from_secs(60));
    assert_eq!(world.look("x"), Err(Refusal::Unknown));
}

#[test]
fn permissions_count_when_the_link_is_used() {
    let gone = "You have no permission for this problem, or it does not exist any more.";
    for (change, why) in [
        (
            "UPDATE usergroups SET users_status = 1",
            "The user of this link is disabled or does not exist any more.",
        ),
        (
            "DELETE FROM users WHERE username = 'bob'",
            "The user of this link is disabled or does not exist any more.",
        ),
        ("UPDATE group_rights SET permission = 0", gone),
        ("DELETE FROM group_rights", gone),
        ("DELETE FROM triggers", gone),
        (
            "UPDATE roles SET rules = '{\"actions\":[{\"name\":\"close_problems\",\"status\":\"0\"}]}'",
            "Your role does not allow you to close problems.",
        ),
        (
            "UPDATE triggers SET manual_close = 0",
            "Cannot close problem: trigger does not allow manual closing.",
        ),
    ] {
        let world = World::new("1", 3);
        let token = world.token(LinkKind::Close);
        assert!(world.look(&token).is_ok());
        world.server.write_sql(&[change]);
        world.refuses(&token, &not_allowed(why));
        let (status, html) = world.page_of(&token);
        assert_eq!(status, 403, "{html}");
        assert!(!html.contains("web") && !html.contains("Load"), "nothing is shown: {html}");
    }
    // Closing needs more than reading.
    let world = World::new("1", 2);
    world.refuses(&world.token(LinkKind::Close), &not_allowed(gone));
    assert!(world.act(&world.token(LinkKind::Acknowledge)).is_ok());
}

#[test]
fn what_is_done_already_uses_no_link() {
    let world = World::new("1", 3);
    world.server.write_state_sql(&["UPDATE events SET acknowledged = 1, r_eventid = 2"]);
    for (kind, progress) in [
        (LinkKind::Acknowledge, Progress::Acknowledged),
        (LinkKind::Suppress, Progress::Ended),
        (LinkKind::Close, Progress::Ended),
    ] {
        let token = world.token(kind);
        assert_eq!(world.look(&token).unwrap().progress, progress);
        assert_eq!(world.act(&token).unwrap().progress, progress);
    }
    assert_eq!(world.updates(), [""; 0]);
    assert_eq!(world.server.count("SELECT COUNT(*) AS n FROM used_links"), 0);
}

#[test]
fn the_page_says_what_will_happen() {
    let world = World::new("1", 3);
    let (status, html) = world.page_of(&world.token(LinkKind::Suppress));
    assert_eq!(status, 200);
    for part in [
        "<h1>Suppress the problem for 1 hour?</h1>",
        "<dd>Load is &quot;high&quot; &gt; 5</dd>",
        "<dd>web &amp; &lt;db&gt;</dd>",
        "<dd class=\"high\">High</dd>",
        "<dd>2027-01-15 16:50:00 JST</dd>",
        "<dd>bob</dd>",
        "<form method=\"post\"><button type=\"submit\">Suppress for 1 hour</button></form>",
        "name=\"viewport\"",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(!html.contains("<script") && !html.contains("style="), "{html}");
    let done = page::page(&world.act(&world.token(LinkKind::Suppress))).1;
    assert!(done.contains("<h1>The problem is suppressed for 1 hour</h1>"), "{done}");
    assert!(!done.contains("<form"), "{done}");
}

#[test]
fn disabled_audit_log_stays_empty() {
    let world = World::new("1", 3);
    world.server.call("settings.update", &json!({ "auditlog_enabled": 0 })).unwrap();
    world.act(&world.token(LinkKind::Acknowledge)).unwrap();
    let sql = "SELECT COUNT(*) AS n FROM access_log WHERE resourcetype = 1100";
    assert_eq!(world.server.count(sql), 0);
}

impl World {
    fn reply(&self, link: &Link, from: &str, message_id: &str) -> Result<(), Refusal> {
        let response = Response {
            token: self.signed(link).to_uppercase(),
            from: from.to_owned(),
            message_id: message_id.to_owned(),
            text: "I look at it.".to_owned(),
        };
        reply(&self.server.api, &response, PEER)
    }

    /// With addresses of Bob.
    fn with_mail() -> Self {
        let world = Self::new("1", 2);
        let types = "SELECT MIN(mediatypeid) FROM media_types WHERE type = 0";
        let media_type = world.server.text(types);
        world.server.write_sql(&[&format!(
            "INSERT INTO media (mediaid, userid, mediatypeid, sendto) \
             VALUES (9, {}, {media_type}, 'Bob S <bob@example.com>\nroot@x.test')",
            world.bob
        )]);
        world
    }
}

#[test]
fn a_response_becomes_a_comment_once() {
    let world = World::with_mail();
    let link = world.link(LinkKind::Reply);
    for from in ["Bob@Example.com", "root@x.test"] {
        for _ in 0..2 {
            assert_eq!(world.reply(&link, from, from), Ok(()));
        }
        let updates = world.updates();
        assert_eq!(updates.len(), 1, "{updates:?}");
        let user = format!("user: UserId({})", world.bob);
        for part in ["events: [EventId(1)]", &user, "message: \"I look at it.\""] {
            assert!(updates[0].contains(part), "{part} in {updates:?}");
        }
    }
    let log = world.server.call("auditlog.get", &json!({ "filter": { "resourcetype": 1100 } }));
    assert_eq!(log.unwrap()[1]["details"], r#"{"problem.link":["add","reply"]}"#);
}

#[test]
fn responses_of_others_are_refused() {
    let world = World::with_mail();
    let link = world.link(LinkKind::Reply);
    for from in ["eve@example.com", "", "bob@example.com.test", "Bob S"] {
        let refused = world.reply(&link, from, "1");
        assert!(matches!(refused, Err(Refusal::NotAllowed(_))), "{from}: {refused:?}");
    }
    let other = world.link(LinkKind::Acknowledge);
    assert_eq!(world.reply(&other, "root@x.test", "1"), Err(Refusal::Unknown));
    let old = Link { until: (NOW - 1) as u32, ..link };
    // All come from the mail server, which would repeat those that have to wait.
    for _ in 0..100 {
        assert_eq!(world.reply(&old, "root@x.test", "1"), Err(Refusal::Expired));
    }
    assert_eq!(world.look("x"), Err(Refusal::Unknown));
    world.server.write_sql(&["DELETE FROM group_rights"]);
    assert!(matches!(world.reply(&link, "root@x.test", "1"), Err(Refusal::NotAllowed(_))));
    assert_eq!(world.updates(), [""; 0]);
}
