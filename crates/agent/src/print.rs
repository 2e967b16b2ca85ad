//! Values as lines for `--test` and `--print`, in the form of `zabbix_agentd -t` and `-p`.

use crate::Agent;
use crate::keys::{KEY_NAMES, Origin, Source, find};

/// Parameters of keys that have no value without.
const EXAMPLES: &[(&str, &str)] = &[
    ("net.if.collisions", "lo"),
    ("net.if.in", "lo,bytes"),
    ("net.if.out", "lo,bytes"),
    ("net.if.total", "lo,bytes"),
    ("net.tcp.listen", "80"),
    ("net.tcp.port", ",80"),
    ("net.udp.listen", "68"),
    ("vfs.dir.count", "/var/log"),
    ("vfs.dir.size", "/var/log"),
    ("vfs.file.cksum", "/etc/passwd"),
    ("vfs.file.contents", "/etc/hostname"),
    ("vfs.file.exists", "/etc/passwd"),
    ("vfs.file.get", "/etc/passwd"),
    ("vfs.file.md5sum", "/etc/passwd"),
    ("vfs.file.owner", "/etc/passwd,user,name"),
    ("vfs.file.permissions", "/etc/passwd"),
    ("vfs.file.regexp", "/etc/passwd,root"),
    ("vfs.file.regmatch", "/etc/passwd,root"),
    ("vfs.file.size", "/etc/passwd"),
    ("vfs.file.time", "/etc/passwd,modify"),
    ("vfs.fs.inode", "/,free"),
    ("vfs.fs.size", "/,free"),
];

/// The keys of [`line`] that show all that the agent supports: each key once, then user parameters.
pub fn keys(agent: &Agent) -> Vec<String> {
    let example = |name: &&str| match EXAMPLES.iter().find(|(key, _)| key == name) {
        Some((_, params)) => format!("{name}[{params}]"),
        None => (*name).to_owned(),
    };
    let user = agent.config().keys.commands.names();
    KEY_NAMES.iter().map(example).chain(user.map(str::to_owned)).collect()
}

/// A key with its value: `agent.ping   [u|1]`. The letter is `u` for a whole number, `d` for another number,
/// `s` for a text, `t` for the output of a command, and `m` for an error.
pub async fn line(agent: &Agent, key: &str) -> String {
    let is_command = matches!(find(agent, key, Origin::Server), Ok(Source::Command(_)));
    let shown = match agent.value(key).await {
        Ok(value) => format!("[{}|{value}]", letter(&value, is_command)),
        Err(error) => format!("[m|ZBX_NOTSUPPORTED] [{error}]"),
    };
    format!("{key:<45} {shown}")
}

fn letter(value: &str, is_command: bool) -> char {
    if is_command {
        't'
    } else if value.parse::<u64>().is_ok() {
        'u'
    } else if value.parse::<f64>().is_ok_and(f64::is_finite) {
        'd'
    } else {
        's'
    }
}

#[cfg(test)]
mod tests {
    use stdx::clock::RealClock;

    use super::*;
    use crate::AgentConfig;

    #[tokio::test]
    async fn values_are_shown_with_their_kind() {
        let mut config = AgentConfig::default();
        config.keys.commands.add("plain,echo 1").unwrap();
        let agent = Agent::new(config, RealClock::shared()).unwrap();
        for (key, expected) in [
            ("agent.ping", "agent.ping                                    [u|1]"),
            ("plain", "plain                                         [t|1]"),
            ("agent.hostname", "agent.hostname                                [s|localhost]"),
            (
                "nope",
                "nope                                          [m|ZBX_NOTSUPPORTED] [Unsupported item key.]",
            ),
        ] {
            assert_eq!(line(&agent, key).await, expected);
        }
        assert!(line(&agent, "system.cpu.load").await.contains("[d|"));
        let keys = keys(&agent);
        assert_eq!(keys.len(), KEY_NAMES.len() + 1);
        assert!(keys.contains(&"vfs.fs.size[/,free]".into()) && keys.ends_with(&["plain".into()]));
        // Each example belongs to a key.
        assert!(EXAMPLES.iter().all(|(name, _)| KEY_NAMES.contains(name)));
    }
}
