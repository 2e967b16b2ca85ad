//! Answers as a simulated vCenter gave them, and what no service should give.

use super::event::{Severities, events};
use super::perf::{Counters, refresh_rate, samples};
use super::property::Page;
use super::request::{self, PerfQuery, Wanted};
use super::*;

fn envelope(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<soapenv:Envelope \
         xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><soapenv:Body>{body}\
         </soapenv:Body></soapenv:Envelope>"
    )
}

fn parsed(body: &str) -> Node {
    answer(&envelope(body)).unwrap()
}

#[test]
fn the_service_names_its_objects() {
    let node = parsed(
        "<RetrieveServiceContentResponse xmlns=\"urn:vim25\"><returnval>\
         <rootFolder type=\"Folder\">group-d1</rootFolder>\
         <propertyCollector type=\"PropertyCollector\">propertyCollector</propertyCollector>\
         <viewManager type=\"ViewManager\">ViewManager</viewManager>\
         <about><name>VMware vCenter Server</name><fullName>VMware vCenter Server 6.5.0 \
         build-5973321</fullName><version>6.5.0</version><apiType>VirtualCenter</apiType></about>\
         <sessionManager type=\"SessionManager\">SessionManager</sessionManager>\
         <perfManager type=\"PerformanceManager\">PerfMgr</perfManager>\
         <eventManager type=\"EventManager\">EventManager</eventManager>\
         </returnval></RetrieveServiceContentResponse>",
    );
    let service = Service::parse(&node).unwrap();
    assert_eq!(service.full_name, "VMware vCenter Server 6.5.0 build-5973321");
    assert_eq!((&*service.version, &*service.api_type), ("6.5.0", "VirtualCenter"));
    assert_eq!(service.root_folder, Reference::new("Folder", "group-d1"));
    assert_eq!(service.perf_manager, Reference::new("PerformanceManager", "PerfMgr"));
}

#[test]
fn faults() {
    for (body, text, kind) in [
        (
            "<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>Login \
             failure</faultstring><detail><InvalidLoginFault xsi:type=\"InvalidLogin\"/>\
             </detail></soapenv:Fault>",
            "Login failure",
            "InvalidLogin",
        ),
        (
            "<soapenv:Fault><faultstring>The session is not authenticated.</faultstring>\
             <detail><NotAuthenticatedFault xmlns=\"urn:vim25\"><object \
             type=\"PropertyCollector\">x</object></NotAuthenticatedFault></detail>\
             </soapenv:Fault>",
            "The session is not authenticated.",
            "NotAuthenticated",
        ),
        ("<soapenv:Fault><faultstring>a &lt;b&gt;</faultstring></soapenv:Fault>", "a <b>", ""),
        (
            "<soapenv:Fault><faultstring/><detail><InvalidPropertyFault xsi:type=\
             \"InvalidProperty\"><name>x</name></InvalidPropertyFault></detail></soapenv:Fault>",
            "InvalidPropertyFault:x",
            "InvalidProperty",
        ),
        ("<soapenv:Fault/>", "The service refuses the request.", ""),
    ] {
        let fault = VmwareError::Fault { text: text.to_owned(), kind: kind.to_owned() };
        assert_eq!(answer(&envelope(body)), Err(fault), "{body}");
    }
}

#[test]
fn what_is_no_answer() {
    let deep = "<a>".repeat(DEPTH_MAX + 1);
    let invalid = |text: &str| matches!(answer(text), Err(VmwareError::Invalid(_)));
    for text in [
        "",
        "not found",
        "<html><body>x</body></html>",
        "<Envelope/>",
        "<Envelope><Body/></Envelope>",
        "<Envelope><Body><a></Body></Envelope>",
        "<Envelope><Body><a>&nosuch;</a></Body></Envelope>",
        "<Envelope><Body><a>",
        "<Envelope/><Envelope/>",
        "</a>",
    ] {
        assert!(invalid(text), "{text}: {:?}", answer(text));
    }
    assert_eq!(answer(&deep), Err(VmwareError::TooLarge));
}

