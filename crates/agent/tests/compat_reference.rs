//! Every key side by side with a real agent 7.0 on the same machine.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agent::get::{GetError, get};
use agent::{Agent, AgentConfig};
use stdx::clock::RealClock;

const TIMEOUT: Duration = Duration::from_secs(20);

/// How two answers must agree.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The same text, value or error.
    Exact,
    /// A number that only grows: the real agent's lies between two of ours.
    Counter,
    /// A number that moves: within a quarter.
    Gauge,
    /// A share: a number with six decimals from 0 to 100.
    Percent,
    /// The same rows in any order.
    Rows,
    /// Both refuse, with texts of their own.
    Refused,
}

use Kind::{Counter, Exact, Gauge, Percent, Refused, Rows};

const KEYS: &[(Kind, &str)] = &[
    (Exact, "agent.hostname agent.ping agent.variant agent.hostmetadata agent.ping[] nope nope["),
    (
        Exact,
        "kernel.maxfiles kernel.maxproc kernel.maxproc[x] log[/x] logrt[/x] foo] agent.ping[x]",
    ),
    (Exact, "system.boottime system.cpu.discovery system.cpu.num system.cpu.num[max]"),
    (Exact, "system.hostname system.hostname[shorthost,lower] system.hostname[netbios]"),
    (Exact, "system.sw.arch system.sw.os system.sw.os[name] system.sw.os[x] system.sw.os.get"),
    (Exact, "system.uname system.users.num system.sw.packages system.sw.packages[^bash$,,short]"),
    (Exact, "system.swap.size[,total] system.swap.size[x] system.swap.size[,x] system.uname[x]"),
    (Exact, "system.cpu.util[x] system.cpu.util[99999] system.cpu.util[,x] system.cpu.util[,,x]"),
    (Exact, "system.cpu.util[,,,x] system.cpu.load[x] system.cpu.load[,x] system.cpu.load[,,x]"),
    (Exact, "vm.memory.size[total] vm.memory.size vm.memory.size[x] vm.memory.size[shared]"),
    (Exact, "vfs.fs.size[/] vfs.fs.size[/,total] vfs.fs.size[/proc] vfs.fs.size[/proc,pfree]"),
    (Exact, "vfs.fs.size vfs.fs.size[/no/such] vfs.fs.size[/,x] vfs.fs.inode[/] vfs.fs.inode[/no]"),
    (Exact, "vfs.fs.inode[/proc,pfree] vfs.fs.inode[/proc,pused] vfs.fs.get[x]"),
    (Exact, "vfs.dev.read[no-such] vfs.dev.read[,bytes] vfs.dev.read[,sectors,avg1]"),
    (Exact, "vfs.dev.write[,ops,x] net.if.in net.if.in[no-such] net.if.in[lo,x] net.if.in[lo,,x]"),
    (Exact, "net.if.out[lo,multicast] net.if.total[lo,frame] net.if.collisions[lo]"),
    (Exact, "net.if.discovery net.tcp.port net.tcp.port[,x] net.tcp.listen[x] net.udp.listen[x]"),
    (Exact, "proc.num[,no-such-user] proc.num[,,x] proc.num[,,,,x] proc.num[no-such]"),
    (Exact, "proc.mem[no-such,,avg] proc.mem[no-such] proc.mem[,,x] proc.mem[,,,,x]"),
    (Exact, "vfs.file.exists[/etc] vfs.file.exists[/etc,dir] vfs.file.exists[/etc,,dir]"),
    (Exact, "vfs.file.exists[/etc/mtab,sym] vfs.file.exists[/dev/null,dev] vfs.file.exists[/no]"),
    (Exact, "vfs.file.exists[/etc,x] vfs.file.exists vfs.file.contents[/etc/passwd]"),
    (Exact, "vfs.file.contents[/etc/os-release] vfs.file.contents[/etc] vfs.file.contents[/no]"),
    (Exact, "vfs.file.contents[/sys/class/net/lo/type] vfs.file.contents[/sys/class/net/lo/speed]"),
    (Exact, "vfs.file.contents[/sys/class/net/lo/operstate]"),
    // Ours reads no devices.
    (Refused, "vfs.file.contents[/dev/zero]"),
    (Exact, "vfs.file.cksum[/etc/passwd] vfs.file.cksum[/etc/passwd,md5] vfs.file.cksum[/etc]"),
    (Exact, "vfs.file.cksum[/etc/passwd,sha256] vfs.file.cksum[/etc/passwd,x] vfs.file.cksum[/no]"),
    (Exact, "vfs.file.md5sum[/etc/passwd] vfs.file.size[/etc/passwd] vfs.file.size[/no]"),
    (
        Exact,
        "vfs.file.size[/etc/passwd,lines] vfs.file.size[/etc,lines] vfs.file.size[/etc/passwd,x]",
    ),
    (Exact, "vfs.file.time[/etc/passwd] vfs.file.time[/etc/passwd,change] vfs.file.time[/no]"),
    (Exact, "vfs.file.owner[/etc/shadow] vfs.file.owner[/etc/shadow,group]"),
    (Exact, "vfs.file.owner[/etc/shadow,group,id] vfs.file.owner[/etc/shadow,x]"),
    (Exact, "vfs.file.permissions[/etc/shadow] vfs.file.permissions[/no] vfs.file.get[/etc/mtab]"),
    (Exact, "vfs.file.get[/dev/null] vfs.file.get[/no] vfs.file.regexp[/etc/passwd,root]"),
    (Exact, "vfs.file.regexp[/etc/passwd,\"^root:(.*?):(\\d+)\",,,,<\\2>] vfs.file.regexp[/no,x]"),
    (Exact, "vfs.file.regmatch[/etc/passwd,daemon,,3,4] vfs.file.regmatch[/etc/passwd,root]"),
    (Exact, "vfs.dir.count[/etc] vfs.dir.count[/etc,,,dir,,0] vfs.dir.count[/no] vfs.dir.count"),
    (Exact, "vfs.dir.count[/etc,\\.conf$,,,,,1K] vfs.dir.size[/etc] vfs.dir.size[/etc,,,disk]"),
    (Exact, "vfs.dir.size[/etc,\\.conf$] vfs.dir.size[/no] vfs.dir.size[/etc,,,,1,^apt$]"),
    (Exact, "system.hw.cpu[0,model] system.hw.cpu[99999] system.hw.cpu[all,x] system.localtime[x]"),
    (Counter, "system.cpu.intr system.cpu.switches net.if.in[lo] net.if.in[lo,packets]"),
    (Counter, "net.if.out[lo] net.if.total[lo,packets] system.uptime system.localtime"),
    (Counter, "vfs.dev.read[,sectors] vfs.dev.read[,operations] vfs.dev.write[all,operations]"),
    (Counter, "system.swap.in[,pages] system.swap.out[,count]"),
    (Gauge, "vm.memory.size[available] vm.memory.size[free] vm.memory.size[used]"),
    (Gauge, "vm.memory.size[cached] vm.memory.size[active] vm.memory.size[inactive]"),
    (Gauge, "vm.memory.size[anon] vm.memory.size[slab] proc.num proc.num[,root] proc.num[,,sleep]"),
    (Gauge, "vfs.fs.size[/,free] vfs.fs.size[/,used] vfs.fs.size[/,pused] vfs.fs.inode[/,pfree]"),
    (Gauge, "kernel.openfiles proc.mem[,root] proc.mem[,root,avg,,rss] proc.mem[,root,sum,,pmem]"),
    (Percent, "system.cpu.util system.cpu.util[,idle,avg5] system.cpu.util[0,system,avg15]"),
    (Percent, "system.swap.size[,pfree] vm.memory.size[pused] vm.memory.size[pavailable]"),
    (Rows, "vfs.dev.discovery vfs.fs.discovery system.sw.packages.get[^binutils]"),
    (Refused, "proc.num[,,,\"(\"] vfs.dir.count[/etc,\"(\"] vfs.file.contents[/etc/passwd,EBCDIC]"),
];

