//! The rules of the template for Linux machines that is shipped with Vedette, in small.

use crate::table;
use serde_json::json;

use super::*;

#[test]
pub(super) fn file_systems_and_network_interfaces() {
    let b = Box::new(&[]);
    let template = b.new_host("Linux", 1);
    let host = b.new_host("machine", 0);
    b.edit(|e| {
        for (name, value) in [("{$FS.TYPE}", "^(ext4|xfs)$"), ("{$IF.NOT}", "^(lo|veth)")] {
            let row =
                [("hostid", template.into()), ("macro", name.into()), ("value", value.into())];
            e.insert_new(&table::HOSTMACROS, &row)?;
        }
        e.insert_new(&table::INTERFACES, &[("hostid", host.into()), ("main", Value::from(1))])?;
        Ok(())
    });
    let master = b.item_on(template, "vfs.fs.get", &[("type", Value::from(0))], &[]);
    let paths = json!([
        { "lld_macro": "{#FSNAME}", "path": "$.fsname" },
        { "lld_macro": "{#FSTYPE}", "path": "$.fstype" },
    ]);
    let of_master = [("type", Value::from(18)), ("master_itemid", Value::from(master))];
    let mut fs = of_master.to_vec();
    fs.push(("lld_macro_paths", paths.to_string().into()));
    fs.push(("filter", filter("{#FSTYPE}", 8, "{$FS.TYPE}").to_string().into()));
    let fs = b.new_rule(template, "fs.discovery", &fs);
    b.item_of(template, fs, "fs.size[{#FSNAME},pused]", &of_master);
    let full = "min(/Linux/fs.size[{#FSNAME},pused],5m)>";
    let crit = b.trigger("{#FSNAME} full", &format!("{full}{{$CRIT:\"{{#FSNAME}}\"}}"), &[], &[]);
    b.trigger("{#FSNAME} low", &format!("{full}{{$WARN:\"{{#FSNAME}}\"}}"), &[], &[crit]);
    let net_filter = filter("{#IFNAME}", 9, "{$IF.NOT}").to_string();
    let net = [("type", Value::from(0)), ("filter", net_filter.into())];
    let net = b.new_rule(template, "net.if.discovery", &net);
    let more = [("type", Value::from(0)), ("delay", Value::from("10s"))];
    b.item_of(template, net, "net.if.in[\"{#IFNAME}\"]", &more);
    b.edit(|e| link_templates(e, &[host], &[template]));
    let on_host = |key: &str| -> u64 {
        let sql = format!("SELECT itemid AS v FROM items WHERE hostid = {host} AND key_ = '{key}'");
        b.shown(&sql).parse().unwrap()
    };

    let fs_rows = json!([
        { "fsname": "/", "fstype": "ext4", "bytes": { "pused": 10.5 } },
        { "fsname": "/proc", "fstype": "proc", "bytes": {} },
        { "fsname": "/my data", "fstype": "xfs", "bytes": { "pused": 99 } },
    ]);
    let summary = b.discover_rule(on_host("fs.discovery"), &fs_rows.to_string(), 1_000);
    assert_eq!((summary.error.as_str(), summary.created.triggers), ("", 4));
    assert_eq!(b.keys(), "fs.size[/,pused]|fs.size[/my data,pused]");
    assert_eq!(
        b.triggers(),
        "/ full: min(fs.size[/,pused],5m)>{$CRIT:\"/\"}\
         |/ low: min(fs.size[/,pused],5m)>{$WARN:\"/\"}\
         |/my data full: min(fs.size[/my data,pused],5m)>{$CRIT:\"/my data\"}\
         |/my data low: min(fs.size[/my data,pused],5m)>{$WARN:\"/my data\"}"
    );
    assert_eq!(b.dependencies(), "/ low>/ full|/my data low>/my data full");
    let masters = "SELECT master_itemid AS v FROM items WHERE flags = 4 AND type = 18";
    let id = on_host("vfs.fs.get");
    assert_eq!(b.shown(masters), format!("{id}|{id}"));

    let net_rows = json!([{ "{#IFNAME}": "eth0" }, { "{#IFNAME}": "lo" }, { "{#IFNAME}": "e,1" }]);
    let summary = b.discover_rule(on_host("net.if.discovery"), &net_rows.to_string(), 1_000);
    assert_eq!((summary.error.as_str(), summary.created.items), ("", 2));
    assert!(b.keys().ends_with("net.if.in[\"e,1\"]|net.if.in[\"eth0\"]"), "{}", b.keys());
    let interfaces = b.shown("SELECT DISTINCT interfaceid AS v FROM items WHERE flags = 4");
    assert_eq!(interfaces.split('|').count(), 2, "one interface, and none for dependent items");
    let snapshot = b.config.snapshot();
    assert_eq!(snapshot.triggers.len(), 4);
}
