use std::time::Duration;

use collect::tls;

use super::*;
use crate::config::Detail;

/// Reads a file that has this text.
fn read(text: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agentd.conf");
    std::fs::write(folder.path().join("psk"), "1f".repeat(32) + "\n").unwrap();
    let text = text.replace("FOLDER", folder.path().to_str().unwrap());
    std::fs::write(&path, text).unwrap();
    load(&path)
        .map_err(|error| error.to_string().replace(folder.path().to_str().unwrap(), "FOLDER"))
}

#[test]
fn a_file_without_parameters_has_defaults() {
    let settings = read("Server=127.0.0.1\n").unwrap();
    let agent = &settings.agent;
    assert_eq!(settings.hostname_item.as_deref(), Some("system.hostname"));
    assert_eq!((settings.user.as_deref(), settings.log), (Some("zabbix"), "info"));
    assert_eq!(settings.warnings, [""; 0]);
    let s = Duration::from_secs;
    assert_eq!((agent.timeout, agent.active.refresh, agent.active.heartbeat), (s(3), s(5), s(60)));
    assert_eq!((agent.active.buffer_send, agent.active.buffer_values_max), (s(5), 1000));
    assert!(agent.listen.iter().all(|a| a.ip().is_unspecified() && a.port() == 10050));
    assert_eq!(agent.listen.len(), 1);
    assert_eq!((agent.tls.rule.accept, agent.tls.rule.connect), (tls::NONE, tls::NONE));
}

#[test]
fn parameters_are_set() {
    let settings = read(
        "Hostname=one, two three\nServer=10.0.0.0/8,::1,zabbix.example.com\nListenIP=127.0.0.1,::1\n\
         ListenPort=10060\nServerActive=a;b,c\nSourceIP=127.0.0.2\nTimeout=30\nBufferSend=1\n\
         BufferSize=65535\nRefreshActiveChecks=86400\nHeartbeatFrequency=0\nHostMetadata=meta\n\
         HostInterfaceItem=system.hostname\nUserParameter=a[*],echo $1\nUserParameterDir=/tmp\n\
         UnsafeUserParameters=1\nAlias=x:a[1]\nAllowKey=a[*]\nDenyKey=*\nAllowRoot=1\nDebugLevel=4\n\
         TLSAccept=psk, cert\nTLSConnect=psk\nTLSPSKIdentity=me\nTLSPSKFile=FOLDER/psk\n\
         TLSCAFile=/ca\nTLSCRLFile=/crl\nTLSCertFile=/cert\nTLSKeyFile=/key\n\
         TLSServerCertIssuer=CN=CA\nTLSServerCertSubject=CN=S\nStartAgents=3\nLogRemoteCommands=1\n",
    )
    .unwrap();
    let agent = settings.agent;
    assert_eq!(agent.hostnames, ["one", "two three"]);
    assert_eq!(settings.hostname_item, None);
    assert_eq!(agent.allowed.names().collect::<Vec<_>>(), ["zabbix.example.com"]);
    assert!(agent.allowed.allows("10.1.2.3".parse().unwrap()));
    let listen: Vec<String> = agent.listen.iter().map(ToString::to_string).collect();
    assert_eq!(listen, ["127.0.0.1:10060", "[::1]:10060"]);
    assert_eq!(agent.active.servers, [vec!["a:10051", "b:10051"], vec!["c:10051"]]);
    assert_eq!(agent.active.source, Some("127.0.0.2".parse().unwrap()));
    assert_eq!(agent.active.metadata, Detail::Text("meta".into()));
    assert_eq!(agent.active.interface, Detail::Item("system.hostname".into()));
    assert!(agent.active.heartbeat.is_zero());
    assert!(agent.keys.commands.is_unsafe);
    assert_eq!(agent.keys.commands.system_run, crate::SystemRun::Logged);
    assert_eq!(agent.keys.commands.folder.as_deref(), Some(Path::new("/tmp")));
    assert_eq!((settings.user, settings.log), (None, "debug"));
    let rule = &agent.tls.rule;
    assert_eq!((rule.accept, rule.connect), (tls::PSK | tls::CERT, tls::PSK));
    assert_eq!((&*rule.psk_identity, &*rule.psk), ("me", &*"1f".repeat(32)));
    assert_eq!((&*rule.issuer, &*rule.subject), ("CN=CA", "CN=S"));
    assert_eq!(agent.tls.files.crl_file.as_deref(), Some(Path::new("/crl")));
    assert!(read("StartAgents=0\n").unwrap().agent.listen.is_empty());
}

