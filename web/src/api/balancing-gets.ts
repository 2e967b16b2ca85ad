import type {
  AcmeOrder,
  MonitorSettings,
  PoolMember,
  PoolMonitor,
  PoolServer,
  PoolSettings,
  ServiceSettings,
} from "./balancing";
import type { Get, Ids, Many, Row } from "./gets";
import type { GroupSettings } from "./placement";
import type * as schema from "./schema";

/** What each `get` of the load balancer reads. */
export interface BalancingGets {
  "certificate.get": Get<
    Omit<schema.Certificate, "names" | "acme"> & { names: string[]; acme: AcmeOrder },
    unknown,
    { certificateids?: Ids }
  >;
  "engine.get": Get<Row<schema.Engine>, unknown, { engineids?: Ids; enginegroupids?: Ids }>;
  "enginegroup.get": Get<
    Omit<schema.EngineGroup, keyof GroupSettings> & GroupSettings,
    { selectVirtualServices: Many<"virtualservices", schema.VirtualService> },
    { enginegroupids?: Ids }
  >;
  "healthmonitor.get": Get<
    Omit<schema.HealthMonitor, keyof MonitorSettings> & MonitorSettings,
    unknown,
    { healthmonitorids?: Ids }
  >;
  "pool.get": Get<
    Omit<schema.Pool, keyof PoolSettings> & PoolSettings,
    {
      selectServers: Many<"servers", PoolServer>;
      selectFurtherMonitors: Many<"further_monitors", PoolMonitor>;
    },
    { poolids?: Ids }
  >;
  "poolgroup.get": Get<
    schema.PoolGroup,
    { selectMembers: Many<"members", PoolMember> },
    { poolgroupids?: Ids }
  >;
  "vip.get": Get<
    Omit<schema.Vip, "dns_names"> & { dns_names: string[] },
    unknown,
    { vipids?: Ids }
  >;
  "virtualservice.get": Get<
    Omit<schema.VirtualService, keyof ServiceSettings> & ServiceSettings,
    { selectCertificates: Many<"certificates", { certificateid: string }> },
    { virtualserviceids?: Ids }
  >;
}
