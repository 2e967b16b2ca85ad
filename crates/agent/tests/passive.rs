//! The agent's port, over real sockets on the loopback.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use std::time::Duration;

use agent::get::{GetError, get};
use agent::{ActiveConfig, Agent, AgentConfig, Detail, KEY_NAMES, KeyConfig};
use stdx::clock::RealClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::peers::PeerList;
use wire::zbxd::{self, Decoder, Limits};

/// Only fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

fn config() -> AgentConfig {
    let metadata = Detail::Text("meta data".into());
    AgentConfig {
        hostnames: vec!["here".into()],
        listen: vec!["127.0.0.1:0".parse().unwrap()],
        active: ActiveConfig { metadata, ..ActiveConfig::default() },
        ..AgentConfig::default()
    }
}

/// Starts an agent; it ends with the runtime of the test.
async fn start(config: AgentConfig) -> String {
    let agent = Agent::new(config, RealClock::shared()).unwrap();
    let listeners = agent.bind().unwrap();
    let address = listeners[0].local_addr().unwrap().to_string();
    tokio::spawn(async move { agent.run(listeners).await });
    address
}

/// The value of a key. Ends when the thread of the check has ended.
fn value(agent: &Agent, key: &str) -> Result<String, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let value = runtime.enable_all().build().unwrap().block_on(agent.value(key));
    let failed = |error: &String| error.contains("failed unexpectedly");
    assert!(!value.as_ref().is_err_and(failed), "{key}: {value:?}");
    value
}

/// Sends bytes, reads until the agent closes.
async fn raw(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A reset is a way to close too.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    answer
}

async fn ask(address: &str, text: &str) -> String {
    let bytes = raw(address, &zbxd::encode(text.as_bytes(), 0)).await;
    let progress = Decoder::new(Limits::ANSWER).feed(&bytes).unwrap();
    progress.only().unwrap().unwrap().text().into_owned()
}

#[tokio::test]
async fn both_dialects_are_answered() {
    let address = start(config()).await;
    let json = |key: &str, timeout: &str| {
        format!(
            "{{\"request\":\"passive checks\",\"data\":[{{\"key\":\"{key}\",\"timeout\":{timeout}}}]}}"
        )
    };
    let answer = |rest: &str| format!("{{\"version\":\"7.0.0\",\"variant\":1,{rest}}}");
    for (request, expected) in [
        ("agent.ping".to_owned(), "1".to_owned()),
        ("agent.ping\n".to_owned(), "1".to_owned()),
        ("agent.hostname".to_owned(), "here".to_owned()),
        ("agent.hostmetadata".to_owned(), "meta data".to_owned()),
        ("nope".to_owned(), "ZBX_NOTSUPPORTED\0Unsupported item key.".to_owned()),
        ("nope[".to_owned(), "ZBX_NOTSUPPORTED\0Invalid item key format.".to_owned()),
        (String::new(), "ZBX_NOTSUPPORTED\0Invalid item key format.".to_owned()),
        ("agent.ping[]".to_owned(), "ZBX_NOTSUPPORTED\0Item does not allow parameters.".to_owned()),
        ("log[/x]".to_owned(), "ZBX_NOTSUPPORTED\0Accessible only as active check.".to_owned()),
        (json("agent.ping", "3"), answer("\"data\":[{\"value\":\"1\"}]")),
        (json("agent.ping", "\"3s\""), answer("\"data\":[{\"value\":\"1\"}]")),
        (json("nope", "3"), answer("\"data\":[{\"error\":\"Unsupported item key.\"}]")),
        (json("agent.ping", "0"), answer("\"data\":[{\"error\":\"Unsupported timeout value.\"}]")),
        ("{\"request\":\"foo\"}".to_owned(), answer("\"error\":\"unknown request \\\"foo\\\"\"")),
    ] {
        assert_eq!(ask(&address, &request).await, expected, "{request}");
    }
    let compressed = zbxd::encode(b"agent.ping", zbxd::COMPRESSED);
    assert_eq!(raw(&address, &compressed).await, zbxd::encode(b"1", 0));
}

#[tokio::test]
async fn bad_frames_are_dropped_and_others_served() {
    let address = start(AgentConfig { timeout: PATIENCE, ..config() }).await;
    let too_long = [b"ZBXD\x01".as_slice(), &(1_u32 << 20).to_le_bytes(), &[0; 4]].concat();
    let mut two = zbxd::encode(b"agent.ping", 0);
    two.extend(zbxd::encode(b"agent.ping", 0));
    for bytes in [b"agent.ping\n".to_vec(), b"GET / HTTP/1.0\r\n\r\n".to_vec(), too_long, two] {
        assert_eq!(raw(&address, &bytes).await, b"", "{bytes:?}");
        assert_eq!(ask(&address, "agent.ping").await, "1");
    }
}

