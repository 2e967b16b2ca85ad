import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import {
  type Certificate,
  certificatesQuery,
  deleteCertificates,
  deleteEngineGroups,
  deleteMonitors,
  deleteVips,
  type EngineGroup,
  engineGroupsQuery,
  type Monitor,
  monitorsQuery,
  type Vip,
  vipsQuery,
} from "~/api/balancing";
import { Dot } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { formatClock } from "~/util/time";
import { daysLeft } from "./expiry";
import { modeOf } from "./groups/draft";
import { texts as groupTexts } from "./groups/texts";
import type { Kind } from "./kinds";
import { NameLink, ObjectsPage } from "./list";
import { OrderState } from "./order";
import { texts } from "./texts";

const monitorsRoute = getRouteApi("/inside/balancing/health-monitors");
const vipsRoute = getRouteApi("/inside/balancing/vips");
const certificatesRoute = getRouteApi("/inside/balancing/certificates");
const groupsRoute = getRouteApi("/inside/balancing/engine-groups");

/** Name first, then what else a row has; phones show the first of it below the name. */
function columnsOf<T extends { name: string; description: string }>(
  kind: Kind,
  idOf: (row: T) => string,
  cells: readonly (readonly [header: string, width: string, cell: (row: T) => ReactNode])[],
): readonly Column<T>[] {
  const name = (row: T) => <NameLink kind={kind} id={idOf(row)} name={row.name} />;
  const first = cells[0]?.[2];
  return [
    {
      id: "summary",
      header: texts.name,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          {name(row)}
          <span className="truncate text-xs text-soft">{first?.(row)}</span>
        </span>
      ),
    },
    { id: "name", header: texts.name, width: "minmax(10rem, 1.2fr)", on: "wide", cell: name },
    ...cells.map(
      ([header, width, cell]): Column<T> => ({
        id: header,
        header,
        width,
        on: "wide",
        cell,
      }),
    ),
    {
      id: "description",
      header: texts.description,
      width: "minmax(6rem, 1fr)",
      on: "wide",
      cell: (row) => <span className="text-soft">{row.description}</span>,
    },
  ];
}

/** The end of a certificate, in a colour from a month before it. */
function Expiry({ until }: { until: number }) {
  const now = useNow();
  if (until === 0) return <span className="text-soft">{texts.notIssued}</span>;
  const days = daysLeft(until, now);
  const tone = days < 7 ? "bad" : days < 30 ? "warn" : "good";
  return (
    <span className="tabular inline-flex items-center gap-1.5" title={formatClock(until)}>
      <Dot tone={tone} />
      {formatClock(until, "day")}
      <span className={days < 7 ? "font-medium text-bad-ink" : "text-soft"}>
        {days < 0 ? texts.expired : texts.inDays(days)}
      </span>
    </span>
  );
}

const monitorId = (row: Monitor) => row.healthmonitorid;
const vipId = (row: Vip) => row.vipid;
const certificateId = (row: Certificate) => row.certificateid;
const groupId = (row: EngineGroup) => row.enginegroupid;

/** What monitors of a type check. */
const CHECKS: Readonly<Record<string, (row: Monitor) => string>> = {
  http: (row) => `HTTP ${row.path} = ${row.status}`,
  tcp: () => texts.tcpCheck,
  smtp: () => texts.smtpMonitor,
  udp: () => texts.udpMonitor,
  icmp: () => texts.icmpMonitor,
  script: (row) => texts.runs(row.script.program ?? ""),
  trigger: () => texts.triggerMonitor,
  dns: (row) => `DNS ${row.dns.name} ${row.dns.type ?? "A"}`,
};

/** Engines check servers at intervals; problems of hosts count at once. */
const isOfEngines = (row: Monitor) => row.type !== "trigger";

