import {
  deleteCertificates,
  deleteEngineGroups,
  deleteMonitors,
  deletePools,
  deleteServices,
  deleteVips,
  saveCertificate,
  saveEngineGroup,
  saveMonitor,
  savePool,
  saveService,
  saveVip,
} from "~/api/balancing";
import { poolDraft, poolParams } from "../pool-draft";
import { serviceDraft, serviceParams } from "../service-draft";
import {
  certificateDraft,
  certificateParams,
  monitorDraft,
  monitorParams,
  vipDraft,
  vipParams,
} from "../simple-draft";
import { ANY_ADDRESS, type BalanceDraft, hasTls, isHttp, NEW, UNSPECIFIED } from "./draft";
import { texts } from "./texts";

export type StepKey = "vip" | "certificate" | "group" | "monitor" | "pool" | "service";

/** Ids of existing and made objects. */
type Ids = Partial<Record<StepKey, string>>;

/** An object that was made. */
export interface Made {
  key: StepKey;
  word: string;
  name: string;
  id: string;
}

/** An object to make. */
export interface Step {
  key: StepKey;
  word: string;
  name: string;
  /** Creates it, or changes the one that an earlier attempt has made. */
  save: (id: string | null, ids: Ids) => Promise<Record<string, string[]>>;
}

/** Names that are taken, by kind of object. */
export type Taken = Partial<Record<StepKey, readonly string[]>>;

/** The name, with a number if it is taken. */
function free(name: string, taken: readonly string[] = []): string {
  let number = 1;
  let found = name;
  while (taken.includes(found)) found = `${name} ${++number}`;
  return found;
}

const REMOVE: Record<StepKey, (ids: string[]) => Promise<unknown>> = {
  vip: deleteVips,
  certificate: deleteCertificates,
  group: deleteEngineGroups,
  monitor: deleteMonitors,
  pool: deletePools,
  service: deleteServices,
};

/** The name of the engine group that is made if there is none. */
export const FIRST_GROUP = "default";

function vipStep(draft: BalanceDraft, taken: Taken): Step[] {
  const isAny = draft.vip === ANY_ADDRESS;
  if (!isAny && draft.vip !== NEW) return [];
  const address = isAny ? UNSPECIFIED : draft.address.trim();
  const name = free(address, taken.vip);
  const members = vipParams({
    ...vipDraft(null),
    name,
    [address.includes(":") ? "ipv6" : "ipv4"]: address,
  });
  return [{ key: "vip", word: texts.vipWord, name, save: (id) => saveVip(id, members) }];
}

function certificateStep(draft: BalanceDraft, taken: Taken): Step[] {
  if (!hasTls(draft.protocol) || draft.certificateid !== NEW) return [];
  const { certificate, private_key } = draft;
  const name = free(draft.name.trim(), taken.certificate);
  const members = certificateParams({ ...certificateDraft(null), name, certificate, private_key });
  const save: Step["save"] = (id) => saveCertificate(id, members);
  return [{ key: "certificate", word: texts.certificateWord, name, save }];
}

function monitorStep(draft: BalanceDraft, taken: Taken): Step[] {
  const { check } = draft;
  if (check !== "http" && check !== "tcp") return [];
  const name = free(draft.name.trim(), taken.monitor);
  const path = draft.path.trim();
  const members = monitorParams({ ...monitorDraft(null), name, type: check, path });
  return [
    { key: "monitor", word: texts.monitorWord, name, save: (id) => saveMonitor(id, members) },
  ];
}

function groupStep(draft: BalanceDraft, taken: Taken): Step[] {
  if (draft.enginegroupid !== NEW) return [];
  const name = free(FIRST_GROUP, taken.group);
  const members = { name };
  return [
    { key: "group", word: texts.groupWord, name, save: (id) => saveEngineGroup(id, members) },
  ];
}

function poolStep(draft: BalanceDraft, taken: Taken): Step {
  const name = free(draft.name.trim(), taken.pool);
  const pool = { ...poolDraft(null), name, servers: draft.servers };
  const save: Step["save"] = (id, ids) =>
    savePool(id, poolParams({ ...pool, monitors: ids.monitor ? [ids.monitor] : [] }));
  return { key: "pool", word: texts.poolWord, name, save };
}

function serviceStep(draft: BalanceDraft): Step {
  const name = draft.name.trim();
  const http = isHttp(draft.protocol);
  const type = http ? "http" : draft.protocol === "udp" ? "udp" : "tcp";
  const tls = hasTls(draft.protocol);
  const save: Step["save"] = (id, ids) =>
    saveService(
      id,
      serviceParams({
        ...serviceDraft(null),
        name,
        type,
        port: draft.port,
        vipid: ids.vip ?? "",
        poolid: ids.pool ?? "",
        enginegroupid: ids.group ?? "",
        certificates: tls && ids.certificate ? [ids.certificate] : [],
        tls: tls && http ? { alpn: ["h2", "http/1.1"] } : {},
      }),
    );
  return { key: "service", word: texts.virtualServiceWord, name, save };
}

/** The objects to make, in the order in which they need each other. */
export function planOf(draft: BalanceDraft, taken: Taken): Step[] {
  return [
    ...vipStep(draft, taken),
    ...certificateStep(draft, taken),
    ...groupStep(draft, taken),
    ...monitorStep(draft, taken),
    poolStep(draft, taken),
    serviceStep(draft),
  ];
}

/** The existing objects that a draft chooses. */
function chosen(draft: BalanceDraft): Ids {
  const { vip, certificateid, enginegroupid, check } = draft;
  return {
    vip: vip === NEW || vip === ANY_ADDRESS ? undefined : vip,
    certificate: certificateid === NEW ? undefined : certificateid,
    group: enginegroupid === NEW ? undefined : enginegroupid,
    monitor: check.startsWith("id ") ? check.slice(3) : undefined,
  };
}

/** What came of an attempt: everything is made, or all before a step that failed. */
export interface Outcome {
  made: readonly Made[];
  failed: { step: Step; error: unknown } | null;
}

/** Deletes what was made, the newest first. Returns what remains, with the error. */
export async function removeMade(made: readonly Made[]): Promise<Outcome["made"]> {
  let rest = [...made];
  for (const one of [...made].reverse()) {
    await REMOVE[one.key]([one.id]);
    rest = rest.filter((other) => other !== one);
  }
  return rest;
}

/** Makes the objects of a plan; `before`: those that an earlier attempt has made. */
export async function carryOut(
  draft: BalanceDraft,
  plan: readonly Step[],
  before: readonly Made[],
): Promise<Outcome> {
  const ids = chosen(draft);
  let made = [...before];
  for (const step of plan) {
    const earlier = made.find(({ key }) => key === step.key);
    try {
      const saved = await step.save(earlier?.id ?? null, ids);
      const id = Object.values(saved)[0]?.[0] ?? "";
      ids[step.key] = id;
      made = [
        ...made.filter((one) => one !== earlier),
        { key: step.key, word: step.word, name: step.name, id },
      ];
    } catch (error) {
      return { made, failed: { step, error } };
    }
  }
  // An earlier attempt had other choices.
  const needed = new Set(plan.map(({ key }) => key));
  await removeMade(made.filter(({ key }) => !needed.has(key)));
  return { made: made.filter(({ key }) => needed.has(key)), failed: null };
}
