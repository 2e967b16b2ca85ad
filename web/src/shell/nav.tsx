import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { severityCountsQuery } from "~/api/problems";
import { allows, session } from "~/api/session-store";
import { cx } from "~/ui/cx";
import { Icon, type IconName } from "~/ui/icon";
import { Mark } from "~/ui/logo";
import { formatCount } from "~/util/format";
import { highest, SEVERITIES } from "~/util/severity";
import { texts } from "./texts";

export interface Destination {
  to:
    | "/"
    | "/problems"
    | "/hosts"
    | "/latest"
    | "/graph"
    | "/dashboards"
    | "/maps"
    | "/templates"
    | "/maintenance"
    | "/discovery"
    | "/discovery-rules"
    | "/actions"
    | "/media-types"
    | "/alerts"
    | "/services"
    | "/correlation"
    | "/sla"
    | "/sla-report"
    | "/oncall"
    | "/heartbeat"
    | "/message-links"
    | "/housekeeping"
    | "/authentication"
    | "/connectors"
    | "/scripts"
    | "/autoregistration"
    | "/proxies"
    | "/balancing/services"
    | "/balancing/pools"
    | "/balancing/pool-groups"
    | "/balancing/health-monitors"
    | "/balancing/vips"
    | "/balancing/certificates"
    | "/balancing/engine-groups"
    | "/balancing/engines"
    | "/transactions"
    | "/queue"
    | "/health"
    | "/capacity"
    | "/system"
    | "/audit"
    | "/users";
  label: string;
  icon: IconName;
  /** Second key of the shortcut "g …"; there are fewer keys than pages. */
  key?: string;
  /** Lowest user type that sees it: 1 user, 2 admin, 3 super admin. */
  lowest?: 2 | 3;
  /** The user interface element of roles that shows it, or several of which one is enough. */
  element?: string | readonly string[];
}

interface Section {
  title: string;
  pages: readonly Destination[];
}

/** Each for actions on events of one source. */
const ACTION_ELEMENTS = ["trigger", "service", "discovery", "autoregistration", "internal"].map(
  (source) => `configuration.${source}_actions`,
);

const BALANCING: Section = {
  title: "Load balancing",
  pages: [
    { to: "/balancing/services", label: "Virtual services", icon: "link", key: "s", lowest: 2 },
    { to: "/balancing/pools", label: "Pools", icon: "hosts", key: "b", lowest: 2 },
    { to: "/balancing/engines", label: "Engines", icon: "play", key: "y", lowest: 2 },
    { to: "/transactions", label: "Transactions", icon: "latest", key: "x", lowest: 3 },
    { to: "/balancing/pool-groups", label: "Pool groups", icon: "templates", key: "j", lowest: 2 },
    {
      to: "/balancing/health-monitors",
      label: "Health monitors",
      icon: "health",
      key: "m",
      lowest: 2,
    },
    { to: "/balancing/vips", label: "VIPs", icon: "screen", key: "i", lowest: 2 },
    { to: "/balancing/certificates", label: "Certificates", icon: "key", key: "f", lowest: 2 },
    {
      to: "/balancing/engine-groups",
      label: "Engine groups",
      icon: "power",
      key: "n",
      lowest: 2,
    },
  ],
};

const SERVICES: Section = {
  title: "Services",
  pages: [
    { to: "/services", label: "Services", icon: "tree", key: "2", element: "services.services" },
    { to: "/sla", label: "SLA", icon: "target", key: "3", lowest: 2, element: "services.sla" },
    {
      to: "/sla-report",
      label: "SLA report",
      icon: "bars",
      key: "4",
      element: "services.sla_report",
    },
  ],
};

