//! Packets, records and readings of management controllers.

use wire::ipmi::reading::{Factors, Reading, thresholds};
use wire::ipmi::sdr::{self, Header};
use wire::ipmi::{AuthType, Login, Opening, Progress, Request, Session, names};

fn login(auth: AuthType) -> Login {
    Login { auth, privilege: 3, username: "name".to_owned(), password: "word".to_owned() }
}

/// A packet of version 1.5 with an answer, whose checksums are right.
fn packet(session: u32, sequence: u8, command: u8, data: &[u8]) -> Vec<u8> {
    let sum = |bytes: &[u8]| bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte));
    let body = [&[0x20, sequence << 2, command, 0], data].concat();
    let message = [&[0x81, 0x1C, 0x63], &body[..], &[sum(&body)]].concat();
    let mut out = vec![6, 0, 0xFF, 7, 0, 1, 0, 0, 0];
    out.extend(session.to_le_bytes());
    out.push(message.len() as u8);
    out.extend(message);
    out
}

/// A session that is not signed, so that what comes is read.
fn session() -> Option<Session> {
    let login = Login { privilege: 2, ..login(AuthType::None) };
    let mut opening = Opening::new(login, [1; 20]).ok()?;
    let challenge = [&[1, 0, 0, 0][..], &[7; 16]].concat();
    for (command, data) in [
        (0x38, &[1, 1, 0, 0, 0, 0, 0, 0][..]),
        (0x39, &challenge),
        (0x3A, &[0, 1, 0, 0, 0, 1, 0, 0, 0, 2]),
    ] {
        opening.packet().ok()?;
        if let Progress::Open(session) = opening.feed(&packet(0, 0, command, data)).ok()? {
            return Some(*session);
        }
    }
    None
}

/// What opens sessions takes any packet, and what is sent next can be made.
fn open(auth: AuthType, packets: &[&[u8]]) {
    let Ok(mut opening) = Opening::new(login(auth), [1; 20]) else { return };
    for packet in packets {
        if opening.packet().is_err() || !matches!(opening.feed(packet), Ok(Progress::Ignored)) {
            break;
        }
    }
}

pub(crate) fn ipmi(data: &[u8]) {
    if let Ok(sensors) = sdr::sensors(data) {
        for sensor in sensors {
            let (kind, reading) = (sensor.kind, sensor.reading);
            drop((sensor.full_name(), names::units(sensor.units)));
            drop(names::states(reading, kind, 0x7FFF));
            let _ = (names::sensor_type(kind), names::reading_type(reading));
            for raw in [0, 1, 0x7F, 0x80, 0xFF] {
                let value = sensor.value(raw, Factors::of_answer(data).ok().as_ref());
                assert!(value.is_none_or(f64::is_finite), "a reading that is no number");
            }
        }
    }
    let _ = (Header::parse(data), Reading::parse(data), thresholds(data));
    let packets: Vec<&[u8]> = data.chunks(40).collect();
    for auth in [AuthType::Default, AuthType::Md5, AuthType::Straight, AuthType::RmcpPlus] {
        open(auth, &[data]);
        open(auth, &packets);
        let wrapped = packet(0, 0, 0x38, data.get(..200).unwrap_or(data));
        open(auth, &[&wrapped, data]);
    }
    let mut session = session().expect("BUG: a device that asks for no proof gives a session");
    let Ok((_, ticket)) = session.request(&Request::new(6, 1, &[])) else { return };
    let _ = session.answer(data, ticket);
    let short = data.get(..200).unwrap_or(data);
    let answer = session.answer(&packet(1, 1, 1, short), ticket);
    assert_eq!(answer.map(|answer| answer.map(|answer| answer.data)), Ok(Some(short.to_vec())));
}
