//! A management controller: its session and its sensors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::Interface;
use config::snapshot::source::Ipmi;
use wire::ipmi::commands::{
    APP, GET_DEVICE_ID, GET_DEVICE_SDR, GET_READING, GET_READING_FACTORS, GET_SDR, GET_SDR_INFO,
    GET_THRESHOLDS, RESERVE_DEVICE_SDR, RESERVE_SDR, SENSOR, STORAGE,
};
use wire::ipmi::reading::{self, Factors, Reading};
use wire::ipmi::sdr::{self, HEADER_BYTES, Header, LAST, Sensor, Thresholds};
use wire::ipmi::{Request, completion};

use super::link::Link;
use super::{Failure, login};
use crate::checks::check::Shared;
use crate::checks::dial;

/// Controllers end a session that is silent for a minute.
const IDLE_MAX: Duration = Duration::from_secs(50);
/// How often the repository is asked whether it has changed.
const FRESH_FOR: Duration = Duration::from_secs(600);
/// How long all records may take to come. Slow controllers need half a minute.
const LOAD_MAX: Duration = Duration::from_secs(120);
/// Records of one device.
const RECORDS_MAX: usize = 10_000;
/// Sensors of one device.
const SENSORS_MAX: usize = 4_096;
/// Octets of a record that are asked for at once; fewer where a device cannot.
const PART_BYTES: u8 = 32;
const PART_BYTES_MIN: u8 = 8;
/// How often a reservation may be lost while one part is read.
const RESERVATIONS_MAX: usize = 8;
/// The controller that is asked, as owner of a sensor.
const CONTROLLER: u8 = 0x20;

/// What a repository says of its age: number of records, time of the last change.
type Stamp = Option<Vec<u8>>;

#[derive(Debug)]
pub(crate) struct Device {
    interface: Interface,
    link: Link,
    /// In the order in which the field's servers list them: the newest record first.
    sensors: Arc<[Sensor]>,
    stamp: Stamp,
    /// When the sensors were last known to be these.
    known_at: Option<Duration>,
    used_at: Duration,
}

impl Device {
    /// A socket to the device; nothing is sent yet.
    pub(crate) async fn connect(interface: &Interface, shared: &Shared) -> Result<Self, Failure> {
        static NOBODY: std::sync::LazyLock<Ipmi> = std::sync::LazyLock::new(Ipmi::default);
        let ip =
            dial::resolve(&shared.context.resolver, interface).await.map_err(Failure::Refused)?;
        let login = login(interface.ipmi.as_deref().unwrap_or(&NOBODY));
        let address = SocketAddr::new(ip, interface.port);
        Ok(Self {
            interface: interface.clone(),
            link: Link::new(address, shared.config.source_ip, login).await?,
            sensors: Arc::default(),
            stamp: None,
            known_at: None,
            used_at: Duration::ZERO,
        })
    }

    /// The interface is still what it was.
    pub(crate) fn is_of(&self, interface: &Interface) -> bool {
        self.interface == *interface
    }

    pub(crate) fn sensors(&self) -> Arc<[Sensor]> {
        Arc::clone(&self.sensors)
    }

    /// One request in a session, without sensors. It is not repeated in another session.
    pub(crate) async fn tell(&mut self, request: &Request<'_>) -> Result<(), Failure> {
        self.link.open().await?;
        self.link.data(request).await.map(drop)
    }

    /// Sees to it that there are a session and sensors.
    pub(crate) async fn prepare(&mut self, now: Duration) -> Result<(), Failure> {
        let idle = now.saturating_sub(self.used_at) >= IDLE_MAX;
        self.used_at = now;
        if !self.link.is_open() || idle {
            self.link.open().await?;
        }
        if self.known_at.is_some_and(|at| now.saturating_sub(at) < FRESH_FOR) {
            return Ok(());
        }
        match tokio::time::timeout(LOAD_MAX, self.load(now)).await {
            Ok(Err(failure)) if failure.is_small() => {
                Err(Failure::Refused(format!("its sensors cannot be read: {failure}")))
            }
            Ok(result) => result,
            Err(_) => {
                let limit = LOAD_MAX.as_secs();
                let why = format!("its list of sensors took longer than {limit} seconds");
                Err(Failure::Refused(why))
            }
        }
    }

    async fn load(&mut self, now: Duration) -> Result<(), Failure> {
        let about = self.link.data(&Request::new(APP, GET_DEVICE_ID, &[])).await?;
        // Bit 1 of what it supports: it has the repository; else it describes its own sensors.
        let main = about.get(5).is_none_or(|support| support & 0x02 != 0);
        let stamp = if main { self.stamp().await? } else { None };
        if self.known_at.is_none() || stamp.is_none() || stamp != self.stamp {
            let mut records =
                Records { link: &mut self.link, main, reservation: [0; 2], part: PART_BYTES };
            self.sensors = records.sensors().await?.into();
            self.stamp = stamp;
        }
        self.known_at = Some(now);
        Ok(())
    }

