import { useQuery } from "@tanstack/react-query";
import {
  deletePools,
  mayBalance,
  monitorsQuery,
  type Pool,
  type PoolServer,
  savePool,
} from "~/api/balancing";
import { HeadedRows } from "~/shared/forms/headed-rows";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useRefusal } from "~/shared/forms/use-refusal";
import { Checkbox, Field, Input, Select, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { savedReviewed } from "./apply/review";
import { useLeave } from "./leave";
import {
  newServer,
  type PoolDraft,
  poolDraft,
  poolParams,
  poolProblems,
  RETRIED,
} from "./pool-draft";
import { RevocationLists } from "./revocation";
import { texts } from "./texts";
import { ALGORITHMS, STATES } from "./words";

interface PartProps {
  draft: PoolDraft;
  set: (next: Partial<PoolDraft>) => void;
  problems: Record<string, string>;
}

const COLUMNS =
  "grid-cols-2 sm:grid-cols-[minmax(6rem,1fr)_minmax(8rem,1.4fr)_4.5rem_4rem_5rem_5.5rem_6rem_2rem]";

/** Phones have no heads of columns. */
const LABEL = "text-xs font-medium text-soft sm:hidden";

interface ServerBox {
  member: "name" | "address" | "port" | "weight" | "max_connections";
  label: string;
}

const BOXES: readonly ServerBox[] = [
  { member: "name", label: texts.name },
  { member: "address", label: texts.ipAddress },
  { member: "port", label: texts.port },
  { member: "weight", label: texts.weight },
  { member: "max_connections", label: texts.most },
];

const HEADS = [...BOXES.map(({ label }) => label), "", texts.state];

function ServerBoxes({ row, set }: { row: PoolServer; set: (next: Partial<PoolServer>) => void }) {
  return (
    <>
      {BOXES.map(({ member, label }) => (
        <div key={member} className="flex flex-col gap-1">
          <span aria-hidden="true" className={LABEL}>
            {label}
          </span>
          <Input
            aria-label={label}
            title={label}
            value={row[member]}
            onChange={(event) => set({ [member]: event.target.value })}
          />
        </div>
      ))}
      <Checkbox
        label={texts.backup}
        checked={row.backup === "1"}
        onChange={(event) => set({ backup: event.target.checked ? "1" : "0" })}
      />
      <Select
        aria-label={texts.state}
        options={STATES}
        value={row.state}
        onChange={(event) => set({ state: event.target.value })}
      />
    </>
  );
}

function Servers({ draft, set, problems }: PartProps) {
  return (
    <HeadedRows
      heads={HEADS}
      grid={COLUMNS}
      headClass="max-sm:hidden"
      rowClass="max-sm:items-end max-sm:border-b max-sm:pb-3"
      rows={draft.servers}
      onChange={(servers) => set({ servers })}
      word={texts.serverWord}
      fresh={() => newServer(draft.servers)}
      problem={problems.servers}
    >
      {(row, change) => <ServerBoxes row={row} set={change} />}
    </HeadedRows>
  );
}

/** How a server is chosen, and kept for a client. */
function Choice({ draft, set, problems }: PartProps) {
  const { persistence } = draft;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.algorithm}
          error={problems.algorithm}
          options={ALGORITHMS}
          value={draft.algorithm}
          onChange={(algorithm) => set({ algorithm })}
        />
        {draft.algorithm === "header_hash" && (
          <TextField
            label={texts.header}
            required
            error={problems.hash_key}
            value={draft.hash_key}
            onChange={(hash_key) => set({ hash_key })}
          />
        )}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.persistence}
          error={problems.persistence}
          hint={texts.persistenceHint}
          options={[
            ["", texts.none],
            ["cookie", texts.cookie],
            ["source_ip", texts.clientAddress],
            ["header", texts.header],
          ]}
          value={persistence.type}
          onChange={(type) => set({ persistence: { ...persistence, type } })}
        />
        {(persistence.type === "cookie" || persistence.type === "header") && (
          <TextField
            label={persistence.type === "cookie" ? texts.cookieName : texts.headerName}
            value={persistence.name}
            onChange={(name) => set({ persistence: { ...persistence, name } })}
          />
        )}
      </div>
      <TextField
        label={texts.slowStart}
        hint={texts.slowStartHint}
        error={problems.slow_start}
        value={draft.slow_start}
        onChange={(slow_start) => set({ slow_start })}
      />
    </>
  );
}

