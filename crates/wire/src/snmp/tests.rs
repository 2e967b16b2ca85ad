use super::ber::{Reader, Writer};
use super::usm::{AuthProtocol, Keys, MasterKeys, PrivProtocol, Report, localize, master_key};
use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn oid(text: &str) -> Oid {
    Oid::parse(text).unwrap()
}

#[test]
fn object_identifiers_are_read_and_shown() {
    for (text, ber, shown) in [
        ("1.3.6.1.2.1.1.5.0", "2b 06 01 02 01 01 05 00", ".1.3.6.1.2.1.1.5.0"),
        (".1.3.6.1.4.1.99999", "2b 06 01 04 01 86 8d 1f", ".1.3.6.1.4.1.99999"),
        ("1.3.4294967295.128.127", "2b 8f ff ff ff 7f 81 00 7f", ".1.3.4294967295.128.127"),
        ("2.999.3", "88 37 03", ".2.999.3"),
        ("0.0", "00", ".0.0"),
        ("1", "28", ".1.0"),
    ] {
        let oid = oid(text);
        assert_eq!((oid.borrow().ber(), oid.to_string()), (&*hex(ber), shown.to_owned()), "{text}");
        assert_eq!(OidRef::from_ber(oid.borrow().ber()).unwrap().to_oid(), oid);
    }
    let long = vec!["1"; ARCS_MAX].join(".");
    assert_eq!(oid(&long).borrow().arcs().count(), ARCS_MAX);
    assert_eq!(Oid::parse(&(long + ".1")), Err(OidError::TooLong));
    for text in ["", ".", "1..2", "1.x", "1.3.4294967296", "3.1", "1.40", "-1.3", "1.3."] {
        assert!(Oid::parse(text).is_err(), "{text}");
    }
    for ber in ["2b 86", "2b ff ff ff ff ff 7f", "2b 90 80 80 80 80 00"] {
        assert_eq!(OidRef::from_ber(&hex(ber)), Err(SnmpError::BadOid), "{ber}");
    }
    assert_eq!(size_of::<Oid>(), 24);
}

#[test]
fn order_and_place_of_object_identifiers() {
    let ordered =
        ["1.3.6", "1.3.6.1", "1.3.6.1.127", "1.3.6.1.128", "1.3.6.1.16383", "1.3.6.1.16384"];
    for pair in ordered.windows(2) {
        assert!(oid(pair[0]) < oid(pair[1]), "{pair:?}");
        assert!(oid("1.3.6").borrow() <= oid(pair[0]).borrow());
        assert!(oid(pair[1]).borrow().is_within(oid("1.3.6").borrow()));
    }
    assert!(!oid("1.3.61").borrow().is_within(oid("1.3.6").borrow()));
    let index = |of: &str, root: &str| oid(of).borrow().index_below(oid(root).borrow());
    assert_eq!(index("1.3.6.1.300.7", "1.3.6.1").as_deref(), Some("300.7"));
    assert_eq!(index("1.3.6.1", "1.3.6.1"), None);
    assert_eq!(index("1.3.7.1", "1.3.6"), None);
}

#[test]
fn numbers_take_as_few_octets_as_they_need() {
    for (number, ber) in [
        (0, "02 01 00"),
        (127, "02 01 7f"),
        (128, "02 02 00 80"),
        (-1, "02 01 ff"),
        (-128, "02 01 80"),
        (-129, "02 02 ff 7f"),
        (i64::from(i32::MIN), "02 04 80 00 00 00"),
        (i64::MAX, "02 08 7f ff ff ff ff ff ff ff"),
    ] {
        let mut w = Writer::new();
        w.integer(number);
        assert_eq!(w.bytes(), hex(ber), "{number}");
        assert_eq!(Reader::new(w.bytes()).integer(), Ok(number));
    }
}

#[test]
fn values_come_back() {
    let name = oid("1.3.6.1.4.1.8072");
    for value in [
        Value::Integer(-5),
        Value::Octets(b"x"),
        Value::Null,
        Value::Oid(name.borrow()),
        Value::Ip([10, 1, 2, 3]),
        Value::Counter32(u32::MAX),
        Value::Gauge32(3_000_000_000),
        Value::TimeTicks(1),
        Value::Counter64(u64::MAX),
        Value::Float(1.5),
        Value::Double(-2.25),
        Value::OpaqueInteger(-7),
        Value::OpaqueUnsigned(7),
        Value::OpaqueCounter(u64::MAX),
        Value::Opaque(b"\x9f\x01\x00"),
        Value::NoSuchObject,
        Value::NoSuchInstance,
        Value::EndOfMibView,
    ] {
        let mut w = Writer::new();
        value.write(&mut w);
        assert_eq!(Value::read(&mut Reader::new(w.bytes())), Ok(value));
    }
    // Agents that forget the zero, and those that say more than 32 bits.
    for (ber, value) in [
        ("41 04 ff ff ff ff", Value::Counter32(u32::MAX)),
        ("42 05 01 00 00 00 02", Value::Gauge32(2)),
        ("46 08 ff ff ff ff ff ff ff ff", Value::Counter64(u64::MAX)),
        ("44 07 9f 78 04 42 f6 00 00", Value::Float(123.0)),
    ] {
        assert_eq!(Value::read(&mut Reader::new(&hex(ber))), Ok(value), "{ber}");
    }
}

