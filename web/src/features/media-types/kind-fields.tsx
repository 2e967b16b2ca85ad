import { SmtpSecurity } from "~/api/schema";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { Checkbox, Input, SelectField, TextareaField, TextField } from "~/ui/field";
import type { MediaTypeDraft } from "./draft";
import { PROVIDER_SERVERS, PROVIDERS, SECURITIES, SUBMISSION_PORT } from "./kinds";
import { texts } from "./texts";

export interface KindProps {
  draft: MediaTypeDraft;
  set: (next: Partial<MediaTypeDraft>) => void;
  problems: Record<string, string>;
  isNew: boolean;
}

/** What an unprotected connection means, next to the settings that cause it. */
function warningOf(draft: MediaTypeDraft): string | undefined {
  if (draft.security === SmtpSecurity.None)
    return draft.login ? texts.clearPassword : texts.clearText;
  return draft.verifyPeer && draft.verifyHost ? undefined : texts.unchecked;
}

function Encryption({ draft, set }: Pick<KindProps, "draft" | "set">) {
  const warning = warningOf(draft);
  return (
    <>
      <SelectField
        label={texts.encryption}
        options={SECURITIES}
        value={draft.security}
        onChange={(security) => set({ security })}
      />
      {draft.security !== SmtpSecurity.None && (
        <div className="flex flex-col gap-1.5">
          <Checkbox
            label={texts.verifyPeer}
            checked={draft.verifyPeer}
            onChange={(e) => set({ verifyPeer: e.target.checked })}
          />
          <Checkbox
            label={texts.verifyHost}
            checked={draft.verifyHost}
            onChange={(e) => set({ verifyHost: e.target.checked })}
          />
        </div>
      )}
      {warning && <p className="text-xs text-bad-ink">{warning}</p>}
    </>
  );
}

function Login({ draft, set, problems, isNew }: KindProps) {
  return (
    <>
      <Checkbox
        label={texts.login}
        checked={draft.login}
        onChange={(e) => set({ login: e.target.checked })}
      />
      {draft.login && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.username}
            required
            error={problems.username}
            value={draft.username}
            onChange={(username) => set({ username })}
          />
          <TextField
            label={texts.password}
            type="password"
            autoComplete="new-password"
            hint={isNew ? undefined : texts.passwordHint}
            value={draft.password}
            onChange={(password) => set({ password })}
          />
        </div>
      )}
    </>
  );
}

export function EmailFields(props: KindProps) {
  const { draft, set, problems } = props;
  const choose = (provider: string) => {
    const known = PROVIDER_SERVERS[provider];
    set(
      known
        ? { ...known, provider, port: SUBMISSION_PORT, verifyPeer: true, verifyHost: true }
        : { provider },
    );
  };
  return (
    <FormSection title={texts.mailServer} note={texts.mailServerNote}>
      <SelectField
        label={texts.provider}
        options={PROVIDERS}
        value={draft.provider}
        onChange={choose}
      />
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_7rem]">
        <TextField
          label={texts.server}
          required
          error={problems.server}
          maxLength={255}
          value={draft.server}
          onChange={(server) => set({ server })}
        />
        <TextField
          label={texts.port}
          required
          inputMode="numeric"
          error={problems.port}
          value={draft.port}
          onChange={(port) => set({ port })}
        />
      </div>
      <TextField
        label={texts.senderAddress}
        required
        hint={texts.senderHint}
        error={problems.email}
        maxLength={255}
        value={draft.email}
        onChange={(email) => set({ email })}
      />
      <TextField
        label={texts.helo}
        hint={texts.heloHint}
        maxLength={255}
        value={draft.helo}
        onChange={(helo) => set({ helo })}
      />
      <Encryption draft={draft} set={set} />
      <Login {...props} />
      <Checkbox
        label={texts.html}
        checked={draft.html}
        onChange={(e) => set({ html: e.target.checked })}
      />
      <TextField
        label={texts.replyAddress}
        hint={texts.replyAddressHint}
        error={problems.replyAddress}
        maxLength={255}
        value={draft.replyAddress}
        onChange={(replyAddress) => set({ replyAddress })}
      />
    </FormSection>
  );
}