const MONITORS = columnsOf<Monitor>("health-monitors", monitorId, [
  [texts.check, "minmax(10rem, 1.2fr)", (row) => CHECKS[row.type]?.(row) ?? row.type],
  [texts.interval, "6rem", (row) => (isOfEngines(row) ? row.interval : "")],
  [texts.timeout, "6rem", (row) => (isOfEngines(row) ? row.timeout : "")],
  [texts.upDown, "8rem", (row) => (isOfEngines(row) ? texts.upAfter(row.up, row.down) : "")],
]);
const VIPS = columnsOf<Vip>("vips", vipId, [
  [texts.ipv4, "10rem", (row) => row.ipv4],
  [texts.ipv6, "minmax(10rem, 1fr)", (row) => row.ipv6],
  [texts.dnsNames, "minmax(10rem, 1.2fr)", (row) => row.dns_names.join(", ")],
]);
const CERTIFICATES = columnsOf<Certificate>("certificates", certificateId, [
  [texts.expires, "12.5rem", (row) => <Expiry until={Number(row.valid_until)} />],
  [texts.order, "10rem", (row) => <OrderState row={row} />],
  [
    texts.names,
    "minmax(9rem, 1.4fr)",
    (row) => (row.names.length > 0 ? row.names : (row.acme.domains ?? [])).join(", "),
  ],
  [texts.issuer, "minmax(7rem, 1fr)", (row) => row.issuer],
  [texts.key, "7rem", (row) => row.algorithm],
]);
const GROUPS = columnsOf<EngineGroup>("engine-groups", groupId, [
  [groupTexts.mode, "minmax(11rem, 1fr)", modeOf],
  [texts.services, "9rem", (row) => formatCount(Number(row.virtualservices))],
]);

const named = (row: { name: string; description: string }) => `${row.name} ${row.description}`;
const vipText = (row: Vip) => [named(row), row.ipv4, row.ipv6, ...row.dns_names].join(" ");
const certificateText = (row: Certificate) => [named(row), row.subject, ...row.names].join(" ");

/** How servers are checked. */
export function MonitorsPage() {
  return (
    <ObjectsPage
      kind="health-monitors"
      title={texts.healthMonitors}
      word={texts.monitorWord}
      icon="health"
      query={useQuery(monitorsQuery())}
      columns={MONITORS}
      idOf={monitorId}
      textOf={named}
      search={monitorsRoute.useSearch()}
      remove={deleteMonitors}
      warning={texts.usedWarning}
    >
      {texts.monitorsEmpty}
    </ObjectsPage>
  );
}

/** Addresses of virtual services. */
export function VipsPage() {
  return (
    <ObjectsPage
      kind="vips"
      title={texts.vips}
      word={texts.vipWord}
      icon="screen"
      query={useQuery(vipsQuery())}
      columns={VIPS}
      idOf={vipId}
      textOf={vipText}
      search={vipsRoute.useSearch()}
      remove={deleteVips}
      warning={texts.usedWarning}
    >
      {texts.vipsEmpty}
    </ObjectsPage>
  );
}

export function CertificatesPage() {
  return (
    <ObjectsPage
      kind="certificates"
      title={texts.certificates}
      word={texts.certificateWord}
      icon="key"
      query={useQuery(certificatesQuery())}
      columns={CERTIFICATES}
      idOf={certificateId}
      textOf={certificateText}
      search={certificatesRoute.useSearch()}
      remove={deleteCertificates}
      warning={texts.certificateLoss}
    >
      {texts.certificatesEmpty}
    </ObjectsPage>
  );
}

/** Engines with the same configuration. */
export function EngineGroupsPage() {
  return (
    <ObjectsPage
      kind="engine-groups"
      title={texts.engineGroups}
      word={texts.groupWord}
      icon="power"
      query={useQuery(engineGroupsQuery())}
      columns={GROUPS}
      idOf={groupId}
      textOf={named}
      search={groupsRoute.useSearch()}
      remove={deleteEngineGroups}
      warning={texts.usedWarning}
    >
      {texts.groupsEmpty}
    </ObjectsPage>
  );
}
