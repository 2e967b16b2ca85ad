//! Users that a directory makes and changes: just-in-time provisioning.

use config::Edit;
use config::db::{Reader, Row, Value, query_by_ids};
use config::table;
use objects::MediaTypeKind;

use super::client::Account;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::authentication::Current;
use crate::methods::user;
use crate::object::Columns;
use crate::session;

/// Characters of a name.
const NAME_MAX: usize = 100;
/// Characters of the addresses of a medium.
const SENDTO_MAX: usize = 1_024;
/// Who provisions, in the audit log.
const SYSTEM: &str = "System";

/// What the accounts of a directory become.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// Attribute with the first name.
    pub(crate) name: String,
    /// Attribute with the last name.
    pub(crate) surname: String,
    pub(crate) groups: Vec<MappedGroup>,
    pub(crate) media: Vec<MappedMedia>,
}

/// A group of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedGroup {
    /// Its name; `*` stands for any characters.
    pub(crate) name: String,
    pub(crate) roleid: u64,
    pub(crate) usrgrpids: Vec<u64>,
}

/// A medium of the users of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedMedia {
    /// `userdirectory_mediaid`
    pub(crate) id: u64,
    pub(crate) name: String,
    /// Attribute with the address.
    pub(crate) attribute: String,
    pub(crate) mediatypeid: u64,
    pub(crate) active: i64,
    pub(crate) severity: i64,
    pub(crate) period: String,
}

/// What an account becomes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Person {
    /// First name; `None` = the account has none.
    pub(crate) name: Option<String>,
    pub(crate) surname: Option<String>,
    /// 0 = none.
    pub(crate) roleid: u64,
    /// Without any, the user is deprovisioned.
    pub(crate) usrgrpids: Vec<u64>,
    /// Media with their addresses.
    pub(crate) media: Vec<(MappedMedia, String)>,
}

impl Mapping {
    /// That of the stored directory with this row.
    pub(crate) fn read(reader: &mut dyn Reader, directory: &Row) -> ApiResult<Self> {
        let id = Value::from(directory.id("userdirectoryid"));
        let sql = "SELECT * FROM userdirectory_media WHERE userdirectoryid = ? \
                   ORDER BY userdirectory_mediaid";
        let media =
            reader.query(sql, std::slice::from_ref(&id))?.iter().map(MappedMedia::of).collect();
        let sql = "SELECT position, name, roleid, usrgrpid FROM userdirectory_groups \
                   WHERE userdirectoryid = ? ORDER BY position, usrgrpid";
        let (name, surname) = (directory.text("user_username"), directory.text("user_lastname"));
        Ok(Self {
            name: name.to_owned(),
            surname: surname.to_owned(),
            groups: groups_of(&reader.query(sql, &[id])?),
            media,
        })
    }

    /// Attributes of accounts that it needs.
    pub(crate) fn attributes(&self) -> Vec<String> {
        let of_media = self.media.iter().map(|media| &media.attribute);
        let names = [&self.name, &self.surname].into_iter().chain(of_media);
        names.filter(|name| !name.is_empty()).cloned().collect()
    }

    /// What an account becomes. Of several roles the one of the highest type counts, then the first by name.
    pub(crate) fn person(&self, reader: &mut dyn Reader, account: &Account) -> ApiResult<Person> {
        let fits =
            |group: &&MappedGroup| account.groups.iter().any(|name| is_like(&group.name, name));
        let matched: Vec<&MappedGroup> =
            self.groups.iter().filter(|group| group.name == "*" || fits(group)).collect();
        let mut usrgrpids: Vec<u64> =
            matched.iter().flat_map(|group| group.usrgrpids.iter().copied()).collect();
        usrgrpids.sort_unstable();
        usrgrpids.dedup();
        let roleids: Vec<u64> = matched.iter().map(|group| group.roleid).collect();
        let sql = "SELECT roleid, type, name FROM roles WHERE roleid IN ({ids})";
        let roles = query_by_ids(reader, sql, &[], &roleids)?;
        let rank = |row: &&Row| (-row.int("type"), row.text("name").to_owned());
        let media = self.media.iter().filter_map(|media| {
            let address = account.value(&media.attribute).filter(|address| !address.is_empty())?;
            Some((media.clone(), address.to_owned()))
        });
        let cut = |text: &str| text.chars().take(NAME_MAX).collect();
        Ok(Person {
            name: account.value(&self.name).map(cut),
            surname: account.value(&self.surname).map(cut),
            roleid: roles.iter().min_by_key(rank).map_or(0, |row| row.id("roleid")),
            usrgrpids,
            media: media.collect(),
        })
    }
}

impl MappedMedia {
    fn of(row: &Row) -> Self {
        Self {
            id: row.id("userdirectory_mediaid"),
            name: row.text("name").to_owned(),
            attribute: row.text("attribute").to_owned(),
            mediatypeid: row.id("mediatypeid"),
            active: row.int("active"),
            severity: row.int("severity"),
            period: row.text("period").to_owned(),
        }
    }
}

