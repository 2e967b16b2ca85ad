//! The pair of configuration and history: values are kept by the ids of items, so that history under
//! another configuration would appear at the wrong items. Both hold the same random id.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use config::Config;
use config::db::Location;

/// The id within the history folder.
const FILE: &str = "configuration-id";

/// Refuses a start that would read an older state of the configuration: SQLite takes a lost
/// write-ahead log for an empty one. To be called before the database is opened.
///
/// `opened`: the last run ended with a crash after it had opened the database.
pub(crate) fn check_log(location: &Location, history: &Path, opened: bool) -> anyhow::Result<()> {
    let Location::Sqlite(path) = location else { return Ok(()) };
    if !opened || !history.join(FILE).exists() {
        return Ok(());
    }
    // The log lies beside the file that a link leads to.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    for (path, what) in [(Some(path), "configuration"), (location.state_file(), "state")] {
        let Some(path) = path else { continue };
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let used = std::fs::metadata(&path).is_ok_and(|file| file.len() > 0);
        if used && !log.exists() {
            bail!(
                "{} is missing, and the server did not stop in order: the last changes of the {what} \
                 are lost. Restore the file, or restore the whole data folder from a backup. To \
                 accept {} as it is (if you restored it alone, or another program has opened and \
                 closed it), create {} as an empty file.",
                log.display(),
                path.display(),
                log.display()
            );
        }
    }
    Ok(())
}