#[tokio::test]
async fn slow_requests_are_dropped_and_others_served() {
    let address = start(AgentConfig { timeout: Duration::from_secs(4), ..config() }).await;
    let part = zbxd::encode(b"agent.ping", 0)[..10].to_vec();
    // The rest never comes.
    let (cut, silent) = tokio::join!(raw(&address, &part), raw(&address, b""));
    assert_eq!((&cut[..], &silent[..]), (&b""[..], &b""[..]));
    assert_eq!(ask(&address, "agent.ping").await, "1");
}

#[tokio::test]
async fn strangers_are_refused() {
    let allowed = PeerList::parse("10.0.0.1,192.168.0.0/16").unwrap();
    let address = start(AgentConfig { allowed, ..config() }).await;
    assert_eq!(raw(&address, &zbxd::encode(b"agent.ping", 0)).await, b"");
    let error = get(&address, "agent.ping", PATIENCE).await.unwrap_err();
    // The agent may close before the request is read: both are refusals.
    assert!(matches!(error, GetError::Refused | GetError::Io { .. }), "{error}");
    let by_name = PeerList::parse("localhost").unwrap();
    let address = start(AgentConfig { allowed: by_name, ..config() }).await;
    assert_eq!(ask(&address, "agent.ping").await, "1");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_their_turn() {
    let address = start(AgentConfig { connections_max: 2, ..config() }).await;
    let idle =
        [TcpStream::connect(&address).await.unwrap(), TcpStream::connect(&address).await.unwrap()];
    let waiting = tokio::spawn({
        let address = address.clone();
        async move { ask(&address, "agent.ping").await }
    });
    drop(idle);
    assert_eq!(tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap(), "1");
}

#[tokio::test]
async fn the_getter_speaks_to_old_and_new_agents() {
    let address = start(config()).await;
    assert_eq!(get(&address, "agent.ping", PATIENCE).await.unwrap().as_deref(), Some("1"));
    let error = get(&address, "nope", PATIENCE).await.unwrap_err();
    assert_eq!(error.to_string(), "not supported: Unsupported item key.");

    // An agent before 7.0 knows keys only.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let old = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 1000];
            let n = stream.read(&mut buffer).await.unwrap();
            let known = buffer[13..n] == *b"agent.ping";
            let text = if known { "7" } else { "ZBX_NOTSUPPORTED\0Unsupported item key." };
            stream.write_all(&zbxd::encode(text.as_bytes(), 0)).await.unwrap();
        }
    });
    assert_eq!(get(&old, "agent.ping", PATIENCE).await.unwrap().as_deref(), Some("7"));
    assert!(matches!(get(&old, "x", PATIENCE).await, Err(GetError::NotSupported(_))));
    let nobody = get("127.0.0.1:1", "agent.ping", PATIENCE).await.unwrap_err();
    assert!(nobody.to_string().starts_with("cannot connect: "), "{nobody}");
}

#[tokio::test]
async fn a_silent_peer_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let error = get(&address, "agent.ping", Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, GetError::Timeout(_)), "{error}");
}

