import { useQuery } from "@tanstack/react-query";
import {
  deleteProxy,
  type ProxyRow,
  proxiesQuery,
  proxyGroupsQuery,
  saveProxy,
} from "~/api/proxies";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { RowButtons, SaveDialog, useDelete } from "~/shared/save-dialog";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { Empty } from "~/ui/state";
import { formatClock } from "~/util/time";
import {
  isActive,
  type ProxyDraft,
  proxyDraft,
  proxyParams,
  proxyProblem,
  TIMEOUTS,
  usesCertificate,
  usesPsk,
} from "./draft";
import { texts } from "./texts";

const KEYS = [["proxies"], ["proxygroups"]];
const MODES = [
  ["0", texts.active],
  ["1", texts.passive],
] as const;
const ENCRYPTION = [
  ["1", "No encryption"],
  ["2", "Pre-shared key"],
  ["4", "Certificate"],
] as const;

interface PartProps {
  draft: ProxyDraft;
  set: (next: Partial<ProxyDraft>) => void;
}

/** Where the proxy is, or from where it connects. */
function Place({ draft, set }: PartProps) {
  if (isActive(draft))
    return (
      <TextField
        label={texts.allowedAddresses}
        hint={texts.allowedHint}
        value={draft.allowedAddresses}
        onChange={(allowedAddresses) => set({ allowedAddresses })}
      />
    );
  return (
    <div className="grid gap-4 sm:grid-cols-[1fr_8rem]">
      <TextField
        label={texts.address}
        required
        value={draft.address}
        onChange={(address) => set({ address })}
      />
      <TextField label={texts.port} value={draft.port} onChange={(port) => set({ port })} />
    </div>
  );
}

function Encryption({ draft, set, isNew }: PartProps & { isNew: boolean }) {
  const accept = (bit: number, on: boolean) => {
    const tlsAccept = on ? draft.tlsAccept | bit : draft.tlsAccept & ~bit;
    if (tlsAccept !== 0) set({ tlsAccept });
  };
  return (
    <>
      {isActive(draft) ? (
        <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <legend className="pb-1 text-xs font-medium text-soft">{texts.connections}</legend>
          {ENCRYPTION.map(([bit, label]) => (
            <Checkbox
              key={bit}
              label={label}
              checked={(draft.tlsAccept & Number(bit)) !== 0}
              onChange={(event) => accept(Number(bit), event.target.checked)}
            />
          ))}
        </fieldset>
      ) : (
        <SelectField
          label={texts.connections}
          options={ENCRYPTION}
          value={draft.tlsConnect}
          onChange={(tlsConnect) => set({ tlsConnect })}
        />
      )}
      {usesPsk(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.pskIdentity}
            hint={isNew ? undefined : texts.keep}
            value={draft.pskIdentity}
            onChange={(pskIdentity) => set({ pskIdentity })}
          />
          <TextField
            label={texts.psk}
            hint={isNew ? texts.hexadecimal : texts.keep}
            className="font-mono"
            value={draft.psk}
            onChange={(psk) => set({ psk })}
          />
        </div>
      )}
      {usesCertificate(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.issuer}
            value={draft.issuer}
            onChange={(issuer) => set({ issuer })}
          />
          <TextField
            label={texts.subject}
            value={draft.subject}
            onChange={(subject) => set({ subject })}
          />
        </div>
      )}
    </>
  );
}

function Timeouts({ draft, set }: PartProps) {
  return (
    <>
      <Checkbox
        label={texts.ownTimeouts}
        checked={draft.ownTimeouts}
        onChange={(event) => set({ ownTimeouts: event.target.checked })}
      />
      {draft.ownTimeouts && (
        <div className="grid grid-cols-2 gap-4 sm:grid-cols-5">
          {TIMEOUTS.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              value={draft.timeouts[name]}
              onChange={(value) => set({ timeouts: { ...draft.timeouts, [name]: value } })}
            />
          ))}
        </div>
      )}
    </>
  );
}