#[test]
fn faults_are_named_with_their_line() {
    for (text, expected) in [
        ("\nFoo=1", "FOLDER/agentd.conf, line 2: unknown parameter \"Foo\""),
        ("timeout=3", "line 1: unknown parameter \"timeout\""),
        ("Timeout=31", "parameter Timeout: \"31\" is not a number from 1 to 30"),
        ("Timeout=", "is not a number"),
        ("Timeout=3s", "is not a number"),
        ("Timeout=4 # note", "is not a number"),
        ("BufferSize=1", "from 2 to 65535"),
        ("UnsafeUserParameters=2", "from 0 to 1"),
        ("ListenPort=1023", "from 1024 to 32767"),
        ("ListenIP=1.2.3", "\"1.2.3\" is not an IP address"),
        ("Hostname=a,a", "\"a\" is listed twice"),
        ("Hostname=a/b", "invalid character"),
        ("HostnameItem=a[", "incorrect syntax"),
        ("Server=1.2.3.4/33", "\"1.2.3.4/33\" is neither"),
        ("ServerActive=a:b", "\"a:b\" is not an address"),
        ("UserParameter=a", "\"a\" is not a user parameter"),
        ("UserParameter=a,1\nUserParameter=a,2", "line 2: parameter UserParameter: key \"a\""),
        ("UserParameter=agent.ping,echo", "key \"agent.ping\" already exists"),
        ("Alias=a", "\"a\" is not an alias"),
        ("DenyKey=", "\"\" is not a pattern"),
        ("LoadModule=x.so", "Modules for the agent are not supported"),
        ("TLSConnect=foo", "none of unencrypted, psk and cert"),
        ("Hostname=x", "parameter Server is required"),
        ("Server=::1\nAllowKey=agent.ping", "deny no key"),
        ("Server=::1\nTLSPSKFile=/no/such", "TLSPSKFile: cannot read /no/such"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let long = format!("Server=::1\nHostInterface={}", "x".repeat(256));
    assert!(read(&long).unwrap_err().contains("longer than 255 bytes"));
}

#[test]
fn parameters_without_effect_are_warnings() {
    let settings = read(
        "Server=::1\nLogFile=/x\nHostMetadata=a\nHostMetadataItem=b\nHostname=a\nHostnameItem=b\n\
         EnableRemoteCommands=1\n",
    )
    .unwrap();
    let warnings = settings.warnings.join("\n");
    for expected in ["line 2: parameter LogFile has no effect", "HostMetadataItem", "HostnameItem"]
    {
        assert!(warnings.contains(expected), "{warnings}");
    }
    assert_eq!(settings.agent.active.metadata, Detail::Text("a".into()));
    let key = eval::key::ItemKey::parse("system.run[id]").unwrap();
    assert!(settings.agent.keys.rules.allows(&key));
}

#[test]
fn encryption_without_its_secret_is_refused() {
    for (text, expected) in [
        ("TLSConnect=psk", "TLS with psk requires"),
        ("TLSAccept=psk\nTLSPSKIdentity=a", "TLS with psk requires"),
        ("TLSAccept=unencrypted,cert", "TLS with cert requires"),
        (
            "TLSAccept=cert\nTLSCAFile=/x\nTLSCertFile=/x\nTLSKeyFile=/x",
            "cannot use CA file \"/x\"",
        ),
    ] {
        let settings = read(&format!("Server=::1\nHostname=a\n{text}")).unwrap();
        let agent = crate::Agent::new(settings.agent, stdx::clock::RealClock::shared());
        let error = agent.unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// `docs/agent.md` has the table.
#[test]
fn the_manual_has_all_parameters() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agent.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(&table()), "the table of docs/agent.md must be:\n{}", table());
}