/** When a server is not used, or another one is tried. */
function Health({ draft, set, problems }: PartProps) {
  const { data } = useQuery(monitorsQuery());
  const { retries, eject } = draft;
  const monitors = (data ?? []).map((row) => ({ value: row.healthmonitorid, label: row.name }));
  return (
    <>
      <Field
        label={texts.healthMonitors}
        error={problems.healthmonitorid ?? problems.further_monitors}
        hint={texts.poolMonitorsHint}
      >
        {(id) => (
          <Pick
            field
            id={id}
            label={texts.healthMonitors}
            values={draft.monitors}
            options={monitors}
            onChange={(next) => set({ monitors: next })}
          />
        )}
      </Field>
      {(draft.monitors.length > 1 || draft.min_monitors !== "") && (
        <TextField
          label={texts.minMonitors}
          hint={texts.minMonitorsHint}
          error={problems.min_monitors}
          placeholder={texts.all}
          value={draft.min_monitors}
          onChange={(min_monitors) => set({ min_monitors })}
        />
      )}
      <Checkbox
        label={texts.drainInMaintenance}
        checked={draft.host_maintenance === "drain"}
        onChange={({ target }) => set({ host_maintenance: target.checked ? "drain" : "ignore" })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.ejectAfter}
          error={problems.eject}
          placeholder="3"
          value={eject.failures}
          onChange={(failures) => set({ eject: { ...eject, failures } })}
        />
        <TextField
          label={texts.ejectFor}
          placeholder="10s"
          value={eject.for}
          onChange={(time) => set({ eject: { ...eject, for: time } })}
        />
        <TextField
          label={texts.retries}
          error={problems.retries}
          placeholder="1"
          value={retries.count}
          onChange={(count) => set({ retries: { ...retries, count } })}
        />
        <TextField
          label={texts.retryBudget}
          placeholder="20"
          value={retries.budget_percent}
          onChange={(budget_percent) => set({ retries: { ...retries, budget_percent } })}
        />
      </div>
      <fieldset className="flex flex-wrap gap-x-5 gap-y-2">
        <legend className="pb-1 text-xs font-medium text-soft">{texts.retryOn}</legend>
        {RETRIED.map(([event, label]) => (
          <Checkbox
            key={event}
            label={label}
            checked={retries.on.includes(event)}
            onChange={({ target }) =>
              set({
                retries: {
                  ...retries,
                  on: target.checked
                    ? [...retries.on, event]
                    : retries.on.filter((other) => other !== event),
                },
              })
            }
          />
        ))}
      </fieldset>
    </>
  );
}

/** How servers are reached. */
function Connections({ draft, set, problems }: PartProps) {
  const { tls } = draft;
  return (
    <>
      <SelectField
        label={texts.proxyHeader}
        error={problems.send_proxy}
        options={[
          ["", texts.none],
          ["v1", texts.version1],
          ["v2", texts.version2],
        ]}
        value={draft.send_proxy}
        onChange={(send_proxy) => set({ send_proxy })}
      />
      <TextField
        label={texts.serverName}
        error={problems.tls}
        hint={texts.serverNameHint}
        value={tls.sni}
        onChange={(sni) => set({ tls: { ...tls, sni } })}
      />
      {(tls.sni || tls.ca) && (
        <TextareaField
          label={texts.serverAuthorities}
          required
          rows={4}
          className="font-mono text-xs"
          placeholder={texts.pemPlaceholder}
          value={tls.ca}
          onChange={(ca) => set({ tls: { ...tls, ca } })}
        />
      )}
      {tls.sni && tls.ca && (
        <RevocationLists
          label={texts.serverRevocations}
          lists={tls.crl}
          expired={tls.expired_crl}
          onChange={(crl, expired_crl) => set({ tls: { ...tls, crl, expired_crl } })}
        />
      )}
    </>
  );
}

/** Creates or edits a pool. */
export function PoolForm({ row }: { row: Pool | null }) {
  const drafting = useDraft(() => poolDraft(row), poolProblems);
  const { draft, set } = drafting;
  const { problems, tell } = useRefusal(drafting);
  const leave = useLeave("pools");
  const id = row?.poolid ?? null;
  const part = { draft, set, problems };
  const save = () => {
    const members = poolParams(draft);
    const params = { poolid: id, ...members };
    return savedReviewed(texts.poolWord, id, { method: "pool.update", params }, () =>
      savePool(id, members),
    );
  };
  return (
    <ObjectForm
      word={texts.poolWord}
      drafting={drafting}
      isNew={id === null}
      save={() => tell(save())}
      readOnly={!mayBalance()}
      onSaved={leave}
      remove={() => deletePools([id ?? ""])}
      onDeleted={leave}
      loss={texts.poolLoss}
    >
      <FormSection title={texts.pool}>
        <TextField
          label={texts.name}
          required
          error={problems.name}
          autoFocus={!row}
          maxLength={128}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <TextField
          label={texts.description}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
      </FormSection>
      <FormSection title={texts.servers} note={texts.serversNote}>
        <Servers {...part} />
      </FormSection>
      <FormSection title={texts.distribution} note={texts.distributionNote}>
        <Choice {...part} />
      </FormSection>
      <FormSection title={texts.failures} note={texts.failuresNote}>
        <Health {...part} />
      </FormSection>
      <FormSection title={texts.connections} note={texts.connectionsNote}>
        <Connections {...part} />
      </FormSection>
    </ObjectForm>
  );
}
