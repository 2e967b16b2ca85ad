import { useQuery, useQueryClient } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { Status } from "~/api/schema";
import { allows, session } from "~/api/session-store";
import {
  deleteUser,
  type Media,
  rolesQuery,
  saveUser,
  type User,
  unblockUser,
  userGroupsQuery,
  usersQuery,
} from "~/api/users";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { SaveDialog, useDelete } from "~/shared/save-dialog";
import { Button, IconButton } from "~/ui/button";
import { Checkbox, Field, SelectField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import { mediaDraft, mediaProblem } from "./media-draft";
import { MediaEditor } from "./media-editor";
import { texts } from "./texts";
import { passwordProblem, type UserDraft, userParams } from "./user-draft";

const KEYS = [["users"], ["usergroups"]];
/** After so many failed attempts nobody may sign in as this user for a while. */
const BLOCKED_AT = 5;

function draftOf(user: User | null): UserDraft {
  return {
    username: user?.username ?? "",
    name: user?.name ?? "",
    surname: user?.surname ?? "",
    roleid: user?.roleid ?? "",
    groupids: user?.usrgrps.map((group) => group.usrgrpid) ?? [],
    autologout: user?.autologout ?? "0",
    autologin: user?.autologin === "1",
    password: "",
    again: "",
    current: "",
    medias: user?.medias.map(mediaDraft) ?? [],
  };
}

function PasswordFields({
  draft,
  set,
  own,
  isNew,
}: {
  draft: UserDraft;
  set: (next: Partial<UserDraft>) => void;
  own: boolean;
  isNew: boolean;
}) {
  const box = (key: "password" | "again" | "current", label: string, complete: string) => (
    <TextField
      label={label}
      required={isNew}
      type="password"
      autoComplete={complete}
      value={draft[key]}
      onChange={(value) => set({ [key]: value })}
    />
  );
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {box("password", isNew ? texts.password : texts.newPassword, "new-password")}
      {box("again", isNew ? texts.repeatPassword : texts.repeatNewPassword, "new-password")}
      {own && draft.password !== "" && box("current", texts.currentPassword, "current-password")}
    </div>
  );
}

/** Creates or edits a user; what one may not change oneself is locked. */
export function UserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  const [draft, setDraft, restored] = useKeptState("user", () => draftOf(user));
  const set = (next: Partial<UserDraft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const own = user !== null && user.userid === session()?.userid;
  const admin = session()?.type === 3 && allows("administration.users");
  const { data: roles = [] } = useQuery({ ...rolesQuery(), enabled: admin });
  const { data: groups = [] } = useQuery({ ...userGroupsQuery(), enabled: admin });
  const problem = !draft.username.trim()
    ? "Enter a user name."
    : admin && !draft.roleid
      ? "Choose a role."
      : (passwordProblem(draft, user === null, own) ?? mediaProblem(draft.medias));
  const mediaChanged = JSON.stringify(draft.medias) !== JSON.stringify(draftOf(user).medias);
  const text = (
    key: "username" | "name" | "surname" | "autologout",
    label: string,
    hint?: string,
  ) => (
    <TextField
      label={label}
      required={key === "username"}
      hint={hint}
      autoFocus={key === "username" && !user}
      disabled={key === "username" && !admin}
      value={draft[key]}
      onChange={(value) => set({ [key]: value })}
    />
  );
  return (
    <SaveDialog
      title={user ? texts.editUsername(user.username) : texts.createUser}
      word={texts.userWord}
      draft={draft}
      restored={restored}
      stale={
        user
          ? { before: user, now: () => reread(usersQuery(), (one) => one.userid === user.userid) }
          : undefined
      }
      problem={problem}
      save={() => saveUser(user?.userid ?? null, userParams(draft, { admin, own, mediaChanged }))}
      saved={`${draft.username} was saved.`}
      keys={KEYS}
      onClose={onClose}
    >
      {text("username", texts.userName)}
      <div className="grid gap-4 sm:grid-cols-2">
        {text("name", texts.firstName)}
        {text("surname", texts.lastName)}
      </div>
      {admin && (
        <>
          <SelectField
            label={texts.roleLabel}
            required
            hint={own ? texts.youCannotChangeYour : undefined}
            disabled={own}
            options={[
              ["", texts.chooseARole],
              ...roles.map((role) => [role.roleid, role.name] as const),
            ]}
            value={draft.roleid}
            onChange={(roleid) => set({ roleid })}
          />
          <Field label={texts.groups} hint={texts.groupsDetermineWhichHosts}>
            {(id) => (
              <Pick
                id={id}
                field
                label={texts.groups}
                values={draft.groupids}
                options={groups.map((group) => ({ value: group.usrgrpid, label: group.name }))}
                onChange={(groupids) => set({ groupids })}
              />
            )}
          </Field>
        </>
      )}
      <PasswordFields draft={draft} set={set} own={own} isNew={user === null} />
      <div className="grid items-end gap-4 sm:grid-cols-2">
        {text("autologout", texts.signOutAfter, texts.suchAs15m0)}
        <Checkbox
          className="pb-6"
          label={texts.staySignedIn}
          checked={draft.autologin}
          onChange={(e) => set({ autologin: e.target.checked, autologout: "0" })}
        />
      </div>
      <MediaEditor medias={draft.medias} onChange={(medias) => set({ medias })} />
    </SaveDialog>
  );
}