/// A real agent; killed when dropped.
struct RealAgent {
    child: Child,
    address: String,
    conf: PathBuf,
    _folder: tempfile::TempDir,
}

impl Drop for RealAgent {
    fn drop(&mut self) {
        // SIGTERM lets the agent take its children along; kill() would leave them.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").arg(pid).status();
        let _ = self.child.wait();
    }
}

/// With more lines of its configuration file.
fn start_real_agent(more: &str) -> RealAgent {
    let shared = std::env::var_os("VEDETTE_SHARED")
        .expect("VEDETTE_SHARED must name the folder with the reference tools");
    let tool = PathBuf::from(shared).join("tools/reference/reference");
    // Does nothing where it was done before.
    let made = Command::new(&tool).arg("setup").stdout(Stdio::null()).status().unwrap();
    assert!(made.success(), "the reference could not be set up: {made}");
    let output = Command::new(tool).args(["path", "agentd"]).output().unwrap();
    let argv = String::from_utf8(output.stdout).unwrap();
    let mut argv = argv.split_whitespace();
    // The agent takes ports up to 32767 only, which the system never gives out by itself.
    let first = 24_000 + std::process::id() % 8_000;
    let port = (first..first + 100)
        .find(|port| std::net::TcpListener::bind(format!("127.0.0.1:{port}")).is_ok())
        .expect("a free port");
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("agentd.conf");
    let text = format!(
        "Server=127.0.0.1\nListenIP=127.0.0.1\nListenPort={port}\nHostname=here\nAllowRoot=1\n\
         LogType=console\nTimeout=20\nPidFile={}/pid\n{more}",
        folder.path().display()
    );
    std::fs::write(&conf, text).unwrap();
    let child = Command::new(argv.next().expect("the reference has an agent"))
        .args(argv)
        .arg("-f")
        .arg("-c")
        .arg(&conf)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    RealAgent { child, address: format!("127.0.0.1:{port}"), conf, _folder: folder }
}

