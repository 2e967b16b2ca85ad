import { Checkbox, SelectField, TextField } from "~/ui/field";
import { type HostDraft, usesCertificate, usesPsk } from "./draft";
import { texts } from "./texts";

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
          label={texts.connectionsToTheHost}
          options={CONNECT}
          value={draft.tlsConnect}
          onChange={(tlsConnect) => set({ tlsConnect })}
        />
        <fieldset className="flex flex-col gap-1">
          <legend className="pb-1 text-xs font-medium text-soft">
            {texts.connectionsFromTheHost}
          </legend>
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
            label={texts.pskIdentity}
            hint={isNew ? undefined : texts.leaveEmptyToKeep}
            value={draft.pskIdentity}
            onChange={(pskIdentity) => set({ pskIdentity })}
          />
          <TextField
            label={texts.psk}
            error={error}
            hint={isNew ? texts.n32To512Hexadecimal : texts.leaveEmptyToKeepThe}
            className="font-mono"
            value={draft.psk}
            onChange={(psk) => set({ psk })}
          />
        </div>
      )}
      {usesCertificate(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.issuer}
            value={draft.tlsIssuer}
            onChange={(tlsIssuer) => set({ tlsIssuer })}
          />
          <TextField
            label={texts.subject}
            value={draft.tlsSubject}
            onChange={(tlsSubject) => set({ tlsSubject })}
          />
        </div>
      )}
    </>
  );
}
