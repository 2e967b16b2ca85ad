import { useQuery } from "@tanstack/react-query";
import { authenticationQuery } from "~/api/authentication";
import { allows, session } from "~/api/session-store";
import { rolesQuery, saveUser, type User, userGroupsQuery, usersQuery } from "~/api/users";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { SaveDialog } from "~/shared/save-dialog";
import { Checkbox, Field, SelectField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { rulesIn } from "~/util/passwords";
import { mediaDraft, mediaProblem } from "./media-draft";
import { MediaEditor } from "./media-editor";
import { OwnAuthenticator } from "./own-authenticator";
import { SignInButtons } from "./sign-in-buttons";
import { texts } from "./texts";
import { passwordProblem, type UserDraft, userParams } from "./user-draft";

export const KEYS = [["users"], ["usergroups"]];

const PASSWORD_SETTINGS = ["passwd_min_length", "passwd_check_rules"] as const;

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
  rules,
}: {
  draft: UserDraft;
  set: (next: Partial<UserDraft>) => void;
  own: boolean;
  isNew: boolean;
  /** What the password must have. */
  rules: string | undefined;
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
      {rules && <p className="text-xs text-faint sm:col-span-2">{rules}</p>}
      {own && draft.password !== "" && box("current", texts.currentPassword, "current-password")}
    </div>
  );
}

const rulesText = (rules: { passwd_min_length: string; passwd_check_rules: string }) =>
  texts.passwordRules(rules.passwd_min_length, rulesIn(Number(rules.passwd_check_rules)));

/** Creates or edits a user; what one may not change oneself is locked. */
export function UserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  const [draft, setDraft, restored] = useKeptState("user", () => draftOf(user));
  const set = (next: Partial<UserDraft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const own = user !== null && user.userid === session()?.userid;
  const admin = session()?.type === 3 && allows("administration.users");
  const { data: roles = [] } = useQuery({ ...rolesQuery(), enabled: admin });
  const { data: groups = [] } = useQuery({ ...userGroupsQuery(), enabled: admin });
  const { data: rules } = useQuery({ ...authenticationQuery(PASSWORD_SETTINGS), enabled: admin });
  const provisioned = user?.provisioned === "1";
  const problem = !draft.username.trim()
    ? "Enter a user name."
    : admin && !provisioned && !draft.roleid
      ? "Choose a role."
      : (passwordProblem(draft, user === null, own, Number(rules?.passwd_min_length ?? 1)) ??
        mediaProblem(draft.medias));
  const mediaChanged = JSON.stringify(draft.medias) !== JSON.stringify(draftOf(user).medias);
  const who = { admin, own, provisioned, mediaChanged };
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
      disabled={(key === "username" && !admin) || (key !== "autologout" && provisioned)}
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
      save={() => saveUser(user?.userid ?? null, userParams(draft, who))}
      saved={`${draft.username} was saved.`}
      keys={KEYS}
      onClose={onClose}
    >
      {provisioned && <p className="text-sm text-soft">{texts.isProvisioned}</p>}
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
            disabled={own || provisioned}
            options={[
              ["", texts.chooseARole],
              ...roles.map((role) => [role.roleid, role.name] as const),
            ]}
            value={draft.roleid}
            onChange={(roleid) => set({ roleid })}
          />
          <Field label={texts.groups} hint={texts.groupsDetermineWhichHosts}>
            {(id) => (
              <fieldset disabled={provisioned} className="flex flex-col">
                <Pick
                  id={id}
                  field
                  label={texts.groups}
                  values={draft.groupids}
                  options={groups.map((group) => ({ value: group.usrgrpid, label: group.name }))}
                  onChange={(groupids) => set({ groupids })}
                />
              </fieldset>
            )}
          </Field>
        </>
      )}
      {!provisioned && (
        <PasswordFields
          draft={draft}
          set={set}
          own={own}
          isNew={user === null}
          rules={rules && rulesText(rules)}
        />
      )}
      <div className="grid items-end gap-4 sm:grid-cols-2">
        {text("autologout", texts.signOutAfter, texts.suchAs15m0)}
        <Checkbox
          className="pb-6"
          label={texts.staySignedIn}
          checked={draft.autologin}
          onChange={(e) => set({ autologin: e.target.checked, autologout: "0" })}
        />
      </div>
      {own && <OwnAuthenticator />}
      {admin && user && <SignInButtons user={user} own={own} />}
      <MediaEditor medias={draft.medias} onChange={(medias) => set({ medias })} />
    </SaveDialog>
  );
}
