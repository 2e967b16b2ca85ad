//! Answers from an inventory that is made by hand: what the simulated vCenter of the system tests
//! does not have.

use eval::key::ItemKey;
use wire::vmware::perf::Counters;
use wire::vmware::property::Page;
use wire::vmware::{self, Reference};

use super::Missing;
use super::inventory::{Model, Wish};
use super::keys::{Ask, Scope};
use super::value::answer;

/// Names and values of properties.
type Properties = &'static [(&'static str, &'static str)];

/// Types, ids and properties of objects.
const INVENTORY: &[(&str, &str, Properties)] = &[
    ("Folder", "group-d1", &[("name", "Datacenters")]),
    ("Datacenter", "dc-1", &[("name", "DC"), ("parent", "Folder:group-d1")]),
    ("Folder", "group-h1", &[("name", "host"), ("parent", "Datacenter:dc-1")]),
    ("Folder", "group-h2", &[("name", "racks"), ("parent", "Folder:group-h1")]),
    ("Folder", "group-v1", &[("name", "vm"), ("parent", "Datacenter:dc-1")]),
    ("Folder", "group-v2", &[("name", "web"), ("parent", "Folder:group-v1")]),
    ("ComputeResource", "domain-s1", &[("name", "h1"), ("parent", "Folder:group-h2")]),
    (
        "ResourcePool",
        "pool-0",
        &[
            ("name", "Resources"),
            ("parent", "ComputeResource:domain-s1"),
            ("owner", "ComputeResource:domain-s1"),
        ],
    ),
    (
        "ResourcePool",
        "pool-1",
        &[("name", "A"), ("parent", "ResourcePool:pool-0"), ("owner", "ComputeResource:domain-s1")],
    ),
    (
        "VirtualApp",
        "pool-2",
        &[("name", "B"), ("parent", "ResourcePool:pool-1"), ("owner", "ComputeResource:domain-s1")],
    ),
    (
        "HostSystem",
        "host-1",
        &[
            ("name", "h1"),
            ("parent", "ComputeResource:domain-s1"),
            ("summary.hardware", "<uuid>H1</uuid>"),
            ("overallStatus", "red"),
            ("datastore", "<x type=\"Datastore\">ds-1</x>"),
            ("vm", "<x type=\"VirtualMachine\">vm-1</x>"),
            (
                "config.network.vnic",
                "<v><spec><ip><ipAddress>10.0.0.5</ipAddress><subnetMask>255.0.0.0</subnetMask>\
                 </ip></spec></v><v><spec><ip><ipAddress>192.0.2.7</ipAddress>\
                 <subnetMask>255.255.255.0</subnetMask></ip></spec></v>",
            ),
            ("config.network.ipRouteConfig", "<defaultGateway>192.0.2.1</defaultGateway>"),
            ("config.network.dnsConfig", "<hostName>h1</hostName><domainName/>"),
            (
                "config.storageDevice.scsiLun",
                "<l><canonicalName>naa.1</canonicalName><key>lun-1</key></l>",
            ),
            (
                "config.storageDevice.multipathInfo",
                "<lun><lun>lun-1</lun><path/><path/></lun><lun><lun>lun-2</lun><path/></lun>",
            ),
            (
                "triggeredAlarmState",
                "<s><key>alarm-1.host-1</key><alarm type=\"Alarm\">alarm-1</alarm>\
                 <overallStatus>red</overallStatus><time>2026-01-01T00:00:00Z</time>\
                 <acknowledged>true</acknowledged></s>",
            ),
        ],
    ),
    (
        "Datastore",
        "ds-1",
        &[
            ("name", "store"),
            (
                "summary",
                "<url>ds:///vmfs/volumes/54c5-8ab/</url><type>VMFS</type><capacity>0</capacity>\
                 <freeSpace>0</freeSpace>",
            ),
            (
                "info",
                "<vmfs><extent><diskName>naa.1</diskName><partition>3</partition></extent></vmfs>",
            ),
            (
                "host",
                "<m><key type=\"HostSystem\">host-1</key><mountInfo><mounted>true</mounted>\
                 <accessible>false</accessible></mountInfo></m>",
            ),
        ],
    ),
    (
        "VirtualMachine",
        "vm-1",
        &[
            ("name", "web1"),
            ("parent", "Folder:group-v2"),
            ("config.instanceUuid", "V1"),
            ("runtime.host", "HostSystem:host-1"),
            ("resourcePool", "VirtualApp:pool-2"),
            ("availableField", "<f><key>7</key><name>owner</name></f>"),
            ("customValue", "<v><key>7</key><value>me</value></v>"),
            (
                "guest.disk",
                "<d><diskPath>C:\\</diskPath><capacity>200</capacity><freeSpace>50</freeSpace></d>",
            ),
            (
                "snapshot",
                "<rootSnapshotList><name>a</name><snapshot>s1</snapshot>\
                 <createTime>1970-01-01T00:00:10Z</createTime><childSnapshotList><name>b</name>\
                 <snapshot>s2</snapshot><createTime>1970-01-01T00:00:40Z</createTime>\
                 </childSnapshotList></rootSnapshotList>",
            ),
            (
                "layoutEx.snapshot",
                "<s><key>s1</key><dataKey>4</dataKey><disk><chain><fileKey>1</fileKey></chain>\
                 <chain><fileKey>2</fileKey></chain></disk></s>",
            ),
            (
                "layoutEx.file",
                "<f><key>1</key><size>1000</size></f><f><key>2</key><size>70</size>\
                 <uniqueSize>60</uniqueSize></f><f><key>4</key><size>5</size>\
                 <uniqueSize>5</uniqueSize></f>",
            ),
        ],
    ),
];

