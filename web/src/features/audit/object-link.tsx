import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AuditEntry } from "~/api/audit";

const LOOK = "break-words text-accent-ink hover:underline";

/** Kinds of balancing by the number of the resource. */
const BALANCING: Record<string, string> = {
  "1000": "services",
  "1001": "vips",
  "1002": "pools",
  "1003": "health-monitors",
  "1004": "certificates",
  "1005": "engine-groups",
  "1007": "pool-groups",
};

type LinkTo = (id: string, name: ReactNode) => ReactNode;

/** The pages of objects by the number of the resource. */
const PAGES: Record<string, LinkTo> = {
  "0": (_, name) => (
    <Link to="/users" className={LOOK}>
      {name}
    </Link>
  ),
  "3": (mediatypeid, name) => (
    <Link to="/media-types/$mediatypeid/edit" params={{ mediatypeid }} className={LOOK}>
      {name}
    </Link>
  ),
  "4": (hostid, name) => (
    <Link to="/hosts/$hostid" params={{ hostid }} className={LOOK}>
      {name}
    </Link>
  ),
  "5": (actionid, name) => (
    <Link to="/actions/$actionid/edit" params={{ actionid }} className={LOOK}>
      {name}
    </Link>
  ),
  "13": (triggerid, name) => (
    <Link to="/triggers/$triggerid/edit" params={{ triggerid }} className={LOOK}>
      {name}
    </Link>
  ),
  "15": (itemid, name) => (
    <Link to="/items/$itemid/edit" params={{ itemid }} className={LOOK}>
      {name}
    </Link>
  ),
  "18": (serviceid, name) => (
    <Link to="/services/$serviceid/edit" params={{ serviceid }} className={LOOK}>
      {name}
    </Link>
  ),
  "22": (httptestid, name) => (
    <Link to="/web/$httptestid/edit" params={{ httptestid }} className={LOOK}>
      {name}
    </Link>
  ),
  "23": (druleid, name) => (
    <Link to="/discovery-rules/$druleid/edit" params={{ druleid }} className={LOOK}>
      {name}
    </Link>
  ),
  "25": (scriptid, name) => (
    <Link to="/scripts/$scriptid/edit" params={{ scriptid }} className={LOOK}>
      {name}
    </Link>
  ),
  "27": (maintenanceid, name) => (
    <Link to="/maintenance/$maintenanceid/edit" params={{ maintenanceid }} className={LOOK}>
      {name}
    </Link>
  ),
  "30": (templateid, name) => (
    <Link to="/templates/$templateid" params={{ templateid }} className={LOOK}>
      {name}
    </Link>
  ),
  "34": (correlationid, name) => (
    <Link to="/correlation/$correlationid/edit" params={{ correlationid }} className={LOOK}>
      {name}
    </Link>
  ),
  "37": (hostid, name) => (
    <Link to="/host-prototypes/$hostid/edit" params={{ hostid }} className={LOOK}>
      {name}
    </Link>
  ),
  "48": (slaid, name) => (
    <Link to="/sla/$slaid/edit" params={{ slaid }} className={LOOK}>
      {name}
    </Link>
  ),
  "52": (ruleid, name) => (
    <Link to="/rules/$ruleid" params={{ ruleid }} className={LOOK}>
      {name}
    </Link>
  ),
  "1009": (scheduleid, name) => (
    <Link to="/oncall/$scheduleid/edit" params={{ scheduleid }} className={LOOK}>
      {name}
    </Link>
  ),
  "1100": (event, name) => (
    <Link to="/problems" search={{ show: "history", event }} className={LOOK}>
      {name}
    </Link>
  ),
};
// Prototypes have the pages of items and triggers.
PAGES["31"] = PAGES["13"] as LinkTo;
PAGES["36"] = PAGES["15"] as LinkTo;

/** The name of an object, with a link to its page if it has one. */
export function ObjectLink({ entry, name }: { entry: AuditEntry; name: string }): ReactNode {
  const { resourcetype, resourceid } = entry;
  const kind = BALANCING[resourcetype];
  if (kind) {
    return (
      <Link to="/balancing/$kind/$id/edit" params={{ kind, id: resourceid }} className={LOOK}>
        {name}
      </Link>
    );
  }
  return PAGES[resourcetype]?.(resourceid, name) ?? name;
}
