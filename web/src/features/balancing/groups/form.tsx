import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { deleteEngineGroups, type EngineGroup, mayBalance, saveEngineGroup } from "~/api/balancing";
import { HaMode, Spread } from "~/api/placement";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { type Problems, useDraft } from "~/shared/forms/use-draft";
import { useRefusal } from "~/shared/forms/use-refusal";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { oneOf } from "~/util/one-of";
import { savedReviewed } from "../apply/review";
import { useLeave } from "../leave";
import {
  type GroupDraft,
  groupDraft,
  groupParams,
  groupProblems,
  movedSettings,
  usedFields,
} from "./draft";
import { Moves } from "./moves";
import { texts } from "./texts";

interface PartProps {
  draft: GroupDraft;
  set: (next: Partial<GroupDraft>) => void;
  problems: Problems;
}

/** A choice whose hint explains what is chosen. */
const optionsOf = <K extends string>(names: Readonly<Record<K, string>>, order: readonly K[]) =>
  order.map((value) => [value, names[value]] as const);

const MODES = Object.values(HaMode);
const SPREADS = Object.values(Spread);

/** How engines share VIPs, and when one counts as failed. */
function Availability({ draft, set, problems }: PartProps) {
  const used = usedFields(draft);
  return (
    <FormSection title={texts.availability} note={texts.availabilityNote}>
      <SelectField
        label={texts.mode}
        hint={texts.modeHints[draft.ha_mode]}
        error={problems.ha_mode}
        options={optionsOf(texts.modes, MODES)}
        value={draft.ha_mode}
        onChange={(mode) => set({ ha_mode: oneOf(mode, MODES) ?? draft.ha_mode })}
      />
      {used.spare_engines && (
        <TextField
          label={texts.spare}
          hint={texts.spareHint}
          error={problems.spare_engines}
          inputMode="numeric"
          value={draft.spare_engines}
          onChange={(spare_engines) => set({ spare_engines })}
        />
      )}
      {used.engines && (
        <SelectField
          label={texts.enginesOfVip}
          hint={texts.enginesHint}
          options={[
            ["all", texts.allEngines],
            ["some", texts.someEngines],
          ]}
          value={draft.engines}
          onChange={(engines) => set({ engines: engines === "some" ? "some" : "all" })}
        />
      )}
      {used.engines_per_vip && (
        <TextField
          label={texts.perVip}
          hint={texts.perVipHint}
          error={problems.engines_per_vip}
          inputMode="numeric"
          value={draft.engines_per_vip}
          onChange={(engines_per_vip) => set({ engines_per_vip })}
        />
      )}
      <TextField
        label={texts.failoverAfter}
        hint={texts.failoverHint}
        error={problems.failover_after}
        inputMode="numeric"
        value={draft.failover_after}
        onChange={(failover_after) => set({ failover_after })}
      />
    </FormSection>
  );
}

/** On which engines VIPs are placed, and how routers learn it. */
function Placing({ draft, set, problems }: PartProps) {
  const used = usedFields(draft);
  return (
    <FormSection title={texts.placing} note={texts.placingNote}>
      {used.placement && (
        <SelectField
          label={texts.placement}
          hint={texts.placementHints[draft.placement]}
          error={problems.placement}
          options={optionsOf(texts.placements, SPREADS)}
          value={draft.placement}
          onChange={(value) => set({ placement: oneOf(value, SPREADS) ?? draft.placement })}
        />
      )}
      <TextField
        label={texts.perEngine}
        hint={texts.perEngineHint}
        error={problems.vips_per_engine}
        inputMode="numeric"
        value={draft.vips_per_engine}
        onChange={(vips_per_engine) => set({ vips_per_engine })}
      />
      {used.rebalance && (
        <div className="flex flex-col gap-1">
          <Checkbox
            label={texts.rebalanceLabel}
            checked={draft.rebalance}
            onChange={(event) => set({ rebalance: event.target.checked })}
          />
          <p className="pl-5.5 text-xs text-faint">{texts.rebalanceHint}</p>
        </div>
      )}
      <TextareaField
        label={texts.announce}
        hint={texts.announceHint}
        error={problems.announce}
        rows={5}
        className="font-mono text-xs"
        value={draft.announce}
        onChange={(announce) => set({ announce })}
      />
    </FormSection>
  );
}

/** Goes to the page of a group that exists, where its VIPs move. */
function useAfterSave(id: string | null) {
  const leave = useLeave("engine-groups");
  const navigate = useNavigate();
  const client = useQueryClient();
  return () => {
    if (id === null) return leave();
    void client.invalidateQueries({ queryKey: ["balancing"] });
    void navigate({ to: "/balancing/engine-groups/$id/placement", params: { id } });
  };
}

/** Creates or edits an engine group. */
export function EngineGroupForm({ row }: { row: EngineGroup | null }) {
  const drafting = useDraft(() => groupDraft(row), groupProblems);
  const { draft, set } = drafting;
  const { problems, tell } = useRefusal(drafting);
  const leave = useLeave("engine-groups");
  const id = row?.enginegroupid ?? null;
  const afterSave = useAfterSave(id);
  const save = () => {
    const params = groupParams(draft);
    const moved = row ? movedSettings(row, draft) : [];
    return savedReviewed(
      texts.groupWord,
      id,
      { method: "enginegroup.update", params: { enginegroupid: id, ...params } },
      () => saveEngineGroup(id, params),
      (moves) => <Moves moves={moves} settings={moved} />,
    );
  };
  const part = { draft, set, problems };
  return (
    <ObjectForm
      word={texts.groupWord}
      drafting={drafting}
      isNew={id === null}
      save={() => tell(save())}
      readOnly={!mayBalance()}
      onSaved={afterSave}
      remove={() => deleteEngineGroups([id ?? ""])}
      onDeleted={leave}
      loss={texts.loss}
    >
      <FormSection title={texts.group} note={texts.groupNote}>
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
          error={problems.description}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
      </FormSection>
      <Availability {...part} />
      <Placing {...part} />
    </ObjectForm>
  );
}
