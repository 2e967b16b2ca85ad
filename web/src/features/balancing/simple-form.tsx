import {
  type Certificate,
  deleteCertificates,
  deleteMonitors,
  deleteVips,
  type Monitor,
  mayBalance,
  saveCertificate,
  saveMonitor,
  saveVip,
  type Vip,
} from "~/api/balancing";
import type { BalancingChange } from "~/api/engines";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useRefusal } from "~/shared/forms/use-refusal";
import { SelectField, TextareaField, TextField } from "~/ui/field";
import { SEVERITIES, severityName } from "~/util/severity";
import { savedReviewed } from "./apply/review";
import type { Kind } from "./kinds";
import { useLeave } from "./leave";
import {
  certificateDraft,
  certificateParams,
  type Fields,
  monitorDraft,
  monitorParams,
  vipDraft,
  vipParams,
} from "./simple-draft";
import { texts } from "./texts";

/** A field: its member and how it looks. */
interface FieldOf<D> {
  member: Extract<keyof D, string>;
  label: string;
  hint?: string;
  required?: boolean;
  placeholder?: string;
  options?: readonly (readonly [string, string])[];
  /** PEM text: several lines. */
  pem?: boolean;
  /** Shown only for some drafts. */
  when?: (draft: D) => boolean;
}

interface SimpleProps<D extends Fields> {
  kind: Kind;
  word: string;
  title: string;
  note: string;
  loss: string;
  id: string | null;
  first: D;
  fields: readonly FieldOf<D>[];
  save: (draft: D) => Promise<unknown>;
  /** The change of an existing object, for comparison; without it, no service is touched. */
  change?: (draft: D) => BalancingChange;
  remove: (ids: string[]) => Promise<unknown>;
}

/** A form of texts, one for each member. */
function SimpleForm<D extends Fields>(props: SimpleProps<D>) {
  const { id, word } = props;
  const shown = (draft: D) => props.fields.filter(({ when }) => when?.(draft) ?? true);
  const drafting = useDraft(
    () => props.first,
    (draft): Record<string, string> =>
      Object.fromEntries(
        shown(draft)
          .filter(({ member, required }) => required && !String(draft[member]).trim())
          .map(({ member, label }) => [member, texts.fillIn(label)]),
      ),
  );
  const { draft, set } = drafting;
  const { problems, tell } = useRefusal(drafting);
  const leave = useLeave(props.kind);
  const save = () =>
    props.change
      ? savedReviewed(word, id, props.change(draft), () => props.save(draft))
      : props.save(draft);
  return (
    <ObjectForm
      word={word}
      drafting={drafting}
      isNew={id === null}
      save={() => tell(save())}
      readOnly={!mayBalance()}
      onSaved={leave}
      remove={() => props.remove([id ?? ""])}
      onDeleted={leave}
      loss={props.loss}
    >
      <FormSection title={props.title} note={props.note}>
        {shown(draft).map(({ member, options, pem, when: _, ...box }, at) => {
          const common = {
            ...box,
            error: problems[member],
            value: String(draft[member]),
            onChange: (text: string) => set({ [member]: text } as Partial<D>),
          };
          if (options) return <SelectField key={member} {...common} options={options} />;
          if (pem) {
            return (
              <TextareaField key={member} {...common} rows={8} className="font-mono text-xs" />
            );
          }
          return <TextField key={member} {...common} autoFocus={at === 0 && id === null} />;
        })}
      </FormSection>
    </ObjectForm>
  );
}

const NAME = { member: "name", label: texts.name, required: true } as const;
const DESCRIPTION = { member: "description", label: texts.description } as const;

export function VipForm({ row }: { row: Vip | null }) {
  return (
    <SimpleForm
      kind="vips"
      word={texts.vipWord}
      title={texts.vip}
      note={texts.vipNote}
      loss={texts.usedWarning}
      id={row?.vipid ?? null}
      first={vipDraft(row)}
      fields={[
        NAME,
        { member: "ipv4", label: texts.ipv4, hint: texts.ipv4Hint },
        { member: "ipv6", label: texts.ipv6, hint: texts.ipv6Hint },
        { member: "dns_names", label: texts.dnsNames, hint: texts.dnsNamesHint },
        DESCRIPTION,
      ]}
      save={(draft) => saveVip(row?.vipid ?? null, vipParams(draft))}
      change={(draft) => ({
        method: "vip.update",
        params: { vipid: row?.vipid, ...vipParams(draft) },
      })}
      remove={deleteVips}
    />
  );
}

const isHttp = (draft: { type: string }) => draft.type === "http";
const isUdp = (draft: { type: string }) => draft.type === "udp";
const isDns = (draft: { type: string }) => draft.type === "dns";

const DATAGRAM_FIELDS: readonly FieldOf<ReturnType<typeof monitorDraft>>[] = [
  { member: "send", label: texts.sent, hint: texts.bytesHint, required: true, when: isUdp },
  {
    member: "silence",
    label: texts.silence,
    options: [
      ["fails", texts.silenceFails],
      ["passes", texts.silencePasses],
    ],
    when: isUdp,
  },
  {
    member: "expect",
    label: texts.expectedBytes,
    hint: texts.expectedBytesHint,
    when: (draft) => isUdp(draft) && draft.silence === "fails",
  },
  { member: "query_name", label: texts.queryName, required: true, when: isDns },
  {
    member: "query_type",
    label: texts.queryType,
    options: ["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"].map((type) => [
      type,
      type,
    ]),
    when: isDns,
  },
  {
    member: "rcodes",
    label: texts.expectedCodes,
    hint: texts.expectedCodesHint,
    required: true,
    when: isDns,
  },
];

