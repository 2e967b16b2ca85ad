//! Media types as they are stored.

use std::path::PathBuf;
use std::time::Duration;

use config::db::{DbResult, Reader, Row};
use eval::num::parse_seconds;
use model::MediaTypeId;
use objects::{MediaTypeKind, MessageFormat, SmtpAuthentication, SmtpSecurity, Status};

use crate::settings::{Kind, Login, Mail, MediaType, Program, Security, Sms, Verify, Webhook};

/// What stands in the database where no time can be read: the API accepts none of these.
const TIMEOUT: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_secs(10);

/// Limits of the API.
const TIMEOUT_LEAST: Duration = Duration::from_secs(1);
const TIMEOUT_MAX: Duration = Duration::from_secs(60);
const INTERVAL_MAX: Duration = Duration::from_hours(1);
const ATTEMPTS_MAX: u32 = 100;

/// All media types, also those that are switched off.
///
/// # Errors
/// The database cannot be read.
pub fn media_types(reader: &mut (impl Reader + ?Sized)) -> DbResult<Vec<MediaType>> {
    let rows = reader.query("SELECT * FROM media_types ORDER BY mediatypeid", &[])?;
    // One that a later version wrote is as one that does not exist.
    Ok(rows.iter().filter_map(MediaType::from_row).collect())
}

impl MediaType {
    /// Reads a row of the table `media_types`; `None`: it is of an unknown kind.
    pub fn from_row(row: &Row) -> Option<Self> {
        let number = |column: &str| u32::try_from(row.int(column)).unwrap_or_default();
        let interval = seconds(row.text("attempt_interval")).unwrap_or(INTERVAL);
        Some(Self {
            id: MediaTypeId(row.id("mediatypeid")),
            enabled: Status::Enabled.is(row.int("status")),
            kind: kind(row)?,
            sessions: usize::try_from(row.int("maxsessions")).unwrap_or(1),
            attempts: number("maxattempts").clamp(1, ATTEMPTS_MAX),
            interval: interval.min(INTERVAL_MAX),
        })
    }
}

fn kind(row: &Row) -> Option<Kind> {
    let text = |column: &str| row.text(column).to_owned();
    Some(match MediaTypeKind::from_number(row.int("type"))? {
        MediaTypeKind::Email => Kind::Mail(Box::new(Mail {
            server: text("smtp_server"),
            port: u16::try_from(row.int("smtp_port")).ok()?,
            helo: text("smtp_helo"),
            from: text("smtp_email"),
            security: security(row)?,
            login: match SmtpAuthentication::from_number(row.int("smtp_authentication"))? {
                SmtpAuthentication::None => None,
                SmtpAuthentication::Password => {
                    Some(Login { user: text("username"), password: text("passwd") })
                }
            },
            html: MessageFormat::from_number(row.int("message_format"))? == MessageFormat::Html,
        })),
        MediaTypeKind::Script => {
            Kind::Program(Program { name: text("exec_path"), living: row.int("living") == 1 })
        }
        MediaTypeKind::Sms => Kind::Sms(Sms { modem: PathBuf::from(text("gsm_modem")) }),
        MediaTypeKind::Webhook => {
            let timeout = seconds(row.text("timeout")).unwrap_or(TIMEOUT);
            Kind::Webhook(Webhook {
                script: text("script"),
                timeout: timeout.clamp(TIMEOUT_LEAST, TIMEOUT_MAX),
                tags: row.int("process_tags") == 1,
                living: row.int("living") == 1,
            })
        }
    })
}

fn security(row: &Row) -> Option<Security> {
    let switch = |column: &str| row.int(column) == 1;
    let verify = Verify { peer: switch("smtp_verify_peer"), host: switch("smtp_verify_host") };
    Some(match SmtpSecurity::from_number(row.int("smtp_security"))? {
        SmtpSecurity::None => Security::None,
        SmtpSecurity::StartTls => Security::StartTls(verify),
        SmtpSecurity::Tls => Security::Tls(verify),
    })
}

fn seconds(text: &str) -> Option<Duration> {
    parse_seconds(text).map(|seconds| Duration::from_secs(seconds.into()))
}

#[cfg(test)]
mod tests {
    use config::db::{Location, Value};
    use config::{Config, table};

    use super::*;

    fn read(rows: &[&[(&'static str, Value)]]) -> Vec<MediaType> {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(folder.path().join("c.db"))).unwrap();
        config
            .write(|edit| rows.iter().try_for_each(|row| edit.insert(&table::MEDIA_TYPES, row)))
            .unwrap();
        config.read(|connection| media_types(connection)).unwrap()
    }

    #[test]
    fn stored_settings_are_those_that_attempts_use() {
        let number = |number: i64| Value::from(number);
        let text = |text: &str| Value::from(text);
        let all = read(&[
            &[
                ("mediatypeid", number(901)),
                ("type", number(0)),
                ("name", text("m")),
                ("status", number(0)),
                ("smtp_server", text("mx")),
                ("smtp_port", number(587)),
                ("smtp_email", text("a@b.test")),
                ("smtp_security", number(1)),
                ("smtp_verify_host", number(1)),
                ("smtp_authentication", number(1)),
                ("username", text("u")),
                ("passwd", text("word")),
                ("message_format", number(0)),
                ("maxsessions", number(0)),
                ("attempt_interval", text("1m")),
            ],
            &[
                ("mediatypeid", number(902)),
                ("type", number(4)),
                ("name", text("w")),
                ("script", text("return 1")),
                ("timeout", text("90")),
                ("process_tags", number(1)),
                ("living", number(1)),
                ("maxattempts", number(7)),
            ],
            &[
                ("mediatypeid", number(903)),
                ("type", number(1)),
                ("name", text("p")),
                ("exec_path", text("a.sh")),
            ],
            &[
                ("mediatypeid", number(904)),
                ("type", number(2)),
                ("name", text("s")),
                ("gsm_modem", text("/dev/ttyS0")),
            ],
            &[("mediatypeid", number(905)), ("type", number(9)), ("name", text("later"))],
        ]);
        let all: Vec<_> = all.into_iter().filter(|one| one.id.0 > 900).collect();
        let ids: Vec<_> = all.iter().map(|one| one.id.0).collect();
        assert_eq!(ids, [901, 902, 903, 904]);
        let mail = Mail {
            server: String::from("mx"),
            port: 587,
            helo: String::new(),
            from: String::from("a@b.test"),
            security: Security::StartTls(Verify { peer: false, host: true }),
            login: Some(Login { user: String::from("u"), password: String::from("word") }),
            html: false,
        };
        let expected = MediaType {
            id: MediaTypeId(901),
            enabled: true,
            kind: Kind::Mail(Box::new(mail)),
            sessions: 0,
            attempts: 3,
            interval: Duration::from_secs(60),
        };
        assert_eq!(all[0], expected);
        assert!(!format!("{expected:?}").contains("word"), "{expected:?}");
        let timeout = Duration::from_secs(60);
        let hook = Webhook { script: String::from("return 1"), timeout, tags: true, living: true };
        assert_eq!((&all[1].kind, all[1].attempts), (&Kind::Webhook(hook), 7));
        assert!(!all[1].enabled, "a new media type is switched off");
        assert_eq!(
            all[2].kind,
            Kind::Program(Program { name: String::from("a.sh"), living: false })
        );
        assert_eq!(all[3].kind, Kind::Sms(Sms { modem: PathBuf::from("/dev/ttyS0") }));
    }
}
