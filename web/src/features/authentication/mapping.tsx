import { useQuery } from "@tanstack/react-query";
import type { MappedGroup, MappedMedia } from "~/api/authentication";
import { mediaTypeNamesQuery } from "~/api/media-types";
import { rolesQuery, userGroupNamesQuery } from "~/api/users";
import { Mask } from "~/shared/forms/mask";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { Checkbox, Field, SelectField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { SEVERITIES, severityName } from "~/util/severity";
import { type DirectoryDraft, NEW_GROUP, newMedium } from "./directory-draft";
import { texts } from "./texts";

/** Names of severities from bit 0. */
const BY_BIT = [...SEVERITIES].sort().map(severityName);

/** A row and the button that removes it. */
const COLUMNS = "grid-cols-[minmax(0,1fr)_2rem] items-start rounded-md border p-3";

interface EditorProps<T> {
  rows: readonly T[];
  onChange: (rows: T[]) => void;
}

/** What members of the directory's groups become. */
function GroupsEditor({ rows, onChange }: EditorProps<MappedGroup>) {
  const { data: roles = [] } = useQuery(rolesQuery());
  const { data: groups = [] } = useQuery(userGroupNamesQuery());
  const roleOptions = roles.map((role) => [role.roleid, role.name] as const);
  return (
    <RowsEditor
      word={texts.mapping}
      rows={rows}
      onChange={onChange}
      fresh={() => NEW_GROUP}
      columns={COLUMNS}
    >
      {(row, set) => (
        <div className="grid gap-3 sm:grid-cols-3">
          <TextField
            label={texts.directoryGroup}
            required
            maxLength={255}
            value={row.name}
            onChange={(name) => set({ name })}
          />
          <SelectField
            label={texts.role}
            required
            options={[["", texts.chooseRole], ...roleOptions]}
            value={row.roleid}
            onChange={(roleid) => set({ roleid })}
          />
          <Field label={texts.userGroups} required>
            {(id) => (
              <Pick
                id={id}
                field
                label={texts.userGroups}
                values={row.user_groups.map((group) => group.usrgrpid)}
                options={groups.map((one) => ({ value: one.usrgrpid, label: one.name }))}
                onChange={(ids) => set({ user_groups: ids.map((usrgrpid) => ({ usrgrpid })) })}
              />
            )}
          </Field>
        </div>
      )}
    </RowsEditor>
  );
}

/** Media that users get, with addresses of the directory. */
function MediaMapping({ rows, onChange }: EditorProps<MappedMedia>) {
  const { data: types = [] } = useQuery(mediaTypeNamesQuery());
  return (
    <RowsEditor
      word={texts.medium}
      rows={rows}
      onChange={onChange}
      fresh={() => newMedium(types[0]?.mediatypeid ?? "")}
      columns={COLUMNS}
    >
      {(row, set) => (
        <div className="flex flex-col gap-3">
          <div className="grid gap-3 sm:grid-cols-3">
            <TextField
              label={texts.name}
              required
              maxLength={64}
              value={row.name}
              onChange={(name) => set({ name })}
            />
            <SelectField
              label={texts.mediaType}
              options={types.map((type) => [type.mediatypeid, type.name] as const)}
              value={row.mediatypeid}
              onChange={(mediatypeid) => set({ mediatypeid })}
            />
            <TextField
              label={texts.addressAttribute}
              required
              maxLength={255}
              value={row.attribute}
              onChange={(attribute) => set({ attribute })}
            />
          </div>
          <Mask
            label={texts.severities}
            names={BY_BIT}
            mask={Number(row.severity)}
            onChange={(mask) => set({ severity: String(mask) })}
          />
          <div className="grid items-end gap-3 sm:grid-cols-2">
            <TextField
              label={texts.activeTimes}
              maxLength={1024}
              value={row.period}
              onChange={(period) => set({ period })}
            />
            <Checkbox
              className="pb-1.5"
              label={texts.createdEnabled}
              checked={row.active === "0"}
              onChange={(event) => set({ active: event.target.checked ? "0" : "1" })}
            />
          </div>
        </div>
      )}
    </RowsEditor>
  );
}

interface MappingProps {
  draft: DirectoryDraft;
  set: (next: Partial<DirectoryDraft>) => void;
}

/** What accounts of the directory become. */
export function Mapping({ draft, set }: MappingProps) {
  return (
    <>
      <section className="flex flex-col gap-2">
        <h3 className="text-xs font-medium text-soft">{texts.groupMapping}</h3>
        <p className="text-xs text-faint">{texts.groupMappingHint}</p>
        <GroupsEditor rows={draft.groups} onChange={(groups) => set({ groups })} />
      </section>
      <section className="flex flex-col gap-2">
        <h3 className="text-xs font-medium text-soft">{texts.mediaMapping}</h3>
        <MediaMapping rows={draft.media} onChange={(media) => set({ media })} />
      </section>
    </>
  );
}
