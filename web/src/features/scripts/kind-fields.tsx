import { RowsEditor } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { Checkbox, Input, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { ExecuteOn, ScriptKind } from "~/util/scripts";
import { isRemote, type ScriptDraft } from "./draft";
import { texts } from "./texts";

export interface PartProps {
  draft: ScriptDraft;
  set: (next: Partial<ScriptDraft>) => void;
  problems: Record<string, string>;
  isNew: boolean;
}

const PLACES = [
  [ExecuteOn.Agent, "Agent"],
  [ExecuteOn.Server, "Server"],
  [ExecuteOn.Proxy, "Proxy or server"],
] as const;
const PLACE_NOTES: Record<string, string> = {
  [ExecuteOn.Agent]: texts.agentNote,
  [ExecuteOn.Server]: texts.serverNote,
  [ExecuteOn.Proxy]: texts.proxyNote,
};
const LOGINS = [
  ["password", "Password"],
  ["key", "Public key"],
] as const;

function Place({ draft, set }: PartProps) {
  return (
    <div className="flex flex-col gap-1">
      <SegmentedField
        label={texts.executeOn}
        value={PLACES.find(([place]) => place === draft.executeOn)?.[0] ?? ExecuteOn.Proxy}
        options={PLACES}
        onChange={(executeOn) => set({ executeOn })}
      />
      <p className="text-xs text-faint">{PLACE_NOTES[draft.executeOn]}</p>
    </div>
  );
}

function KeyFiles({ draft, set, problems }: PartProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label={texts.publicKey}
        required
        hint={texts.keyHint}
        error={problems.publicKey}
        maxLength={64}
        value={draft.publicKey}
        onChange={(publicKey) => set({ publicKey })}
      />
      <TextField
        label={texts.privateKey}
        required
        hint={texts.keyHint}
        error={problems.privateKey}
        maxLength={64}
        value={draft.privateKey}
        onChange={(privateKey) => set({ privateKey })}
      />
    </div>
  );
}

function Login(props: PartProps) {
  const { draft, set, problems, isNew } = props;
  const byKey = draft.type === ScriptKind.Ssh && draft.byKey;
  return (
    <>
      {draft.type === ScriptKind.Ssh && (
        <SegmentedField
          label={texts.authentication}
          value={byKey ? "key" : "password"}
          options={LOGINS}
          onChange={(login) => set({ byKey: login === "key" })}
        />
      )}
      {draft.type === ScriptKind.Telnet && (
        <p className="text-xs text-bad-ink">{texts.telnetNote}</p>
      )}
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_7rem]">
        <TextField
          label={texts.username}
          required
          error={problems.username}
          maxLength={64}
          value={draft.username}
          onChange={(username) => set({ username })}
        />
        <TextField
          label={byKey ? texts.passphrase : texts.password}
          type="password"
          autoComplete="new-password"
          hint={isNew ? undefined : texts.passwordHint}
          maxLength={64}
          value={draft.password}
          onChange={(password) => set({ password })}
        />
        <TextField
          label={texts.port}
          hint={texts.portHint}
          error={problems.port}
          value={draft.port}
          onChange={(port) => set({ port })}
        />
      </div>
      {byKey && <KeyFiles {...props} />}
    </>
  );
}

function Webhook({ draft, set, problems }: PartProps) {
  return (
    <>
      <div className="flex flex-col gap-1">
        <span className="text-xs font-medium text-soft">{texts.parameters}</span>
        <RowsEditor
          word={texts.parameterWord}
          rows={draft.params}
          onChange={(params) => set({ params })}
          fresh={() => ({ name: "", value: "" })}
          columns="grid-cols-[1fr_1fr_2rem]"
          note={problems.params && <p className="text-xs text-bad-ink">{problems.params}</p>}
        >
          {(param, change) => (
            <>
              <Input
                aria-label={texts.parameterName}
                maxLength={255}
                value={param.name}
                onChange={(event) => change({ name: event.target.value })}
              />
              <Input
                aria-label={texts.parameterValue}
                maxLength={2048}
                value={param.value}
                onChange={(event) => change({ value: event.target.value })}
              />
            </>
          )}
        </RowsEditor>
        <p className="text-xs text-faint">{texts.parametersNote}</p>
      </div>
      <TextareaField
        label={texts.code}
        required
        error={problems.command}
        rows={12}
        className="font-mono text-xs"
        value={draft.command}
        onChange={(command) => set({ command })}
      />
      <TextField
        label={texts.timeout}
        error={problems.timeout}
        fieldClass="max-w-32"
        value={draft.timeout}
        onChange={(timeout) => set({ timeout })}
      />
    </>
  );
}

function Url({ draft, set, problems }: PartProps) {
  return (
    <>
      <TextField
        label={texts.url}
        required
        hint={texts.urlHint}
        error={problems.url}
        maxLength={2048}
        value={draft.url}
        onChange={(url) => set({ url })}
      />
      <Checkbox
        label={texts.newWindow}
        checked={draft.newWindow}
        onChange={(event) => set({ newWindow: event.target.checked })}
      />
    </>
  );
}

function Command({ draft, set, problems }: PartProps) {
  if (draft.type === ScriptKind.Ipmi)
    return (
      <TextField
        label={texts.ipmiCommand}
        required
        hint={texts.ipmiHint}
        error={problems.command}
        value={draft.command}
        onChange={(command) => set({ command })}
      />
    );
  return (
    <TextareaField
      label={texts.commands}
      required
      hint={texts.commandsHint}
      error={problems.command}
      rows={5}
      className="font-mono text-xs"
      value={draft.command}
      onChange={(command) => set({ command })}
    />
  );
}

const KINDS = [
  [ScriptKind.Shell, "Script"],
  [ScriptKind.Ssh, "SSH"],
  [ScriptKind.Telnet, "Telnet"],
  [ScriptKind.Ipmi, "IPMI"],
  [ScriptKind.Webhook, "Webhook"],
] as const;
/** Only users can open addresses. */
const MENU_KINDS = [...KINDS, [ScriptKind.Url, "URL"]] as const;

/** What runs, and how. */
export function KindFields(props: PartProps & { menu: boolean }) {
  const { draft, set, menu } = props;
  const options = menu ? MENU_KINDS : KINDS;
  const { type } = draft;
  return (
    <FormSection title={texts.run}>
      <SegmentedField
        label={texts.type}
        value={options.find(([kind]) => kind === type)?.[0] ?? ScriptKind.Shell}
        options={options}
        onChange={(next) => set({ type: next })}
      />
      {type === ScriptKind.Shell && <Place {...props} />}
      {isRemote(draft) && <Login {...props} />}
      {type === ScriptKind.Webhook && <Webhook {...props} />}
      {type === ScriptKind.Url && <Url {...props} />}
      {type !== ScriptKind.Webhook && type !== ScriptKind.Url && <Command {...props} />}
    </FormSection>
  );
}
