import { DiscoveryCheckType } from "~/api/schema";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { Checkbox, SelectField, TextField } from "~/ui/field";
import { CHECKS, type Check, hasValue, isAgent, isPing } from "~/util/network";
import { patched } from "~/util/rows";
import { newCheck } from "./rule-draft";
import { texts } from "./texts";

const KINDS = CHECKS.map(([type, name]) => [type, name] as const);
const LEVELS = [
  ["0", "No authentication"],
  ["1", "Authentication"],
  ["2", "Authentication and privacy"],
] as const;
const AUTH = [
  ["0", "MD5"],
  ["1", "SHA1"],
  ["2", "SHA224"],
  ["3", "SHA256"],
  ["4", "SHA384"],
  ["5", "SHA512"],
] as const;
const PRIVACY = [
  ["0", "DES"],
  ["1", "AES128"],
  ["2", "AES192"],
  ["3", "AES256"],
  ["4", "AES192C"],
  ["5", "AES256C"],
] as const;

interface PartProps {
  check: Check;
  set: (next: Partial<Check>) => void;
}

function Text({ check, set, member, label }: PartProps & { member: keyof Check; label: string }) {
  return (
    <TextField
      label={label}
      value={check[member] ?? ""}
      onChange={(value) => set({ [member]: value })}
    />
  );
}

function Choice(
  props: PartProps & {
    member: keyof Check;
    label: string;
    options: readonly (readonly [string, string])[];
  },
) {
  const { check, set, member, label, options } = props;
  return (
    <SelectField
      label={label}
      options={options}
      value={check[member] ?? ""}
      onChange={(value) => set({ [member]: value })}
    />
  );
}

/** SNMPv3 credentials. */
function Version3({ check, set }: PartProps) {
  const level = Number(check.snmpv3_securitylevel);
  const part = { check, set };
  return (
    <>
      <Text {...part} member="snmpv3_securityname" label={texts.securityName} />
      <Text {...part} member="snmpv3_contextname" label={texts.contextName} />
      <Choice
        {...part}
        member="snmpv3_securitylevel"
        label={texts.securityLevel}
        options={LEVELS}
      />
      {level > 0 && (
        <>
          <Choice
            {...part}
            member="snmpv3_authprotocol"
            label={texts.authentication}
            options={AUTH}
          />
          <Text {...part} member="snmpv3_authpassphrase" label={texts.authenticationPassphrase} />
        </>
      )}
      {level > 1 && (
        <>
          <Choice {...part} member="snmpv3_privprotocol" label={texts.privacy} options={PRIVACY} />
          <Text {...part} member="snmpv3_privpassphrase" label={texts.privacyPassphrase} />
        </>
      )}
    </>
  );
}

interface ChecksEditorProps {
  checks: Check[];
  onChange: (checks: Check[]) => void;
  onRemove: (at: number) => void;
  problems: Record<string, string>;
}

/** What a rule looks for, a box each. */
export function ChecksEditor({ checks, onChange, onRemove, problems }: ChecksEditorProps) {
  return (
    <div className="flex flex-col gap-3">
      {checks.map((check, at) => {
        const set = (next: Partial<Check>) => onChange(patched(checks, at, next));
        const { type } = check;
        const part = { check, set };
        return (
          <fieldset
            // biome-ignore lint/suspicious/noArrayIndexKey: checks have no identity but their place
            key={at}
            aria-label={texts.checkNumber(at + 1)}
            className="grid gap-3 rounded-lg border bg-sunken p-3 sm:grid-cols-2"
          >
            <div className="flex items-end gap-2">
              <SelectField
                label={texts.checkType}
                fieldClass="flex-1"
                options={KINDS}
                value={type}
                onChange={(value) => set({ ...newCheck(value), dcheckid: check.dcheckid })}
              />
              <IconButton icon="trash" label={texts.removeCheck} onClick={() => onRemove(at)} />
            </div>
            {isPing(type) ? (
              <Checkbox
                label={texts.allowRedirection}
                className="self-end pb-2"
                checked={check.allow_redirect === "1"}
                onChange={(e) => set({ allow_redirect: e.target.checked ? "1" : "0" })}
              />
            ) : (
              <Text {...part} member="ports" label={texts.ports} />
            )}
            {hasValue(type) && (
              <Text {...part} member="key_" label={isAgent(type) ? texts.itemKey : texts.oid} />
            )}
            {(type === DiscoveryCheckType.SnmpV1 || type === DiscoveryCheckType.SnmpV2) && (
              <Text {...part} member="snmp_community" label={texts.community} />
            )}
            {type === DiscoveryCheckType.SnmpV3 && <Version3 {...part} />}
            {problems[`check${at}`] && (
              <p className="text-xs text-bad-ink sm:col-span-2">{problems[`check${at}`]}</p>
            )}
          </fieldset>
        );
      })}
      <AddButton onClick={() => onChange([...checks, newCheck("12")])}>{texts.addCheck}</AddButton>
      {problems.checks && <p className="text-xs text-bad-ink">{problems.checks}</p>}
    </div>
  );
}