    async fn stamp(&mut self) -> Result<Stamp, Failure> {
        match self.link.data(&Request::new(STORAGE, GET_SDR_INFO, &[])).await {
            // Version, count (2), free (2), last addition (4), last removal (4), abilities.
            Ok(data) => Ok(data.get(1..3).zip(data.get(5..13)).map(|(a, b)| [a, b].concat())),
            Err(failure) if failure.is_small() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The present reading of a sensor.
    pub(crate) async fn reading(&mut self, sensor: &Sensor) -> Result<Reading, Failure> {
        let data = self.about(sensor, GET_READING, &[sensor.number]).await?;
        Reading::parse(&data).map_err(|_| Failure::Invalid)
    }

    /// The number that a raw byte of a sensor means; `None` = none.
    pub(crate) async fn value(&mut self, sensor: &Sensor, raw: u8) -> Result<Option<f64>, Failure> {
        if !sensor.needs_factors() {
            return Ok(sensor.value(raw, None));
        }
        let data = self.about(sensor, GET_READING_FACTORS, &[sensor.number, raw]).await?;
        let factors = Factors::of_answer(&data).map_err(|_| Failure::Invalid)?;
        Ok(sensor.value(raw, Some(&factors)))
    }

    /// Raw limits of a sensor.
    pub(crate) async fn thresholds(&mut self, sensor: &Sensor) -> Result<[Option<u8>; 6], Failure> {
        match sensor.thresholds {
            Thresholds::None => Ok([None; 6]),
            Thresholds::Fixed(limits) => Ok(limits),
            Thresholds::Readable => {
                let data = self.about(sensor, GET_THRESHOLDS, &[sensor.number]).await?;
                reading::thresholds(&data).map_err(|_| Failure::Invalid)
            }
        }
    }

    async fn about(
        &mut self,
        sensor: &Sensor,
        command: u8,
        data: &[u8],
    ) -> Result<Vec<u8>, Failure> {
        let request = Request { lun: sensor.lun, ..Request::new(SENSOR, command, data) };
        self.link.data(&request).await
    }
}

/// Reads a device's records.
struct Records<'a> {
    link: &'a mut Link,
    /// The repository of the whole machine, else the controller's own.
    main: bool,
    reservation: [u8; 2],
    /// Octets that the device gives at once.
    part: u8,
}

impl Records<'_> {
    async fn sensors(&mut self) -> Result<Vec<Sensor>, Failure> {
        self.reserve().await?;
        let mut sensors = Vec::new();
        let mut next = 0;
        for _ in 0..RECORDS_MAX {
            let (following, record) = self.record(next).await?;
            // What is broken is one sensor less.
            match sdr::sensors(&record) {
                Ok(found) => {
                    sensors.extend(found.into_iter().filter(|one| one.owner == CONTROLLER));
                }
                Err(why) => tracing::debug!("sensor data record {next:#06x}: {why}"),
            }
            if following == LAST || following == next {
                break;
            }
            next = following;
        }
        sensors.truncate(SENSORS_MAX);
        sensors.reverse();
        Ok(sensors)
    }

    const fn netfn(&self) -> u8 {
        if self.main { STORAGE } else { SENSOR }
    }

    async fn reserve(&mut self) -> Result<(), Failure> {
        let command = if self.main { RESERVE_SDR } else { RESERVE_DEVICE_SDR };
        let request = Request::new(self.netfn(), command, &[]);
        self.reservation = match self.link.data(&request).await {
            Ok(data) => {
                data.get(..2).and_then(|two| two.try_into().ok()).ok_or(Failure::Invalid)?
            }
            // Devices whose records never change need none.
            Err(Failure::Code(_)) => [0; 2],
            Err(failure) => return Err(failure),
        };
        Ok(())
    }

    /// A record and the id of the next one. Of what is no sensor the header is enough.
    async fn record(&mut self, id: u16) -> Result<(u16, Vec<u8>), Failure> {
        let (next, mut record) = self.part(id, 0, HEADER_BYTES as u8).await?;
        let header = Header::parse(&record).map_err(|_| Failure::Invalid)?;
        record.truncate(HEADER_BYTES);
        if !header.is_sensor() {
            return Ok((next, Vec::new()));
        }
        let length = HEADER_BYTES + usize::from(header.length);
        while record.len() < length {
            let count = usize::from(self.part).min(length - record.len()) as u8;
            let Ok(offset) = u8::try_from(record.len()) else { break };
            match self.part(id, offset, count).await {
                Ok((_, part)) if !part.is_empty() => record.extend(part),
                Ok(_) => return Err(Failure::Invalid),
                // It cannot give so much at once (some say so in other words).
                Err(Failure::Code(0xC7 | 0xC8 | 0xCA | 0xFF)) if self.part > PART_BYTES_MIN => {
                    self.part /= 2;
                }
                Err(failure) => return Err(failure),
            }
        }
        record.truncate(length);
        Ok((next, record))
    }

    async fn part(&mut self, id: u16, offset: u8, count: u8) -> Result<(u16, Vec<u8>), Failure> {
        /// The reservation is void: something has changed.
        const VOID: u8 = 0xC5;
        let command = if self.main { GET_SDR } else { GET_DEVICE_SDR };
        for _ in 0..RESERVATIONS_MAX {
            let ([a, b], [low, high]) = (self.reservation, id.to_le_bytes());
            let request = [a, b, low, high, offset, count];
            match self.link.data(&Request::new(self.netfn(), command, &request)).await {
                Ok(data) => match *data {
                    [low, high, ref part @ ..] if part.len() <= usize::from(count) => {
                        return Ok((u16::from_le_bytes([low, high]), part.to_vec()));
                    }
                    _ => return Err(Failure::Invalid),
                },
                Err(Failure::Code(VOID)) => self.reserve().await?,
                Err(failure) => return Err(failure),
            }
        }
        Err(Failure::Refused(completion(VOID)))
    }
}
