import { useQuery } from "@tanstack/react-query";
import { deletePoolGroups, type PoolGroup, poolsQuery, savePoolGroup } from "~/api/balancing";
import { HeadedRows } from "~/shared/forms/headed-rows";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useRefusal } from "~/shared/forms/use-refusal";
import { Input, Select, TextField } from "~/ui/field";
import { useLeave } from "./leave";
import {
  newMember,
  type PoolGroupDraft,
  poolGroupDraft,
  poolGroupParams,
  poolGroupProblems,
} from "./pool-group-draft";
import { texts } from "./texts";

interface MembersProps {
  draft: PoolGroupDraft;
  set: (next: Partial<PoolGroupDraft>) => void;
  problem: string | undefined;
}

function MemberRows({ draft, set, problem }: MembersProps) {
  const { data } = useQuery(poolsQuery());
  const pools = (data ?? []).map((row) => [row.poolid, row.name] as const);
  return (
    <HeadedRows
      heads={[texts.pool, texts.priority, texts.ratio]}
      grid="grid-cols-[minmax(6rem,1fr)_5rem_5rem_2rem]"
      rows={draft.members}
      onChange={(members) => set({ members })}
      word={texts.memberWord}
      fresh={() => newMember(draft.members)}
      problem={problem}
    >
      {(row, change) => (
        <>
          <Select
            aria-label={texts.pool}
            options={[["", texts.choose], ...pools]}
            value={row.poolid}
            onChange={(event) => change({ poolid: event.target.value })}
          />
          <Input
            aria-label={texts.priority}
            inputMode="numeric"
            value={row.priority}
            onChange={(event) => change({ priority: event.target.value })}
          />
          <Input
            aria-label={texts.ratio}
            inputMode="numeric"
            value={row.ratio}
            onChange={(event) => change({ ratio: event.target.value })}
          />
        </>
      )}
    </HeadedRows>
  );
}

/** Creates or edits a pool group. */
export function PoolGroupForm({ row }: { row: PoolGroup | null }) {
  const drafting = useDraft(() => poolGroupDraft(row), poolGroupProblems);
  const { draft, set } = drafting;
  const { problems, tell } = useRefusal(drafting);
  const leave = useLeave("pool-groups");
  const id = row?.poolgroupid ?? null;
  return (
    <ObjectForm
      word={texts.poolGroupWord}
      drafting={drafting}
      isNew={id === null}
      save={() => tell(savePoolGroup(id, poolGroupParams(draft)))}
      onSaved={leave}
      remove={() => deletePoolGroups([id ?? ""])}
      onDeleted={leave}
      loss={texts.usedWarning}
    >
      <FormSection title={texts.poolGroup}>
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
          label={texts.minServers}
          hint={texts.minServersHint}
          error={problems.min_servers}
          inputMode="numeric"
          value={draft.min_servers}
          onChange={(min_servers) => set({ min_servers })}
        />
        <TextField
          label={texts.description}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
      </FormSection>
      <FormSection title={texts.members} note={texts.poolGroupNote}>
        <MemberRows draft={draft} set={set} problem={problems.members} />
      </FormSection>
    </ObjectForm>
  );
}