/// What `snmpget -v2c -c public 127.0.0.1 1.3.6.1.2.1.1.5.0` sends.
#[test]
fn a_request_as_others_write_it() {
    let bytes =
        hex("30 29 02 01 01 04 06 70 75 62 6c 69 63 a0 1c 02 04 10 20 30 40 02 01 00 02 01 00 \
                     30 0e 30 0c 06 08 2b 06 01 02 01 01 05 00 05 00");
    let mut w = Writer::new();
    let names = [oid("1.3.6.1.2.1.1.5.0")];
    let asked = Request {
        kind: PduKind::Get,
        request_id: 0x1020_3040,
        non_repeaters: 0,
        max_repetitions: 0,
        oids: &names,
    };
    request(&mut w, Version::V2c, b"public", &asked);
    assert_eq!(w.bytes(), bytes);
    let message = Message::parse(&bytes).unwrap();
    assert_eq!((message.version, message.community), (Version::V2c, &b"public"[..]));
    let pdu = message.pdu().unwrap();
    assert_eq!((pdu.kind, pdu.request_id), (PduKind::Get, 0x1020_3040));
    let all: Vec<_> = pdu.varbinds.map(Result::unwrap).collect();
    assert_eq!(all, [(names[0].borrow(), Value::Null)]);
    for len in 0..bytes.len() {
        let cut = Message::parse(&bytes[..len]).and_then(|message| message.pdu());
        assert_eq!(cut.err(), Some(SnmpError::Truncated), "{len}");
    }
}

#[test]
fn a_trap_of_version_1() {
    let bytes = hex(
        "30 30 02 01 00 04 06 70 75 62 6c 69 63 a4 23 06 06 2b 06 01 04 01 09 40 04 0a 00 00 01 \
                     02 01 06 02 01 2a 43 02 01 00 30 09 30 07 06 03 2b 06 01 05 00",
    );
    let message = Message::parse(&bytes).unwrap();
    assert!(message.is_trap_v1());
    assert_eq!(message.pdu().err(), Some(SnmpError::Kind(0xa4)));
    let trap = message.trap_v1().unwrap();
    assert_eq!(trap.enterprise, oid("1.3.6.1.4.1.9").borrow());
    assert_eq!((trap.agent, trap.generic, trap.specific, trap.uptime), ([10, 0, 0, 1], 6, 42, 256));
    assert_eq!(trap.varbinds.count(), 1);
}

const ENGINE: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

/// RFC 3414 appendix A.3.
#[test]
fn keys_of_the_standard() {
    for (protocol, master, local) in [
        (AuthProtocol::Md5, "9faf3283884e92834ebc9847d8edd963", "526f5eed9fcce26f8964c2930787d82b"),
        (
            AuthProtocol::Sha1,
            "9fb5cc0381497b3793528939ff788d5d79145211",
            "6695febc9288e36282235fc7151f128497b38f3f",
        ),
    ] {
        let key = master_key(protocol, b"maplesyrup").unwrap();
        assert_eq!(key, hex(master), "{protocol:?}");
        assert_eq!(localize(protocol, &key, &ENGINE).unwrap(), hex(local), "{protocol:?}");
    }
}

fn keys(auth: AuthProtocol, privacy: Option<PrivProtocol>) -> Keys {
    let phrase = &b"maplesyrup"[..];
    let master = MasterKeys::new(Some((auth, phrase)), privacy.map(|p| (p, phrase))).unwrap();
    master.for_engine(&ENGINE).unwrap()
}

const AUTH: [AuthProtocol; 6] = [
    AuthProtocol::Md5,
    AuthProtocol::Sha1,
    AuthProtocol::Sha224,
    AuthProtocol::Sha256,
    AuthProtocol::Sha384,
    AuthProtocol::Sha512,
];
const PRIVACY: [Option<PrivProtocol>; 7] = [
    None,
    Some(PrivProtocol::Des),
    Some(PrivProtocol::Aes128),
    Some(PrivProtocol::Aes192),
    Some(PrivProtocol::Aes256),
    Some(PrivProtocol::Aes192C),
    Some(PrivProtocol::Aes256C),
];

