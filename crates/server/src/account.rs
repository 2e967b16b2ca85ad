//! Users of the system, as `/etc/passwd` and `/etc/group` have them.

/// A user that a process can become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Supplementary groups.
    pub(crate) groups: Vec<u32>,
}

impl Account {
    /// The user of a name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Self::parse(&read("/etc/passwd"), &read("/etc/group"), name)
    }

    fn parse(passwd: &str, group: &str, name: &str) -> Option<Self> {
        let (uid, gid) = passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            if fields.next() != Some(name) {
                return None;
            }
            Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
        })?;
        let member_of = |line: &str| {
            let mut fields = line.split(':').skip(2);
            let id = fields.next()?.parse().ok()?;
            fields.next()?.split(',').any(|member| member == name).then_some(id)
        };
        Some(Self { uid, gid, groups: group.lines().filter_map(member_of).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbad\nweb:x:33:34::/:/x\n";
        let group = "adm:x:4:syslog,web\nbad\nweb:x:34:\nlog:x:5:web\nother:x:6:webmaster\n";
        let web = Account { uid: 33, gid: 34, groups: vec![4, 5] };
        assert_eq!(Account::parse(passwd, group, "web"), Some(web));
        assert_eq!(Account::parse(passwd, group, "bad"), None);
        assert_eq!(Account::parse(passwd, group, "nobody"), None);
    }
}