/// Groups from rows by position, each with one user group.
pub(crate) fn groups_of(rows: &[Row]) -> Vec<MappedGroup> {
    let mut groups: Vec<(i64, MappedGroup)> = Vec::new();
    for row in rows {
        let (position, usrgrpid) = (row.int("position"), row.id("usrgrpid"));
        match groups.last_mut().filter(|(last, _)| *last == position) {
            Some((_, group)) => group.usrgrpids.push(usrgrpid),
            None => {
                let (name, roleid) = (row.text("name").to_owned(), row.id("roleid"));
                groups.push((position, MappedGroup { name, roleid, usrgrpids: vec![usrgrpid] }));
            }
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Whether a name fits a pattern, in which `*` stands for any characters.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        match name.split_once(part) {
            Some((_, after)) => name = after,
            None => return false,
        }
    }
    true
}

/// Makes a user, or provisions the one again whom the directory has made before. Returns the user's id; `None` =
/// the name is in use otherwise. Names are compared as LDAP servers do: without letter case and outer spaces.
pub(crate) fn create(
    call: &Call<'_>,
    username: &str,
    directory: u64,
    person: &Person,
) -> ApiResult<Option<u64>> {
    let now = call.now();
    write(call, |edit| {
        let users = edit.query("SELECT userid, username, userdirectoryid FROM users", &[])?;
        let name = session::folded(username);
        let same: Vec<&Row> =
            users.iter().filter(|row| session::folded(row.text("username")) == name).collect();
        match same.as_slice() {
            [] => {}
            [user] if user.id("userdirectoryid") == directory => {
                let userid = user.id("userid");
                if !is_current(edit, userid, person, now)? {
                    change(call, edit, userid, person)?;
                }
                return Ok(Some(userid));
            }
            _ => return Ok(None),
        }
        let row = [
            ("username", username.into()),
            ("name", person.name.as_deref().unwrap_or_default().into()),
            ("surname", person.surname.as_deref().unwrap_or_default().into()),
            ("roleid", person.roleid.into()),
            ("userdirectoryid", directory.into()),
            ("ts_provisioned", now.into()),
        ];
        let userid = edit.insert_new(&table::USERS, &row)?;
        write_groups(edit, userid, &person.usrgrpids)?;
        write_media(edit, userid, &person.media)?;
        Ok(Some(userid))
    })
}

/// Changes a user. One whose account is in no mapped group loses role and groups, and is put into the group of
/// deprovisioned users, which is disabled.
///
/// # Errors
/// No active Super admin would remain: nothing is changed.
pub(crate) fn update(call: &Call<'_>, userid: u64, person: &Person) -> ApiResult<()> {
    write(call, |edit| change(call, edit, userid, person))
}

fn change(call: &Call<'_>, edit: &mut Edit<'_>, userid: u64, person: &Person) -> ApiResult<()> {
    let is_left_out = person.usrgrpids.is_empty();
    let roleid = if is_left_out { 0 } else { person.roleid };
    let mut row: Columns = vec![("ts_provisioned", call.now().into()), ("roleid", roleid.into())];
    let names = [("name", &person.name), ("surname", &person.surname)];
    row.extend(
        names.into_iter().filter_map(|(column, name)| Some((column, name.as_deref()?.into()))),
    );
    edit.update(&table::USERS, userid, &row)?;
    if is_left_out {
        let group = Current::read(edit)?.number("disabled_usrgrpid");
        let sql = "SELECT usrgrpid FROM usergroups WHERE usrgrpid = ?";
        let existing = edit.query(sql, &[group.into()])?;
        let groups: Vec<u64> = existing.iter().map(|row| row.id("usrgrpid")).collect();
        write_groups(edit, userid, &groups)?;
        session::end_all(call.api, edit, &[userid], "")?;
    } else {
        write_groups(edit, userid, &person.usrgrpids)?;
        write_media(edit, userid, &person.media)?;
    }
    user::check_super_admin_left(edit)?;
    user::end_sessions(edit)
}

/// Changes a user who signs in. Nothing is written if the account is as it was at the last provisioning, and the
/// interval of the settings has not passed since.
///
/// # Errors
/// As [`update`].
pub(super) fn refresh(call: &Call<'_>, userid: u64, person: &Person) -> ApiResult<()> {
    match call.read(|reader| is_current(reader, userid, person, call.now()))? {
        true => Ok(()),
        false => update(call, userid, person),
    }
}

fn is_current(reader: &mut dyn Reader, userid: u64, person: &Person, now: u64) -> ApiResult<bool> {
    let sql = "SELECT name, surname, roleid, ts_provisioned FROM users WHERE userid = ?";
    let user = reader.query(sql, &[userid.into()])?;
    let Some(user) = user.first() else { return Ok(false) };
    let is_due = user.id("ts_provisioned") + Current::read(reader)?.provision_interval_s() < now;
    let is_same = |column: &str, given: &Option<String>| {
        given.as_deref().is_none_or(|name| name == user.text(column))
    };
    if is_due
        || user.id("roleid") != person.roleid
        || !is_same("name", &person.name)
        || !is_same("surname", &person.surname)
    {
        return Ok(false);
    }
    let sql = "SELECT usrgrpid FROM user_groups WHERE userid = ? ORDER BY usrgrpid";
    let groups = reader.query(sql, &[userid.into()])?;
    let sql = "SELECT userdirectory_mediaid, mediatypeid, sendto FROM media \
               WHERE userid = ? AND userdirectory_mediaid <> 0 ORDER BY userdirectory_mediaid";
    let media = reader.query(sql, &[userid.into()])?;
    let given = usable(reader, &person.media)?;
    let is_medium = |(row, (medium, address)): (&Row, &&(MappedMedia, String))| {
        row.id("userdirectory_mediaid") == medium.id
            && row.id("mediatypeid") == medium.mediatypeid
            && row.text("sendto") == address
    };
    Ok(groups.iter().map(|row| row.id("usrgrpid")).eq(person.usrgrpids.iter().copied())
        && media.len() == given.len()
        && media.iter().zip(&given).all(is_medium))
}

/// A change in the name of the system.
fn write<T>(call: &Call<'_>, work: impl FnOnce(&mut Edit<'_>) -> ApiResult<T>) -> ApiResult<T> {
    let result = call.write_named(0, SYSTEM, work)?;
    call.config().sync()?;
    Ok(result)
}

