import { RowsEditor } from "~/shared/forms/rows-editor";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import {
  ALGORITHMS,
  type Claim,
  HIDDEN,
  type Key,
  type Policy,
  type User,
} from "./authentication-draft";
import { texts } from "./texts";

interface PolicyFormProps {
  policy: Policy;
  onChange: (next: Partial<Policy>) => void;
  /** What is wrong with a field; "": with the policy. */
  wrong: (field: string) => string | undefined;
}

const Wrong = ({ text }: { text: string | undefined }) =>
  text ? <p className="text-xs text-bad-ink">{text}</p> : null;

interface SecretProps {
  label: string;
  value: string;
  /** Whether the server has a secret that an empty box keeps. */
  isStored: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** A secret that can be entered and never read. */
function Secret({ label, value, isStored, error, onChange }: SecretProps) {
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="new-password"
      error={error}
      placeholder={isStored ? texts.hashStored : undefined}
      value={value === HIDDEN ? "" : value}
      onChange={(text) => onChange(text || (isStored ? HIDDEN : ""))}
    />
  );
}

function Basic({ policy, onChange, wrong }: PolicyFormProps) {
  const { users } = policy;
  return (
    <>
      <RowsEditor<User>
        rows={users}
        onChange={(next) => onChange({ users: next })}
        word={texts.userWord}
        fresh={() => ({ name: "", hash: "", stored: "" })}
        columns="grid-cols-[minmax(0,1fr)_minmax(0,2fr)_2rem] items-start"
        labelled
        note={<Wrong text={wrong("users")} />}
      >
        {(user, set) => {
          const at = users.indexOf(user);
          return (
            <>
              <TextField
                label={texts.userName}
                error={wrong(`users${at}.name`)}
                value={user.name}
                onChange={(name) => set({ name })}
              />
              <Secret
                label={texts.hash}
                error={wrong(`users${at}.hash`)}
                isStored={user.stored !== ""}
                value={user.hash}
                onChange={(hash) => set({ hash })}
              />
            </>
          );
        }}
      </RowsEditor>
      <p className="text-xs text-faint">{texts.hashHint}</p>
      <TextField
        label={texts.userHeader}
        hint={texts.headerHint}
        placeholder={texts.userHeaderExample}
        value={policy.user_header}
        onChange={(user_header) => onChange({ user_header })}
      />
    </>
  );
}

/** The keys of a JWT policy. */
function Keys({ policy, onChange, wrong }: PolicyFormProps) {
  const { keys } = policy;
  return (
    <RowsEditor<Key>
      rows={keys}
      onChange={(next) => onChange({ keys: next })}
      word={texts.keyWord}
      fresh={() => ({ original: {}, id: "", algorithm: "RS256", key: "" })}
      columns="grid-cols-[minmax(0,1fr)_2rem] items-start"
      labelled
      note={<Wrong text={wrong("keys")} />}
    >
      {(key, set) => {
        const error = wrong(`keys${keys.indexOf(key)}.key`);
        return (
          <div className="grid gap-2 sm:grid-cols-2">
            <TextField label={texts.keyId} value={key.id} onChange={(id) => set({ id })} />
            <SelectField
              label={texts.algorithm}
              options={ALGORITHMS.map((name) => [name, name])}
              value={key.algorithm}
              onChange={(algorithm) => set({ algorithm })}
            />
            <div className="sm:col-span-2">
              {key.algorithm === "HS256" ? (
                <Secret
                  label={texts.secret}
                  error={error}
                  isStored={key.original.key === HIDDEN}
                  value={key.key}
                  onChange={(next) => set({ key: next })}
                />
              ) : (
                <TextareaField
                  label={texts.publicKey}
                  rows={4}
                  className="font-mono text-xs"
                  error={error}
                  value={key.key === HIDDEN ? "" : key.key}
                  onChange={(next) => set({ key: next })}
                />
              )}
            </div>
          </div>
        );
      }}
    </RowsEditor>
  );
}

/** The claims that servers get as headers. */
function Claims({ policy, onChange, wrong }: PolicyFormProps) {
  const { claims } = policy;
  return (
    <RowsEditor<Claim>
      rows={claims}
      onChange={(next) => onChange({ claims: next })}
      word={texts.claimWord}
      fresh={() => ({ claim: "", header: "" })}
      columns="grid-cols-[minmax(0,1fr)_minmax(0,1fr)_2rem] items-start"
      labelled
    >
      {(row, set) => (
        <>
          <TextField
            label={texts.claim}
            error={wrong(`claims${claims.indexOf(row)}`)}
            value={row.claim}
            onChange={(claim) => set({ claim })}
          />
          <TextField
            label={texts.header}
            value={row.header}
            onChange={(header) => set({ header })}
          />
        </>
      )}
    </RowsEditor>
  );
}

function Jwt(props: PolicyFormProps) {
  const { policy, onChange, wrong } = props;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          label={texts.issuer}
          hint={texts.issuerHint}
          value={policy.issuer}
          onChange={(issuer) => onChange({ issuer })}
        />
        <TextField
          label={texts.audience}
          hint={texts.audienceHint}
          value={policy.audience}
          onChange={(audience) => onChange({ audience })}
        />
        <TextField
          label={texts.leeway}
          hint={texts.leewayHint}
          value={policy.leeway}
          onChange={(leeway) => onChange({ leeway })}
        />
      </div>
      <TextareaField
        label={texts.jwks}
        rows={4}
        className="font-mono text-xs"
        hint={texts.jwksHint}
        error={wrong("jwks")}
        value={policy.jwks}
        onChange={(jwks) => onChange({ jwks })}
      />
      <Keys {...props} />
      <Claims {...props} />
    </>
  );
}

/** The boxes of one policy. */
export function PolicyForm(props: PolicyFormProps) {
  const { policy, onChange, wrong } = props;
  return (
    <>
      <Wrong text={wrong("")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.policyName}
          required
          error={wrong("name")}
          value={policy.name}
          onChange={(name) => onChange({ name })}
        />
        <TextField
          label={texts.realm}
          hint={texts.realmHint}
          value={policy.realm}
          onChange={(realm) => onChange({ realm })}
        />
      </div>
      {policy.kind === "basic" ? <Basic {...props} /> : <Jwt {...props} />}
      <Checkbox
        label={texts.passAuthorization}
        checked={policy.pass}
        onChange={(event) => onChange({ pass: event.target.checked })}
      />
    </>
  );
}
