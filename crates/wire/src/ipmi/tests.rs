use super::commands::{APP, GET_DEVICE_ID};
use super::crypto::{self, Hash, Signature};
use super::reading::{Factors, Format, Linearization, Reading};
use super::sdr::{Sensor, Thresholds, Units};
use super::*;

mod device;

/// An answer with its checksums.
fn reply(function: u8, sequence: u8, command: u8, data: &[u8]) -> Vec<u8> {
    let sum = |bytes: &[u8]| bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte));
    let head = [0x81, function];
    let body = [&[0x20, sequence, command, 0], data].concat();
    [&head[..], &[sum(&head)], &body, &[sum(&body)]].concat()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

#[test]
fn messages_have_two_checksums() {
    let request = Request::new(APP, GET_DEVICE_ID, &[]);
    let bytes = message::encode(&request, 1);
    assert_eq!(bytes, hex("20 18 c8 81 04 01 7a"));
    let answer = hex("81 1c 63 20 04 01 00 23 89 2f");
    let reply = message::decode(&answer).unwrap();
    assert_eq!((reply.netfn, reply.sequence, reply.command, reply.code), (7, 1, 1, 0));
    assert_eq!(reply.data, [0x23, 0x89]);
    for at in 0..answer.len() {
        let mut broken = answer.clone();
        broken[at] ^= 1;
        assert_eq!(message::decode(&broken), Err(IpmiError::Checksum), "{at}");
    }
    assert_eq!(message::decode(&answer[..7]), Err(IpmiError::Truncated));
}

#[test]
fn signatures_of_version_1_5() {
    // MD2 and MD5 of RFC 1319 and 1321 are the libraries'; here is what is signed.
    let password = crypto::field("secret");
    let numbers = (0x0102_0304, 5);
    let parts = [&password[..], &[4, 3, 2, 1], b"message", &[5, 0, 0, 0], &password].concat();
    use md5::{Digest, Md5};
    assert_eq!(Signature::Md5.code(&password, numbers, b"message"), Md5::digest(parts).to_vec());
    assert_eq!(Signature::Straight.code(&password, numbers, b"m"), password);
    assert_eq!(Signature::None.code(&password, numbers, b"m"), [0; 0]);
    assert_eq!(Signature::Md2.code(&password, numbers, b"m").len(), 16);
}

#[test]
fn payloads_are_padded_and_encrypted() {
    let (key, iv) = ([7; 20], [9; 16]);
    for length in 0..40 {
        let plain: Vec<u8> = (0..length).collect();
        let secret = crypto::encrypt(&key, &iv, &plain).unwrap();
        assert_eq!(secret.len() % 16, 0);
        assert_eq!(crypto::decrypt(&key, &secret).unwrap(), plain, "{length}");
    }
    for broken in [&[][..], &[0; 16], &[0; 31], &[0; 33]] {
        assert_eq!(crypto::decrypt(&key, broken), Err(IpmiError::Decryption));
    }
    // A pad that is longer than the text.
    let mut turned = crypto::encrypt(&key, &iv, &[0xFF; 15]).unwrap();
    turned[15] ^= 0x80;
    assert_eq!(crypto::decrypt(&key, &turned), Err(IpmiError::Decryption));
}

fn factors(m: i16, b: i16, b_exponent: i8, r_exponent: i8) -> Factors {
    Factors { m, b, b_exponent, r_exponent }
}

#[test]
fn factors_have_signs() {
    for (bytes, expected) in [
        ([1, 0, 0, 0, 0, 0], factors(1, 0, 0, 0)),
        ([60, 0, 10, 0, 0, 0xD1], factors(60, 10, 1, -3)),
        ([0xFF, 0xC0, 0xFE, 0xC0, 0, 0x8F], factors(-1, -2, -1, -8)),
        ([0xFF, 0x7F, 0x00, 0xBF, 0, 0x77], factors(511, -512, 7, 7)),
    ] {
        assert_eq!(Factors::parse(&bytes), expected, "{bytes:?}");
    }
}

