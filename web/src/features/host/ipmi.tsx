import { SelectField, TextField } from "~/ui/field";
import type { HostDraft } from "./draft";
import { texts } from "./texts";

const AUTH = [
  ["-1", "Default (strongest that the device offers)"],
  ["6", "RMCP+ (IPMI 2.0)"],
  ["2", "MD5 (IPMI 1.5)"],
  ["1", "MD2 (IPMI 1.5)"],
  ["4", "Straight (password in clear text)"],
  ["0", "None"],
] as const;

const PRIVILEGE = [
  ["2", "User"],
  ["3", "Operator"],
  ["4", "Administrator"],
  ["1", "Callback"],
  ["5", "OEM"],
] as const;

/** The type of a vendor's own is shown where it was configured elsewhere; no device is asked so. */
const withOem = (value: string) => (value === "5" ? [...AUTH, ["5", "OEM"] as const] : AUTH);

/** Credentials for the host's management controller. */
export function IpmiFields({
  draft,
  set,
}: {
  draft: HostDraft;
  set: (next: Partial<HostDraft>) => void;
}) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.authentication}
          options={withOem(draft.ipmiAuthtype)}
          value={draft.ipmiAuthtype}
          onChange={(ipmiAuthtype) => set({ ipmiAuthtype })}
        />
        <SelectField
          label={texts.privilege}
          options={PRIVILEGE}
          value={draft.ipmiPrivilege}
          onChange={(ipmiPrivilege) => set({ ipmiPrivilege })}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.ipmiUserName}
          maxLength={16}
          autoComplete="off"
          value={draft.ipmiUsername}
          onChange={(ipmiUsername) => set({ ipmiUsername })}
        />
        <TextField
          label={texts.ipmiPassword}
          type="password"
          maxLength={20}
          autoComplete="new-password"
          value={draft.ipmiPassword}
          onChange={(ipmiPassword) => set({ ipmiPassword })}
        />
      </div>
    </>
  );
}
