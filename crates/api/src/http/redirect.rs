//! Addresses of Zabbix's pages that people bookmarked and tools open, and our pages that stand for
//! them. Parameters are those of its manual, section "Page parameters".

use axum::extract::Query;
use axum::http::Uri;

/// Ids carried over at most: more nobody links to, and an address has its limits.
const IDS_MAX: usize = 100;

/// Our address for an address of Zabbix; none where it is not one.
pub(super) fn target(path: &str, query: &str) -> Option<String> {
    let inside =
        path.strip_prefix("/zabbix").filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let script = inside.unwrap_or(path).trim_start_matches('/');
    if script.is_empty() {
        return inside.map(|_| "/".to_owned());
    }
    let action = script.strip_suffix(".php")?;
    let asked = Asked::read(query)?;
    if action == "zabbix" {
        let action = asked.text(&["action"]).unwrap_or("");
        // Pages of 7.0 that open over another one.
        let action = if action == "popup" { asked.text(&["popup"]).unwrap_or("") } else { action };
        return Some(page(action, &asked).unwrap_or_else(|| "/".to_owned()));
    }
    page(action, &asked)
}

/// The page for an action, or for a script named after what it shows.
fn page(action: &str, asked: &Asked) -> Option<String> {
    let host = || asked.id(&["hostid", "hostids", "filter_hostids", "host_templateid"]);
    let host_tab = |tab: &str| match host() {
        Some(id) => format!("/hosts/{id}{tab}"),
        None => "/hosts".to_owned(),
    };
    Some(match action {
        "problem.view" | "problem.view.csv" | "tr_status" | "events" => problems(asked),
        "tr_events" | "acknowledge.edit" | "popup.acknowledge.edit" => event(asked),
        "latest.view" | "latest" => latest(asked),
        "host.view"
        | "host.list"
        | "hosts"
        | "hostinventories"
        | "hostinventoriesoverview"
        | "search" => hosts(asked),
        "host.edit" => host_tab("/edit"),
        "host.dashboard.view" | "web.view" | "httpconf" | "httpdetails" => host_tab(""),
        "item.list" | "items" => host_tab("?tab=latest"),
        "trigger.list" | "triggers" | "trigger.edit" => match asked.id(&["triggerid"]) {
            Some(id) => format!("/triggers/{id}/edit"),
            None => host_tab("?tab=triggers"),
        },
        "host_discovery" => match asked.id(&["itemid"]) {
            Some(id) => format!("/rules/{id}"),
            None => host_tab("?tab=discovery"),
        },
        "disc_prototypes"
        | "trigger_prototypes"
        | "item.prototype.list"
        | "trigger.prototype.list" => host_tab("?tab=discovery"),
        "item.edit" => match asked.id(&["itemid"]) {
            Some(id) => format!("/items/{id}/edit"),
            None => host_tab("?tab=latest"),
        },
        "history" => history(asked),
        "charts.view" | "charts" => charts(asked),
        "template.list" | "templates" => "/templates".to_owned(),
        "template.edit" => match asked.id(&["templateid"]) {
            Some(id) => format!("/templates/{id}"),
            None => "/templates".to_owned(),
        },
        "queue.overview" | "queue.overview.proxy" | "queue.details" | "queue" => {
            "/queue".to_owned()
        }
        "report.status" | "report_status" => "/health".to_owned(),
        "user.list" | "user.edit" | "usergroup.list" | "usergroup.edit" | "userrole.list"
        | "userrole.edit" | "token.list" | "user.token.list" | "userprofile.edit" | "users" => {
            "/users".to_owned()
        }
        "toptriggers.list" | "toptriggers" => "/problems?show=history".to_owned(),
        "dashboard.view" | "dashboard.list" | "dashboard" | "dashboards" | "index" | "overview"
        | "map.view" | "zabbix" => "/".to_owned(),
        _ => return None,
    })
}