fn envelope() -> v3::Envelope<'static> {
    v3::Envelope {
        id: 77,
        reportable: true,
        engine: &ENGINE,
        boots: 3,
        time: 1000,
        user: b"user",
        context: b"ctx",
    }
}

#[test]
fn every_algorithm_protects_and_opens() {
    let names = [oid("1.3.6.1.2.1.1.5.0"), oid("1.3.6.1.2.1.1.3.0")];
    let asked = Request {
        kind: PduKind::GetBulk,
        request_id: 9,
        non_repeaters: 1,
        max_repetitions: 10,
        oids: &names,
    };
    for (auth, privacy) in AUTH.iter().flat_map(|a| PRIVACY.map(|p| (*a, p))) {
        let keys = keys(auth, privacy);
        let mut w = Writer::new();
        v3::write(&mut w, &envelope(), &keys, 0x0102_0304_0506_0708, |w| asked.write(w)).unwrap();
        let bytes = w.bytes().to_vec();
        assert_eq!(Message::version_of(&bytes), Ok(Version::V3));
        let sealed = v3::Sealed::parse(&bytes).unwrap();
        assert_eq!((sealed.signed, sealed.encrypted), (true, privacy.is_some()));
        assert_eq!((sealed.envelope.id, sealed.envelope.user), (77, &b"user"[..]));
        sealed.verify(&keys).unwrap();
        let mut room = Vec::new();
        let opened = sealed.open(&keys, &mut room).unwrap();
        assert_eq!((opened.context, opened.context_engine), (&b"ctx"[..], &ENGINE[..]));
        assert_eq!((opened.pdu.kind, opened.pdu.error_index), (PduKind::GetBulk, 10));
        assert_eq!(opened.pdu.varbinds.count(), 2);
        // One bit anywhere breaks the signature or the message.
        for at in (0..bytes.len()).step_by(7) {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            let checked = v3::Sealed::parse(&broken).and_then(|sealed| sealed.verify(&keys));
            assert!(checked.is_err(), "{auth:?} {privacy:?} octet {at}");
        }
    }
}

#[test]
fn a_wrong_key_is_recognized() {
    let asked = Request {
        kind: PduKind::Get,
        request_id: 9,
        non_repeaters: 0,
        max_repetitions: 0,
        oids: &[],
    };
    let right = keys(AuthProtocol::Sha1, Some(PrivProtocol::Aes128));
    let other = MasterKeys::new(
        Some((AuthProtocol::Sha1, b"maplesyrup")),
        Some((PrivProtocol::Aes128, b"othersyrup")),
    );
    let other = other.unwrap().for_engine(&ENGINE).unwrap();
    let mut w = Writer::new();
    v3::write(&mut w, &envelope(), &right, 1, |w| asked.write(w)).unwrap();
    let sealed = v3::Sealed::parse(w.bytes()).unwrap();
    assert_eq!(sealed.verify(&keys(AuthProtocol::Md5, None)), Err(SnmpError::Digest));
    assert_eq!(sealed.verify(&Keys::NONE), Err(SnmpError::Unprotected));
    let mut room = Vec::new();
    assert_eq!(sealed.open(&other, &mut room).err(), Some(SnmpError::Decryption));
    assert_eq!(sealed.open(&Keys::NONE, &mut room).err(), Some(SnmpError::Decryption));
}

/// draft-reeder-snmpv3-usm-3desede-00 appendix: how a short key becomes long.
#[test]
fn long_keys() {
    let secret = |privacy| keys(AuthProtocol::Md5, Some(privacy));
    // The first 16 octets are the short key in both ways, what follows differs.
    assert_ne!(secret(PrivProtocol::Aes256), secret(PrivProtocol::Aes256C));
    let long = hex("526f5eed9fcce26f8964c2930787d82b79eff44a90650ee0a3a40abfac5acc12");
    let text = b"0123456789abcdef";
    let (mine, said) = secret(PrivProtocol::Aes256C).encrypt((1, 2), 3, text).unwrap();
    let iv = [&1u32.to_be_bytes()[..], &2u32.to_be_bytes(), &said].concat();
    let cipher = openssl::symm::Cipher::aes_256_cfb128();
    assert_eq!(mine, openssl::symm::encrypt(cipher, &long, Some(&iv), text).unwrap());
}

#[test]
fn reports_are_named() {
    let report = |text: &str| Report::of(oid(text).borrow());
    assert_eq!(report("1.3.6.1.6.3.15.1.1.3.0"), Report::UnknownUser);
    assert_eq!(report("1.3.6.1.6.3.15.1.1.5.0"), Report::WrongDigest);
    assert_eq!(report("1.3.6.1.6.3.15.1.1.5"), Report::Other);
    assert_eq!(report("1.3.6.1.2.1.1.1.0"), Report::Other);
}
