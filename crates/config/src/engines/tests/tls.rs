//! Orders of certificates, secrets of session tickets, renewed certificates of engines.

use crate::table;
use balancing::Challenge;

use super::*;
use crate::engines::orders::{self, Arrived, Progress};

/// The first id of an object: that of the certificate.
const CERTIFICATE: u64 = 10_000;

const ORDER: &str = r#"{"domains":["B.example.com","a.example.com"],"terms_agreed":true}"#;

#[test]
fn renewed_engine_certificate_replaces_the_old_one() {
    let (_dir, config) = open();
    let engine = write(&config, |edit| {
        let engine = add(edit, &table::ENGINES, &[("name", "lb-1".into())])?;
        let known = [("engineid", engine.into()), ("fingerprint", "f1".into())];
        edit.insert(&table::ENGINE_CERTIFICATES, &known)?;
        Ok(engine)
    });
    let shown = || {
        let known = known(&config, engine).unwrap().unwrap();
        [known.fingerprint, known.next_fingerprint]
    };
    assert!(!renewed(&config, engine, "f2").unwrap(), "nobody issued it");
    assert!(renew(&config, engine, "f1", "f2").unwrap());
    assert!(renew(&config, engine, "f1", "f3").unwrap(), "the first one was lost");
    assert_eq!(shown(), ["f1", "f3"]);
    assert!(!renewed(&config, engine, "f2").unwrap());
    assert!(renewed(&config, engine, "f3").unwrap());
    assert_eq!(shown(), ["f3", ""]);
    assert!(!renew(&config, engine, "f1", "f4").unwrap(), "the old one is not known any more");
}

#[test]
fn secrets_of_tickets_belong_to_a_group_and_change_with_time() {
    let (_dir, config) = open();
    let of_group = |group, new| ticket_secrets(&config, group, new, 1_000).unwrap();
    assert_eq!([of_group(1, "a"), of_group(1, "b"), of_group(2, "c")], ["a", "a", "c"]);
    let rotate = |before_s, now_s| {
        rotate_tickets(&config, before_s, now_s, |old| Some(format!("{old}!"))).unwrap()
    };
    assert!(!rotate(999, 1_500));
    assert!(rotate(1_000, 1_500));
    assert_eq!([of_group(1, ""), of_group(2, "")], ["a!", "c!"]);
    assert!(rotate(0, 1_400), "the clock was set back");
    forget_tickets(&config, 2).unwrap();
    assert_eq!([of_group(1, "d"), of_group(2, "e")], ["a!!", "e"]);
}

#[test]
fn a_certificate_is_expected_until_it_arrives() {
    let (_dir, config) = open();
    let group = write(&config, group);
    let id = CERTIFICATE;
    set(&config, "certificates", "acme", ORDER);
    set(&config, "certificates", "private_key", "");
    set(&config, "certificates", "certificate", "");
    let found = orders::ordered(&config).unwrap();
    assert_eq!((found.len(), found[0].id, &*found[0].pem), (1, id, ""));
    assert_eq!(found[0].order.names(), ["a.example.com", "b.example.com"]);
    let text = desired(&config, group).text;
    let names =
        r#""expected_certificates":[{"name":"www","names":["a.example.com","b.example.com"]}]"#;
    assert!(text.contains(names), "{text}");
    assert!(config.read(Catalogue::read).unwrap().services[&CERTIFICATE].certificates.is_empty());
    let facts = pem::Facts {
        chain: "-----BEGIN CERTIFICATE-----".to_owned(),
        subject: "CN=a".to_owned(),
        issuer: String::new(),
        names: vec!["a.example.com".to_owned()],
        algorithm: String::new(),
        fingerprint: String::new(),
        valid_from: 1,
        valid_until: 2,
    };
    set(&config, "certificates", "requested_at", 60);
    let arrived = |private_key, requested_s| Arrived { private_key, facts: &facts, requested_s };
    let keep = |arrived: Arrived<'_>| orders::keep_certificate(&config, id, &arrived).unwrap();
    let requested = || orders::ordered(&config).unwrap()[0].requested_at;
    keep(arrived("-----BEGIN PRIVATE KEY-----", 50));
    assert_eq!(requested(), 60, "a user asked again during the order");
    keep(arrived("-----BEGIN PRIVATE KEY-----", 60));
    assert_eq!(requested(), 0);
    let text = desired(&config, group).text;
    assert!(
        text.contains("BEGIN PRIVATE KEY") && !text.contains("expected_certificates"),
        "{text}"
    );
    // One that is given meanwhile stays.
    set(&config, "certificates", "acme", "{}");
    keep(arrived("another key", 60));
    assert!(!desired(&config, group).text.contains("another key"));
    assert!(orders::ordered(&config).unwrap().is_empty());
}

#[test]
fn attempts_states_and_accounts_of_orders_are_kept() {
    let (_dir, config) = open();
    let group = write(&config, group);
    assert_eq!(orders::attempts(&config, CERTIFICATE).unwrap(), "");
    orders::keep_attempts(&config, CERTIFICATE, "{1}").unwrap();
    let progress = Progress { phase: "failed", error: "refused".to_owned(), next_attempt: 7 };
    orders::show(&config, CERTIFICATE, &progress).unwrap();
    orders::keep_attempts(&config, CERTIFICATE, "{2}").unwrap();
    assert_eq!(orders::attempts(&config, CERTIFICATE).unwrap(), "{2}");
    orders::show(&config, 9, &progress).unwrap();
    orders::keep_attempts(&config, 9, "{}").unwrap();
    assert_eq!(orders::attempts(&config, 9).unwrap(), "", "there is no such certificate");
    let account = |contact| orders::account(&config, "https://ca", contact).unwrap();
    assert_eq!(account("[]"), None);
    for text in ["{1}", "{2}"] {
        orders::keep_account(&config, "https://ca", "[]", text).unwrap();
        assert_eq!(account("[]").as_deref(), Some(text));
    }
    assert_eq!(account("[\"a@b.c\"]"), None);
    let groups = |challenge| orders::checked_by(&config, CERTIFICATE, challenge).unwrap();
    assert_eq!(groups(Challenge::TlsAlpn01), [group]);
    assert!(groups(Challenge::Http01).is_empty(), "the only service has TLS");
    let plain = |group: u64| {
        write(&config, |edit| {
            let row = [("name", "plain".into()), ("enginegroupid", group.into())];
            add(edit, &table::VIRTUALSERVICES, &row)
        })
    };
    let elsewhere =
        write(&config, |edit| add(edit, &table::ENGINEGROUPS, &[("name", "other".into())]));
    plain(elsewhere);
    assert!(groups(Challenge::Http01).is_empty(), "another group uses the certificate");
    plain(group);
    assert_eq!(groups(Challenge::Http01), [group]);
    write(&config, |edit| {
        edit.delete(&table::VIRTUALSERVICE_CERTIFICATES, "certificateid", &[CERTIFICATE])
    });
    assert_eq!(groups(Challenge::Http01), [group, elsewhere], "no service uses it yet");
    set(&config, "virtualservices", "status", 1);
    assert!(groups(Challenge::TlsAlpn01).is_empty());
}