#[test]
fn numbers_of_readings() {
    use Format::{OnesComplement, TwosComplement, Unsigned};
    let one = factors(1, 0, 0, 0);
    for (factors, format, function, raw, expected) in [
        (one, Unsigned, 0, 0xF6, Some("246.000000")),
        (one, TwosComplement, 0, 0xF6, Some("-10.000000")),
        (one, OnesComplement, 0, 0xF6, Some("-9.000000")),
        (one, OnesComplement, 0, 0x09, Some("9.000000")),
        (factors(60, 10, 1, -3), Unsigned, 0, 0xC7, Some("12.040000")),
        (factors(75, 0, 0, 0), Unsigned, 0, 0x28, Some("3000.000000")),
        (factors(2, 5, 0, 2), Unsigned, 0, 10, Some("2500.000000")),
        (one, Unsigned, 1, 0, None),
        (one, Unsigned, 1, 8, Some("2.079442")),
        (one, Unsigned, 2, 100, Some("2.000000")),
        (one, Unsigned, 3, 8, Some("3.000000")),
        (one, Unsigned, 4, 0, Some("1.000000")),
        (one, Unsigned, 5, 3, Some("1000.000000")),
        (one, Unsigned, 6, 8, Some("256.000000")),
        (one, Unsigned, 7, 8, Some("0.125000")),
        (one, Unsigned, 7, 0, None),
        (one, Unsigned, 8, 12, Some("144.000000")),
        (one, Unsigned, 9, 2, Some("8.000000")),
        (one, Unsigned, 10, 9, Some("3.000000")),
        (one, Unsigned, 11, 2, Some("0.125000")),
    ] {
        let by = Linearization::from_number(function).unwrap();
        let value = factors.value(format, by, raw).map(|value| format!("{value:.6}"));
        assert_eq!(value.as_deref(), expected, "{factors:?} {format:?} {function} {raw}");
    }
    assert_eq!(Linearization::from_number(12), None);
    assert_eq!(Linearization::from_number(0x70), Some(Linearization::ByReading));
    assert_eq!(Format::from_units(0xC0), None);
}

#[test]
fn readings() {
    let reading = |data: &[u8]| Reading::parse(data).unwrap();
    assert!(reading(&[1, 0xC0]).available);
    assert!(!reading(&[1, 0x80]).available, "not watched");
    assert!(!reading(&[1, 0xE0]).available, "no reading yet");
    assert_eq!(reading(&[0, 0x40, 0x09, 0x80]).states, 9);
    assert_eq!(Reading::parse(&[0]), Err(IpmiError::Truncated));
    assert_eq!(
        reading::thresholds(&[0b01_0001, 1, 2, 3, 4, 5, 6]).unwrap(),
        [Some(1), None, None, None, Some(5), None]
    );
    assert_eq!(reading::thresholds(&[0x3F, 1]).unwrap()[1], None);
}

/// A record of the kind that OpenIPMI's simulator gives.
fn full_record(name: &[u8], name_kind: u8) -> Vec<u8> {
    full_record_of(name, name_kind | name.len() as u8)
}

