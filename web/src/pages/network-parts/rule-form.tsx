import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { explain } from "~/api/errors";
import { deleteNetworkRules, type NetworkRule, saveNetworkRule } from "~/api/network";
import { FormBar } from "~/forms/form-bar";
import { FormSection } from "~/forms/section";
import { confirmed } from "~/ui/confirm";
import { Checkbox, Field, Input, Select } from "~/ui/field";
import { toast } from "~/ui/toast";
import { checkWords, hasValue } from "~/util/network";
import { ChecksEditor } from "./checks-editor";
import { type RuleDraft, ruleDraft, ruleParams, ruleProblems, withoutCheck } from "./rule-draft";

/** Creates or edits a rule of network discovery. */
export function RuleForm({ rule }: { rule: NetworkRule | null }) {
  const [draft, setDraft] = useState(() => ruleDraft(rule));
  const [tried, setTried] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const set = (next: Partial<RuleDraft>) => setDraft({ ...draft, ...next });
  const problems = ruleProblems(draft);
  const shown = tried ? problems : {};
  const leave = (text: string) => {
    toast(text);
    void client.invalidateQueries({ queryKey: ["network"] });
    void navigate({ to: "/discovery-rules" });
  };
  const save = useMutation({
    mutationFn: () => saveNetworkRule(rule?.druleid ?? null, ruleParams(draft)),
    onSuccess: () => leave(`${draft.name} was ${rule ? "saved" : "created"}.`),
  });
  const remove = useMutation({
    mutationFn: () => deleteNetworkRules([rule?.druleid ?? ""]),
    onSuccess: () => leave(`${rule?.name} was deleted.`),
    onError: (error) => toast(explain(error).what, "bad"),
  });
  const onDelete = async () => {
    const body = <p>What it found goes with it; hosts that were made of it stay.</p>;
    if (await confirmed(`Delete ${rule?.name}?`, body, "Delete rule")) remove.mutate();
  };
  const valued = draft.checks.flatMap((check, at) =>
    hasValue(check.type) ? [[String(at), `Value of ${checkWords(check)}`] as const] : [],
  );
  return (
    <form
      className="rounded-lg border bg-surface px-4 shadow-card sm:px-6"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(problems).length === 0) save.mutate();
      }}
    >
      <FormSection title="Rule" note="Where it looks, and how often.">
        <Field label="Name" required error={shown.name}>
          {(id) => (
            <Input
              id={id}
              autoFocus={!rule}
              maxLength={255}
              value={draft.name}
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
        <Field
          label="Addresses"
          required
          error={shown.iprange}
          hint="Addresses, ranges and networks, separated by commas; each at most 65,536 addresses."
        >
          {(id) => (
            <Input
              id={id}
              maxLength={2048}
              value={draft.iprange}
              onChange={(e) => set({ iprange: e.target.value })}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Look every" required error={shown.delay}>
            {(id) => (
              <Input id={id} value={draft.delay} onChange={(e) => set({ delay: e.target.value })} />
            )}
          </Field>
          <Field
            label="Addresses at one time"
            error={shown.concurrency}
            hint="0: as many as go without delaying other checks."
          >
            {(id) => (
              <Input
                id={id}
                value={draft.concurrency}
                onChange={(e) => set({ concurrency: e.target.value })}
              />
            )}
          </Field>
        </div>
        <Checkbox
          label="Enabled"
          checked={draft.on}
          onChange={(e) => set({ on: e.target.checked })}
        />
      </FormSection>
      <FormSection title="Checks" note="An address is up when one of them is.">
        <ChecksEditor
          checks={draft.checks}
          onChange={(checks) => set({ checks })}
          onRemove={(at) => setDraft(withoutCheck(draft, at))}
          problems={shown}
        />
      </FormSection>
      <FormSection title="Hosts" note="What discovery actions make of what is found.">
        <Field label="Hosts are told apart by">
          {(id) => (
            <Select
              id={id}
              options={[["ip", "Address"], ...valued]}
              value={draft.unique}
              onChange={(e) => set({ unique: e.target.value })}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Host name">
            {(id) => (
              <Select
                id={id}
                options={[["dns", "DNS name"], ["ip", "Address"], ...valued]}
                value={draft.host}
                onChange={(e) => set({ host: e.target.value })}
              />
            )}
          </Field>
          <Field label="Visible name">
            {(id) => (
              <Select
                id={id}
                options={[["host", "Host name"], ["dns", "DNS name"], ["ip", "Address"], ...valued]}
                value={draft.visible}
                onChange={(e) => set({ visible: e.target.value })}
              />
            )}
          </Field>
        </div>
      </FormSection>
      <FormBar
        save={rule ? "Save rule" : "Create rule"}
        busy={save.isPending}
        error={save.error}
        problems={shown}
        onDelete={rule ? () => void onDelete() : undefined}
        deleting={remove.isPending}
        deleteLabel="Delete…"
      />
    </form>
  );
}
