import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { RowOf } from "./gets";
import type { Members } from "./methods";
import { State } from "./schema";

/** A token of `engine.generate`: it is shown once. */
export interface EngineToken {
  engineid: string;
  token: string;
  /** Unix time. */
  expires_at: string;
}

/** A change that `enginegroup.compare` makes and undoes. */
export interface BalancingChange {
  /** Such as "pool.update". */
  method: string;
  /** Parameters of that method. */
  params: object;
}

/** A VIP that a change moves: ids of its engines before and after. */
export interface MovedVip {
  vipid: string;
  name: string;
  enginegroupid: string;
  from: string[];
  to: string[];
}

/** What `enginegroup.compare` returns with `moves`. */
export interface Compared {
  services: TouchedService[];
  moves: MovedVip[];
}

/** A virtual service that a change touches. */
export interface TouchedService {
  virtualserviceid: string;
  name: string;
  enginegroupid: string;
  change: "added" | "changed" | "removed";
}

/** What is measured of services or engines: by id, then by figure, such as `connections`. */
export type FiguresById = ReadonlyMap<string, ReadonlyMap<string, Figure>>;

interface Figure {
  value: number;
  /** Unix time. */
  clock: number;
}

const KEY = "zabbix[vedette,lb,";

/** The newest values of figures. What is not measured, or not for this user, is missing. */
export const figuresQuery = (
  kind: "service" | "engine",
  ids: readonly string[],
  figures: readonly string[],
) =>
  queryOptions({
    queryKey: ["balancing", "figures", kind, ids, figures],
    queryFn: async ({ signal }): Promise<FiguresById> => {
      const filter = { host: ids.map((id) => `lb.${kind}.${id}`) };
      const hosts = await rpc("host.get", { output: ["hostid", "host"], filter }, signal);
      if (hosts.length === 0) return new Map();
      const hostids = hosts.map(({ hostid }) => hostid);
      const keys = figures.map((figure) => `${KEY}${figure}]`);
      const items = await rpc(
        "item.get",
        {
          output: ["hostid", "key_", "state", "lastvalue", "lastclock"],
          hostids,
          filter: { key_: keys },
        },
        signal,
      );
      const found = hosts.map(({ hostid, host }) => {
        const own = items.filter(
          (item) => item.hostid === hostid && item.state === State.Normal && item.lastclock !== "0",
        );
        const values = own.map((item): [string, Figure] => [
          item.key_.slice(KEY.length, -1),
          { value: Number(item.lastvalue), clock: Number(item.lastclock) },
        ]);
        return [host.slice(`lb.${kind}.`.length), new Map(values)] as const;
      });
      return new Map(found);
    },
    enabled: ids.length > 0,
    refetchInterval: REFRESH_MS,
    meta: { live: "values" },
  });

/** Figures are measured every ten seconds; older ones than this say nothing of now, in seconds. */
const FRESH_S = 60;

/** A figure of now; undefined: it is unknown. `now`: Unix time of the server. */
export function freshFigure(
  figures: FiguresById | undefined,
  id: string,
  figure: string,
  now: number,
): number | undefined {
  const found = figures?.get(id)?.get(figure);
  return found && now - found.clock <= FRESH_S ? found.value : undefined;
}

/** Engines report every ten seconds, and no notice tells of it. */
const REFRESH_MS = 5_000;

const EXTENDED = { output: "extend", sortfield: "name" } as const;
export type Engine = RowOf<"engine.get", typeof EXTENDED>;

export const enginesQuery = (refreshMs = REFRESH_MS) =>
  queryOptions({
    queryKey: ["balancing", "engines"],
    queryFn: ({ signal }) => rpc("engine.get", EXTENDED, signal),
    refetchInterval: refreshMs,
    meta: { live: "config" },
  });

export const saveEngine = (id: string | null, members: Members<"engine">) =>
  id ? rpc("engine.update", { engineid: id, ...members }) : rpc("engine.create", members);
/** Moves the VIPs of an engine to others, or lets it get VIPs again. */
export const drained = (engineid: string, on: boolean) => ({
  method: "engine.update",
  params: { engineid, drain: on ? "1" : "0" } as const,
});
export const drainEngine = (engineid: string, on: boolean) =>
  rpc("engine.update", drained(engineid, on).params);
export const deleteEngine = (id: string) => rpc("engine.delete", [id]);
/** A new token for an engine; its older tokens stop to work. */
export const generateEngineToken = async (id: string) => {
  const [made] = await rpc("engine.generate", [id]);
  if (!made) throw new Error("The server made no token.");
  return made;
};

/** A touched service, and the engine group that serves it now; a new one has that of the change. */
export interface Touched extends TouchedService {
  from: string;
}

/** What a change would do. */
export interface Effect {
  touched: Touched[];
  moves: MovedVip[];
}

/** What a change would do. The server checks the change as if it were made, and computes moves if asked for them. */
export async function compareChange(change: BalancingChange, moves: boolean): Promise<Effect> {
  const compared = await rpc("enginegroup.compare", moves ? { ...change, moves } : change);
  if (Array.isArray(compared)) return { touched: await withGroups(compared), moves: [] };
  return { touched: await withGroups(compared.services), moves: compared.moves };
}

async function withGroups(touched: TouchedService[]): Promise<Touched[]> {
  const virtualserviceids = touched.map((one) => one.virtualserviceid);
  const output = ["virtualserviceid", "enginegroupid"] as const;
  const now = touched.length ? await rpc("virtualservice.get", { output, virtualserviceids }) : [];
  const groups = new Map(now.map((row) => [row.virtualserviceid, row.enginegroupid]));
  return touched.map((one) => ({
    ...one,
    from: groups.get(one.virtualserviceid) ?? one.enginegroupid,
  }));
}