async fn ask(address: &str, key: &str) -> Result<String, String> {
    match get(address, key, TIMEOUT).await {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(GetError::NotSupported(why)) => Err(why),
        Err(error) => panic!("{key} at {address}: {error}"),
    }
}

fn number(answer: &Result<String, String>) -> f64 {
    answer.as_deref().ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

fn rows(answer: &Result<String, String>) -> Vec<String> {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(answer.as_deref().unwrap_or("[]")).unwrap_or_default();
    let mut rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
    rows.sort();
    rows
}

/// Whole numbers stay whole, floats have six decimals.
fn same_form(a: &str, b: &str) -> bool {
    let decimals = |text: &str| text.split_once('.').map(|(_, decimals)| decimals.len());
    decimals(a) == decimals(b)
}

type Answer = Result<String, String>;

fn agrees(kind: Kind, before: &Answer, real: &Answer, after: &Answer) -> bool {
    let (low, middle, high) = (number(before), number(real), number(after));
    let form = matches!((real, after), (Ok(real), Ok(after)) if same_form(real, after));
    match kind {
        Exact => real == after,
        Counter => form && low <= middle && middle <= high,
        Gauge => form && (middle - high).abs() <= 0.25 * middle.abs().max(high.abs()),
        Percent => form && (0.0..=100.0).contains(&middle) && (0.0..=100.0).contains(&high),
        Rows => !rows(real).is_empty() && rows(real) == rows(after),
        Refused => real.is_err() && after.is_err(),
    }
}

/// The answers of the real agent and ours to a key, unless they agree.
async fn difference(kind: Kind, ours: &str, real: &str, key: &str) -> Option<(Answer, Answer)> {
    let before = ask(ours, key).await;
    let theirs = ask(real, key).await;
    let after = ask(ours, key).await;
    (!agrees(kind, &before, &theirs, &after)).then_some((theirs, after))
}

/// Our agent at a free port.
async fn start(config: AgentConfig) -> String {
    let listen = vec!["127.0.0.1:0".parse().unwrap()];
    let agent = Agent::new(AgentConfig { listen, ..config }, RealClock::shared()).unwrap();
    let listeners = agent.bind().unwrap();
    let ours = listeners[0].local_addr().unwrap().to_string();
    tokio::spawn(async move { agent.run(listeners).await });
    ours
}

/// Waits until the real agent supports a key.
async fn ready(real: &RealAgent, key: &str) {
    let mut tries = 0;
    while let Err(error) = get(&real.address, key, TIMEOUT).await {
        tries += 1;
        assert!(tries < 300, "the real agent does not start: {error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A file that both agents read. Outputs that are not UTF-8 are left out: the real agent sends them as they are, and
/// its server replaces each fault by `?`, as ours does before.
const CONF: &str = "\
UserParameterDir=/tmp
HostMetadataItem=system.uname
UserParameter=plain,echo '  hi  '; echo; echo '  '
UserParameter=e[*],echo '$$1|$$|$$x|$1$2|$$$1|$$$|$a|$10|$9|$'
UserParameter=zero[*],echo '$1' # $0
UserParameter=pre[*],echo '$1.'
UserParameter=cwd,pwd
UserParameter=err,echo out; echo err >&2; exit 3
UserParameter=empty,true
UserParameter=none,
UserParameter=fail,exit 4
UserParameter=missing,/no/such
UserParameter=big,head -c 17000000 /dev/zero | tr '\\0' x
UserParameter=large,head -c 2000000 /dev/zero | tr '\\0' x
UserParameter=sleep.3,sleep 3; echo 1
UserParameter=lines,printf 'a\\nb\\n \\t\\r\\n'
UserParameter=form,printf 'a\\v\\f\\n'
UserParameter=nul,printf 'a\\000b'
UserParameter=killed,kill -9 $$
UserParameter=array[*],echo '$1/$2'
UserParameter=stdin,cat; echo end
UserParameter=group,sleep 0.1 & echo 1; wait
Alias=short:plain
Alias=al[*]:e[*]
Alias=fixed:e[a,b]
Alias=any[*]:agent.ping
Alias=size[*]:vfs.fs.size[/,*]
Alias=chain:short
Alias=pick[*]:pre[*]
Alias=pick[q]:pre[special]
Alias=denied:agent.variant
Alias=agent.variant2:agent.ping
AllowKey=system.run[id*]
AllowKey=system.run[true,nowait]
DenyKey=agent.version
DenyKey=agent.variant
DenyKey=agent.variant2
DenyKey=e[deny,*]
DenyKey=vfs.dir.*[*]
";

const CONF_KEYS: &[&str] = &[
    "agent.hostname",
    "agent.hostmetadata",
    "agent.version",
    "agent.variant",
    "agent.variant2",
    "denied",
    "plain",
    "plain[]",
    "plain[a]",
    "e",
    "e[]",
    "e[a,b]",
    "e[\"a b\",,,,,,,,nine]",
    "e[a,b,c,d,e,f,g,h,i,;]",
    "e[;]",
    "e[deny,x]",
    "e[\"deny\",x]",
    "e[a\nb]",
    "zero[q]",
    "pre[\"a,b\"]",
    "pre[ a]",
    "pre[a ]",
    "pre[a,;]",
    "pre[/etc/../x-y_z:%+=^]",
    "pre[ü]",
    "pre[a@b]",
    "pre[\"a\\\"b\"]",
    "pre['a']",
    "cwd",
    "err",
    "empty",
    "none",
    "fail",
    "missing",
    "large",
    "sleep.3",
    "lines",
    "form",
    "nul",
    "killed",
    "array[[a,b],c]",
    "stdin",
    "group",
    "short",
    "short[]",
    "al",
    "al[q,r]",
    "fixed",
    "fixed[]",
    "any",
    "any[x]",
    "size[free]",
    "chain",
    "pick[1,2]",
    "pick[\"q\"]",
    "pick[q]",
    "pick[]",
    "system.run[id -u]",
    "system.run[\"id -u; exit 3\"]",
    "system.run[id,nowait]",
    "system.run[true]",
    "system.run[true,nowait]",
    "system.run[]",
    "vfs.dir.size[/etc]",
    "vfs.file.exists[/etc]",
];

#[tokio::test]
async fn a_configuration_file_means_the_same() {
    let real = start_real_agent(CONF);
    let ours = start(agent::conf::load(&real.conf).unwrap().agent).await;
    ready(&real, "plain").await;
    let mut wrong = Vec::new();
    for key in CONF_KEYS {
        if let Some((theirs, ours)) = difference(Exact, &ours, &real.address, key).await {
            wrong.push(format!("{key}\n  real: {theirs:.300?}\n  ours: {ours:.300?}"));
        }
    }
    // Ours says why.
    wrong.extend(
        difference(Refused, &ours, &real.address, "big").await.map(|both| format!("big: {both:?}")),
    );
    assert!(wrong.is_empty(), "{} keys differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn keys_answer_as_those_of_a_real_agent() {
    let real = start_real_agent("");
    let config = AgentConfig { hostnames: vec!["here".into()], ..AgentConfig::default() };
    let ours = start(config).await;
    // Its collector needs a moment: until then it refuses the first key that averages.
    ready(&real, "system.cpu.util").await;

    let (mut compared, mut wrong) = (0, Vec::new());
    for (kind, keys) in KEYS {
        for key in keys.split_ascii_whitespace() {
            let mut different = difference(*kind, &ours, &real.address, key).await;
            // A large process that starts or ends between two requests changes a gauge: it is asked for again.
            let again = if matches!(kind, Gauge) { 20 } else { 0 };
            for _ in 0..again {
                if different.is_none() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
                different = difference(*kind, &ours, &real.address, key).await;
            }
            if let Some((theirs, after)) = different {
                wrong.push(format!(
                    "{key} ({kind:?})\n  real: {theirs:.300?}\n  ours: {after:.300?}"
                ));
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} keys differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 150, "only {compared} keys");
}
