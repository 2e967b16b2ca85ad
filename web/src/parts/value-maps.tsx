import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import { deleteValueMap, saveValueMap, type ValueMap, valueMapsQuery } from "~/api/valuemaps";
import { RowsEditor } from "~/forms/rows-editor";
import { Button, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Dialog } from "~/ui/dialog";
import { Input, Select, TextField } from "~/ui/field";
import { Empty, ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import type { Mapping } from "~/util/format";
import { CELL, PlainTable } from "./config-tables";

const TYPES = [
  ["0", "equals"],
  ["1", "at least"],
  ["2", "at most"],
  ["3", "in range"],
  ["4", "matches"],
  ["5", "anything else"],
] as const;
const NEW_MAPPING: Mapping = { type: "0", value: "", newvalue: "" };

const words = (mapping: Mapping) => {
  const type = TYPES.find(([value]) => value === mapping.type)?.[1] ?? "equals";
  if (mapping.type === "5") return type;
  return mapping.type === "0" ? mapping.value : `${type} ${mapping.value}`;
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
      word="mapping"
      rows={mappings}
      onChange={onChange}
      fresh={() => NEW_MAPPING}
      columns="grid-cols-[8rem_1fr_1fr_2rem] items-center"
    >
      {(mapping, set) => (
        <>
          <Select
            aria-label="When the value"
            options={TYPES}
            value={mapping.type}
            onChange={({ target: { value: type } }) =>
              set({ type, value: type === "5" ? "" : mapping.value })
            }
          />
          <Input
            aria-label="Value"
            disabled={mapping.type === "5"}
            value={mapping.value}
            onChange={(e) => set({ value: e.target.value })}
          />
          <Input
            aria-label="Is shown as"
            placeholder="is shown as"
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
  const client = useQueryClient();
  const [name, setName] = useState(map?.name ?? "");
  const [mappings, setMappings] = useState<Mapping[]>(map?.mappings ?? [NEW_MAPPING]);
  const save = useMutation({
    mutationFn: () => saveValueMap(ownerid, map?.valuemapid ?? null, name.trim(), mappings),
    onSuccess: () => {
      toast(`${name} was saved.`);
      void client.invalidateQueries();
      onClose();
    },
  });
  return (
    <Dialog
      title={map ? `Edit ${map.name}` : "Create value map"}
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            busy={save.isPending}
            disabled={!name.trim() || mappings.length === 0}
            onClick={() => save.mutate()}
          >
            Save value map
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {save.error && <ErrorNote {...explain(save.error)} />}
        <TextField label="Name" required autoFocus value={name} onChange={setName} />
        <MappingRows mappings={mappings} onChange={setMappings} />
        <p className="text-xs text-soft">
          The first row that fits counts. “In range” takes lists such as 1-5,10.
        </p>
      </div>
    </Dialog>
  );
}

/** Value maps of a host or template: words for values. */
export function ValueMaps({ ownerid }: { ownerid: string }) {
  const client = useQueryClient();
  const query = useQuery(valueMapsQuery(ownerid));
  const [editing, setEditing] = useState<ValueMap | "new" | null>(null);
  const remove = useMutation({
    mutationFn: (map: ValueMap) => deleteValueMap(map.valuemapid),
    onSuccess: (_, map) => toast(`${map.name} was deleted.`),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => client.invalidateQueries(),
  });
  const create = (
    <Button icon="plus" className="self-start" onClick={() => setEditing("new")}>
      Create value map
    </Button>
  );
  return (
    <div className="flex flex-col gap-3">
      {(query.data?.length ?? 0) > 0 && create}
      <PlainTable<ValueMap>
        query={query}
        head={[
          ["Name", ""],
          ["Words for values", ""],
          ["", "w-24"],
        ]}
        empty={
          <Empty icon="edit" title="No value maps" action={create}>
            They give values words: 1 is shown as “up”.
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
              {map.mappings.length > 6 && ` and ${map.mappings.length - 6} more`}
            </td>
            <td className="px-2 text-right whitespace-nowrap">
              <IconButton icon="edit" label={`Edit ${map.name}`} onClick={() => setEditing(map)} />
              <IconButton
                icon="trash"
                label={`Delete ${map.name}`}
                onClick={async () => {
                  const body = <p>Items that use it show plain values again.</p>;
                  if (await confirmed(`Delete ${map.name}?`, body, "Delete value map"))
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