const ALERTS: Section = {
  title: "Alerts",
  pages: [
    { to: "/oncall", label: "On-call", icon: "phone", key: "0" },
    {
      to: "/actions",
      label: "Actions",
      icon: "play",
      key: "a",
      lowest: 2,
      element: ACTION_ELEMENTS,
    },
    {
      to: "/media-types",
      label: "Media types",
      icon: "send",
      key: "k",
      lowest: 3,
      element: "administration.media_types",
    },
    {
      to: "/scripts",
      label: "Scripts",
      icon: "code",
      key: "1",
      lowest: 3,
      element: "administration.scripts",
    },
    {
      to: "/alerts",
      label: "Action log",
      icon: "log",
      key: "z",
      lowest: 3,
      element: "reports.action_log",
    },
  ],
};

const ADMINISTRATION: Section = {
  title: "Administration",
  pages: [
    {
      to: "/queue",
      label: "Queue",
      icon: "queue",
      key: "q",
      lowest: 3,
      element: "administration.queue",
    },
    {
      to: "/health",
      label: "Vedette's health",
      icon: "health",
      key: "v",
      lowest: 3,
      element: "reports.system_info",
    },
    {
      to: "/capacity",
      label: "Capacity",
      icon: "gauge",
      key: "c",
      lowest: 3,
      element: "reports.system_info",
    },
    {
      to: "/system",
      label: "System information",
      icon: "info",
      key: "7",
      lowest: 3,
      element: "reports.system_info",
    },
    {
      to: "/audit",
      label: "Audit log",
      icon: "log",
      key: "8",
      lowest: 3,
      element: "reports.audit",
    },
    {
      to: "/housekeeping",
      label: "Housekeeping",
      icon: "trash",
      lowest: 3,
      element: "administration.housekeeping",
    },
    {
      to: "/message-links",
      label: "Message links",
      icon: "link",
      key: "9",
      lowest: 3,
      element: "administration.general",
    },
    {
      to: "/heartbeat",
      label: "Heartbeat",
      icon: "pulse",
      key: "6",
      lowest: 3,
      element: "administration.general",
    },
    {
      to: "/connectors",
      label: "Connectors",
      icon: "send",
      lowest: 3,
      element: "administration.general",
    },
    { to: "/users", label: "Users and tokens", icon: "users", key: "u" },
    {
      to: "/authentication",
      label: "Authentication",
      icon: "key",
      lowest: 3,
      element: "administration.authentication",
    },
  ],
};

const DESTINATIONS: readonly Section[] = [
  {
    title: "Monitoring",
    pages: [
      { to: "/", label: "Overview", icon: "overview", key: "o" },
      {
        to: "/problems",
        label: "Problems",
        icon: "problems",
        key: "p",
        element: "monitoring.problems",
      },
      { to: "/hosts", label: "Hosts", icon: "hosts", key: "h", element: "monitoring.hosts" },
      {
        to: "/latest",
        label: "Latest data",
        icon: "latest",
        key: "l",
        element: "monitoring.latest_data",
      },
      { to: "/graph", label: "Graph", icon: "graph", key: "g", element: "monitoring.latest_data" },
      { to: "/dashboards", label: "Dashboards", icon: "screen", element: "monitoring.dashboard" },
      { to: "/maps", label: "Maps", icon: "tree", key: ".", element: "monitoring.maps" },
      {
        to: "/discovery",
        label: "Discovery",
        icon: "search",
        key: "d",
        lowest: 2,
        element: "monitoring.discovery",
      },
    ],
  },
  SERVICES,
  {
    title: "Data collection",
    pages: [
      {
        to: "/templates",
        label: "Templates",
        icon: "templates",
        key: "t",
        lowest: 2,
        element: "configuration.templates",
      },
      {
        to: "/maintenance",
        label: "Maintenance",
        icon: "wrench",
        key: "w",
        lowest: 2,
        element: "configuration.maintenance",
      },
      {
        to: "/correlation",
        label: "Event correlation",
        icon: "merge",
        key: "5",
        lowest: 3,
        element: "configuration.event_correlation",
      },
      {
        to: "/discovery-rules",
        label: "Discovery rules",
        icon: "filter",
        key: "r",
        lowest: 2,
        element: "configuration.discovery",
      },
      {
        to: "/autoregistration",
        label: "Autoregistration",
        icon: "key",
        key: "e",
        lowest: 3,
        element: "administration.general",
      },
      {
        to: "/proxies",
        label: "Proxies",
        icon: "screen",
        lowest: 3,
        element: ["administration.proxies", "administration.proxy_groups"],
      },
    ],
  },
  ALERTS,
  BALANCING,
  ADMINISTRATION,
];