#[test]
fn impossible_parameters_are_refused() {
    for (config, expected) in [
        (AgentConfig { hostnames: vec![], ..config() }, "the agent's host name is empty"),
        (AgentConfig { hostnames: vec!["".into()], ..config() }, "the agent's host name is empty"),
        (AgentConfig { connections_max: 0, ..config() }, "connections_max must be above zero"),
        (AgentConfig { timeout: Duration::ZERO, ..config() }, "timeout must be above zero"),
        (AgentConfig { allowed: PeerList::default(), ..config() }, "listens on 127.0.0.1 but"),
    ] {
        let error = Agent::new(config, RealClock::shared()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// What hosts are monitored by on Linux; each must have a value on any machine.
const USUAL_KEYS: &[&str] = &[
    "agent.hostname",
    "agent.ping",
    "agent.version",
    "kernel.maxfiles",
    "kernel.maxproc",
    "net.if.discovery",
    "net.if.in[lo]",
    "net.if.in[\"lo\",dropped]",
    "net.if.out[lo,errors]",
    "proc.num",
    "proc.num[,,run]",
    "system.boottime",
    "system.cpu.intr",
    "system.cpu.load[all,avg15]",
    "system.cpu.num",
    "system.cpu.switches",
    "system.cpu.util",
    "system.cpu.util[,guest_nice]",
    "system.cpu.util[,softirq,avg15]",
    "system.hostname",
    "system.localtime",
    "system.localtime[local]",
    "system.sw.arch",
    "system.sw.os",
    "system.swap.size[,free]",
    "system.swap.size[,pfree]",
    "system.swap.size[,total]",
    "system.uname",
    "system.uptime",
    "system.users.num",
    "vfs.dev.discovery",
    "vfs.dev.read",
    "vfs.file.cksum[/etc/passwd,sha256]",
    "vfs.file.contents[/proc/loadavg]",
    "vfs.fs.discovery",
    "vfs.fs.get",
    "vfs.fs.inode[/,pfree]",
    "vfs.fs.size[/,pused]",
    "vm.memory.size[available]",
    "vm.memory.size[pavailable]",
    "vm.memory.size[total]",
];

#[test]
fn the_usual_keys_have_values_here() {
    let patient = AgentConfig { timeout: PATIENCE, ..config() };
    let agent = Agent::new(patient, RealClock::shared()).unwrap();
    for key in USUAL_KEYS {
        let value = value(&agent, key).unwrap_or_else(|error| panic!("{key}: {error}"));
        assert!(!value.is_empty(), "{key}");
        if key.ends_with("discovery") || key.ends_with(".get") {
            let rows: Vec<serde_json::Value> = serde_json::from_str(&value).unwrap();
            assert!(rows.iter().all(serde_json::Value::is_object), "{key}");
        }
    }
    let interfaces = value(&agent, "net.if.discovery").unwrap();
    assert!(interfaces.contains("{\"{#IFNAME}\":\"lo\"}"), "{interfaces}");
}

#[test]
fn no_key_panics_whatever_the_parameters() {
    let agent = Agent::new(config(), RealClock::shared()).unwrap();
    assert!(KEY_NAMES.len() > 50);
    for name in KEY_NAMES.iter() {
        for params in ["", "[]", "[x]", "[,]", "[(,(,(]", "[/etc/passwd,(]", "[,,,,]", "[[a,b],c]"]
        {
            // vfs.dir.* of the current folder would take long in a build tree.
            let _ = value(&agent, &format!("{name}{params}"));
        }
        let too_many = format!("{name}[{}]", ",".repeat(30));
        assert!(value(&agent, &too_many).is_err(), "{name}");
    }
}

/// Checks of endless contents end with their time: their threads would run for ever otherwise.
#[test]
fn loops_end_at_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endless");
    // A sparse file: a terabyte of zeros that takes no room.
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let timeout = Duration::from_millis(30);
    let agent = Agent::new(AgentConfig { timeout, ..config() }, RealClock::shared()).unwrap();
    for key in [
        "md5sum[P]",
        "cksum[P]",
        "cksum[P,sha256]",
        "size[P,lines]",
        "regexp[P,x]",
        "regmatch[P,x]",
    ] {
        let key = format!("vfs.file.{key}").replace('P', path.to_str().unwrap());
        let error = value(&agent, &key).unwrap_err();
        assert!(error.starts_with("Timeout while evaluating"), "{key}: {error}");
    }
    let large = value(&agent, &format!("vfs.file.contents[{}]", path.display())).unwrap_err();
    assert!(large.contains("too large") || large.starts_with("Timeout"), "{large}");
    let over = AgentConfig { timeout: Duration::from_nanos(1), ..config() };
    let agent = Agent::new(over, RealClock::shared()).unwrap();
    for key in
        ["vfs.dir.count[/proc/self]", "vfs.dir.size[/etc]", "proc.num", "proc.mem", "vfs.fs.get"]
    {
        let error = value(&agent, key).unwrap_err();
        assert!(error.starts_with("Timeout while evaluating"), "{key}: {error}");
    }
}

#[test]
fn devices_and_pipes_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let agent = Agent::new(config(), RealClock::shared()).unwrap();
    for path in ["/dev/zero", pipe.to_str().unwrap()] {
        for key in [
            "contents[P]",
            "md5sum[P]",
            "cksum[P]",
            "size[P,lines]",
            "regexp[P,x]",
            "regmatch[P,x]",
        ] {
            let key = format!("vfs.file.{key}").replace('P', path);
            let error = value(&agent, &key).unwrap_err();
            assert_eq!(error, "Cannot open file: [6] No such device or address", "{key}");
        }
        assert_eq!(value(&agent, &format!("vfs.file.exists[{path},all]")).as_deref(), Ok("1"));
    }
}

#[tokio::test]
async fn denied_keys_are_unsupported() {
    let rules = agent::KeyRules::parse("AllowKey=agent.ping;DenyKey=*").unwrap();
    let keys = KeyConfig { rules, ..KeyConfig::default() };
    let address = start(AgentConfig { keys, ..config() }).await;
    assert_eq!(ask(&address, "agent.ping").await, "1");
    for key in ["agent.version", "vfs.file.contents[/etc/passwd]"] {
        assert_eq!(ask(&address, key).await, "ZBX_NOTSUPPORTED\0Unsupported item key.");
    }
}
