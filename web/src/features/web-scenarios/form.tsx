import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Owner } from "~/api/owners";
import { deleteWebScenario, saveWebScenario, type WebScenarioDetail } from "~/api/web-scenarios";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { useDraft } from "~/shared/forms/use-draft";
import { onOwner, useLeave } from "~/shared/owner";
import { Button } from "~/ui/button";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { lazyComponent } from "~/ui/lazy";
import { draftOf, paramsOf, problemsOf, type WebDraft } from "./draft";
import { WebStepsEditor } from "./steps-editor";
import { texts } from "./texts";

const WebTestDialog = lazyComponent(() => import("./test-dialog").then((m) => m.default), {
  fallback: null,
});

const PROOFS: readonly (readonly [string, string])[] = [
  ["0", "None"],
  ["1", "Basic"],
  ["2", "NTLM"],
  ["3", "Kerberos"],
  ["4", "Digest"],
];

const TICKET_HINT = "Uses a ticket of the server's machine instead of the user name and password";

interface PartProps {
  draft: WebDraft;
  set: (next: Partial<WebDraft>) => void;
  problems: Record<string, string>;
}

type TextMember = {
  [K in keyof WebDraft]: WebDraft[K] extends string ? K : never;
}[keyof WebDraft];

function Text(
  props: PartProps & { member: TextMember; label: string; hint?: string; secret?: boolean },
) {
  const { draft, set, problems, member, label, hint, secret } = props;
  return (
    <TextField
      label={label}
      hint={hint}
      error={problems[member]}
      type={secret ? "password" : "text"}
      autoComplete={secret ? "new-password" : "off"}
      value={draft[member]}
      onChange={(value) => set({ ...draft, [member]: value })}
    />
  );
}

function Lines(props: PartProps & { member: TextMember; label: string; hint: string }) {
  const { draft, set, problems, member, label, hint } = props;
  return (
    <TextareaField
      label={label}
      hint={hint}
      error={problems[member]}
      rows={3}
      className="font-mono text-xs"
      value={draft[member]}
      onChange={(value) => set({ ...draft, [member]: value })}
    />
  );
}

function Common(props: PartProps) {
  return (
    <FormSection title={texts.forAllSteps} note="A step with headers sends only its own headers.">
      <Lines
        {...props}
        member="variables"
        label={texts.scenarioVariables}
        hint={texts.nameValueOrName}
      />
      <Lines
        {...props}
        member="headers"
        label={texts.scenarioHeaders}
        hint={texts.onePerLineName}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <Text {...props} member="agent" label={texts.userAgent} />
        <Text {...props} member="retries" label={texts.attempts} hint={texts.perStep1To} />
        <Text {...props} member="proxy" label={texts.httpProxy} hint={texts.suchAsHttpProxy} />
      </div>
    </FormSection>
  );
}

function Access(props: PartProps) {
  const { draft, set } = props;
  return (
    <FormSection title={texts.access} note="Authentication, and verification of the server.">
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label={texts.authentication}
          hint={draft.authentication === "3" ? TICKET_HINT : undefined}
          options={PROOFS}
          value={draft.authentication}
          onChange={(authentication) => set({ authentication })}
        />
        {draft.authentication !== "0" && (
          <>
            <Text {...props} member="user" label={texts.userName} />
            <Text {...props} member="password" label={texts.password} secret />
          </>
        )}
      </div>
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        <Checkbox
          label={texts.verifyCertificate}
          checked={draft.verifyPeer}
          onChange={(e) => set({ verifyPeer: e.target.checked })}
        />
        <Checkbox
          label={texts.verifyHostName}
          checked={draft.verifyHost}
          onChange={(e) => set({ verifyHost: e.target.checked })}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Text
          {...props}
          member="certFile"
          label={texts.certificateFile}
          hint={texts.inTheServersSsl}
        />
        <Text {...props} member="keyFile" label={texts.keyFile} hint={texts.inTheServersSslKey} />
        <Text {...props} member="keyPassword" label={texts.keyPassword} secret />
      </div>
    </FormSection>
  );
}

interface WebFormProps {
  owner: Owner;
  scenario: WebScenarioDetail | null;
}

/** Creates or edits a web scenario. */
export function WebForm({ owner, scenario }: WebFormProps) {
  const drafting = useDraft(() => draftOf(scenario), problemsOf);
  const [testing, setTesting] = useState(false);
  const client = useQueryClient();
  const goBack = useLeave();
  const inherited = scenario !== null && scenario.templateid !== "0";
  const { draft, set, problems } = drafting;
  const part = { draft, set, problems };
  const leave = () => {
    void client.invalidateQueries();
    goBack(owner, "web");
  };
  const id = scenario?.httptestid ?? null;
  const params = () => ({
    ...(id === null ? { hostid: owner.id } : {}),
    ...paramsOf(draft, inherited),
  });
  return (
    <ObjectForm
      word={texts.webScenario}
      drafting={drafting}
      isNew={id === null}
      save={() => saveWebScenario(id, params())}
      onSaved={leave}
      inherited={inherited && "You can change interval and state here."}
      remove={() => deleteWebScenario(id ?? "")}
      onDeleted={leave}
      loss="Its items and their history are deleted too."
      buttons={
        <Button icon="flask" onClick={() => setTesting(true)}>
          {texts.test}
        </Button>
      }
    >
      <FormSection title={texts.webScenarioLabel} note={onOwner(owner)}>
        <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
          <TextField
            label={texts.name}
            required
            error={problems.name}
            autoFocus={!scenario}
            maxLength={64}
            disabled={inherited}
            value={draft.name}
            onChange={(name) => set({ name })}
          />
          <Text {...part} member="delay" label={texts.updateInterval} />
        </div>
        <Checkbox
          label={texts.enabled}
          checked={draft.enabled}
          onChange={(e) => set({ enabled: e.target.checked })}
        />
      </FormSection>
      <fieldset disabled={inherited} className="contents">
        <FormSection
          title={texts.steps}
          note="Requested in this order. A failed step ends the run."
        >
          <WebStepsEditor
            steps={draft.steps}
            onChange={(steps) => set({ steps })}
            problems={problems}
          />
        </FormSection>
        <Common {...part} />
        <Access {...part} />
        <FormSection title={texts.tags} note="Added to the items of the scenario.">
          <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
        </FormSection>
      </fieldset>
      {testing && <WebTestDialog draft={draft} owner={owner} onClose={() => setTesting(false)} />}
    </ObjectForm>
  );
}