const isScript = (draft: { type: string }) => draft.type === "script";
const isTrigger = (draft: { type: string }) => draft.type === "trigger";
const isChecked = (draft: { type: string }) => !isTrigger(draft);

const OTHER_FIELDS: readonly FieldOf<ReturnType<typeof monitorDraft>>[] = [
  {
    member: "program",
    label: texts.program,
    hint: texts.programHint,
    required: true,
    when: isScript,
  },
  {
    member: "parameters",
    label: texts.parameters,
    hint: texts.parametersHint,
    pem: true,
    when: isScript,
  },
  { member: "trigger_name", label: texts.triggerName, hint: texts.triggerHint, when: isTrigger },
  { member: "trigger_tags", label: texts.problemTags, hint: texts.tagsHint, when: isTrigger },
  {
    member: "min_severity",
    label: texts.lowestSeverity,
    options: SEVERITIES.toReversed().map((severity) => [String(severity), severityName(severity)]),
    when: isTrigger,
  },
  {
    member: "effect",
    label: texts.duringProblem,
    options: [
      ["down", texts.problemDown],
      ["drain", texts.problemDrain],
    ],
    when: isTrigger,
  },
];

export function MonitorForm({ row }: { row: Monitor | null }) {
  return (
    <SimpleForm
      kind="health-monitors"
      word={texts.monitorWord}
      title={texts.healthMonitor}
      note={texts.monitorNote}
      loss={texts.usedWarning}
      id={row?.healthmonitorid ?? null}
      first={monitorDraft(row)}
      fields={[
        NAME,
        {
          member: "type",
          label: texts.type,
          options: [
            ["http", texts.httpMonitor],
            ["tcp", texts.tcpMonitor],
            ["udp", texts.udpMonitor],
            ["dns", texts.dnsMonitor],
            ["smtp", texts.smtpMonitor],
            ["icmp", texts.icmpMonitor],
            ["script", texts.scriptMonitor],
            ["trigger", texts.triggerMonitor],
          ],
        },
        { member: "path", label: texts.path, required: true, when: isHttp },
        { member: "status", label: texts.expectedStatus, required: true, when: isHttp },
        { member: "body", label: texts.expectedBody, hint: texts.expectedBodyHint, when: isHttp },
        ...DATAGRAM_FIELDS,
        ...OTHER_FIELDS,
        { member: "interval", label: texts.interval, required: true, when: isChecked },
        { member: "timeout", label: texts.timeout, required: true, when: isChecked },
        { member: "up", label: texts.successes, required: true, when: isChecked },
        { member: "down", label: texts.failed, required: true, when: isChecked },
        DESCRIPTION,
      ]}
      save={(draft) => saveMonitor(row?.healthmonitorid ?? null, monitorParams(draft))}
      change={(draft) => ({
        method: "healthmonitor.update",
        params: { healthmonitorid: row?.healthmonitorid, ...monitorParams(draft) },
      })}
      remove={deleteMonitors}
    />
  );
}

type CertificateDraft = ReturnType<typeof certificateDraft>;
const isGiven = (draft: CertificateDraft) => draft.source === "given";
const isOrdered = (draft: CertificateDraft) => !isGiven(draft);

/** What an authority needs to know. */
const ORDER_FIELDS: readonly FieldOf<CertificateDraft>[] = [
  {
    member: "domains",
    label: texts.domains,
    hint: texts.domainsHint,
    required: true,
    when: isOrdered,
  },
  {
    member: "challenge",
    label: texts.challenge,
    hint: texts.challengeHint,
    options: [
      ["http-01", texts.httpChallenge],
      ["tls-alpn-01", texts.tlsChallenge],
      ["dns-01", texts.dnsChallenge],
    ],
    when: isOrdered,
  },
  { member: "contact", label: texts.contact, when: isOrdered },
  { member: "directory", label: texts.directory, hint: texts.directoryHint, when: isOrdered },
  {
    member: "ca",
    label: texts.directoryCa,
    hint: texts.directoryCaHint,
    pem: true,
    placeholder: texts.pemPlaceholder,
    when: (draft) => isOrdered(draft) && draft.directory.trim() !== "",
  },
  {
    member: "terms",
    label: texts.terms,
    required: true,
    options: [
      ["", texts.termsOpen],
      ["agreed", texts.termsAgreed],
    ],
    when: isOrdered,
  },
];

export function CertificateForm({ row }: { row: Certificate | null }) {
  return (
    <SimpleForm
      kind="certificates"
      word={texts.certificateWord}
      title={texts.certificate}
      note={texts.certificateNote}
      loss={texts.certificateLoss}
      id={row?.certificateid ?? null}
      first={certificateDraft(row)}
      fields={[
        NAME,
        {
          member: "source",
          label: texts.source,
          options: [
            ["given", texts.given],
            ["ordered", texts.ordered],
          ],
        },
        ...ORDER_FIELDS,
        {
          member: "certificate",
          label: texts.certificateAndChain,
          required: true,
          pem: true,
          when: isGiven,
          placeholder: texts.pemPlaceholder,
        },
        {
          member: "private_key",
          label: texts.privateKey,
          required: !row?.fingerprint,
          pem: true,
          when: isGiven,
          hint: row ? texts.keyStays : undefined,
          placeholder: texts.keyPlaceholder,
        },
        DESCRIPTION,
      ]}
      save={(draft) => saveCertificate(row?.certificateid ?? null, certificateParams(draft))}
      change={(draft) => ({
        method: "certificate.update",
        params: { certificateid: row?.certificateid, ...certificateParams(draft) },
      })}
      remove={deleteCertificates}
    />
  );
}
