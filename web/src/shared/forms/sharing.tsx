import { useQuery } from "@tanstack/react-query";
import { fullName, userGroupNamesQuery, userNamesQuery } from "~/api/users";
import { Checkbox, Select } from "~/ui/field";
import type { Share, SharedDraft } from "~/util/shares";
import { texts } from "../texts";
import { RowsEditor } from "./rows-editor";
import { FormSection } from "./section";

const PERMISSIONS = [
  ["2", texts.mayRead],
  ["3", texts.mayChange],
] as const;

interface SharesProps {
  word: string;
  /** The name of a row whose user or user group the user cannot see. */
  unknown: string;
  options: readonly (readonly [string, string])[];
  rows: readonly Share[];
  onChange: (rows: Share[]) => void;
}

function Shares({ word, unknown, options, rows, onChange }: SharesProps) {
  const free = options.filter(([id]) => rows.every((row) => row.id !== id));
  return (
    <RowsEditor
      word={word}
      rows={rows}
      onChange={(next) => onChange(next.filter(({ id }) => id !== ""))}
      fresh={(): Share => ({ id: free[0]?.[0] ?? "", permission: "2" })}
      columns="grid-cols-[minmax(0,1fr)_10rem_2rem]"
    >
      {(row, change) => (
        <>
          <Select
            aria-label={texts.shareWith(word)}
            options={[
              ...(options.some(([id]) => id === row.id) ? [] : [[row.id, unknown] as const]),
              ...options.filter(([id]) => id === row.id || free.some(([one]) => one === id)),
            ]}
            value={row.id}
            onChange={(event) => change({ id: event.target.value })}
          />
          <Select
            aria-label={texts.permissionOf(word)}
            options={PERMISSIONS}
            value={row.permission}
            onChange={(event) => change({ permission: event.target.value as "2" | "3" })}
          />
        </>
      )}
    </RowsEditor>
  );
}

interface SharingProps {
  draft: SharedDraft;
  set: (next: Partial<SharedDraft>) => void;
  note?: string;
  /** What the object is while it is private. */
  isPrivate: string;
}

/** A section of a form: the users and user groups that see an object, or change it. */
export function Sharing({ draft, set, note, isPrivate }: SharingProps) {
  const { data: users = [] } = useQuery(userNamesQuery());
  const { data: groups = [] } = useQuery(userGroupNamesQuery());
  return (
    <FormSection title={texts.sharing} note={note}>
      <Checkbox
        label={isPrivate}
        checked={draft.isPrivate}
        onChange={(event) => set({ isPrivate: event.target.checked })}
      />
      <Shares
        word={texts.user}
        unknown={texts.inaccessibleUser}
        options={users.map((user) => [user.userid, fullName(user)] as const)}
        rows={draft.users}
        onChange={(users) => set({ users })}
      />
      <Shares
        word={texts.userGroup}
        unknown={texts.inaccessibleGroup}
        options={groups.map((group) => [group.usrgrpid, group.name] as const)}
        rows={draft.userGroups}
        onChange={(userGroups) => set({ userGroups })}
      />
    </FormSection>
  );
}