/// Refuses state beside a configuration that does not exist: its sessions and problems are those of other
/// users and triggers. With `renew` it is set aside. To be called before the database is opened.
pub(crate) fn check_state(location: &Location, renew: bool, now_s: u64) -> anyhow::Result<()> {
    let (Location::Sqlite(path), Some(state)) = (location, location.state_file()) else {
        return Ok(());
    };
    let used = |path: &Path| std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
    if used(path) || !used(&state) {
        return Ok(());
    }
    if !renew {
        bail!(
            "{} is missing or empty, but {} has events, problems and sessions. Name the right \
             database (--database) or data folder (--data), or restore the lost one from a backup. To \
             start with a new configuration, use --new-configuration yes once: history and state are \
             renamed, not deleted.",
            path.display(),
            state.display()
        );
    }
    for end in ["", "-wal", "-shm"] {
        let name = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let (from, to) = (name(&state), name(&state.with_extension(format!("before-{now_s}.db"))));
        match std::fs::rename(&from, &to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| {
                    format!("cannot rename {} to {}", from.display(), to.display())
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses state that belongs to another configuration; pairs what is not paired yet.
pub(crate) fn pair_state(config: &Config, location: &Location) -> anyhow::Result<()> {
    let own = match config.identity()? {
        Some(own) => own,
        None => config.make_identity()?,
    };
    match config.identity_of_state()? {
        None => Ok(config.pair_state(&own)?),
        Some(paired) if paired == own => Ok(()),
        Some(_) => bail!(
            "{} has the events, problems and sessions of another configuration. Restore the file that \
             belongs to this one, or move it away and create it as an empty file.",
            location.state_file().unwrap_or_default().display()
        ),
    }
}

/// Refuses history that belongs to another configuration; pairs what is not paired yet. With
/// `renew`, such history is set aside, and history starts empty. To be called before an empty
/// configuration gets its first objects. `now_s`: seconds since 1970, for the name of the old folder.
pub(crate) fn check(
    config: &Config,
    history: &Path,
    renew: bool,
    now_s: u64,
) -> anyhow::Result<()> {
    let own = config.identity()?;
    let paired = read(history)?;
    let conflict = match (&own, &paired) {
        (Some(own), Some(paired)) if own == paired => return Ok(()),
        (_, Some(_)) => true,
        (_, None) => config.is_new()? && has_values(history)?,
    };
    if conflict && !renew {
        bail!("{}", advice(config.is_new()?, history));
    }
    if conflict {
        let aside = history.with_file_name(format!("history-before-{now_s}"));
        std::fs::rename(history, &aside).with_context(|| {
            format!("cannot rename {} to {}", history.display(), aside.display())
        })?;
        tracing::warn!(
            "moved the history of another configuration to {}; history starts empty",
            aside.display()
        );
    }
    let own = match own {
        Some(own) => own,
        None => config.make_identity()?,
    };
    std::fs::create_dir_all(history)
        .and_then(|()| stdx::file::replace(&history.join(FILE), own.as_bytes()))
        .with_context(|| format!("cannot write {}", history.join(FILE).display()))
}

fn advice(new: bool, history: &Path) -> String {
    let what = if new {
        "the configuration database is empty, but the history folder has values"
    } else {
        "configuration and history do not belong together"
    };
    format!(
        "{what} ({}). New items would show the values of other items. Name the right database \
         (--database) or data folder (--data), or restore the lost one from a backup. To start with \
         this configuration and an empty history, use --new-configuration yes once: the folder is \
         renamed, not deleted.{}",
        history.display(),
        if new {
            String::new()
        } else {
            format!(
                " If you know that both belong together, delete {}.",
                history.join(FILE).display()
            )
        }
    )
}

fn read(history: &Path) -> anyhow::Result<Option<String>> {
    let path = history.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Whether a server has run on this folder: each shard has a folder of its own there.
fn has_values(history: &Path) -> anyhow::Result<bool> {
    let entries = match std::fs::read_dir(history) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", history.display()));
        }
    };
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.any(|name| name.starts_with("shard-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        dir: tempfile::TempDir,
        history: PathBuf,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let history = dir.path().join("history");
            Self { dir, history }
        }

        fn location(&self) -> Location {
            Location::Sqlite(self.dir.path().join("config.db"))
        }

        /// One start; the first one of a configuration fills it.
        fn start(&self, renew: bool) -> Result<(), String> {
            let told = |error: anyhow::Error| error.to_string();
            check_state(&self.location(), renew, 7).map_err(told)?;
            let config = Config::open(self.location()).unwrap();
            check(&config, &self.history, renew, 7).map_err(told)?;
            pair_state(&config, &self.location()).map_err(told)?;
            config.write(|edit| config::seed(edit, "x")).unwrap();
            std::fs::create_dir_all(self.history.join("shard-0")).unwrap();
            Ok(())
        }

        fn lose(&self, names: &[&str]) {
            names.iter().for_each(|name| std::fs::remove_file(self.dir.path().join(name)).unwrap());
        }
    }

    #[test]
    fn history_of_a_lost_configuration_is_refused() {
        let world = World::new();
        world.start(false).unwrap();
        world.start(false).unwrap();
        world.lose(&["config.db", "config.db-wal"]);
        for _ in 0..2 {
            let error = world.start(false).unwrap_err();
            assert!(error.contains("empty") && error.contains("--new-configuration"), "{error}");
        }
        world.start(true).unwrap();
        assert!(world.dir.path().join("history-before-7/shard-0").exists());
        assert!(world.dir.path().join("config-state.before-7.db").exists());
        world.start(false).unwrap();
    }

    #[test]
    fn history_of_another_configuration_is_refused() {
        let (one, other) = (World::new(), World::new());
        one.start(false).unwrap();
        other.start(false).unwrap();
        std::fs::copy(other.history.join(FILE), one.history.join(FILE)).unwrap();
        let error = one.start(false).unwrap_err();
        assert!(error.contains("do not belong together"), "{error}");
        std::fs::remove_file(one.history.join(FILE)).unwrap();
        one.start(false).unwrap();
    }

    #[test]
    fn state_of_another_configuration_is_refused() {
        let (one, other) = (World::new(), World::new());
        one.start(false).unwrap();
        other.start(false).unwrap();
        let state = |world: &World| world.location().state_file().unwrap();
        std::fs::copy(state(&other), state(&one)).unwrap();
        std::fs::copy(state(&other).with_extension("db-wal"), state(&one).with_extension("db-wal"))
            .unwrap();
        let error = one.start(false).unwrap_err();
        assert!(error.contains("of another configuration"), "{error}");
        for end in ["db", "db-wal", "db-shm"] {
            std::fs::write(state(&one).with_extension(end), "").unwrap();
        }
        one.start(false).unwrap();
    }

    #[test]
    fn pair_of_an_older_version_is_accepted_and_paired() {
        let world = World::new();
        world.start(false).unwrap();
        std::fs::remove_file(world.history.join(FILE)).unwrap();
        let config = Config::open(world.location()).unwrap();
        let forget = "DELETE FROM settings";
        let forgotten: config::db::DbResult<u64> =
            config.write(|edit| edit.unrecorded().execute(forget, &[]));
        forgotten.unwrap();
        let forget = "DELETE FROM state_settings";
        let forgotten: config::db::DbResult<u64> =
            config.write_state(|state| state.execute(forget, &[]));
        forgotten.unwrap();
        drop(config);
        world.start(false).unwrap();
        assert!(world.history.join(FILE).exists());
        world.start(false).unwrap();
    }

    #[test]
    fn lost_log_is_refused_after_a_crash_alone() {
        let world = World::new();
        let check = |crashed| check_log(&world.location(), &world.history, crashed);
        check(true).unwrap();
        world.start(false).unwrap();
        check(true).unwrap();
        for log in ["config.db-wal", "config-state.db-wal"] {
            world.lose(&[log]);
            check(false).unwrap();
            let error = check(true).unwrap_err().to_string();
            assert!(error.contains(&format!("{log} is missing")), "{error}");
            std::fs::write(world.history.with_file_name(log), "").unwrap();
            check(true).unwrap();
        }
    }
}