fn problems(asked: &Asked) -> String {
    // An event that somebody linked to is what they want to see.
    if asked.id(&["eventid", "eventids", "filter_eventid"]).is_some() {
        return event(asked);
    }
    let mut to = To::new("/problems");
    let show = match asked.text(&["show", "filter_show"]) {
        Some("2") => "history",
        Some("3") => "open",
        _ => "",
    };
    to.text("show", show);
    to.text("severity", &asked.severities());
    to.ids("group", &asked.ids(&["groupids", "filter_groupids", "groupid"]));
    to.ids("host", &asked.ids(&["hostids", "filter_hostids", "hostid"]));
    to.ids("trigger", &asked.ids(&["triggerids", "filter_triggerids", "triggerid"]));
    to.text("text", asked.text(&["name", "filter_name"]).unwrap_or(""));
    to.text("tags", &asked.tags());
    let acknowledged = match asked.text(&["acknowledgement_status"]) {
        Some("1") => "no",
        Some("2") => "yes",
        _ if asked.text(&["unacknowledged", "filter_unacknowledged"]) == Some("1") => "no",
        _ => "",
    };
    to.text("ack", acknowledged);
    if asked.text(&["show_suppressed", "filter_show_suppressed"]) == Some("1") {
        to.text("suppressed", "yes");
    }
    if asked.text(&["sort"]) == Some("severity") {
        to.text("sort", "severity");
    }
    if show == "history" {
        to.span(asked);
    }
    to.done()
}

/// One problem, beside the list in which it still stands when it is resolved.
fn event(asked: &Asked) -> String {
    let mut to = To::new("/problems");
    to.ids("trigger", &asked.ids(&["triggerid", "triggerids", "filter_triggerids"]));
    if let Some(id) = asked.id(&["eventid", "eventids", "filter_eventid"]) {
        to.text("event", id);
    }
    to.done()
}

fn latest(asked: &Asked) -> String {
    let mut to = To::new("/latest");
    to.text("text", asked.text(&["name", "filter_name", "filter_select"]).unwrap_or(""));
    to.ids("group", &asked.ids(&["groupids", "filter_groupids", "groupid"]));
    to.ids("host", &asked.ids(&["hostids", "filter_hostids", "hostid"]));
    to.text("tags", &asked.tags());
    to.text("state", asked.text(&["state"]).filter(|s| ["0", "1"].contains(s)).unwrap_or(""));
    to.done()
}

fn hosts(asked: &Asked) -> String {
    if let Some(id) = asked.id(&["hostid"]) {
        return format!("/hosts/{id}");
    }
    let mut to = To::new("/hosts");
    let names = ["name", "filter_name", "filter_host", "search", "ip", "dns"];
    to.text("text", asked.text(&names).unwrap_or(""));
    to.ids("group", &asked.ids(&["groupids", "filter_groups", "filter_groupids"]));
    to.ids("template", &asked.ids(&["filter_templates"]));
    to.text("tags", &asked.tags());
    to.done()
}

fn history(asked: &Asked) -> String {
    let mut to = To::new("/graph");
    to.ids("items", &asked.ids(&["itemids", "itemid"]));
    to.span(asked);
    to.done()
}

/// Graphs of a host: its own page shows them.
fn charts(asked: &Asked) -> String {
    let hosts = asked.ids(&["filter_hostids", "hostids", "hostid"]);
    let mut to = match hosts[..] {
        [host] => To::new(&format!("/hosts/{host}")),
        _ => To::new("/latest"),
    };
    if hosts.len() > 1 {
        to.ids("host", &hosts);
    }
    if hosts.len() == 1 {
        to.span(asked);
    }
    to.done()
}

/// The parameters of the address.
struct Asked(Vec<(String, String)>);

impl Asked {
    /// None where the query cannot be read.
    fn read(query: &str) -> Option<Self> {
        let uri = Uri::try_from(format!("/?{query}")).ok()?;
        Query::try_from_uri(&uri).ok().map(|Query(parts)| Self(parts))
    }

    /// The first of the names that has something in it.
    fn text(&self, names: &[&str]) -> Option<&str> {
        let one = |name: &&str| self.0.iter().find(|(key, value)| key == name && !value.is_empty());
        names.iter().find_map(one).map(|(_, value)| value.as_str())
    }

    /// Values of `name`, `name[]` and `name[key]` for the first name that has any; only ids.
    fn ids(&self, names: &[&str]) -> Vec<&str> {
        let all = |name: &&str| {
            let ids: Vec<_> = self
                .0
                .iter()
                .filter(|(key, _)| {
                    let rest = key.strip_prefix(name);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
                })
                .map(|(_, value)| value.as_str())
                .filter(|id| is_id(id))
                .take(IDS_MAX)
                .collect();
            (!ids.is_empty()).then_some(ids)
        };
        names.iter().find_map(all).unwrap_or_default()
    }

