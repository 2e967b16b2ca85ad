import { useQuery } from "@tanstack/react-query";
import { authenticationQuery, directoriesQuery, mfaQuery } from "~/api/authentication";
import { groupsQuery } from "~/api/groups";
import {
  deleteUserGroup,
  type Right,
  saveUserGroup,
  type UserGroup,
  userGroupsQuery,
  usersQuery,
} from "~/api/users";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { RowButtons, SaveDialog, useDelete } from "~/shared/save-dialog";
import { IconButton } from "~/ui/button";
import { Checkbox, Field, Select, SelectField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { Empty } from "~/ui/state";
import { plural } from "~/util/format";
import { oneOf } from "~/util/one-of";
import { texts } from "./texts";

const KEYS = [["usergroups"], ["users"]];
const PERMISSIONS = [
  ["2", "Read"],
  ["3", "Read and write"],
  ["0", "Deny"],
] as const;
const ACCESS = [
  ["0", "System default"],
  ["1", "Internal"],
  ["2", "LDAP"],
  ["3", "Disabled"],
] as const;

const MFA_SETTINGS = ["mfa_status"] as const;
/** Whether a directory may check the passwords of the users of a group with this access. */
const byDirectory = (access: string) => access === "0" || access === "2";

function Rights({
  label,
  rights,
  options,
  onChange,
}: {
  label: string;
  rights: readonly Right[];
  options: readonly { groupid: string; name: string }[];
  onChange: (rights: Right[]) => void;
}) {
  const name = (id: string) => options.find((group) => group.groupid === id)?.name ?? id;
  return (
    <Field label={label}>
      {(id) => (
        <div className="flex flex-col gap-1.5">
          {rights.map((right) => (
            <div key={right.id} className="grid grid-cols-[1fr_9rem_2rem] items-center gap-2">
              <span className="truncate">{name(right.id)}</span>
              <Select
                aria-label={texts.permissionOn(name(right.id))}
                options={PERMISSIONS}
                value={right.permission}
                onChange={(e) =>
                  onChange(
                    rights.map((old) =>
                      old.id === right.id ? { ...old, permission: e.target.value } : old,
                    ),
                  )
                }
              />
              <IconButton
                icon="trash"
                label={texts.removeWhat(name(right.id))}
                onClick={() => onChange(rights.filter((old) => old.id !== right.id))}
              />
            </div>
          ))}
          <Pick
            id={id}
            label={label}
            values={[]}
            options={options
              .filter((group) => !rights.some((right) => right.id === group.groupid))
              .map((group) => ({ value: group.groupid, label: group.name }))}
            onChange={(ids) =>
              onChange([...rights, ...ids.map((one) => ({ id: one, permission: "2" }))])
            }
          />
        </div>
      )}
    </Field>
  );
}

/** Creates or edits a user group: members, and what they may see. */
export function GroupDialog({ group, onClose }: { group: UserGroup | null; onClose: () => void }) {
  const [draft, setDraft, restored] = useKeptState("group", {
    name: group?.name ?? "",
    gui_access: group?.gui_access ?? "0",
    userdirectoryid: group?.userdirectoryid ?? "0",
    // "" = not required, "0" = with the default method.
    mfa: group?.mfa_status === "1" ? group.mfaid : "",
    enabled: group?.users_status !== "1",
    userids: group?.users.map((user) => user.userid) ?? [],
    hostgroup_rights: group?.hostgroup_rights ?? [],
    templategroup_rights: group?.templategroup_rights ?? [],
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const { data: users = [] } = useQuery(usersQuery());
  const { data: hostGroups = [] } = useQuery(groupsQuery("host"));
  const { data: templateGroups = [] } = useQuery(groupsQuery("template"));
  const { data: servers = [] } = useQuery(directoriesQuery());
  const { data: methods = [] } = useQuery(mfaQuery());
  const { data: mfaSettings } = useQuery(authenticationQuery(MFA_SETTINGS));
  const save = () => {
    const { enabled, userids, name, userdirectoryid, mfa, ...rest } = draft;
    return saveUserGroup(group?.usrgrpid ?? null, {
      ...rest,
      gui_access: oneOf(draft.gui_access, ["0", "1", "2", "3"]),
      name: name.trim(),
      users_status: enabled ? "0" : "1",
      users: userids.map((userid) => ({ userid })),
      ...(byDirectory(draft.gui_access) && { userdirectoryid }),
      ...(mfa ? { mfa_status: "1", mfaid: mfa } : { mfa_status: "0" }),
    });
  };
  return (
    <SaveDialog
      title={group ? texts.editName(group.name) : texts.createUserGroup}
      word={texts.group}
      draft={draft}
      restored={restored}
      stale={
        group
          ? {
              before: group,
              now: () => reread(userGroupsQuery(), (one) => one.usrgrpid === group.usrgrpid),
            }
          : undefined
      }
      problem={draft.name.trim() ? undefined : "Enter a name."}
      save={save}
      saved={`${draft.name} was saved.`}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        autoFocus={!group}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <Field label={texts.users}>
        {(id) => (
          <Pick
            id={id}
            field
            label={texts.users}
            values={draft.userids}
            options={users.map((user) => ({ value: user.userid, label: user.username }))}
            onChange={(userids) => set({ userids })}
          />
        )}
      </Field>
      <Rights
        label={texts.hostGroups}
        rights={draft.hostgroup_rights}
        options={hostGroups}
        onChange={(hostgroup_rights) => set({ hostgroup_rights })}
      />
      <Rights
        label={texts.templateGroups}
        rights={draft.templategroup_rights}
        options={templateGroups}
        onChange={(templategroup_rights) => set({ templategroup_rights })}
      />
      <SelectField
        label={texts.frontendAccess}
        options={ACCESS}
        value={draft.gui_access}
        onChange={(gui_access) => set({ gui_access })}
      />
      {byDirectory(draft.gui_access) && servers.length > 0 && (
        <SelectField
          label={texts.ldapServer}
          options={[
            ["0", texts.defaultServer],
            ...servers.map((one) => [one.userdirectoryid, one.name] as const),
          ]}
          value={draft.userdirectoryid}
          onChange={(userdirectoryid) => set({ userdirectoryid })}
        />
      )}
      <SelectField
        label={texts.mfa}
        options={[
          ["", texts.mfaOff],
          ["0", texts.mfaDefault],
          ...methods.map((one) => [one.mfaid, texts.mfaWith(one.name)] as const),
        ]}
        hint={mfaSettings?.mfa_status === "0" && draft.mfa ? texts.mfaIsOff : undefined}
        value={draft.mfa}
        onChange={(mfa) => set({ mfa })}
      />
      <Checkbox
        label={texts.enabled}
        checked={draft.enabled}
        onChange={(e) => set({ enabled: e.target.checked })}
      />
    </SaveDialog>
  );
}

export function Groups({ onEdit }: { onEdit: (group: UserGroup) => void }) {
  const query = useQuery(userGroupsQuery());
  const remove = useDelete(deleteUserGroup, KEYS);
  return (
    <PlainTable<UserGroup>
      query={query}
      head={[
        ["Name", ""],
        ["Users", ""],
        ["Permissions", "w-52"],
        ["State", "w-28"],
        ["", "w-24"],
      ]}
      empty={<Empty icon="users" title={texts.youDoNotHave} />}
      row={(group) => (
        <tr key={group.usrgrpid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>{group.name}</td>
          <td className={`${CELL} text-soft`}>
            {group.users.map((user) => user.username).join(", ")}
          </td>
          <td className={`${CELL} text-soft`}>
            {group.hostgroup_rights.length + group.templategroup_rights.length > 0 &&
              plural(group.hostgroup_rights.length + group.templategroup_rights.length, "group")}
          </td>
          <td className={CELL}>
            {group.users_status === "1" ? (
              <span className="text-faint">{texts.disabled}</span>
            ) : (
              <span className="text-soft">{texts.enabled}</span>
            )}
          </td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            <RowButtons
              name={group.name}
              onEdit={() => onEdit(group)}
              onDelete={() =>
                remove(group.usrgrpid, group.name, texts.itsUsersAreKept, texts.delete)
              }
            />
          </td>
        </tr>
      )}
    />
  );
}
