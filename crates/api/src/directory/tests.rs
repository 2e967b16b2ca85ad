use super::*;

fn server() -> Server {
    Server::of(|name| {
        match name {
            "host" => "127.0.0.1",
            // Nothing listens on the port of tcpmux.
            "port" => "1",
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
    let taken: Vec<Place<'_>> = std::iter::from_fn(|| places.take()).collect();
    assert_eq!(taken.len(), CHECKS_MAX);
    assert!(places.take().is_none() && places.take().is_none());
    drop(taken);
    assert!(places.take().is_some());
}
