//! Requests, as envelopes ready to be sent.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use super::Reference;

/// Header `SOAPAction`. Every service since 5.1 speaks this version.
pub const ACTION: &str = "urn:vim25/5.1";
/// Header `Content-Type`.
pub const CONTENT_TYPE: &str = "text/xml; charset=utf-8";
/// Objects in one page of properties.
pub const OBJECTS_PER_PAGE: usize = 200;

fn envelope(method: &str, this: &Reference, arguments: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">\
         <soapenv:Body><{method} xmlns=\"urn:vim25\">{}{arguments}</{method}>\
         </soapenv:Body></soapenv:Envelope>",
        object("_this", this)
    )
}

fn object(name: &str, object: &Reference) -> String {
    let Reference { kind, id } = object;
    format!("<{name} type=\"{}\">{}</{name}>", escape(&**kind), escape(&**id))
}

fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escape(text))
}

/// What the service is, and where its objects are. Needs no session.
pub fn service_content() -> String {
    envelope("RetrieveServiceContent", &Reference::new("ServiceInstance", "ServiceInstance"), "")
}

/// Opens a session; it is in the answer's cookie.
pub fn login(session_manager: &Reference, user: &str, password: &str) -> String {
    let arguments = element("userName", user) + &element("password", password);
    envelope("Login", session_manager, &arguments)
}

/// Ends the session.
pub fn logout(session_manager: &Reference) -> String {
    envelope("Logout", session_manager, "")
}

/// A list of all objects of these types below a folder. It lives as long as its session.
pub fn create_view(manager: &Reference, folder: &Reference, kinds: &[&str]) -> String {
    let mut arguments = object("container", folder);
    kinds.iter().for_each(|kind| arguments += &element("type", kind));
    arguments += "<recursive>true</recursive>";
    envelope("CreateContainerView", manager, &arguments)
}

/// Ends a list.
pub fn destroy_view(view: &Reference) -> String {
    envelope("DestroyView", view, "")
}

/// Properties of one type of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Type of the objects.
    pub kind: &'a str,
    /// Paths of the properties.
    pub paths: &'a [&'a str],
}

fn property_set(wanted: &Wanted<'_>) -> String {
    let mut out = format!("<propSet>{}<all>false</all>", element("type", wanted.kind));
    wanted.paths.iter().for_each(|path| out += &element("pathSet", path));
    out + "</propSet>"
}

fn retrieve(collector: &Reference, sets: &str, objects: &str) -> String {
    let arguments = format!(
        "<specSet>{sets}{objects}</specSet>\
         <options><maxObjects>{OBJECTS_PER_PAGE}</maxObjects></options>"
    );
    envelope("RetrievePropertiesEx", collector, &arguments)
}

/// Properties of all objects of a list.
pub fn properties_of_view(
    collector: &Reference,
    view: &Reference,
    wanted: &[Wanted<'_>],
) -> String {
    let sets: String = wanted.iter().map(property_set).collect();
    let objects = format!(
        "<objectSet>{}<skip>true</skip><selectSet xsi:type=\"TraversalSpec\">\
         <name>view</name><type>ContainerView</type><path>view</path><skip>false</skip>\
         </selectSet></objectSet>",
        object("obj", view)
    );
    retrieve(collector, &sets, &objects)
}

/// Properties of objects of one type.
pub fn properties_of(collector: &Reference, objects: &[Reference], wanted: &Wanted<'_>) -> String {
    let mut list = String::new();
    for one in objects {
        let _ = write!(list, "<objectSet>{}<skip>false</skip></objectSet>", object("obj", one));
    }
    retrieve(collector, &property_set(wanted), &list)
}

/// The next page of properties.
pub fn more_properties(collector: &Reference, token: &str) -> String {
    envelope("ContinueRetrievePropertiesEx", collector, &element("token", token))
}

/// Has a datastore look at its space; the answer is empty.
pub fn refresh_datastore(store: &Reference) -> String {
    envelope("RefreshDatastore", store, "")
}

/// How often the values of an object's counters change.
pub fn perf_provider(manager: &Reference, entity: &Reference) -> String {
    envelope("QueryPerfProviderSummary", manager, &object("entity", entity))
}

/// The newest values of counters of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfQuery<'a> {
    /// The object.
    pub entity: &'a Reference,
    /// Seconds between two values.
    pub interval_s: u32,
    /// Numbers of counters.
    pub counters: &'a [u32],
}

/// The newest value of each counter and instance.
pub fn query_perf(manager: &Reference, queries: &[PerfQuery<'_>]) -> String {
    let mut out = String::new();
    for query in queries {
        let _ = write!(out, "<querySpec>{}", object("entity", query.entity));
        out += "<maxSample>1</maxSample>";
        for counter in query.counters {
            let _ = write!(
                out,
                "<metricId><counterId>{counter}</counterId><instance>*</instance></metricId>"
            );
        }
        let _ = write!(out, "<intervalId>{}</intervalId></querySpec>", query.interval_s);
    }
    envelope("QueryPerf", manager, &out)
}

/// A collector of events: the newest are its property `latestPage`, it pages through the others and
/// begins at the newest. `from` = moment in the service's form, empty =
/// all events.
pub fn create_event_collector(manager: &Reference, from: &str) -> String {
    let time = match from {
        "" => String::new(),
        from => format!("<time>{}</time>", element("beginTime", from)),
    };
    envelope("CreateCollectorForEvents", manager, &format!("<filter>{time}</filter>"))
}

/// The next events in the direction of the past, the newest first.
pub fn previous_events(collector: &Reference, max: usize) -> String {
    envelope("ReadPreviousEvents", collector, &format!("<maxCount>{max}</maxCount>"))
}

/// Ends a collector.
pub fn destroy_events(collector: &Reference) -> String {
    envelope("DestroyCollector", collector, "")
}