    fn id(&self, names: &[&str]) -> Option<&str> {
        self.ids(names).first().copied()
    }

    fn severities(&self) -> String {
        let mut severities = self.ids(&["severities", "filter_severities"]);
        severities.retain(|severity| severity.len() == 1 && *severity < "6");
        severities.join(",")
    }

    /// `tags[0][tag]=…&tags[0][operator]=…&tags[0][value]=…` in the words of our address. What
    /// those cannot say is left out.
    fn tags(&self) -> String {
        let mut parts = Vec::new();
        for (key, tag) in &self.0 {
            let Some(stem) = key.strip_suffix("[tag]") else { continue };
            let known = stem.starts_with("tags[") || stem.starts_with("filter_tags[");
            if !known || tag.is_empty() || tag.contains(['=', ':', '~', '!', ',']) {
                continue;
            }
            let value = self.text(&[&format!("{stem}[value]")]).unwrap_or("");
            if value.contains(',') {
                continue;
            }
            parts.push(match self.text(&[&format!("{stem}[operator]")]) {
                Some("1") => format!("{tag}={value}"),
                Some("2") => format!("{tag}!~{value}"),
                Some("3") => format!("{tag}!={value}"),
                Some("4") => tag.clone(),
                Some("5") => format!("!{tag}"),
                _ if value.is_empty() => tag.clone(),
                _ => format!("{tag}~{value}"),
            });
        }
        parts.join(",")
    }
}

