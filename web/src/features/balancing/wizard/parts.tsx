import { useQuery } from "@tanstack/react-query";
import type { ChangeEvent } from "react";
import { certificatesQuery, engineGroupsQuery, monitorsQuery, vipsQuery } from "~/api/balancing";
import { buttonClass } from "~/ui/button";
import { SelectField, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { addressWords } from "../leave";
import {
  ANY_ADDRESS,
  type BalanceDraft,
  type Check,
  isHttp,
  NEW,
  type Protocol,
  UNSPECIFIED,
  withProtocol,
} from "./draft";
import { FIRST_GROUP } from "./plan";
import { texts } from "./texts";

interface PartProps {
  draft: BalanceDraft;
  set: (next: Partial<BalanceDraft>) => void;
  problems: Record<string, string>;
}

const PROTOCOLS = [
  ["http", texts.http],
  ["https", texts.https],
  ["tcp", texts.tcp],
  ["tls", texts.tls],
  ["udp", texts.udp],
] as const;

const HTTP_CHECK = ["http", texts.httpCheck] as const;
const TCP_CHECK = ["tcp", texts.tcpCheck] as const;
/** New monitors that fit servers of a protocol, the usual one first. */
const checksOf = (protocol: Protocol) =>
  protocol === "udp" ? [] : isHttp(protocol) ? [HTTP_CHECK, TCP_CHECK] : [TCP_CHECK, HTTP_CHECK];

/** Name, protocol, address and port. */
export function ServicePart({ draft, set, problems }: PartProps) {
  const { data: vips = [] } = useQuery(vipsQuery());
  const hasAny = vips.some((vip) => vip.ipv4 === UNSPECIFIED);
  return (
    <>
      <TextField
        label={texts.name}
        required
        error={problems.name}
        autoFocus
        maxLength={128}
        placeholder={texts.namePlaceholder}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <SegmentedField
        label={texts.protocol}
        value={draft.protocol}
        options={PROTOCOLS}
        onChange={(protocol) => set(withProtocol(draft, protocol))}
      />
      <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
        <SelectField
          label={texts.address}
          error={draft.vip === NEW ? undefined : problems.address}
          options={[
            ...vips.map((vip) => [vip.vipid, `${vip.name} (${addressWords(vip)})`] as const),
            ...(hasAny ? [] : [[ANY_ADDRESS, texts.anyAddress] as const]),
            [NEW, texts.newAddress],
          ]}
          value={draft.vip}
          onChange={(vip) => set({ vip })}
        />
        <TextField
          label={texts.port}
          required
          error={problems.port}
          inputMode="numeric"
          value={draft.port}
          onChange={(port) => set({ port })}
        />
      </div>
      {draft.vip === NEW && (
        <TextField
          label={texts.newAddressLabel}
          required
          error={problems.address}
          hint={texts.newAddressHint}
          value={draft.address}
          onChange={(address) => set({ address })}
        />
      )}
    </>
  );
}

interface PemProps {
  label: string;
  placeholder: string;
  error?: string;
  value: string;
  onChange: (text: string) => void;
}

/** PEM text that is pasted or read from a file. */
function PemField({ onChange, ...box }: PemProps) {
  const onFile = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    if (file) onChange(await file.text());
    event.target.value = "";
  };
  return (
    <div className="flex flex-col items-start gap-1.5">
      <TextareaField
        {...box}
        required
        rows={4}
        fieldClass="w-full"
        className="font-mono text-xs"
        onChange={onChange}
      />
      <label className={`${buttonClass("plain", true)} focus-within:outline-2`}>
        {texts.upload}
        <input
          type="file"
          accept=".pem,.crt,.cer,.key"
          aria-label={texts.uploadOf(box.label)}
          className="sr-only"
          onChange={(event) => void onFile(event)}
        />
      </label>
    </div>
  );
}

/** The certificate of a service with TLS. */
export function CertificatePart({ draft, set, problems }: PartProps) {
  const { data = [] } = useQuery(certificatesQuery());
  return (
    <>
      <SelectField
        label={texts.certificate}
        options={[
          ...data.map((row) => [row.certificateid, row.name] as const),
          [NEW, texts.newCertificate],
        ]}
        value={draft.certificateid}
        onChange={(certificateid) => set({ certificateid })}
      />
      {draft.certificateid === NEW && (
        <>
          <PemField
            label={texts.certificatePem}
            placeholder={texts.pemPlaceholder}
            error={problems.certificate}
            value={draft.certificate}
            onChange={(certificate) => set({ certificate })}
          />
          <PemField
            label={texts.keyPem}
            placeholder={texts.keyPlaceholder}
            error={problems.private_key}
            value={draft.private_key}
            onChange={(private_key) => set({ private_key })}
          />
        </>
      )}
    </>
  );
}

/** How the servers are checked. */
export function CheckPart({ draft, set, problems }: PartProps) {
  const { data = [] } = useQuery(monitorsQuery());
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={texts.checks}
        error={problems.check}
        options={[
          ...checksOf(draft.protocol),
          ...data.map((row) => [`id ${row.healthmonitorid}`, texts.existing(row.name)] as const),
          ["none", texts.noCheck],
        ]}
        value={draft.check}
        onChange={(check) => set({ check: check as Check })}
      />
      {draft.check === "http" && (
        <TextField
          label={texts.path}
          required
          error={problems.path}
          hint={texts.pathHint}
          value={draft.path}
          onChange={(path) => set({ path })}
        />
      )}
    </div>
  );
}

/** The engines that serve it. */
export function GroupPart({ draft, set, problems }: PartProps) {
  const { data = [] } = useQuery(engineGroupsQuery());
  const groups = data.map((row) => [row.enginegroupid, row.name] as const);
  return (
    <SelectField
      label={texts.group}
      error={problems.enginegroupid}
      options={
        groups.length ? [["", texts.choose], ...groups] : [[NEW, texts.newGroup(FIRST_GROUP)]]
      }
      value={draft.enginegroupid}
      onChange={(enginegroupid) => set({ enginegroupid })}
    />
  );
}
