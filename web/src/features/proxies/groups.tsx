import { useQuery } from "@tanstack/react-query";
import {
  deleteProxyGroup,
  type ProxyGroupRow,
  proxyGroupsQuery,
  saveProxyGroup,
} from "~/api/proxies";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { RowButtons, SaveDialog, useDelete } from "~/shared/save-dialog";
import { TextareaField, TextField } from "~/ui/field";
import { Empty } from "~/ui/state";
import { groupDraft } from "./draft";
import { texts } from "./texts";

const KEYS = [["proxygroups"], ["proxies"]];

interface DialogProps {
  group: ProxyGroupRow | null;
  onClose: () => void;
}

/** Creates or edits a proxy group. */
export function ProxyGroupDialog({ group, onClose }: DialogProps) {
  const [draft, setDraft, restored] = useKeptState("proxygroup", groupDraft(group));
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const id = group?.proxy_groupid ?? null;
  return (
    <SaveDialog
      title={group ? texts.editName(group.name) : texts.createGroup}
      word={texts.group}
      draft={draft}
      restored={restored}
      stale={
        group
          ? {
              before: group,
              now: () => reread(proxyGroupsQuery(), (one) => one.proxy_groupid === id),
            }
          : undefined
      }
      problem={draft.name.trim() ? undefined : "Enter a name."}
      save={() => saveProxyGroup(id, { ...draft, name: draft.name.trim() })}
      saved={texts.saved(draft.name)}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        autoFocus={!group}
        maxLength={255}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <TextField
        label={texts.failoverDelay}
        hint={texts.failoverHint}
        value={draft.failover_delay}
        onChange={(failover_delay) => set({ failover_delay })}
      />
      <TextField
        label={texts.minOnline}
        hint={texts.minHint}
        value={draft.min_online}
        onChange={(min_online) => set({ min_online })}
      />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </SaveDialog>
  );
}

export function ProxyGroups({ onEdit }: { onEdit: (group: ProxyGroupRow) => void }) {
  const query = useQuery(proxyGroupsQuery());
  const remove = useDelete(deleteProxyGroup, KEYS);
  return (
    <PlainTable<ProxyGroupRow>
      query={query}
      head={[
        ["Name", ""],
        ["Failover period", "w-36"],
        ["Minimum number of proxies", "w-52"],
        ["Proxies", "w-24"],
        ["", "w-24"],
      ]}
      empty={<Empty icon="templates" title={texts.noGroups} />}
      row={(group) => (
        <tr key={group.proxy_groupid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`} title={group.description || undefined}>
            {group.name}
          </td>
          <td className={`${CELL} text-soft`}>{group.failover_delay}</td>
          <td className={`${CELL} text-soft`}>{group.min_online}</td>
          <td className={`${CELL} tabular`}>{group.proxies}</td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            <RowButtons
              name={group.name}
              onEdit={() => onEdit(group)}
              onDelete={() =>
                remove(group.proxy_groupid, group.name, texts.usedGroup, texts.delete)
              }
            />
          </td>
        </tr>
      )}
    />
  );
}
