import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  type ConfigItem,
  deleteConfigItem,
  type ItemKind,
  saveConfigItem,
} from "~/api/item-config";
import type { Owner } from "~/api/owners";
import { valueMapsQuery } from "~/api/valuemaps";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { useDraft } from "~/shared/forms/use-draft";
import { onOwner } from "~/shared/owner";
import { Button } from "~/ui/button";
import { Checkbox, SelectField, Textarea, TextField } from "~/ui/field";
import { lazyComponent } from "~/ui/lazy";
import { Sentence } from "~/ui/sentence";
import { ITEM_TYPES, VALUE_TYPES } from "~/util/item-types";
import { RULE_STEPS } from "~/util/preprocessing";
import { draftOf, hasTrends, type ItemDraft, itemParams, problemsOf } from "./draft";
import { RuleFields } from "./rule-fields";
import { SourceFields } from "./source-fields";
import { StepsEditor } from "./steps";
import { texts } from "./texts";

const TestDialog = lazyComponent(() => import("./test-dialog").then((m) => m.default), {
  fallback: null,
});

const WORDS: Record<ItemKind, string> = {
  item: "item",
  prototype: "item prototype",
  rule: "discovery rule",
};
/** Discovery rules come from everything but calculations and traps. */
const NOT_RULES = new Set(["15", "17"]);

export interface ItemFormProps {
  owner: Owner;
  kind: ItemKind;
  item: ConfigItem | null;
  /** The rule that a new prototype belongs to. */
  ruleid?: string;
  onDone: (itemid: string) => void;
  onDeleted: () => void;
}

function ValueFields({
  draft,
  set,
  ownerid,
  inherited,
}: {
  draft: ItemDraft;
  set: (next: Partial<ItemDraft>) => void;
  ownerid: string;
  inherited: boolean;
}) {
  const { data: maps = [] } = useQuery(valueMapsQuery(ownerid));
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label={texts.units}
        hint={texts.bBpsSUptime}
        disabled={inherited || !hasTrends(draft.valueType)}
        value={draft.units}
        onChange={(units) => set({ units })}
      />
      <SelectField
        label={texts.valueMap}
        disabled={inherited}
        options={[["0", texts.none], ...maps.map((map) => [map.valuemapid, map.name] as const)]}
        value={draft.valuemapid}
        onChange={(valuemapid) => set({ valuemapid })}
      />
      <TextField
        label={texts.keepHistory}
        hint={texts.n0DisablesStorage}
        value={draft.history}
        onChange={(history) => set({ history })}
      />
      {hasTrends(draft.valueType) && (
        <TextField
          label={texts.keepHourlyTrends}
          hint={texts.n0DisablesStorage}
          value={draft.trends}
          onChange={(trends) => set({ trends })}
        />
      )}
    </div>
  );
}

/** Which fields an item from a template keeps from there. */
function InheritedNote({ kind, templateid }: { kind: ItemKind; templateid: string }) {
  return (
    <Sentence
      text={texts.intervalStorageTagsAnd}
      places={{
        template:
          kind === "rule" ? (
            <Link to="/rules/$ruleid" params={{ ruleid: templateid }} className="underline">
              {texts.inTheTemplate}
            </Link>
          ) : (
            <Link to="/items/$itemid/edit" params={{ itemid: templateid }} className="underline">
              {texts.inTheTemplate}
            </Link>
          ),
      }}
    />
  );
}

/** Name, type, value type and key. */
function NameFields({
  kind,
  draft,
  set,
  errors,
  inherited,
  isNew,
}: {
  kind: ItemKind;
  draft: ItemDraft;
  set: (change: Partial<ItemDraft>) => void;
  errors: ReturnType<typeof problemsOf>;
  inherited: boolean;
  isNew: boolean;
}) {
  const types = kind === "rule" ? ITEM_TYPES.filter(([type]) => !NOT_RULES.has(type)) : ITEM_TYPES;
  return (
    <>
      <TextField
        label={texts.name}
        required
        error={errors.name}
        autoFocus={isNew}
        disabled={inherited}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.type}
          error={errors.type}
          disabled={inherited}
          options={types}
          value={draft.type}
          onChange={(type) => set({ type })}
        />
        {kind !== "rule" && (
          <SelectField
            label={texts.valueType}
            disabled={inherited}
            options={VALUE_TYPES}
            value={draft.valueType}
            onChange={(valueType) => set({ valueType })}
          />
        )}
      </div>
      <TextField
        label={texts.key}
        required
        error={errors.key}
        hint={kind === "prototype" ? texts.mustContainADiscovery : texts.suchAsSystemCpu}
        disabled={inherited}
        className="font-mono text-xs"
        value={draft.key}
        onChange={(key) => set({ key })}
      />
    </>
  );
}