/** Its proxy group, and what it needs there. */
function Membership({ draft, set }: PartProps) {
  const { data: groups = [] } = useQuery(proxyGroupsQuery());
  const options = groups.map((group) => [group.proxy_groupid, group.name] as const);
  return (
    <>
      <SelectField
        label={texts.proxyGroup}
        options={[["0", texts.noGroup], ...options]}
        value={draft.groupid}
        onChange={(groupid) => set({ groupid })}
      />
      {draft.groupid !== "0" && (
        <div className="grid gap-4 sm:grid-cols-[1fr_12rem]">
          <TextField
            label={texts.localAddress}
            required
            hint={texts.localAddressHint}
            value={draft.localAddress}
            onChange={(localAddress) => set({ localAddress })}
          />
          <TextField
            label={texts.localPort}
            value={draft.localPort}
            onChange={(localPort) => set({ localPort })}
          />
        </div>
      )}
    </>
  );
}

/** Creates or edits a proxy. */
export function ProxyDialog({ proxy, onClose }: { proxy: ProxyRow | null; onClose: () => void }) {
  const [draft, setDraft, restored] = useKeptState("proxy", proxyDraft(proxy));
  const set = (next: Partial<ProxyDraft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const part = { draft, set };
  return (
    <SaveDialog
      title={proxy ? texts.editName(proxy.name) : texts.createProxy}
      word={texts.proxy}
      wide
      draft={draft}
      restored={restored}
      stale={
        proxy
          ? {
              before: proxy,
              now: () => reread(proxiesQuery(), (one) => one.proxyid === proxy.proxyid),
            }
          : undefined
      }
      problem={proxyProblem(draft, proxy)}
      save={() => saveProxy(proxy?.proxyid ?? null, proxyParams(draft))}
      saved={texts.saved(draft.name)}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        hint={texts.nameHint}
        autoFocus={!proxy}
        maxLength={128}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <SelectField
        label={texts.mode}
        options={MODES}
        value={draft.mode}
        onChange={(mode) => set({ mode })}
      />
      <Place {...part} />
      <Membership {...part} />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      <Encryption {...part} isNew={proxy === null} />
      <Timeouts {...part} />
    </SaveDialog>
  );
}

export function Proxies({ onEdit }: { onEdit: (proxy: ProxyRow) => void }) {
  const query = useQuery(proxiesQuery());
  const { data: groups = [] } = useQuery(proxyGroupsQuery());
  const remove = useDelete(deleteProxy, KEYS);
  const nameOf = (id: string) => groups.find((one) => one.proxy_groupid === id)?.name ?? "";
  return (
    <PlainTable<ProxyRow>
      query={query}
      head={[
        ["Name", ""],
        ["Mode", "w-28"],
        ["Proxy group", ""],
        ["Hosts", "w-20"],
        ["Last contact", "w-44"],
        ["", "w-24"],
      ]}
      empty={<Empty icon="screen" title={texts.noProxies} />}
      row={(proxy) => (
        <tr key={proxy.proxyid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`} title={proxy.description || undefined}>
            {proxy.name}
          </td>
          <td className={`${CELL} text-soft`}>
            {isActive(proxyDraft(proxy)) ? texts.active : texts.passive}
          </td>
          <td className={`${CELL} text-soft`}>{nameOf(proxy.proxy_groupid)}</td>
          <td className={`${CELL} tabular`}>{proxy.hosts}</td>
          <td className={`${CELL} text-faint`}>
            {proxy.lastaccess === "0"
              ? texts.neverConnected
              : formatClock(Number(proxy.lastaccess))}
          </td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            <RowButtons
              name={proxy.name}
              onEdit={() => onEdit(proxy)}
              onDelete={() => remove(proxy.proxyid, proxy.name, texts.usedProxy, texts.delete)}
            />
          </td>
        </tr>
      )}
    />
  );
}
