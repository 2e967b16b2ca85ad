import type { Members } from "~/api/methods";
import type { NetworkRule } from "~/api/network";
import { Status } from "~/api/schema";
import {
  type Check,
  customPort,
  hasValue,
  isAgent,
  isPing,
  isSnmp,
  portsProblem,
  rangeProblem,
} from "~/util/network";
import { without } from "~/util/rows";

/** A rule as the form holds it. */
export interface RuleDraft {
  name: string;
  iprange: string;
  delay: string;
  concurrency: string;
  on: boolean;
  checks: Check[];
  /** Hosts are told apart by: "ip", or the place of a check. */
  unique: string;
  /** Host name: "dns", "ip", or the place of a check. */
  host: string;
  /** Visible name: "host", "dns", "ip", or the place of a check. */
  visible: string;
}

export function newCheck(type: string): Check {
  return {
    type,
    key_: isAgent(type) ? "system.uname" : isSnmp(type) ? "1.3.6.1.2.1.1.5.0" : "",
    snmp_community: ["10", "11"].includes(type) ? "{$SNMP_COMMUNITY}" : "",
    ports: customPort(type),
    snmpv3_securityname: "",
    snmpv3_securitylevel: "0",
    snmpv3_authprotocol: "0",
    snmpv3_authpassphrase: "",
    snmpv3_privprotocol: "0",
    snmpv3_privpassphrase: "",
    snmpv3_contextname: "",
    uniq: "0",
    host_source: "1",
    name_source: "0",
    allow_redirect: "0",
  };
}

function chosen(checks: Check[], member: "host_source" | "name_source", words: string[]): string {
  const at = checks.findIndex((check) => check[member] === "3");
  if (at >= 0) return String(at);
  return words[Number(checks[0]?.[member] ?? 0)] ?? "dns";
}

export function ruleDraft(rule: NetworkRule | null): RuleDraft {
  const checks = rule?.dchecks ?? [newCheck("9")];
  const unique = checks.findIndex((check) => check.uniq === "1");
  return {
    name: rule?.name ?? "",
    iprange: rule?.iprange ?? "192.168.0.1-254",
    delay: rule?.delay ?? "1h",
    concurrency: rule?.concurrency_max ?? "0",
    on: rule ? rule.status === Status.Enabled : true,
    checks,
    unique: unique >= 0 ? String(unique) : "ip",
    host: chosen(checks, "host_source", ["dns", "dns", "ip"]),
    visible: chosen(checks, "name_source", ["host", "dns", "ip"]),
  };
}

/** A draft without one of its checks; what that check decided is decided otherwise. */
export function withoutCheck(draft: RuleDraft, at: number): RuleDraft {
  const moved = (place: string, otherwise: string) => {
    const n = Number(place);
    if (Number.isNaN(n) || n < at) return place;
    return n === at ? otherwise : String(n - 1);
  };
  return {
    ...draft,
    checks: without(draft.checks, at),
    unique: moved(draft.unique, "ip"),
    host: moved(draft.host, "dns"),
    visible: moved(draft.visible, "host"),
  };
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function ruleProblems(draft: RuleDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  const range = rangeProblem(draft.iprange);
  if (range) problems.iprange = range;
  if (!/^(\d+[smhdw]?|\{\$.+\})$/.test(draft.delay.trim())) {
    problems.delay = "Enter an interval such as 1h or 30m.";
  }
  if (!/^\d{1,3}$/.test(draft.concurrency.trim())) {
    problems.concurrency = "Enter a number from 0 to 999. 0 means automatic.";
  }
  if (draft.checks.length === 0) problems.checks = "Add at least one check.";
  for (const [n, check] of draft.checks.entries()) {
    const ports = isPing(check.type) ? undefined : portsProblem(check.ports);
    if (ports) problems[`check${n}`] = ports;
    else if (hasValue(check.type) && !check.key_.trim()) {
      problems[`check${n}`] = isAgent(check.type) ? "Enter an item key." : "Enter an OID.";
    }
  }
  return problems;
}

const SOURCES: Record<string, string> = { host: "0", dns: "1", ip: "2" };

/** A draft without problems, as `drule.create` and `drule.update` take it. */
export function ruleParams(draft: RuleDraft): Members<"drule"> {
  const source = (place: string, at: number, otherwise: string) =>
    SOURCES[place] ?? (place === String(at) ? "3" : otherwise);
  return {
    name: draft.name.trim(),
    iprange: draft.iprange.trim(),
    delay: draft.delay.trim(),
    concurrency_max: Number(draft.concurrency),
    status: draft.on ? "0" : "1",
    dchecks: draft.checks.map((check, at) => ({
      ...check,
      druleid: undefined,
      uniq: draft.unique === String(at) ? "1" : "0",
      host_source: source(draft.host, at, "1"),
      name_source: source(draft.visible, at, "0"),
    })),
  };
}