/** Creates or edits an item, an item prototype or a discovery rule. */
export function ItemForm({ owner, kind, item, ruleid, onDone, onDeleted }: ItemFormProps) {
  const drafting = useDraft(
    () => draftOf(item),
    (draft) => problemsOf(draft, owner.template ? null : owner.interfaces),
  );
  const [testing, setTesting] = useState(false);
  const client = useQueryClient();
  const inherited = item !== null && item.templateid !== "0";
  const { draft, set, problems: errors } = drafting;
  const word = WORDS[kind];
  const id = item?.itemid ?? null;
  const params = () => {
    const place = { hostid: owner.id, ruleid: kind === "prototype" ? ruleid : undefined };
    const members = itemParams(draft, owner.interfaces, inherited, kind, item);
    return id === null ? { ...place, ...members } : members;
  };
  return (
    <ObjectForm
      word={word}
      drafting={drafting}
      isNew={id === null}
      save={() => saveConfigItem(kind, id, params())}
      onSaved={({ itemids }) => {
        void client.invalidateQueries();
        onDone(itemids[0] ?? id ?? "");
      }}
      inherited={inherited && <InheritedNote kind={kind} templateid={item.templateid} />}
      remove={() => deleteConfigItem(kind, id ?? "")}
      onDeleted={() => {
        void client.invalidateQueries();
        onDeleted();
      }}
      loss={
        kind === "item"
          ? "Its history and the triggers that use it are deleted too."
          : "The objects discovered with it are deleted too."
      }
      buttons={
        <Button icon="flask" onClick={() => setTesting(true)}>
          {texts.test}
        </Button>
      }
    >
      <FormSection title={`${word[0]?.toUpperCase()}${word.slice(1)}`} note={onOwner(owner)}>
        <NameFields
          kind={kind}
          draft={draft}
          set={set}
          errors={errors}
          inherited={inherited}
          isNew={item === null}
        />
        <SourceFields
          hostid={owner.id}
          interfaces={owner.interfaces}
          draft={draft}
          set={set}
          errors={errors}
          inherited={inherited}
        />
        <div className="flex flex-wrap gap-x-6 gap-y-2">
          <Checkbox
            label={kind === "prototype" ? texts.createEnabled : texts.enabled}
            checked={draft.enabled}
            onChange={(e) => set({ enabled: e.target.checked })}
          />
          {kind === "prototype" && (
            <Checkbox
              label={texts.discover}
              checked={draft.discover}
              onChange={(e) => set({ discover: e.target.checked })}
            />
          )}
        </div>
      </FormSection>
      <FormSection
        title={texts.preprocessing}
        note="Each value is processed by these steps, in this order, before it is stored."
      >
        <StepsEditor
          steps={draft.preprocessing}
          disabled={inherited}
          only={kind === "rule" ? RULE_STEPS : undefined}
          onChange={(preprocessing) => set({ preprocessing })}
        />
      </FormSection>
      {kind === "rule" ? (
        <RuleFields draft={draft} set={set} disabled={inherited} error={errors.overrides} />
      ) : (
        <FormSection title={texts.value} note="Format and retention.">
          <ValueFields draft={draft} set={set} ownerid={owner.id} inherited={inherited} />
        </FormSection>
      )}
      <FormSection title={texts.description}>
        <Textarea
          aria-label={texts.description}
          rows={2}
          value={draft.description}
          onChange={(e) => set({ description: e.target.value })}
        />
      </FormSection>
      {kind !== "rule" && (
        <FormSection title={texts.tags}>
          <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
        </FormSection>
      )}
      {testing && (
        <TestDialog draft={draft} kind={kind} owner={owner} onClose={() => setTesting(false)} />
      )}
    </ObjectForm>
  );
}