fn write_groups(edit: &mut Edit<'_>, userid: u64, groups: &[u64]) -> ApiResult<()> {
    let sql = "SELECT usrgrpid FROM user_groups WHERE userid = ?";
    let stored = edit.query(sql, &[userid.into()])?;
    let stored: Vec<u64> = stored.iter().map(|row| row.id("usrgrpid")).collect();
    let gone = stored.iter().filter(|id| !groups.contains(id)).map(|id| Value::from(*id));
    let gone: Vec<Value> = gone.collect();
    edit.delete_rows(&table::USER_GROUPS, &[("userid", &[userid.into()]), ("usrgrpid", &gone)])?;
    for group in groups.iter().filter(|id| **id != 0 && !stored.contains(id)) {
        let row = [("userid", userid.into()), ("usrgrpid", (*group).into())];
        edit.insert(&table::USER_GROUPS, &row)?;
    }
    Ok(())
}

/// Makes these the media that the directory gave; media that users added themselves stay.
fn write_media(edit: &mut Edit<'_>, userid: u64, media: &[(MappedMedia, String)]) -> ApiResult<()> {
    let sql = "SELECT mediaid, userdirectory_mediaid FROM media \
               WHERE userid = ? AND userdirectory_mediaid <> 0";
    let stored = edit.query(sql, &[userid.into()])?;
    let mut gone: Vec<u64> = stored.iter().map(|row| row.id("mediaid")).collect();
    for (media, address) in usable(edit, media)? {
        let row = [("mediatypeid", media.mediatypeid.into()), ("sendto", address.as_str().into())];
        let known = stored.iter().find(|row| row.id("userdirectory_mediaid") == media.id);
        if let Some(mediaid) = known.map(|row| row.id("mediaid")) {
            gone.retain(|id| *id != mediaid);
            edit.update(&table::MEDIA, mediaid, &row)?;
            continue;
        }
        let mut row = row.to_vec();
        row.extend([
            ("userid", userid.into()),
            ("active", media.active.into()),
            ("severity", media.severity.into()),
            ("period", media.period.as_str().into()),
            ("userdirectory_mediaid", media.id.into()),
        ]);
        edit.insert_new(&table::MEDIA, &row)?;
    }
    Ok(edit.delete(&table::MEDIA, "mediaid", &gone)?)
}

/// Media whose type exists and whose address fits it.
fn usable<'m>(
    reader: &mut dyn Reader,
    media: &'m [(MappedMedia, String)],
) -> ApiResult<Vec<&'m (MappedMedia, String)>> {
    let kinds: Vec<u64> = media.iter().map(|(media, _)| media.mediatypeid).collect();
    let sql = "SELECT mediatypeid, type FROM media_types WHERE mediatypeid IN ({ids})";
    let kinds = query_by_ids(reader, sql, &[], &kinds)?;
    let fits = |(media, address): &&(MappedMedia, String)| {
        let kind = kinds.iter().find(|row| row.id("mediatypeid") == media.mediatypeid);
        kind.is_some_and(|kind| {
            (!MediaTypeKind::Email.is(kind.int("type")) || user::is_address(address))
                && address.chars().count() <= SENDTO_MAX
        })
    };
    Ok(media.iter().filter(fits).collect())
}

/// Refuses names that no user can have.
pub(crate) fn check_username(username: &str) -> ApiResult<()> {
    match username.chars().count() {
        1..=NAME_MAX => Ok(()),
        _ => Err(ApiError::at("/username", "value is too long")),
    }
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn patterns_of_groups() {
        for (pattern, name, fits) in [
            ("admins", "admins", true),
            ("admins", "admins2", false),
            ("zabbix-*", "zabbix-admins", true),
            ("*-admins", "zabbix-admins", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(is_like(pattern, name), fits, "{pattern} {name}");
        }
    }
}
