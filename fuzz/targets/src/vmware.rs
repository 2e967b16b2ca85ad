//! Answers of vCenters.

use wire::vmware::event::{Severities, events};
use wire::vmware::perf::{Counters, refresh_rate, samples};
use wire::vmware::property::Page;
use wire::vmware::request::{self, Wanted};
use wire::vmware::{Node, Reference, Service, answer, returned};

fn depth(node: &Node) -> usize {
    1 + node.children.iter().map(depth).max().unwrap_or(0)
}

pub(crate) fn vmware(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // What a request carries comes out of it again, whatever it is.
    let written = request::more_properties(&Reference::new("Type", "id"), &text);
    if let Ok(node) = answer(&written) {
        assert_eq!(&*node.name, "ContinueRetrievePropertiesEx");
    }
    let Ok(node) = answer(&text) else { return };
    assert!(depth(&node) <= wire::vmware::DEPTH_MAX, "an answer that is too deep");
    let json = node.to_json().to_string();
    assert!(json.starts_with(['{', '"', 'n']), "no document: {json}");
    let _ = (Service::parse(&node), returned(&node), refresh_rate(&node));
    let counters = Counters::parse(&node.children);
    assert!(counters.find("").is_none(), "a counter without a name");
    drop(samples(&node));
    let severities = Severities::parse(&node.children);
    for event in events(&node.children, &severities) {
        assert!(!event.severity.is_empty(), "an event without severity");
    }
    for object in Page::parse(node).objects {
        let paths: Vec<&str> = object.properties.keys().map(|path| &**path).collect();
        for path in &paths {
            assert!(object.at(path).is_some(), "a property that is not found: {path}");
        }
        let wanted = Wanted { kind: &object.reference.kind, paths: &paths };
        let collector = Reference::new("PropertyCollector", "propertyCollector");
        let one = std::slice::from_ref(&object.reference);
        let _ = request::properties_of(&collector, one, &wanted);
    }
}
