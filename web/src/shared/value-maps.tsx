import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { MappingType } from "~/api/schema";
import { deleteValueMap, saveValueMap, type ValueMap, valueMapsQuery } from "~/api/valuemaps";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Button, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Input, Select, TextField } from "~/ui/field";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import type { Mapping } from "~/util/format";
import { CELL, PlainTable } from "./config-tables";
import { useReread } from "./fresh";
import { SaveDialog } from "./save-dialog";
import { texts } from "./texts";

const TYPES = [
  ["0", "equals"],
  ["1", "at least"],
  ["2", "at most"],
  ["3", "in range"],
  ["4", "matches"],
  ["5", "anything else"],
] as const;
/** A value map changes how values are shown on every page. */
const EVERYTHING = [[]];
const NEW_MAPPING: Mapping = { type: "0", value: "", newvalue: "" };

const words = (mapping: Mapping) => {
  const type = TYPES.find(([value]) => value === mapping.type)?.[1] ?? "equals";
  if (mapping.type === MappingType.Default) return type;
  return mapping.type === MappingType.Equal ? mapping.value : `${type} ${mapping.value}`;
};

function MappingRows({
  mappings,
  onChange,
}: {
  mappings: readonly Mapping[];
  onChange: (mappings: Mapping[]) => void;
}) {
  return (
    <RowsEditor
      word={texts.mapping}
      rows={mappings}
      onChange={onChange}
      fresh={() => NEW_MAPPING}
      columns="grid-cols-[8rem_1fr_1fr_2rem] items-center"
    >
      {(mapping, set) => (
        <>
          <Select
            aria-label={texts.mappingType}
            options={TYPES}
            value={mapping.type}
            onChange={({ target: { value: type } }) =>
              set({ type, value: type === MappingType.Default ? "" : mapping.value })
            }
          />
          <Input
            aria-label={texts.value}
            disabled={mapping.type === MappingType.Default}
            value={mapping.value}
            onChange={(e) => set({ value: e.target.value })}
          />
          <Input
            aria-label={texts.mappedTo}
            placeholder={texts.mappedToWord}
            value={mapping.newvalue}
            onChange={(e) => set({ newvalue: e.target.value })}
          />
        </>
      )}
    </RowsEditor>
  );
}

function MapDialog({
  ownerid,
  map,
  onClose,
}: {
  ownerid: string;
  map: ValueMap | null;
  onClose: () => void;
}) {
  const [draft, setDraft, restored] = useKeptState("value map", {
    name: map?.name ?? "",
    mappings: map?.mappings ?? [NEW_MAPPING],
  });
  const { name, mappings } = draft;
  const reread = useReread();
  return (
    <SaveDialog
      title={map ? texts.editName(map.name) : texts.createValueMap}
      word={texts.valueMap}
      wide
      draft={draft}
      restored={restored}
      stale={
        map
          ? {
              before: map,
              now: () =>
                reread(valueMapsQuery(ownerid), (one) => one.valuemapid === map.valuemapid),
            }
          : undefined
      }
      problem={
        !name.trim() ? "Enter a name." : mappings.length === 0 ? "Add a mapping." : undefined
      }
      save={() => saveValueMap(ownerid, map?.valuemapid ?? null, name.trim(), mappings)}
      saved={`${name} was saved.`}
      keys={EVERYTHING}
      onClose={onClose}
    >
      <TextField
        label={texts.nameLabel}
        required
        autoFocus
        value={name}
        onChange={(next) => setDraft({ ...draft, name: next })}
      />
      <MappingRows
        mappings={mappings}
        onChange={(next) => setDraft({ ...draft, mappings: next })}
      />
      <p className="text-xs text-soft">{texts.theFirstMatchingRow}</p>
    </SaveDialog>
  );
}

/** Value maps of a host or template: words for values. */
export function ValueMaps({ ownerid }: { ownerid: string }) {
  const client = useQueryClient();
  const query = useQuery(valueMapsQuery(ownerid));
  const [editing, setEditing] = useKeptState<ValueMap | "new" | null>("dialog", null);
  const remove = useMutation({
    mutationFn: (map: ValueMap) => deleteValueMap(map.valuemapid),
    onSuccess: (_, map) => toast(texts.wasDeleted(map.name)),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => client.invalidateQueries(),
  });
  const create = (
    <Button icon="plus" className="self-start" onClick={() => setEditing("new")}>
      {texts.createValueMap}
    </Button>
  );
  return (
    <div className="flex flex-col gap-3">
      {(query.data?.length ?? 0) > 0 && create}
      <PlainTable<ValueMap>
        query={query}
        head={[
          ["Name", ""],
          ["Mappings", ""],
          ["", "w-24"],
        ]}
        empty={
          <Empty icon="edit" title={texts.noValueMaps} action={create}>
            {texts.valueMapsShowTexts}
          </Empty>
        }
        row={(map) => (
          <tr key={map.valuemapid} className="border-t hover:bg-hover">
            <td className={`${CELL} font-medium`}>{map.name}</td>
            <td className={`${CELL} text-soft`}>
              {map.mappings
                .slice(0, 6)
                .map((mapping) => `${words(mapping)} → ${mapping.newvalue}`)
                .join(", ")}
              {map.mappings.length > 6 && texts.andMore(map.mappings.length - 6)}
            </td>
            <td className="px-2 text-right whitespace-nowrap">
              <IconButton
                icon="edit"
                label={texts.editName(map.name)}
                onClick={() => setEditing(map)}
              />
              <IconButton
                icon="trash"
                label={texts.deleteName(map.name)}
                onClick={async () => {
                  const body = <p>{texts.itemsThatUseIt}</p>;
                  if (await confirmed(texts.deleteQuestion(map.name), body, texts.deleteValueMap))
                    remove.mutate(map);
                }}
              />
            </td>
          </tr>
        )}
      />
      {editing && (
        <MapDialog
          ownerid={ownerid}
          map={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
    </div>
  );
}