fn is_id(text: &str) -> bool {
    (1..=19).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// An address of ours in the making. It starts with one of our own paths, so it cannot lead away.
struct To(String);

impl To {
    fn new(path: &str) -> Self {
        Self(path.to_owned())
    }

    fn text(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.0.push(if self.0.contains('?') { '&' } else { '?' });
        self.0.push_str(name);
        self.0.push('=');
        for byte in value.bytes() {
            match byte {
                b'0'..=b'9'
                | b'a'..=b'z'
                | b'A'..=b'Z'
                | b'-'
                | b'.'
                | b'_'
                | b'~'
                | b','
                | b':'
                | b'/' => self.0.push(char::from(byte)),
                _ => self.0.push_str(&format!("%{byte:02X}")),
            }
        }
    }

    fn ids(&mut self, name: &str, ids: &[&str]) {
        self.text(name, &ids.join(","));
    }

    /// Both ends of the time selector, whose syntax is the same.
    fn span(&mut self, asked: &Asked) {
        if let (Some(from), Some(to)) = (asked.text(&["from"]), asked.text(&["to"])) {
            self.text("from", from);
            self.text("to", to);
        }
    }

    fn done(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookmarks_lead_to_our_pages() {
        let cases = [
            ("/zabbix", "/"),
            ("/zabbix/", "/"),
            ("/zabbix/index.php", "/"),
            ("/zabbix.php", "/"),
            ("/zabbix.php?action=dashboard.view&dashboardid=1", "/"),
            ("/zabbix/zabbix.php?action=dashboard.list", "/"),
            ("/zabbix.php?action=no.such.page", "/"),
            ("/zabbix.php?action=problem.view", "/problems"),
            (
                "/zabbix.php?action=problem.view&filter_set=1&filter_triggerids%5B%5D=13926",
                "/problems?trigger=13926",
            ),
            (
                "/zabbix/zabbix.php?action=problem.view&show=3&hostids[0]=10084&hostids[1]=10085\
                 &severities%5B4%5D=4&severities%5B5%5D=5&name=disk+full&show_suppressed=1",
                "/problems?show=open&severity=4,5&host=10084,10085&text=disk%20full&suppressed=yes",
            ),
            (
                "/zabbix.php?action=problem.view&show=2&from=now-7d&to=now&acknowledgement_status=1",
                "/problems?show=history&ack=no&from=now-7d&to=now",
            ),
            (
                "/zabbix.php?action=problem.view&tags[0][tag]=site&tags[0][operator]=1\
                 &tags[0][value]=riga&tags[1][tag]=os&tags[1][operator]=5&tags[1][value]=",
                "/problems?tags=site%3Driga,%21os",
            ),
            (
                "/zabbix.php?action=problem.view&triggerids[]=5&sort=severity",
                "/problems?trigger=5&sort=severity",
            ),
            ("/tr_events.php?triggerid=13926&eventid=77", "/problems?trigger=13926&event=77"),
            ("/zabbix.php?action=popup&popup=acknowledge.edit&eventids[]=77", "/problems?event=77"),
            ("/zabbix.php?action=host.view", "/hosts"),
            ("/zabbix.php?action=host.view&name=web&groupids[]=2", "/hosts?text=web&group=2"),
            ("/zabbix.php?action=host.edit&hostid=10084", "/hosts/10084/edit"),
            ("/zabbix.php?action=host.dashboard.view&hostid=10084", "/hosts/10084"),
            ("/hostinventories.php?hostid=10084", "/hosts/10084"),
            ("/zabbix.php?action=latest.view&hostids[]=10084", "/latest?host=10084"),
            (
                "/latest.php?filter_hostids%5B0%5D=10084&filter_name=cpu%20load",
                "/latest?text=cpu%20load&host=10084",
            ),
            (
                "/history.php?action=showgraph&itemids%5B%5D=42&itemids%5B%5D=43&from=now-1d&to=now",
                "/graph?items=42,43&from=now-1d&to=now",
            ),
            ("/history.php?action=batchgraph&itemids[7]=7", "/graph?items=7"),
            (
                "/history.php?itemids[]=7&from=2026-01-02+03%3A04%3A05&to=now",
                "/graph?items=7&from=2026-01-02%2003:04:05&to=now",
            ),
            ("/charts.php?graphid=5", "/latest"),
            ("/zabbix.php?action=charts.view&filter_hostids[]=10084", "/hosts/10084"),
            (
                "/zabbix.php?action=charts.view&filter_hostids[]=1&filter_hostids[]=2",
                "/latest?host=1,2",
            ),
            ("/items.php?filter_hostids[0]=10084&context=host", "/hosts/10084?tab=latest"),
            ("/zabbix.php?action=trigger.list&filter_hostids[0]=9", "/hosts/9?tab=triggers"),
            ("/zabbix.php?action=popup&popup=trigger.edit&triggerid=8", "/triggers/8/edit"),
            ("/host_discovery.php?form=update&itemid=8&context=host", "/rules/8"),
            ("/host_discovery.php?filter_hostids[0]=9", "/hosts/9?tab=discovery"),
            ("/zabbix.php?action=item.edit&itemid=42", "/items/42/edit"),
            ("/zabbix.php?action=template.list", "/templates"),
            ("/zabbix.php?action=template.edit&templateid=10001", "/templates/10001"),
            ("/zabbix.php?action=queue.details", "/queue"),
            ("/zabbix.php?action=report.status", "/health"),
            ("/zabbix.php?action=token.list", "/users"),
        ];
        for (address, expected) in cases {
            let (path, query) = address.split_once('?').unwrap_or((address, ""));
            assert_eq!(target(path, query).as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn our_own_addresses_stay() {
        for path in ["/", "/problems", "/hosts/1", "/zabbixes", "/zabbix/problems", "/x.php"] {
            assert_eq!(target(path, "action=problem.view"), None, "{path}");
        }
    }

    #[test]
    fn nothing_but_ids_and_texts_gets_through() {
        let cases = [
            ("/hosts.php", "hostid=//evil.example", "/hosts"),
            ("/hosts.php", "hostid=../x", "/hosts"),
            ("/hosts.php", "search=//evil.example", "/hosts?text=//evil.example"),
            ("/history.php", "itemids[]=1%26x=2&itemids[]=3", "/graph?items=3"),
            (
                "/latest.php",
                "filter_name=a%26b%3Dc%0d%0aSet-Cookie:x",
                "/latest?text=a%26b%3Dc%0D%0ASet-Cookie:x",
            ),
            ("/history.php", "itemids[]=12345678901234567890", "/graph"),
            (
                "/zabbix.php",
                "action=problem.view&severities[9]=9&severities[1]=1",
                "/problems?severity=1",
            ),
        ];
        for (path, query, expected) in cases {
            assert_eq!(target(path, query).as_deref(), Some(expected), "{path}?{query}");
        }
        let many = "itemids[]=1&".repeat(500);
        assert_eq!(target("/history.php", &many).unwrap().matches(',').count(), IDS_MAX - 1);
    }
}
