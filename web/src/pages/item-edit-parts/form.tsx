import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { explain } from "~/api/errors";
import type { Host } from "~/api/hosts";
import { deleteItem, type Item, saveItem } from "~/api/items";
import { valueMapsQuery } from "~/api/valuemaps";
import { FormSection } from "~/forms/section";
import { TagsEditor } from "~/forms/tags-editor";
import { Button } from "~/ui/button";
import { Checkbox, Field, Input, Select, Textarea } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { ITEM_TYPES, VALUE_TYPES } from "~/util/item-types";
import { draftOf, hasTrends, type ItemDraft, itemParams, problemsOf } from "./draft";
import { SourceFields } from "./source-fields";
import { StepsEditor } from "./steps";

/** Creates or edits an item of a host. */
export function ItemForm({ host, item }: { host: Host; item: Item | null }) {
  const [draft, setDraft] = useState(() => draftOf(item));
  const [tried, setTried] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const { data: maps = [] } = useQuery(valueMapsQuery(host.hostid));
  const inherited = item !== null && item.templateid !== "0";
  const set = (next: Partial<ItemDraft>) => setDraft({ ...draft, ...next });
  const problems = problemsOf(draft, host.interfaces);
  const errors = tried ? problems : {};
  const leave = () =>
    void navigate({
      to: "/hosts/$hostid",
      params: { hostid: host.hostid },
      search: { tab: "latest" },
    });
  const save = useMutation({
    mutationFn: () => {
      const params = itemParams(draft, host.interfaces, inherited);
      return saveItem(item?.itemid ?? null, item ? params : { hostid: host.hostid, ...params });
    },
    onSuccess: () => {
      toast(item ? `${draft.name} was saved.` : `${draft.name} was created.`);
      void client.invalidateQueries();
      leave();
    },
  });
  const remove = useMutation({
    mutationFn: () => deleteItem(item?.itemid ?? ""),
    onSuccess: () => {
      toast(`${draft.name} was deleted.`);
      void client.invalidateQueries();
      leave();
    },
  });
  const error = save.error ?? remove.error;

  return (
    <form
      className="rounded-lg border bg-surface px-6 shadow-card"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(problems).length === 0) save.mutate();
      }}
    >
      {inherited && (
        <p className="mt-5 rounded-md bg-accent-soft px-3 py-2 text-accent-ink">
          This item comes from a template. Interval, storage, tags and state can be changed here;
          the rest in the template.
        </p>
      )}
      <FormSection title="Item" note={`On host ${host.name}.`}>
        <Field label="Name" required error={errors.name}>
          {(id) => (
            <Input
              id={id}
              autoFocus={!item}
              disabled={inherited}
              value={draft.name}
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
        <div className="grid grid-cols-2 gap-4">
          <Field label="Type" error={errors.type}>
            {(id) => (
              <Select
                id={id}
                disabled={inherited}
                options={ITEM_TYPES}
                value={draft.type}
                onChange={(e) => set({ type: e.target.value })}
              />
            )}
          </Field>
          <Field label="Value type">
            {(id) => (
              <Select
                id={id}
                disabled={inherited}
                options={VALUE_TYPES}
                value={draft.valueType}
                onChange={(e) => set({ valueType: e.target.value })}
              />
            )}
          </Field>
        </div>
        <Field
          label="Key"
          required
          error={errors.key}
          hint="Such as system.cpu.util[,user] or app.requests"
        >
          {(id) => (
            <Input
              id={id}
              disabled={inherited}
              className="font-mono text-xs"
              value={draft.key}
              onChange={(e) => set({ key: e.target.value })}
            />
          )}
        </Field>
        <SourceFields
          hostid={host.hostid}
          interfaces={host.interfaces}
          draft={draft}
          set={set}
          errors={errors}
          inherited={inherited}
        />
        <Checkbox
          label="Enabled"
          checked={draft.enabled}
          onChange={(e) => set({ enabled: e.target.checked })}
        />
      </FormSection>
      <FormSection
        title="Preprocessing"
        note="Each value goes through these steps, in this order, before it is kept."
      >
        <StepsEditor
          steps={draft.preprocessing}
          disabled={inherited}
          onChange={(preprocessing) => set({ preprocessing })}
        />
      </FormSection>
      <FormSection title="Value" note="How it is written and how long it is kept.">
        <div className="grid grid-cols-2 gap-4">
          <Field label="Units" hint="B, bps, %, s, uptime, unixtime …">
            {(id) => (
              <Input
                id={id}
                disabled={inherited || !hasTrends(draft.valueType)}
                value={draft.units}
                onChange={(e) => set({ units: e.target.value })}
              />
            )}
          </Field>
          <Field label="Value map">
            {(id) => (
              <Select
                id={id}
                disabled={inherited}
                options={[["0", "None"], ...maps.map((map) => [map.valuemapid, map.name] as const)]}
                value={draft.valuemapid}
                onChange={(e) => set({ valuemapid: e.target.value })}
              />
            )}
          </Field>
          <Field label="Keep history" hint="0 keeps none">
            {(id) => (
              <Input
                id={id}
                value={draft.history}
                onChange={(e) => set({ history: e.target.value })}
              />
            )}
          </Field>
          {hasTrends(draft.valueType) && (
            <Field label="Keep hourly trends" hint="0 keeps none">
              {(id) => (
                <Input
                  id={id}
                  value={draft.trends}
                  onChange={(e) => set({ trends: e.target.value })}
                />
              )}
            </Field>
          )}
        </div>
        <Field label="Description">
          {(id) => (
            <Textarea
              id={id}
              rows={2}
              value={draft.description}
              onChange={(e) => set({ description: e.target.value })}
            />
          )}
        </Field>
      </FormSection>
      <FormSection title="Tags">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <div className="sticky -bottom-8 -mx-6 flex items-center gap-2 rounded-b-lg border-t bg-surface px-6 py-3">
        <Button type="submit" look="primary" busy={save.isPending}>
          {item ? "Save item" : "Create item"}
        </Button>
        <Button onClick={() => router.history.back()}>Cancel</Button>
        {error && <ErrorNote {...explain(error)} className="ml-2 flex-1" />}
        {tried && Object.keys(problems).length > 0 && (
          <span role="alert" className="ml-2 text-sm text-bad-ink">
            {Object.values(problems)[0]}
          </span>
        )}
        {item && !inherited && !error && (
          <Button
            look="danger"
            icon="trash"
            className="ml-auto"
            busy={remove.isPending}
            onClick={() => confirm(`Delete ${draft.name} and its history?`) && remove.mutate()}
          >
            Delete item
          </Button>
        )}
      </div>
    </form>
  );
}