function isOpen(page: Destination): boolean {
  const type = session()?.type ?? 0;
  const elements = [page.element ?? []].flat();
  return type >= (page.lowest ?? 1) && (elements.length === 0 || elements.some(allows));
}

/** The pages that the user may open, by section. */
export function destinations() {
  return DESTINATIONS.map((section) => ({
    ...section,
    pages: section.pages.filter(isOpen),
  })).filter((section) => section.pages.length > 0);
}

/** Whether the user's type or role denies the page at this path. */
export function isDenied(path: string): boolean {
  const page = DESTINATIONS.flatMap((section) => section.pages).find(
    ({ to }) => to !== "/" && (path === to || path.startsWith(`${to}/`)),
  );
  return page !== undefined && !isOpen(page);
}

function ProblemCount({ narrow }: { narrow: boolean }) {
  const { data } = useQuery(severityCountsQuery());
  const total = data?.reduce((a, b) => a + b, 0) ?? 0;
  if (!data || total === 0) return null;
  const worst = highest(SEVERITIES.filter((severity) => (data[severity] ?? 0) > 0)) ?? 0;
  return (
    <span
      role="img"
      aria-label={texts.openTotal(total)}
      style={{
        color: `var(--sev-${worst}-ink)`,
        backgroundColor: `color-mix(in srgb, var(--sev-${worst}) 16%, transparent)`,
      }}
      className={cx(
        "tabular rounded-full px-1.5 text-2xs font-semibold",
        narrow ? "absolute top-0.5 right-0.5 px-1 leading-3.5" : "ml-auto",
      )}
    >
      {total > 9999 ? "9999+" : formatCount(total)}
    </span>
  );
}

interface NavProps {
  narrow: boolean;
  onNarrow: () => void;
  className?: string;
}

/** The sidebar. */
export function Nav({ narrow, onNarrow, className }: NavProps) {
  return (
    <nav
      aria-label={texts.main}
      className={cx(
        "flex shrink-0 flex-col border-r bg-surface",
        narrow ? "w-14" : "w-52",
        className,
      )}
    >
      <div className={cx("flex h-14 items-center", narrow ? "justify-center" : "gap-2.5 px-4")}>
        <Mark size={26} />
        {!narrow && <span className="text-base font-semibold tracking-tight">{texts.vedette}</span>}
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto px-2 py-2">
        {destinations().map((section) => (
          <div key={section.title} className="flex flex-col gap-0.5">
            {!narrow && (
              <p className="px-2.5 pb-1 text-2xs font-medium text-faint">{section.title}</p>
            )}
            {section.pages.map((page) => (
              <Link
                key={page.to}
                to={page.to}
                activeOptions={{ exact: page.to === "/", includeSearch: false }}
                aria-label={narrow ? page.label : undefined}
                title={narrow ? page.label : undefined}
                className={cx(
                  "group relative flex h-8 max-md:h-10 items-center gap-2.5 rounded-md text-sm text-soft hover:bg-hover hover:text-ink",
                  "data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent-ink",
                  narrow ? "justify-center" : "px-2.5",
                )}
              >
                <Icon name={page.icon} />
                {!narrow && <span className="truncate">{page.label}</span>}
                {page.to === "/problems" && <ProblemCount narrow={narrow} />}
              </Link>
            ))}
          </div>
        ))}
      </div>
      <button
        type="button"
        onClick={onNarrow}
        aria-label={narrow ? texts.widenTheSidebar : texts.narrowTheSidebar}
        title={narrow ? texts.widenTheSidebar : texts.narrowTheSidebar}
        className="m-2 flex h-8 items-center max-md:hidden justify-center rounded-md text-faint hover:bg-hover hover:text-ink"
      >
        <Icon name="sidebar" />
      </button>
    </nav>
  );
}