/** How many media a user gets messages on. */
function MediaCount({ medias }: { medias: readonly Media[] }) {
  const count = medias.filter((media) => media.active === Status.Enabled).length;
  if (count === 0) return <span className="text-faint">{texts.noneOn}</span>;
  return texts.mediaOn(count);
}

export function Users({ onEdit }: { onEdit: (user: User) => void }) {
  const query = useQuery(usersQuery());
  const client = useQueryClient();
  const remove = useDelete(deleteUser, KEYS);
  const admin = session()?.type === 3 && allows("administration.users");
  const me = session()?.userid;
  const unblock = async (user: User) => {
    try {
      await unblockUser(user.userid);
      toast(texts.wasUnblocked(user.username));
    } catch (error) {
      toast(explain(error).what, "bad");
    }
    void client.invalidateQueries({ queryKey: ["users"] });
  };
  return (
    <PlainTable<User>
      query={query}
      head={[
        ["User name", ""],
        ["Name", ""],
        ["Role", ""],
        ["Groups", ""],
        ["Media", "w-28"],
        ["", "w-40"],
      ]}
      empty={<Empty icon="users" title={texts.youDoNotHavePermissionTo} />}
      row={(user) => (
        <tr key={user.userid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            {user.username}
            {user.userid === me && (
              <span className="pl-2 text-xs font-normal text-faint">{texts.you}</span>
            )}
          </td>
          <td className={CELL}>{[user.name, user.surname].filter(Boolean).join(" ")}</td>
          <td className={`${CELL} text-soft`}>{Array.isArray(user.role) ? "" : user.role.name}</td>
          <td className={`${CELL} text-soft`}>
            {user.usrgrps.map((group) => group.name).join(", ")}
          </td>
          {/* Others see only their own. */}
          <td className={`${CELL} text-soft`}>
            {(admin || user.userid === me) && <MediaCount medias={user.medias} />}
          </td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            {admin && Number(user.attempt_failed) >= BLOCKED_AT && (
              <Button small onClick={() => void unblock(user)}>
                {texts.unblock}
              </Button>
            )}
            {(admin || user.userid === me) && (
              <IconButton
                icon="edit"
                label={texts.editUsername(user.username)}
                onClick={() => onEdit(user)}
              />
            )}
            {admin && user.userid !== me && (
              <IconButton
                icon="trash"
                label={texts.deleteUsername(user.username)}
                onClick={() =>
                  void remove(user.userid, user.username, texts.theUserSSessions, texts.delete)
                }
              />
            )}
          </td>
        </tr>
      )}
    />
  );
}