/// The same with the kind and length of the name as they stand.
fn full_record_of(name: &[u8], kind: u8) -> Vec<u8> {
    let mut record = hex("0100 51 01 00 20 00 01 03 01 7f 68 01 01 0000 0000 38 38 00 01 00 00
                          01 00 00 00 00 00 00 00 00 00 ff 00 64 5a 55 00 00 00 00 00 0000 00");
    record.push(kind);
    record.extend_from_slice(name);
    record[4] = (record.len() - sdr::HEADER_BYTES) as u8;
    record
}

#[test]
fn full_records() {
    let record = full_record(b"CPU Temp", 0xC0);
    let sensor = &sdr::sensors(&record).unwrap()[0];
    assert_eq!((sensor.owner, sensor.number, sensor.lun, sensor.channel), (0x20, 1, 0, 0));
    assert_eq!((sensor.name.as_str(), sensor.full_name().as_str()), ("CPU Temp", "(3.1).CPU Temp"));
    assert_eq!((sensor.kind, sensor.reading, sensor.is_threshold()), (1, 1, true));
    assert_eq!(sensor.units, Units { base: 1, ..Units::default() });
    assert_eq!(sensor.thresholds, Thresholds::Readable);
    assert_eq!(sensor.value(70, None), Some(70.0));
    for length in 0..record.len() {
        assert_eq!(sdr::sensors(&record[..length]), Err(IpmiError::Truncated), "{length}");
    }
    // A name that is longer than the record.
    let mut broken = record.clone();
    broken[47] = 0xC0 | 31;
    assert_eq!(sdr::sensors(&broken), Err(IpmiError::Truncated));
    let mut fixed = record.clone();
    fixed[11] |= 0x0C;
    let limits = [None, None, None, Some(0x55), Some(0x5A), Some(0x64)];
    assert_eq!(sdr::sensors(&fixed).unwrap()[0].thresholds, Thresholds::Fixed(limits));
    // Instances from 0x60 on belong to a controller.
    let mut relative = record;
    relative[9] = 0x61;
    assert_eq!(sdr::sensors(&relative).unwrap()[0].full_name(), "(r0.32.3.1).CPU Temp");
}

#[test]
fn names_are_written_in_four_ways() {
    for (bytes, kind, expected) in [
        (&b"Fan\xb51"[..], 0xC5, "Fan\u{b5}1"),
        (&[0x12, 0x3A, 0xBC][..], 0x45, "21 3."),
        (&[0x29, 0xDC, 0xA6], 0x84, "IPMI"),
        (&[0x29, 0xDC, 0xA6], 0x83, "IPM"),
        ("\u{e4}b".as_bytes(), 0x03, "\u{e4}b"),
        (b"a\0b", 0xC3, "a"),
        (b"", 0xC0, ""),
    ] {
        let sensors = sdr::sensors(&full_record_of(bytes, kind)).unwrap();
        assert_eq!(sensors[0].name, expected);
    }
}

fn compact_record(sharing: [u8; 2]) -> Vec<u8> {
    let mut record = hex("0100 51 02 00 20 01 05 0a 07 7f 40 08 6f 0000 0000 ff7f c0 00 00");
    record.extend(sharing);
    record.extend(hex("00 00 00 00 00 00 c3 53 48 52"));
    record[4] = (record.len() - sdr::HEADER_BYTES) as u8;
    record
}

#[test]
fn compact_records_may_stand_for_several_sensors() {
    let each = |sharing| {
        let sensors = sdr::sensors(&compact_record(sharing)).unwrap();
        let one = |sensor: &Sensor| (sensor.number, sensor.entity.1, sensor.name.clone());
        sensors.iter().map(one).collect::<Vec<_>>()
    };
    let named = |number, instance, name: &str| (number, instance, name.to_owned());
    assert_eq!(each([0, 0]), [named(5, 7, "SHR")]);
    assert_eq!(each([1, 5]), [named(5, 7, "SHR")]);
    assert_eq!(each([2, 0x81]), [named(5, 7, "SHR1"), named(6, 8, "SHR2")]);
    assert_eq!(each([0x12, 0x19]), [named(5, 7, "SHRZ"), named(6, 7, "SHRAA")]);
    let other = hex("0100 51 c0 03 01 02 03");
    assert_eq!(sdr::sensors(&other), Ok(Vec::new()));
}

#[test]
fn words() {
    assert_eq!(names::sensor_type(1), "temperature");
    assert_eq!(names::reading_type(0x6F), "sensor specific");
    assert_eq!(names::states(3, 5, 1), "state deasserted");
    assert_eq!(names::states(0x6F, 8, 9), "presence detected, power supply AC lost");
    let units = |base, rate, relation, modifier| {
        names::units(Units { percent: false, base, rate, relation, modifier })
    };
    assert_eq!(names::states(0x6F, 8, 0x4040), "unknown, unknown");
    assert_eq!((names::sensor_type(0xC1), names::reading_type(0x71)), ("invalid", "invalid"));
    assert_eq!(units(6, 3, 0, 0), "watts/sec");
    assert_eq!(units(1, 3, 1, 22), "C/seconds/sec");
    assert_eq!(units(6, 0, 1, 22), "watts/seconds");
    assert_eq!(names::units(Units { percent: true, ..Units::default() }), "%");
}

#[test]
fn names_and_passwords_are_cut_to_their_fields() {
    assert_eq!(crypto::field::<4>("ab"), *b"ab\0\0");
    assert_eq!(crypto::field::<4>("abcdef"), *b"abcd");
    assert_eq!(Hash::None.mac(b"k", &[b"x"]).unwrap(), [0; 0]);
}

#[test]
fn ways_that_are_not_there_say_so() {
    let login = |auth| Login { auth, password: "secret".to_owned(), ..Login::default() };
    assert_eq!(Opening::new(login(AuthType::Oem), [1; 20]).unwrap_err(), OpenError::Oem);
    // What a device offers that knows version 1.5 alone.
    let offers = |opening: &mut Opening, offered: u8| {
        let packet = opening.packet().unwrap();
        assert_eq!(packet[..4], [6, 0, 0xFF, 7]);
        let message = reply(0x1C, 0, 0x38, &[1, offered, 0, 0, 0, 0, 0, 0]);
        opening.feed(&packet::v15(0, (0, 0), &[], &message))
    };
    let mut opening = Opening::new(login(AuthType::Default), [1; 20]).unwrap();
    let why = offers(&mut opening, 0b1_0001).unwrap_err();
    assert!(why.to_string().contains("it offers none, straight"), "{why}");
    let mut opening = Opening::new(login(AuthType::Straight), [1; 20]).unwrap();
    assert!(matches!(offers(&mut opening, 0b1_0001), Ok(Progress::Next)));
    // What is no answer changes nothing.
    for noise in [&b""[..], b"x", &[6, 0, 0xFF, 7], &[6, 0, 0xFF, 6, 0, 0, 0, 0]] {
        assert!(matches!(opening.feed(noise), Ok(Progress::Ignored)));
    }
}

fn login_2(password: &str, privilege: u8) -> Login {
    Login {
        auth: AuthType::RmcpPlus,
        privilege,
        username: "monitor".to_owned(),
        password: password.to_owned(),
    }
}

fn open(device: &mut device::Device, login: Login) -> Result<Session, OpenError> {
    let mut opening = Opening::new(login, std::array::from_fn(|n| n as u8))?;
    for _ in 0..30 {
        let packet = opening.packet()?;
        if let Progress::Open(session) = opening.feed(&device.answer(&packet))? {
            return Ok(*session);
        }
    }
    panic!("a session opens in few steps")
}

#[test]
fn sessions_of_version_2() {
    // Suites 17, 3, 8, 16, 2, 7, 15, 1 and 6: each is found, whatever is tried before.
    for takes in [
        [3, 4, 1],
        [1, 1, 1],
        [2, 2, 1],
        [3, 4, 0],
        [1, 1, 0],
        [2, 2, 0],
        [3, 0, 0],
        [1, 0, 0],
        [2, 0, 0],
    ] {
        for privilege in [2, 4] {
            let mut device = device::Device::new("secret", takes);
            let mut session = open(&mut device, login_2("secret", privilege)).unwrap();
            for data in [&b""[..], b"a", b"some longer text of a request", &[0xFF; 200]] {
                let request = Request { lun: 1, ..Request::new(0x0A, 0x23, data) };
                let (packet, ticket) = session.request(&request).unwrap();
                let answer = device.answer(&packet);
                let turned: Vec<u8> = data.iter().rev().copied().collect();
                let expected = Answer { code: 0, data: turned };
                assert_eq!(session.answer(&answer, ticket), Ok(Some(expected)), "{takes:?}");
                // The answer to another request, and one that was tampered with.
                let (_, other) = session.request(&request).unwrap();
                assert_eq!(session.answer(&answer, other), Ok(None));
                if takes[1] != 0 {
                    let mut forged = answer.clone();
                    forged[20] ^= 1;
                    assert_eq!(session.answer(&forged, ticket), Err(IpmiError::Signature));
                    let bare = [&answer[..5], &[0], &answer[6..]].concat();
                    assert_eq!(session.answer(&bare, ticket), Err(IpmiError::Signature));
                }
            }
        }
    }
}

#[test]
fn refusals_of_version_2() {
    for takes in [[3, 4, 1], [1, 1, 0], [2, 0, 0]] {
        let mut device = device::Device::new("secret", takes);
        let why = open(&mut device, login_2("wrong", 2)).unwrap_err();
        assert_eq!(why, OpenError::Password, "{takes:?}");
    }
    // No proof at all is taken only where there is no password to keep.
    let mut open_door = device::Device::new("", [0, 0, 0]);
    let why = open(&mut open_door, login_2("secret", 2)).unwrap_err();
    assert!(matches!(why, OpenError::NotOffered(_)), "{why}");
    assert!(open(&mut open_door, login_2("", 2)).is_ok());
}