#[test]
fn pages_of_properties() {
    let page = Page::parse(parsed(
        "<RetrievePropertiesExResponse xmlns=\"urn:vim25\"><returnval><token>1</token><objects>\
         <obj type=\"VirtualMachine\">vm-70</obj>\
         <propSet><name>name</name><val xsi:type=\"xsd:string\">a &amp; <![CDATA[<b>]]></val>\
         </propSet><propSet><name>parent</name><val xsi:type=\"ManagedObjectReference\" \
         type=\"Folder\">group-3</val></propSet>\
         <propSet><name>summary.storage</name><val><committed>5</committed></val></propSet>\
         <propSet><name>datastore</name><val xsi:type=\"ArrayOfManagedObjectReference\">\n\
         <ManagedObjectReference type=\"Datastore\">datastore-61</ManagedObjectReference>\n\
         </val></propSet>\
         <missingSet><path>guest</path></missingSet>\
         </objects></returnval></RetrievePropertiesExResponse>",
    ));
    assert_eq!(page.token.as_deref(), Some("1"));
    let [object] = &page.objects[..] else { panic!("{page:?}") };
    assert_eq!(object.reference, Reference::new("VirtualMachine", "vm-70"));
    assert_eq!(object.text("name"), "a & <b>");
    assert_eq!(object.reference("parent"), Some(Reference::new("Folder", "group-3")));
    assert_eq!(object.text("summary.storage.committed"), "5");
    assert_eq!((object.text("summary.storage.nosuch"), object.text("summary")), ("", ""));
    let stores: Vec<_> = object.list("datastore").iter().map(Reference::of).collect();
    assert_eq!(stores, [Reference::new("Datastore", "datastore-61")]);
    let last = Page::parse(parsed("<RetrievePropertiesExResponse/>"));
    assert_eq!(last, Page::default());
}

#[test]
fn counters_and_their_values() {
    let list = parsed(
        "<x><PerfCounterInfo><key>2</key><nameInfo><key>usage</key></nameInfo><groupInfo>\
         <key>cpu</key></groupInfo><unitInfo><key>percent</key></unitInfo>\
         <rollupType>average</rollupType></PerfCounterInfo><PerfCounterInfo><key>x</key>\
         </PerfCounterInfo></x>",
    );
    let counters = Counters::parse(&list.children);
    assert_eq!(counters.find("cpu/usage[average]"), Some(2));
    assert_eq!(counters.find("cpu/usage[none]"), None);
    let values = samples(&parsed(
        "<QueryPerfResponse xmlns=\"urn:vim25\"><returnval xsi:type=\"PerfEntityMetric\">\
         <entity type=\"HostSystem\">host-38</entity><sampleInfo><timestamp>x</timestamp>\
         <interval>20</interval></sampleInfo><value xsi:type=\"PerfMetricIntSeries\"><id>\
         <counterId>2</counterId><instance></instance></id><value>1</value><value>3855</value>\
         </value><value><id><counterId>6</counterId><instance>vmnic0</instance></id>\
         <value>-1</value></value><value><id><counterId>7</counterId></id></value>\
         </returnval></QueryPerfResponse>",
    ));
    let entity = Reference::new("HostSystem", "host-38");
    let sample = |counter, instance: &str, value| perf::Sample {
        entity: entity.clone(),
        counter,
        instance: instance.into(),
        value,
    };
    assert_eq!(values, [sample(2, "", 3855), sample(6, "vmnic0", -1)]);
    for (answer, expected) in [
        (
            "<x><returnval><currentSupported>true</currentSupported><refreshRate>20</refreshRate>\
          </returnval></x>",
            Some(20),
        ),
        ("<x><returnval><currentSupported>false</currentSupported></returnval></x>", None),
        ("<x/>", None),
    ] {
        assert_eq!(refresh_rate(&parsed(answer)), expected);
    }
}