/// `Type:id` is a reference, everything else the content of an element.
fn property(name: &str, value: &str) -> String {
    let value = match value.split_once(':') {
        Some((kind, id)) if !value.contains('<') && kind.chars().all(char::is_alphanumeric) => {
            format!("<val type=\"{kind}\">{id}</val>")
        }
        _ => format!("<val>{value}</val>"),
    };
    format!("<propSet><name>{name}</name>{value}</propSet>")
}

fn inventory() -> Model {
    changed("", "")
}

/// The inventory with one text in the place of another.
fn changed(from: &str, to: &str) -> Model {
    let mut text = String::from("<Envelope><Body><R><returnval>");
    for (kind, id, properties) in INVENTORY {
        text += &format!("<objects><obj type=\"{kind}\">{id}</obj>");
        properties.iter().for_each(|(name, value)| text += &property(name, value));
        text += "</objects>";
    }
    text += "</returnval></R></Body></Envelope>";
    if !from.is_empty() {
        text = text.replace(from, to);
    }
    let mut model = Model::default();
    for object in Page::parse(vmware::answer(&text).unwrap()).objects {
        model.order.push(object.reference.clone());
        model.objects.insert(object.reference.clone(), object);
    }
    let alarm = "<Envelope><Body><R><returnval><objects><obj type=\"Alarm\">alarm-1</obj>\
                 <propSet><name>info</name><val><name>CPU</name><systemName>alarm.cpu</systemName>\
                 <description>hot</description><enabled>true</enabled></val></propSet></objects>\
                 </returnval></R></Body></Envelope>";
    for object in Page::parse(vmware::answer(alarm).unwrap()).objects {
        model.alarms.insert(Reference::new("Alarm", "alarm-1"), object);
    }
    model.index();
    model
}

fn ask(model: &Model, key: &str) -> Result<String, Missing> {
    let ask = Ask::parse(&ItemKey::parse(key).unwrap())?;
    answer(&ask, model, 100)
}

