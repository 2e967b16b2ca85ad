import { useQuery } from "@tanstack/react-query";
import {
  type Authentication,
  authenticationQuery,
  directoriesQuery,
  mfaQuery,
  saveAuthentication,
} from "~/api/authentication";
import { userGroupsQuery } from "~/api/users";
import { Mask } from "~/shared/forms/mask";
import { FormSection } from "~/shared/forms/section";
import { SettingsBody, SettingsForm, type SettingsOf } from "~/shared/forms/settings-form";
import { type Drafting, useDraft } from "~/shared/forms/use-draft";
import { Checkbox, SelectField, TextField } from "~/ui/field";
import { PASSWORD_RULES } from "~/util/passwords";
import { NAMES, settingsParams, settingsProblems } from "./settings-draft";
import { texts } from "./texts";

type PartProps = Pick<Drafting<Authentication>, "draft" | "set" | "problems">;
type Choice = readonly [id: string, name: string];

const TYPES = [
  ["0", texts.internal],
  ["1", texts.ldap],
] as const;

function Choose({
  name,
  label,
  options,
  none,
  hint,
  part,
}: {
  name: keyof Authentication;
  label: string;
  options: readonly Choice[];
  /** Of the option that chooses nothing. */
  none?: string;
  hint?: string;
  part: PartProps;
}) {
  return (
    <SelectField
      label={label}
      fieldClass="max-w-96"
      hint={hint}
      error={part.problems[name]}
      options={none ? [["0", none], ...options] : options}
      value={part.draft[name]}
      onChange={(value) => part.set({ [name]: value })}
    />
  );
}

function Switch({
  name,
  label,
  part,
}: {
  name: keyof Authentication;
  label: string;
  part: PartProps;
}) {
  return (
    <Checkbox
      label={label}
      checked={part.draft[name] === "1"}
      onChange={(event) => part.set({ [name]: event.target.checked ? "1" : "0" })}
    />
  );
}

function Default({ part }: { part: PartProps }) {
  const { data: groups = [] } = useQuery(userGroupsQuery());
  const disabled = groups.filter((group) => group.users_status === "1");
  return (
    <FormSection title={texts.signIn} note={texts.signInNote}>
      <Choose
        name="authentication_type"
        label={texts.defaultAuthentication}
        options={TYPES}
        part={part}
      />
      <Choose
        name="disabled_usrgrpid"
        label={texts.deprovisioned}
        hint={texts.deprovisionedHint}
        none={texts.noGroup}
        options={disabled.map((group) => [group.usrgrpid, group.name] as const)}
        part={part}
      />
    </FormSection>
  );
}

function Passwords({ part }: { part: PartProps }) {
  const { draft, set, problems } = part;
  return (
    <FormSection title={texts.passwords} note={texts.passwordsNote}>
      <TextField
        label={texts.minLength}
        required
        inputMode="numeric"
        fieldClass="max-w-40"
        error={problems.passwd_min_length}
        value={draft.passwd_min_length}
        onChange={(passwd_min_length) => set({ passwd_min_length })}
      />
      <Mask
        label={texts.mustHave}
        names={PASSWORD_RULES}
        mask={Number(draft.passwd_check_rules)}
        onChange={(mask) => set({ passwd_check_rules: String(mask) })}
      />
    </FormSection>
  );
}

function Ldap({ part }: { part: PartProps }) {
  const { draft, set, problems } = part;
  const { data: servers = [] } = useQuery(directoriesQuery());
  return (
    <FormSection title={texts.ldap} note={texts.ldapNote}>
      <Switch name="ldap_auth_enabled" label={texts.enableLdap} part={part} />
      {draft.ldap_auth_enabled === "1" && (
        <>
          <Choose
            name="ldap_userdirectoryid"
            label={texts.defaultServer}
            none={texts.noServer}
            options={servers.map((one) => [one.userdirectoryid, one.name] as const)}
            part={part}
          />
          <Switch name="ldap_case_sensitive" label={texts.caseSensitive} part={part} />
          <Switch name="ldap_jit_status" label={texts.enableJit} part={part} />
          {draft.ldap_jit_status === "1" && (
            <TextField
              label={texts.interval}
              required
              hint={texts.intervalHint}
              fieldClass="max-w-64"
              error={problems.jit_provision_interval}
              value={draft.jit_provision_interval}
              onChange={(jit_provision_interval) => set({ jit_provision_interval })}
            />
          )}
        </>
      )}
    </FormSection>
  );
}

function Mfa({ part }: { part: PartProps }) {
  const { data: methods = [] } = useQuery(mfaQuery());
  return (
    <FormSection title={texts.mfa} note={texts.mfaNote}>
      <Switch name="mfa_status" label={texts.enableMfa} part={part} />
      {part.draft.mfa_status === "1" && (
        <Choose
          name="mfaid"
          label={texts.defaultMethod}
          none={texts.noMethod}
          options={methods.map((one) => [one.mfaid, one.name] as const)}
          part={part}
        />
      )}
    </FormSection>
  );
}

function AuthenticationForm({ settings, onSaved }: SettingsOf<Authentication>) {
  const drafting = useDraft(() => settings, settingsProblems);
  return (
    <SettingsForm
      drafting={drafting}
      words={texts}
      save={() => saveAuthentication(settingsParams(drafting.draft))}
      onSaved={onSaved}
    >
      <Default part={drafting} />
      <Passwords part={drafting} />
      <Ldap part={drafting} />
      <Mfa part={drafting} />
      <FormSection title={texts.notSupported}>
        <p className="text-sm text-soft">{texts.notSupportedText}</p>
      </FormSection>
    </SettingsForm>
  );
}

/** Settings of all users. */
export function Settings() {
  return <SettingsBody query={authenticationQuery(NAMES)} form={AuthenticationForm} />;
}