#[test]
fn events_as_people_see_them() {
    let list = parsed(
        "<x><eventInfo><key>VmPoweredOnEvent</key><category>info</category></eventInfo>\
         <eventInfo><key>UserLoginSessionEvent</key><category>user</category></eventInfo></x>",
    );
    let severities = Severities::parse(&list.children);
    let place = |name: &str, value: &str| format!("<{name}><name>{value}</name></{name}>");
    let machine = ["datacenter", "computeResource", "host", "vm"]
        .map(|name| place(name, &name.to_uppercase()))
        .concat();
    let common = "<key>5</key><createdTime>2026-11-22T04:24:39Z</createdTime>";
    for (event, severity, text) in [
        (
            format!(
                "<returnval xsi:type=\"VmPoweredOnEvent\">{common}{machine}{}\
                 <fullFormattedMessage>on</fullFormattedMessage></returnval>",
                place("ds", "DS")
            ),
            "info",
            "on\n\ntype: info/VmPoweredOnEvent\nsource: \
             DATACENTER/COMPUTERESOURCE/HOST/VM ds:DS",
        ),
        (
            format!(
                "<returnval xsi:type=\"UserLoginSessionEvent\">{common}<userName>u</userName>\
                 <fullFormattedMessage>in </fullFormattedMessage><ipAddress>::1</ipAddress>\
                 </returnval>"
            ),
            "user",
            "in \n\ntype: user/UserLoginSessionEvent\nsource: ::1\nuser: u",
        ),
        (
            format!(
                "<returnval xsi:type=\"EventEx\">{common}<eventTypeId>com.x.bad</eventTypeId>\
                 <severity>error</severity></returnval>"
            ),
            "error",
            "\n\ntype: error/com.x.bad",
        ),
    ] {
        let found = events(&parsed(&format!("<x>{event}</x>")).children, &severities);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.key, &*one.severity, one.text.as_str()), (5, severity, text));
        assert_eq!(&*one.created, "2026-11-22T04:24:39Z");
    }
    let none = parsed("<x><returnval><key>no</key></returnval></x>");
    assert_eq!(events(&none.children, &severities), []);
}

#[test]
fn documents() {
    let node = parsed(
        "<val xsi:type=\"A\"><name>x</name><none/><one xsi:type=\"B\"><k>1</k></one>\
         <many>1</many><many>2</many></val>",
    );
    let expected =
        r#"{"@type":"A","name":"x","none":null,"one":{"@type":"B","k":"1"},"many":["1","2"]}"#;
    assert_eq!(node.to_json().to_string(), expected);
}

#[test]
fn requests_are_documents_whatever_is_in_them() {
    let strange = "a<b>&\"'\u{e9}";
    let object = Reference::new("T&", strange);
    let wanted = Wanted { kind: "HostSystem", paths: &["name", "a.b"] };
    let query = PerfQuery { entity: &object, interval_s: 20, counters: &[2, 6] };
    for (request, method) in [
        (request::service_content(), "RetrieveServiceContent"),
        (request::login(&object, strange, strange), "Login"),
        (request::logout(&object), "Logout"),
        (request::create_view(&object, &object, &["A", "B"]), "CreateContainerView"),
        (request::destroy_view(&object), "DestroyView"),
        (request::properties_of_view(&object, &object, &[wanted]), "RetrievePropertiesEx"),
        (
            request::properties_of(&object, std::slice::from_ref(&object), &wanted),
            "RetrievePropertiesEx",
        ),
        (request::more_properties(&object, strange), "ContinueRetrievePropertiesEx"),
        (request::refresh_datastore(&object), "RefreshDatastore"),
        (request::perf_provider(&object, &object), "QueryPerfProviderSummary"),
        (request::query_perf(&object, &[query]), "QueryPerf"),
        (request::create_event_collector(&object, strange), "CreateCollectorForEvents"),
        (request::previous_events(&object, 5), "ReadPreviousEvents"),
        (request::destroy_events(&object), "DestroyCollector"),
    ] {
        let node = answer(&request).unwrap();
        assert_eq!(&*node.name, method);
        if method != "RetrieveServiceContent" {
            assert_eq!(Reference::of(&node.children[0]), object, "{request}");
        }
        if method == "Login" {
            assert_eq!((node.text_at("userName"), node.text_at("password")), (strange, strange));
        }
    }
}