#[test]
fn answers() {
    let model = inventory();
    let error = |why: &str| Err(Missing::Error(why.to_owned()));
    for (key, expected) in [
        ("vmware.hv.status[u,H1]", Ok("3")),
        ("vmware.hv.hw.model[u,H1]", Err("Value is not available.")),
        ("vmware.hv.datastore.multipath[u,H1]", Ok("2")),
        ("vmware.hv.datastore.multipath[u,H1,store,3]", Ok("2")),
        ("vmware.hv.datastore.multipath[u,H1,54c5-8ab,4]", Ok("0")),
        ("vmware.hv.datastore.multipath[u,H1,store,x]", Err("Invalid fourth parameter.")),
        (
            "vmware.hv.datastore.read[u,H1,store]",
            Err("Datastore is not available for hypervisor: inaccessible"),
        ),
        ("vmware.datastore.read[u,store]", Err("No datastores available.")),
        (
            "vmware.datastore.size[u,store,pfree]",
            Err("Datastore space information is not available."),
        ),
        ("vmware.datastore.hv.list[u,store]", Ok("h1")),
        ("vmware.vm.hv.name[u,V1]", Ok("h1")),
        ("vmware.vm.cluster.name[u,V1]", Ok("")),
        ("vmware.vm.datacenter.name[u,V1]", Ok("DC")),
        ("vmware.vm.attribute[u,V1,owner]", Ok("me")),
        ("vmware.vm.attribute[u,V1,other]", Err("Custom attribute is not available.")),
        ("vmware.vm.vfs.fs.size[u,V1,C:\\]", Ok("200")),
        ("vmware.vm.vfs.fs.size[u,V1,C:\\,used]", Ok("150")),
        ("vmware.vm.vfs.fs.size[u,V1,C:\\,pfree]", Ok("25")),
        ("vmware.vm.vfs.fs.size[u,V1,C:\\,x]", Err("Invalid fourth parameter.")),
        ("vmware.vm.vfs.fs.size[u,V1,D:\\]", Err("Unknown file system path.")),
        (
            "vmware.hv.alarms.get[u,H1]",
            Ok(
                r#"[{"name":"CPU","system_name":"alarm.cpu","description":"hot","enabled":true,"key":"alarm-1.host-1","time":"2026-01-01T00:00:00Z","overall_status":"red","acknowledged":true}]"#,
            ),
        ),
        (
            "vmware.vm.snapshot.get[u,V1]",
            Ok(
                r#"{"snapshot":[{"name":"a","description":"","createtime":"1970-01-01T00:00:10Z","size":75,"uniquesize":65},{"name":"b","description":"","createtime":"1970-01-01T00:00:40Z","size":0,"uniquesize":0}],"count":2,"latestdate":"1970-01-01T00:00:40Z","latestage":60,"oldestdate":"1970-01-01T00:00:10Z","oldestage":90,"size":75,"uniquesize":65}"#,
            ),
        ),
        (
            "vmware.hv.discovery[u]",
            Ok(
                r##"[{"{#HV.UUID}":"H1","{#HV.ID}":"host-1","{#HV.NAME}":"h1","{#HV.IP}":"192.0.2.7","{#DATACENTER.NAME}":"DC","{#CLUSTER.NAME}":"","{#PARENT.NAME}":"racks","{#PARENT.TYPE}":"Folder","{#HV.NETNAME}":"h1","resource_pool":[{"rpid":"pool-1","rpath":"A","vm_count":0},{"rpid":"pool-2","rpath":"A/B","vm_count":0}]}]"##,
            ),
        ),
    ] {
        let expected = match expected {
            Ok(text) => Ok(text.to_owned()),
            Err(why) => error(why),
        };
        assert_eq!(ask(&model, key), expected, "{key}");
    }
    let machines = ask(&model, "vmware.vm.discovery[u]").unwrap();
    assert!(machines.contains(r##""{#VM.FOLDER}":"vm/web""##), "{machines}");
    assert!(machines.contains(r##""{#VM.RPOOL.PATH}":"A/B""##), "{machines}");
}

#[test]
fn what_was_not_read_is_wished_for() {
    let mut model = inventory();
    let counter = |scope, path: &str| Wish::Counter(scope, path.to_owned());
    for (key, wish) in [
        ("vmware.hv.power[u,H1,max]", counter(Scope::Host, "power/powerCap[average]")),
        ("vmware.rp.cpu.usage[u,pool-1]", counter(Scope::Pool, "cpu/usagemhz[average]")),
        ("vmware.vm.property[u,V1,a.b]", Wish::Property(Scope::Machine, "a.b".to_owned())),
    ] {
        assert_eq!(ask(&model, key), Err(Missing::Wish(wish.clone())), "{key}");
        model.wishes.insert(wish);
    }
    let error = |why: &str| Err(Missing::Error(why.to_owned()));
    // Read, and there is nothing.
    let none = "Performance counter is not available.";
    assert_eq!(ask(&model, "vmware.hv.power[u,H1,max]"), error(none));
    assert_eq!(ask(&model, "vmware.vm.property[u,V1,a.b]"), Ok(String::new()));
    let refused = Wish::Property(Scope::Machine, "a.b".to_owned());
    model.refused.insert(refused, "InvalidProperty".to_owned());
    let refusal = error("Custom query error: InvalidProperty");
    assert_eq!(ask(&model, "vmware.vm.property[u,V1,a.b]"), refusal);
}

#[test]
fn figures_of_datastores() {
    let mut model = changed("<accessible>false", "<accessible>true");
    let info = |key: u32, name: &str| {
        format!(
            "<c><key>{key}</key><groupInfo><key>datastore</key></groupInfo><nameInfo><key>{name}\
             </key></nameInfo><rollupType>average</rollupType></c>"
        )
    };
    let list = format!(
        "<Envelope><Body><R>{}{}</R></Body></Envelope>",
        info(1, "totalReadLatency"),
        info(2, "numberReadAveraged")
    );
    let list = vmware::answer(&list).unwrap();
    model.counters = std::sync::Arc::new(Counters::parse(&list.children));
    let host = Reference::new("HostSystem", "host-1");
    for (name, counter, values) in
        [("totalReadLatency", 1, [7, 99]), ("numberReadAveraged", 2, [-1, 5])]
    {
        let path = format!("datastore/{name}[average]");
        model.wishes.insert(Wish::Counter(Scope::Host, path));
        let instances = ["54c5-8ab", "other"].map(Box::from);
        model.perf.insert((host.clone(), counter), instances.into_iter().zip(values).collect());
    }
    let none = || Err(Missing::Error("Performance counter data is not available.".to_owned()));
    for (key, expected) in [
        ("vmware.hv.datastore.read[u,H1,store]", Ok("7".to_owned())),
        ("vmware.datastore.read[u,54c5-8ab]", Ok("7".to_owned())),
        ("vmware.datastore.read[u,store,maxlatency]", Ok("7".to_owned())),
        ("vmware.hv.datastore.read[u,H1,store,rps]", none()),
        ("vmware.datastore.read[u,store,rps]", none()),
    ] {
        assert_eq!(ask(&model, key), expected, "{key}");
    }
}
