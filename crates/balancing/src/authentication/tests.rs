use super::*;

const BCRYPT: &str = "$2y$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe";

fn parsed(text: &str) -> Authentication {
    serde_saphyr::from_str(&text.replace("HASH", BCRYPT)).unwrap()
}

fn problem(text: &str) -> String {
    parsed(text).check(&[]).err().unwrap_or_default()
}

#[test]
fn policies_are_checked() {
    let pem = "-----BEGIN PUBLIC KEY-----";
    for (text, part) in [
        ("{basic: [{name: a, users: {u: HASH}}], require: b}", "policy 'b' does not exist"),
        ("{basic: [{name: a}]}", "set 'users' or 'file'"),
        ("{basic: [{name: none, file: f}]}", "not a name of a policy"),
        ("{basic: [{name: a, file: f}, {name: a, file: f}]}", "exists twice"),
        ("{basic: [{name: a, users: {u: secret}}]}", "user 'u': it is not a hash"),
        ("{basic: [{name: a, users: {'u:v': HASH}}]}", "not a name of a user"),
        ("{basic: [{name: a, file: f, user_header: Host}]}", "not a header that can be set"),
        ("{basic: [{name: a, file: f, realm: 'a\"b'}]}", "contains a quote"),
        ("{jwt: [{name: a}]}", "set 'keys' or 'jwks'"),
        ("{jwt: [{name: a, keys: [{algorithm: HS256, key: short}]}]}", "at least 32 bytes"),
        (
            &format!("{{jwt: [{{name: a, keys: [{{algorithm: HS256, key: '{pem}'}}]}}]}}"),
            "not a secret",
        ),
        ("{jwt: [{name: a, keys: [{algorithm: RS256, key: x}]}]}", "BEGIN PUBLIC KEY"),
        ("{jwt: [{name: a, jwks: f, leeway: 2h}]}", "at most 1h"),
        (
            "{jwt: [{name: a, keys: [{id: k, algorithm: HS256, key: 0123456789abcdef0123456789abcdef}, \
             {id: k, algorithm: HS256, key: 0123456789abcdef0123456789abcdeg}]}]}",
            "key 2: another key of its algorithm has the same 'id'",
        ),
    ] {
        let found = problem(text);
        assert!(found.contains(part), "{text}: {found}");
    }
    assert_eq!(problem("{basic: [{name: a, users: {u: HASH}}], require: a}"), "");
}

#[test]
fn hashes_are_recognised_within_limits() {
    let of = |hash: &str| PasswordHash::of(hash);
    assert_eq!(of(BCRYPT), Ok(PasswordHash::Bcrypt));
    assert_eq!(of("$6$salt$hash"), Ok(PasswordHash::ShaCrypt));
    assert_eq!(of("$6$rounds=5000$salt$hash"), Ok(PasswordHash::ShaCrypt));
    assert_eq!(of("$argon2id$v=19$m=19456,t=2,p=1$salt$hash"), Ok(PasswordHash::Argon2));
    for costly in [
        BCRYPT.replace("$05$", "$15$"),
        "$6$rounds=99999999$salt$hash".to_owned(),
        "$argon2id$v=19$m=999999999,t=2,p=1$salt$hash".to_owned(),
        "$argon2id$v=19$m=1024,t=99,p=1$salt$hash".to_owned(),
    ] {
        assert!(of(&costly).unwrap_err().contains("limited"), "{costly}");
    }
    for other in ["", "plain", "$apr1$salt$hash", "{SHA}x", "$2y$05$short"] {
        let found = of(other).unwrap_err();
        assert!(found.contains("not a hash") && (other.is_empty() || !found.contains(other)));
    }
}

#[test]
fn a_file_has_a_user_in_each_line() {
    let text = format!("# staff\n\nalice:{BCRYPT}\r\nbob:$6$salt$hash\n");
    let users = Basic::parse_file(&text).unwrap();
    assert_eq!(users.keys().collect::<Vec<_>>(), ["alice", "bob"]);
    assert!(Basic::parse_file("alice").unwrap_err().starts_with("line 1: "));
    let wrong = Basic::parse_file("# x\nalice:secret").unwrap_err();
    assert!(wrong.starts_with("line 2: ") && !wrong.contains("secret"), "{wrong}");
}

#[test]
fn secrets_are_hidden_and_come_back_for_the_same_user_and_key() {
    let text = "{basic: [{name: a, users: {u: HASH, v: HASH}}], \
                jwt: [{name: t, keys: [{id: k, algorithm: HS256, key: 0123456789abcdef0123456789abcdef}, \
                {algorithm: ES256, key: '-----BEGIN PUBLIC KEY-----'}]}]}";
    let mut before = parsed(text);
    let mut shown = before.clone();
    shown.hide();
    let json = serde_json::to_string(&shown).unwrap();
    assert!(!json.contains("$2y$") && !json.contains("0123456789"), "{json}");
    assert!(json.contains("BEGIN PUBLIC KEY"), "public keys are shown");
    assert!(!format!("{before:?}").contains("$2y$"));
    shown.restore(&mut before);
    assert_eq!(shown, before);
    let mut renamed = before.clone();
    renamed.hide();
    renamed.basic[0].name = "b".to_owned();
    renamed.restore(&mut before);
    assert_eq!(renamed.basic[0].users["u"].0, HIDDEN, "another policy has other secrets");
}

#[test]
fn secrets_without_ids_return_only_for_an_unchanged_list() {
    let (good, bad) = ("g".repeat(32), "b".repeat(32));
    let text = format!(
        "{{jwt: [{{name: t, keys: [{{algorithm: HS256, key: {bad}}}, {{algorithm: HS256, key: {good}}}]}}]}}"
    );
    let mut before = parsed(&text);
    let restored = |change: &dyn Fn(&mut Vec<JwtKey>)| {
        let mut given = before.clone();
        given.hide();
        change(&mut given.jwt[0].keys);
        given.restore(&mut before.clone());
        let keys = given.jwt[0].keys.iter().map(|key| key.key.0.clone()).collect::<Vec<_>>();
        (keys, given.check(&[]).err().unwrap_or_default())
    };
    assert_eq!(restored(&|_| {}), (vec![bad, good.clone()], String::new()));
    let (keys, problem) = restored(&|keys| drop(keys.remove(0)));
    assert_eq!(keys, [HIDDEN], "the removed key would have stayed");
    assert!(problem.contains("key 1: its stored secret cannot be told"), "{problem}");
    let new = "n".repeat(32);
    let (keys, _) = restored(&|keys| {
        keys.remove(0);
        keys.push(JwtKey { id: None, algorithm: JwtAlgorithm::HS256, key: Secret(new.clone()) });
    });
    assert_eq!(keys, [HIDDEN, &new]);
    for (at, key) in before.jwt[0].keys.iter_mut().enumerate() {
        key.id = Some(format!("k{at}"));
    }
    let mut given = before.clone();
    given.hide();
    given.jwt[0].keys.remove(0);
    given.restore(&mut before);
    assert_eq!(given.jwt[0].keys[0].key.0, good);
}

#[test]
fn authentication_rules_need_unambiguous_paths() {
    let check = |path: &str| {
        let rules = format!("[{{if: {{path_prefix: '{path}'}}, then: {{authentication: a}}}}]");
        let rules: Vec<Rule> = serde_saphyr::from_str(&rules).unwrap();
        parsed("{basic: [{name: a, users: {u: HASH}}]}").check(&rules)
    };
    assert_eq!(check("/caf%c3%a9/"), Ok(()));
    assert!(check("/a//b").unwrap_err().contains("may take for another"));
}
