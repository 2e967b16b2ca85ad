use super::simulator::{Bind, Entry, Search, Simulator};
use super::*;

/// Nothing listens on the port of tcpmux.
fn server() -> Server {
    at_port(1)
}

fn at_port(port: u16) -> Server {
    Server::of(|name| {
        let port = port.to_string();
        match name {
            "host" => "127.0.0.1",
            "port" => &port,
            "base_dn" => "dc=example",
            "search_attribute" => "uid",
            "bind_password" => "secret",
            _ => "",
        }
        .to_owned()
    })
}

#[test]
fn empty_passwords_are_refused_before_a_server_is_asked() {
    assert_eq!(find(&server(), "ann", Some(""), &[]), Err(Failure::Refused));
    assert_eq!(find(&server(), "", Some("x"), &[]), Err(Failure::Refused));
}

#[test]
fn a_server_that_does_not_listen_is_unavailable() {
    let found = find(&server(), "ann", Some("x"), &[]);
    assert_eq!(found, Err(Failure::Unavailable("Cannot connect to LDAP server.")));
    assert!(!format!("{:?}", server()).contains("secret"));
}

#[test]
fn places_are_limited_and_come_back() {
    let places = Places::default();
    let taken: Vec<Place<'_>> = std::iter::from_fn(|| places.take(&server())).collect();
    assert_eq!(taken.len(), CHECKS_MAX);
    assert!(places.take(&server()).is_none() && places.take(&server()).is_none());
    assert!(places.take(&at_port(2)).is_some(), "another server");
    drop(taken);
    assert!(places.take(&server()).is_some());
    assert!(lock(&places.0).is_empty());
}

const ANN: Entry = ("uid=ann,dc=example", &[("uid", "ann"), ("cn", "Ann")]);

#[test]
fn only_decided_binds_and_searches_refuse_a_user() {
    let unavailable = |text| Err(Failure::Unavailable(text));
    let several = "The LDAP server has too many entries of this user.";
    let (no_bind, no_search) = ("Cannot bind to LDAP server.", "Cannot search the LDAP server.");
    let wrong: Bind = |dn, _| if dn.is_empty() { 0 } else { 49 };
    let busy: Bind = |dn, _| if dn.is_empty() { 0 } else { 51 };
    let (right, one): (Bind, Search) = (|_, _| 0, |_| (&[ANN], 0));
    let cases: [(Bind, Search, Result<(), Failure>); 9] = [
        (right, one, Ok(())),
        (wrong, one, Err(Failure::Refused)),
        (busy, one, unavailable(no_bind)),
        (right, |_| (&[], 0), Err(Failure::Refused)),
        (right, |_| (&[ANN, ANN], 0), unavailable(several)),
        (right, |_| (&[ANN], 4), unavailable(several)),
        (right, |_| (&[ANN], 11), unavailable(no_search)),
        (right, |_| (&[], 32), unavailable(no_search)),
        (right, |_| (&[], 50), unavailable(no_search)),
    ];
    for (bind, search, expected) in cases {
        let server = at_port(Simulator::start(bind, search).port);
        assert_eq!(find(&server, "ann", Some("x"), &[]).map(drop), expected);
    }
}

#[test]
fn a_failed_search_of_groups_decides_nothing() {
    let search: Search = |base| if base == "ou=groups" { (&[], 51) } else { (&[ANN], 0) };
    let mut server = at_port(Simulator::start(|_, _| 0, search).port);
    server.groups.base_dn = "ou=groups".to_owned();
    server.groups.name = "cn".to_owned();
    let unavailable = Err(Failure::Unavailable("Cannot search the LDAP server."));
    assert_eq!(find(&server, "ann", Some("x"), &[]), unavailable);
}

#[test]
fn the_own_bind_of_the_found_user_decides() {
    // With this password the server accepts every DN but Ann's.
    let bind: Bind = |dn, _| if dn == "uid=ann,dc=example" { 49 } else { 0 };
    let simulator = Simulator::start(bind, |_| (&[ANN], 0));
    for (base_dn, bind_dn, filter, first) in [
        ("dc=example", "cn=service", "(uid=%{user})", ""),
        ("dc=example", "cn=service", "", ""),
        ("dc=example", "cn=%{user}", "", "cn=ann"),
        ("ou=%{user}", "", "", "ou=ann"),
    ] {
        let mut server = at_port(simulator.port);
        (server.base_dn, server.bind_dn) = (base_dn.to_owned(), bind_dn.to_owned());
        (server.search_filter, server.bind_password) = (filter.to_owned(), String::new());
        assert_eq!(find(&server, "ann", Some("x"), &[]), Err(Failure::Refused), "{bind_dn}");
        let binds = std::mem::take(&mut *lock(&simulator.binds));
        assert_eq!(binds, [first, "uid=ann,dc=example"]);
    }
}
