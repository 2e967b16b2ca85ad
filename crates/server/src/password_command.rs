//! `vedette password`: gives a user a new password when nobody can sign in any more.

use config::table;
use std::io::Write;

use anyhow::{Context, bail};
use clap::{Arg, ArgMatches, Command};
use config::Config;
use config::db::{Db, Value};

use crate::folder;
use crate::params::{self, Values};
use crate::parts::base;

/// The command's help and arguments.
pub(crate) fn command() -> Command {
    let command = Command::new("password")
        .about("Set a new password for a user, if nobody can sign in")
        .long_about(
            "Set a new password for a user, if nobody can sign in. The server must be \
             stopped. The password is generated and printed, or read from standard input with \
             --stdin. The user's sessions end and a block after wrong passwords is lifted.",
        )
        .arg(Arg::new("user").default_value("Admin").help("Name of the user"))
        .arg(
            Arg::new("stdin")
                .long("stdin")
                .action(clap::ArgAction::SetTrue)
                .help("Read the new password from the first line of standard input"),
        );
    params::add(command, params::PLACES.iter().map(|name| params::server(name)))
}

/// Sets the password in the configuration that the parameters name.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let values = Values::read(matches, params::SERVER)?;
    let user = matches.get_one::<String>("user").map_or("Admin", String::as_str);
    let (password, given) = if matches.get_flag("stdin") {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).context("cannot read standard input")?;
        (line.trim_end_matches(['\r', '\n']).to_owned(), true)
    } else {
        (api::generate_password()?, false)
    };
    if password.is_empty() {
        bail!("the new password is empty: give one on the first line of standard input");
    }
    let data = values.path("data").context("parameter data: a folder is needed")?;
    if !data.is_dir() {
        bail!(
            "folder {} does not exist; specify the server's data folder with --data",
            data.display()
        );
    }
    let _lock = folder::lock(&data)?;
    set(&Db::open(base::config_location(&values, &data))?, user, &api::hash_password(&password)?)?;
    let mut out = std::io::stdout();
    if given {
        writeln!(out, "{user} has the new password.")?;
    } else {
        writeln!(out, "User      {user}\nPassword  {password}   (shown only this once)")?;
    }
    Ok(())
}

/// One transaction: the new hash, no block, no session.
fn set(db: &Db, user: &str, hash: &str) -> anyhow::Result<()> {
    Config::write_offline(db, |edit| {
        let sql = "SELECT userid, session_epoch + 1 AS epoch FROM users WHERE username = ?";
        let rows = edit.query(sql, &[Value::from(user)])?;
        let Some(row) = rows.first() else {
            let rows = edit.query("SELECT username FROM users ORDER BY username", &[])?;
            if rows.is_empty() {
                bail!("there is no user yet: the first start of the server makes Admin");
            }
            let known: Vec<String> =
                rows.iter().map(|row| row.text("username").to_owned()).collect();
            bail!("there is no user \"{user}\"; known are {}", known.join(", "));
        };
        let columns = [
            ("passwd", hash.into()),
            ("attempt_failed", 0.into()),
            ("attempt_clock", 0.into()),
            ("session_epoch", row.int("epoch").into()),
        ];
        edit.update(&table::USERS, row.id("userid"), &columns)?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use config::db::Location;

    use super::*;

    #[test]
    fn only_a_known_user_gets_the_new_password() {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("config.db"));
        let config = Config::open(location.clone()).unwrap();
        config.write(|edit| config::seed(edit, "old")).unwrap();
        drop(config);
        let db = Db::open(location).unwrap();

        let unknown = set(&db, "admin", "new").unwrap_err().to_string();
        assert_eq!(unknown, "there is no user \"admin\"; known are Admin, guest");
        set(&db, "Admin", "new").unwrap();

        let passwords = db
            .read(|c| c.query("SELECT username, passwd FROM users ORDER BY username", &[]))
            .unwrap();
        let shown: Vec<_> =
            passwords.iter().map(|row| (row.text("username"), row.text("passwd"))).collect();
        assert_eq!(shown[0], ("Admin", "new"));
        assert_ne!(shown[1].1, "new");
        let sql = "SELECT columns FROM changes WHERE name = 'users' AND operation = 'update'";
        let recorded = db.read(|c| c.query(sql, &[])).unwrap();
        let columns = recorded[0].text("columns");
        assert_eq!(columns, "attempt_clock,attempt_failed,passwd,session_epoch");
    }
}