/** What the receiver can do with messages: edit an earlier one, and know repetitions. */
function Receiver({ draft, set }: Pick<KindProps, "draft" | "set">) {
  return (
    <>
      <div className="flex flex-col gap-1">
        <Checkbox
          label={texts.living}
          checked={draft.living}
          onChange={(e) => set({ living: e.target.checked })}
        />
        <p className="pl-5.5 text-xs text-faint">{texts.livingNote}</p>
      </div>
      <div className="flex flex-col gap-1">
        <Checkbox
          label={texts.once}
          checked={draft.deduplicates}
          onChange={(e) => set({ deduplicates: e.target.checked })}
        />
        <p className="pl-5.5 text-xs text-faint">{texts.onceNote}</p>
      </div>
    </>
  );
}

export function ScriptFields({ draft, set, problems }: KindProps) {
  return (
    <FormSection title={texts.script} note={texts.scriptNote}>
      <TextField
        label={texts.scriptName}
        required
        hint={texts.scriptNameHint}
        error={problems.execPath}
        maxLength={255}
        value={draft.execPath}
        onChange={(execPath) => set({ execPath })}
      />
      <div className="flex flex-col gap-1">
        <span className="text-xs font-medium text-soft">{texts.arguments}</span>
        <RowsEditor
          word={texts.argumentWord}
          rows={draft.args}
          onChange={(args) => set({ args })}
          fresh={() => ({ value: "" })}
          columns="grid-cols-[minmax(0,1fr)_2rem]"
        >
          {(arg, change) => (
            <Input
              aria-label={texts.argument}
              value={arg.value}
              onChange={(e) => change({ value: e.target.value })}
            />
          )}
        </RowsEditor>
      </div>
      <Receiver draft={draft} set={set} />
    </FormSection>
  );
}

export function SmsFields({ draft, set, problems }: KindProps) {
  return (
    <FormSection title={texts.modem} note={texts.modemNote}>
      <TextField
        label={texts.modemDevice}
        required
        error={problems.modem}
        maxLength={255}
        value={draft.modem}
        onChange={(modem) => set({ modem })}
      />
    </FormSection>
  );
}

function Parameters({ draft, set, problems }: KindProps) {
  return (
    <FormSection title={texts.parameters} note={texts.parametersNote}>
      <RowsEditor
        word={texts.parameterWord}
        rows={draft.params}
        onChange={(params) => set({ params })}
        fresh={() => ({ name: "", value: "" })}
        columns="grid-cols-[minmax(0,1fr)_minmax(0,1.6fr)_2rem]"
        note={problems.params && <p className="text-xs text-bad-ink">{problems.params}</p>}
      >
        {(param, change) => (
          <>
            <Input
              aria-label={texts.parameterName}
              value={param.name}
              onChange={(e) => change({ name: e.target.value })}
            />
            <Input
              aria-label={texts.parameterValue}
              value={param.value}
              onChange={(e) => change({ value: e.target.value })}
            />
          </>
        )}
      </RowsEditor>
    </FormSection>
  );
}

function MenuEntry({ draft, set, problems }: KindProps) {
  return (
    <>
      <Checkbox
        label={texts.menu}
        checked={draft.menu}
        onChange={(e) => set({ menu: e.target.checked })}
      />
      {draft.menu && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.menuName}
            required
            error={problems.menu}
            maxLength={255}
            value={draft.menuName}
            onChange={(menuName) => set({ menuName })}
          />
          <TextField
            label={texts.menuUrl}
            required
            hint={texts.menuUrlHint}
            maxLength={2048}
            value={draft.menuUrl}
            onChange={(menuUrl) => set({ menuUrl })}
          />
        </div>
      )}
    </>
  );
}

export function WebhookFields(props: KindProps) {
  const { draft, set, problems } = props;
  return (
    <>
      <Parameters {...props} />
      <FormSection title={texts.webhook} note={texts.webhookNote}>
        <TextareaField
          label={texts.code}
          required
          error={problems.script}
          rows={12}
          className="font-mono text-xs"
          value={draft.script}
          onChange={(script) => set({ script })}
        />
        <TextField
          label={texts.timeout}
          required
          fieldClass="max-w-40"
          error={problems.timeout}
          value={draft.timeout}
          onChange={(timeout) => set({ timeout })}
        />
        <Checkbox
          label={texts.processTags}
          checked={draft.processTags}
          onChange={(e) => set({ processTags: e.target.checked })}
        />
        <Receiver draft={draft} set={set} />
        <MenuEntry {...props} />
      </FormSection>
    </>
  );
}
