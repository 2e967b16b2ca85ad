import { type ConnectorRow, connectorsQuery, saveConnector } from "~/api/connectors";
import { EvalType } from "~/api/schema";
import { Mask } from "~/shared/forms/mask";
import { TagConditionsEditor } from "~/shared/forms/tag-conditions";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { SaveDialog } from "~/shared/save-dialog";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import {
  AUTHENTICATION,
  type ConnectorDraft,
  connectorDraft,
  connectorParams,
  connectorProblem,
  OPERATORS,
  repeats,
  sendsValues,
  usesPassword,
  usesToken,
  VALUE_TYPES,
} from "./draft";
import { texts } from "./texts";

export const KEYS = [["connectors"]];
const DATA = [
  ["0", texts.itemValues],
  ["1", texts.events],
] as const;
const EVALUATION = [
  [EvalType.AndOr, texts.andOr],
  [EvalType.Or, texts.or],
] as const;

interface PartProps {
  draft: ConnectorDraft;
  set: (next: Partial<ConnectorDraft>) => void;
}

type TextName = {
  [K in keyof ConnectorDraft]: ConnectorDraft[K] extends string ? K : never;
}[keyof ConnectorDraft];

interface TextProps extends PartProps {
  name: TextName;
  label: string;
  hint?: string;
  required?: boolean;
}

function Text({ draft, set, name, ...box }: TextProps) {
  return <TextField {...box} value={draft[name]} onChange={(value) => set({ [name]: value })} />;
}

function Secret({ draft, set, name, ...box }: TextProps) {
  return (
    <TextField
      {...box}
      type="password"
      autoComplete="new-password"
      value={draft[name]}
      onChange={(value) => set({ [name]: value })}
    />
  );
}

/** What is sent. */
function Data({ draft, set }: PartProps) {
  return (
    <>
      <SegmentedField
        label={texts.dataType}
        value={draft.data_type === "1" ? "1" : "0"}
        options={DATA}
        onChange={(data_type) => set({ data_type })}
      />
      {sendsValues(draft) && (
        <Mask
          label={texts.valueTypes}
          names={VALUE_TYPES}
          mask={draft.valueTypes}
          onChange={(valueTypes) => set({ valueTypes })}
        />
      )}
      <section className="flex flex-col gap-2">
        <h3 className="text-xs font-medium text-soft">{texts.tags}</h3>
        <p className="text-xs text-faint">{texts.tagsNote}</p>
        {draft.tags.length > 1 && (
          <SegmentedField
            label={texts.combineTags}
            value={draft.tags_evaltype === EvalType.Or ? EvalType.Or : EvalType.AndOr}
            options={EVALUATION}
            onChange={(tags_evaltype) => set({ tags_evaltype })}
          />
        )}
        <TagConditionsEditor
          tags={draft.tags}
          operators={OPERATORS}
          onChange={(tags) => set({ tags })}
        />
      </section>
    </>
  );
}

function Authentication({ stored, ...part }: PartProps & { stored: ConnectorRow | null }) {
  const { draft, set } = part;
  const keep = stored?.authtype === draft.authtype ? texts.keep : undefined;
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <SelectField
        label={texts.authentication}
        options={AUTHENTICATION}
        value={draft.authtype}
        onChange={(authtype) => set({ authtype })}
      />
      {usesPassword(draft) && (
        <>
          <Text name="username" label={texts.userName} {...part} />
          <Secret name="password" label={texts.password} hint={keep} {...part} />
        </>
      )}
      {usesToken(draft) && (
        <Secret name="token" label={texts.bearerToken} required={!keep} hint={keep} {...part} />
      )}
    </div>
  );
}

/** Limits and what the connection needs. */
function Advanced({ isNew, ...part }: PartProps & { isNew: boolean }) {
  const { draft, set } = part;
  return (
    <section className="flex flex-col gap-4">
      <h3 className="text-xs font-medium text-soft">{texts.advanced}</h3>
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Text name="max_records" label={texts.maxRecords} hint={texts.noLimit} {...part} />
        <Text name="max_senders" label={texts.maxSenders} {...part} />
        <Text name="max_attempts" label={texts.maxAttempts} {...part} />
        {repeats(draft) && <Text name="attempt_interval" label={texts.attemptInterval} {...part} />}
        <Text name="timeout" label={texts.timeout} {...part} />
      </div>
      <Text name="http_proxy" label={texts.httpProxy} {...part} />
      <div className="flex flex-wrap gap-4">
        <Checkbox
          label={texts.verifyPeer}
          checked={draft.verifyPeer}
          onChange={(event) => set({ verifyPeer: event.target.checked })}
        />
        <Checkbox
          label={texts.verifyHost}
          checked={draft.verifyHost}
          onChange={(event) => set({ verifyHost: event.target.checked })}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Text name="ssl_cert_file" label={texts.certFile} {...part} />
        <Text name="ssl_key_file" label={texts.keyFile} {...part} />
        <Secret
          name="ssl_key_password"
          label={texts.keyPassword}
          hint={isNew ? undefined : texts.keep}
          {...part}
        />
      </div>
    </section>
  );
}

interface DialogProps {
  stored: ConnectorRow | null;
  onClose: () => void;
}

/** Creates or edits a connector. */
export function ConnectorDialog({ stored, onClose }: DialogProps) {
  const [draft, setDraft, restored] = useKeptState("connector", connectorDraft(stored));
  const set = (next: Partial<ConnectorDraft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const part = { draft, set };
  const id = stored?.connectorid ?? null;
  return (
    <SaveDialog
      title={stored ? texts.editName(stored.name) : texts.createConnector}
      word={texts.connector}
      wide
      draft={draft}
      restored={restored}
      stale={
        stored
          ? {
              before: stored,
              now: () => reread(connectorsQuery(), (one) => one.connectorid === id),
            }
          : undefined
      }
      problem={connectorProblem(draft, stored)}
      save={() => saveConnector(id, connectorParams(draft))}
      saved={texts.wasSaved(draft.name)}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        autoFocus={!stored}
        maxLength={255}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <Text name="url" label={texts.url} required hint={texts.urlHint} {...part} />
      <Data {...part} />
      <Authentication {...part} stored={stored} />
      <Advanced {...part} isNew={stored === null} />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      <Checkbox
        label={texts.enabled}
        checked={draft.on}
        onChange={(event) => set({ on: event.target.checked })}
      />
    </SaveDialog>
  );
}
