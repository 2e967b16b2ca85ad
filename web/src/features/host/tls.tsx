import { Checkbox, SelectField, TextField } from "~/ui/field";
import { type HostDraft, usesCertificate, usesPsk } from "./draft";

interface TlsFieldsProps {
  draft: HostDraft;
  set: (next: Partial<HostDraft>) => void;
  isNew: boolean;
  error?: string;
}

const CONNECT = [
  ["1", "No encryption"],
  ["2", "Pre-shared key"],
  ["4", "Certificate"],
] as const;

/** How connections to and from the host are encrypted. */
export function TlsFields({ draft, set, isNew, error }: TlsFieldsProps) {
  const accept = (bit: number, on: boolean) => {
    const next = on ? draft.tlsAccept | bit : draft.tlsAccept & ~bit;
    if (next !== 0) set({ tlsAccept: next });
  };
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Connections to the host"
          options={CONNECT}
          value={draft.tlsConnect}
          onChange={(tlsConnect) => set({ tlsConnect })}
        />
        <fieldset className="flex flex-col gap-1">
          <legend className="pb-1 text-xs font-medium text-soft">Connections from the host</legend>
          <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1">
            {CONNECT.map(([bit, label]) => (
              <Checkbox
                key={bit}
                label={label}
                checked={(draft.tlsAccept & Number(bit)) !== 0}
                onChange={(e) => accept(Number(bit), e.target.checked)}
              />
            ))}
          </div>
        </fieldset>
      </div>
      {usesPsk(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="PSK identity"
            hint={isNew ? undefined : "Leave empty to keep the current identity."}
            value={draft.pskIdentity}
            onChange={(pskIdentity) => set({ pskIdentity })}
          />
          <TextField
            label="PSK"
            error={error}
            hint={isNew ? "32 to 512 hexadecimal digits" : "Leave empty to keep the current key."}
            className="font-mono"
            value={draft.psk}
            onChange={(psk) => set({ psk })}
          />
        </div>
      )}
      {usesCertificate(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Issuer"
            value={draft.tlsIssuer}
            onChange={(tlsIssuer) => set({ tlsIssuer })}
          />
          <TextField
            label="Subject"
            value={draft.tlsSubject}
            onChange={(tlsSubject) => set({ tlsSubject })}
          />
        </div>
      )}
    </>
  );
}
