import { DiscoveryCheckType } from "~/api/schema";

/** What a rule looks for; members as the API has them. */
export interface Check {
  dcheckid?: string;
  type: string;
  key_: string;
  snmp_community: string;
  ports: string;
  snmpv3_securityname: string;
  snmpv3_securitylevel: string;
  snmpv3_authprotocol: string;
  snmpv3_authpassphrase: string;
  snmpv3_privprotocol: string;
  snmpv3_privpassphrase: string;
  snmpv3_contextname: string;
  uniq: string;
  host_source: string;
  name_source: string;
  allow_redirect: string;
}

/** Kinds of checks by the API's numbers, with the port that is theirs by custom. */
export const CHECKS: readonly (readonly [type: string, name: string, port: string])[] = [
  ["9", "Agent", "10050"],
  ["12", "ICMP ping", "0"],
  ["11", "SNMP 2c", "161"],
  ["13", "SNMP 3", "161"],
  ["10", "SNMP 1", "161"],
  ["8", "TCP", ""],
  ["4", "HTTP", "80"],
  ["14", "HTTPS", "443"],
  ["0", "SSH", "22"],
  ["15", "Telnet", "23"],
  ["2", "SMTP", "25"],
  ["5", "POP", "110"],
  ["7", "IMAP", "143"],
  ["3", "FTP", "21"],
  ["1", "LDAP", "389"],
  ["6", "NNTP", "119"],
];

export const isAgent = (type: string) => type === DiscoveryCheckType.Agent;
export const isPing = (type: string) => type === DiscoveryCheckType.Icmp;
export const isSnmp = (type: string) => ["10", "11", "13"].includes(type);
/** Its value can name a host and tell hosts apart. */
export const hasValue = (type: string) => isAgent(type) || isSnmp(type);

export function checkName(type: string): string {
  return CHECKS.find(([known]) => known === type)?.[1] ?? `Check ${type}`;
}

export function customPort(type: string): string {
  return CHECKS.find(([known]) => known === type)?.[2] ?? "";
}

/** A check in words: `Agent system.uname (10050)`. */
export function checkWords(check: Pick<Check, "type" | "key_" | "ports">): string {
  const key = hasValue(check.type) ? ` ${check.key_}` : "";
  const ports = isPing(check.type) ? "" : ` (${check.ports})`;
  return `${checkName(check.type)}${key}${ports}`;
}

/** What is wrong with a list of addresses, as far as it shows without counting them. */
export function rangeProblem(text: string): string | undefined {
  const parts = text.split(",").map((part) => part.trim());
  const v4 = /^(\d{1,3}(-\d{1,3})?\.){3}\d{1,3}(-\d{1,3}|\/\d{1,2})?$/;
  const v6 = /^[0-9a-f:-]*:[0-9a-f:-]*(\/\d{1,3})?$/i;
  const wrong = parts.find((part) => !v4.test(part) && !v6.test(part));
  if (wrong === undefined) return undefined;
  return wrong === ""
    ? "Enter addresses, such as 192.168.0.1-254 or 10.0.0.0/24."
    : `${wrong} is not an address, range or network.`;
}

/** What is wrong with a list of ports. */
export function portsProblem(text: string): string | undefined {
  const fits = text.split(",").every((part) => {
    const found = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(part);
    if (!found) return false;
    const from = Number(found[1]);
    const to = Number(found[2] ?? found[1]);
    return from <= to && to <= 65_535;
  });
  return fits ? undefined : "Enter ports such as 22,8000-8080.";
}
