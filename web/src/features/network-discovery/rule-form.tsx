import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { deleteNetworkRules, type NetworkRule, saveNetworkRule } from "~/api/network";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { Checkbox, SelectField, TextField } from "~/ui/field";
import { checkWords, hasValue } from "~/util/network";
import { ChecksEditor } from "./checks-editor";
import { ruleDraft, ruleParams, ruleProblems, withoutCheck } from "./rule-draft";
import { texts } from "./texts";

/** Creates or edits a rule of network discovery. */
export function RuleForm({ rule }: { rule: NetworkRule | null }) {
  const drafting = useDraft(() => ruleDraft(rule), ruleProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["network"] });
    void navigate({ to: "/discovery-rules" });
  };
  const id = rule?.druleid ?? null;
  const valued = draft.checks.flatMap((check, at) =>
    hasValue(check.type) ? [[String(at), `Value of ${checkWords(check)}`] as const] : [],
  );
  return (
    <ObjectForm
      word={texts.ruleWord}
      drafting={drafting}
      isNew={id === null}
      save={() => saveNetworkRule(id, ruleParams(draft))}
      onSaved={leave}
      remove={() => deleteNetworkRules([id ?? ""])}
      onDeleted={leave}
      loss="Its discovered hosts and services are deleted. Hosts created by actions are kept."
    >
      <FormSection title={texts.rule} note="Addresses to scan, and how often.">
        <TextField
          label={texts.name}
          required
          error={problems.name}
          autoFocus={!rule}
          maxLength={255}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <TextField
          label={texts.addresses}
          required
          error={problems.iprange}
          hint={texts.addressesRangesAndNetworks}
          maxLength={2048}
          value={draft.iprange}
          onChange={(iprange) => set({ iprange })}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.updateInterval}
            required
            error={problems.delay}
            value={draft.delay}
            onChange={(delay) => set({ delay })}
          />
          <TextField
            label={texts.concurrentAddresses}
            error={problems.concurrency}
            hint={texts.n0AsManyAs}
            value={draft.concurrency}
            onChange={(concurrency) => set({ concurrency })}
          />
        </div>
        <Checkbox
          label={texts.enabled}
          checked={draft.on}
          onChange={(e) => set({ on: e.target.checked })}
        />
      </FormSection>
      <FormSection title={texts.checks} note="An address is up if at least one check succeeds.">
        <ChecksEditor
          checks={draft.checks}
          onChange={(checks) => set({ checks })}
          onRemove={(at) => set(withoutCheck(draft, at))}
          problems={problems}
        />
      </FormSection>
      <FormSection
        title={texts.hosts}
        note="Properties of the hosts that discovery actions create."
      >
        <SelectField
          label={texts.deviceUniquenessCriteria}
          options={[["ip", texts.address], ...valued]}
          value={draft.unique}
          onChange={(unique) => set({ unique })}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={texts.hostName}
            options={[["dns", texts.dnsName], ["ip", texts.address], ...valued]}
            value={draft.host}
            onChange={(host) => set({ host })}
          />
          <SelectField
            label={texts.visibleName}
            options={[
              ["host", texts.hostName],
              ["dns", texts.dnsName],
              ["ip", texts.address],
              ...valued,
            ]}
            value={draft.visible}
            onChange={(visible) => set({ visible })}
          />
        </div>
      </FormSection>
    </ObjectForm>
  );
}
