import type { Service, Vip } from "~/api/balancing";
import type { BalancingChange } from "~/api/engines";
import { withPort } from "../leave";

type Addressed = Pick<Service, "virtualserviceid" | "vipid" | "port">;
type Addresses = Pick<Vip, "vipid" | "ipv4" | "ipv6">;

/** Services and the VIPs on which they accept connections. */
export interface Listening {
  services: readonly Addressed[];
  vips: readonly Addresses[];
}

/** Where a service accepts connections, such as `192.0.2.30:443`. */
export function listeners(id: string, { services, vips }: Listening): string[] {
  const service = services.find((one) => one.virtualserviceid === id);
  const vip = vips.find((one) => one.vipid === service?.vipid);
  if (!service || !vip) return [];
  return [vip.ipv4, vip.ipv6].filter(Boolean).map((address) => withPort(address, service.port));
}

const KEYS = { "virtualservice.update": "virtualserviceid", "vip.update": "vipid" } as const;

/** The same after a change of a service or VIP; other changes move no listener. */
export function afterChange(before: Listening, { method, params }: BalancingChange): Listening {
  const key = KEYS[method as keyof typeof KEYS];
  const given = params as Record<string, unknown>;
  const change = <T extends object>(rows: readonly T[]) =>
    rows.map((row) => (row[key as keyof T] === given[key] ? { ...row, ...given } : row));
  if (key === "virtualserviceid") return { ...before, services: change(before.services) };
  if (key === "vipid") return { ...before, vips: change(before.vips) };
  return before;
}

interface Moved {
  /** Addresses before and after. */
  stay: string[];
  begin: string[];
  end: string[];
}

/** What happens to the listeners of a service. */
export function movedListeners(before: readonly string[], after: readonly string[]): Moved {
  return {
    stay: after.filter((one) => before.includes(one)),
    begin: after.filter((one) => !before.includes(one)),
    end: before.filter((one) => !after.includes(one)),
  };
}
