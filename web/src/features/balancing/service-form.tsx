import { useQuery } from "@tanstack/react-query";
import {
  certificatesQuery,
  deleteServices,
  engineGroupsQuery,
  mayBalance,
  poolsQuery,
  type Service,
  saveService,
  vipsQuery,
} from "~/api/balancing";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useRefusal } from "~/shared/forms/use-refusal";
import { Checkbox, Field, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { SegmentedField } from "~/ui/segmented";
import { savedReviewed } from "./apply/review";
import { addressWords, useLeave } from "./leave";
import { policyNames } from "./requests/authentication-draft";
import { AuthenticationForm } from "./requests/authentication-form";
import { CacheForm } from "./requests/cache-form";
import { CompressionForm } from "./requests/compression-form";
import { ForwardedForm } from "./requests/forwarded-form";
import { MirrorForm } from "./requests/mirror-form";
import { RateForm } from "./requests/rate-form";
import { RevocationLists } from "./revocation";
import { RulesEditor } from "./rules/editor";
import {
  jsonProblem,
  LIMITS,
  type ServiceDraft,
  serviceDraft,
  serviceParams,
  serviceProblems,
  TIMEOUTS,
  UDP_LIMITS,
  UDP_TIMEOUTS,
} from "./service-draft";
import { target, targetOf, targetOptions } from "./targets";
import { texts } from "./texts";
import { useTargets } from "./use-targets";

interface PartProps {
  draft: ServiceDraft;
  set: (next: Partial<ServiceDraft>) => void;
  problems: Record<string, string>;
}

type Named = { name: string };
/** Options of a choice among objects; nothing is chosen before the user does. */
const choices = <T extends Named>(
  rows: readonly T[] | undefined,
  idOf: (row: T) => string,
  words: (row: T) => string = (row) => row.name,
) => [["", texts.choose] as const, ...(rows ?? []).map((row) => [idOf(row), words(row)] as const)];

const isGroup = ([word]: readonly [string, string]) => word.startsWith("group ");

/** Where clients connect, and where their requests go. */
function Address({ draft, set, problems }: PartProps) {
  const groups = useQuery(engineGroupsQuery());
  const vips = useQuery(vipsQuery());
  const pools = useQuery(poolsQuery());
  const targets = useTargets();
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
        <SelectField
          label={texts.vip}
          required
          error={problems.vipid}
          hint={vips.data?.length === 0 ? texts.noVipYet : undefined}
          options={choices(
            vips.data,
            (row) => row.vipid,
            (row) => `${row.name} (${addressWords(row)})`,
          )}
          value={draft.vipid}
          onChange={(vipid) => set({ vipid })}
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
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={targets.some(isGroup) ? texts.target : texts.pool}
          required
          error={problems.poolid ?? problems.poolgroupid}
          hint={pools.data?.length === 0 ? texts.noPoolYet : texts.poolHint}
          options={targetOptions(targets, target(draft))}
          value={target(draft)}
          onChange={(word) => set(targetOf(word))}
        />
        <SelectField
          label={texts.engineGroup}
          required
          error={problems.enginegroupid}
          hint={groups.data?.length === 0 ? texts.noGroupYet : texts.groupHint}
          options={choices(groups.data, (row) => row.enginegroupid)}
          value={draft.enginegroupid}
          onChange={(enginegroupid) => set({ enginegroupid })}
        />
      </div>
      {draft.type !== "udp" && (
        <Checkbox
          label={texts.acceptProxy}
          checked={draft.accept_proxy}
          onChange={(event) => set({ accept_proxy: event.target.checked })}
        />
      )}
    </>
  );
}

function Tls({ draft, set, problems }: PartProps) {
  const { data } = useQuery(certificatesQuery());
  const { tls } = draft;
  const change = (next: Partial<ServiceDraft["tls"]>) => set({ tls: { ...tls, ...next } });
  const options = (data ?? []).map((row) => ({ value: row.certificateid, label: row.name }));
  return (
    <>
      <Field label={texts.certificates} error={problems.certificates} hint={texts.certificatesHint}>
        {(id) => (
          <Pick
            field
            id={id}
            label={texts.certificates}
            values={draft.certificates}
            options={options}
            onChange={(certificates) => set({ certificates })}
          />
        )}
      </Field>
      {(draft.certificates.length > 0 || Object.keys(tls).length > 0) && (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField
              label={texts.lowestVersion}
              options={[
                ["1.2", texts.tls12],
                ["1.3", texts.tls13],
              ]}
              value={tls.min_version ?? "1.2"}
              onChange={(min_version) => change({ min_version })}
            />
            <SelectField
              label={texts.clientCertificates}
              options={[
                ["none", texts.notRequested],
                ["optional", texts.optional],
                ["require", texts.required],
              ]}
              value={tls.client_auth ?? "none"}
              onChange={(client_auth) => change({ client_auth })}
            />
          </div>
          {draft.type === "http" && (
            <Checkbox
              label={texts.http2}
              checked={tls.alpn?.includes("h2") ?? false}
              onChange={(event) =>
                change({ alpn: withProtocol(tls.alpn, "h2", event.target.checked) })
              }
            />
          )}
          {draft.type === "http" && (
            <Checkbox
              label={texts.http3}
              checked={tls.alpn?.includes("h3") ?? false}
              onChange={(event) =>
                change({ alpn: withProtocol(tls.alpn, "h3", event.target.checked) })
              }
            />
          )}
          <Checkbox
            label={texts.strictSni}
            checked={tls.strict_sni ?? false}
            onChange={(event) => change({ strict_sni: event.target.checked })}
          />
          {tls.client_auth && tls.client_auth !== "none" && (
            <TextareaField
              label={texts.clientAuthorities}
              rows={4}
              className="font-mono text-xs"
              placeholder={texts.pemPlaceholder}
              value={tls.client_ca ?? ""}
              onChange={(client_ca) => change({ client_ca: client_ca || undefined })}
            />
          )}
          {tls.client_auth && tls.client_auth !== "none" && (
            <RevocationLists
              label={texts.clientRevocations}
              lists={tls.client_crl ?? ""}
              expired={tls.expired_crl ?? "refuse"}
              onChange={(client_crl, expired_crl) => change({ client_crl, expired_crl })}
            />
          )}
        </>
      )}
      {problems.tls && <p className="text-xs text-bad-ink">{problems.tls}</p>}
    </>
  );
}

interface NumbersProps extends PartProps {
  member: "timeouts" | "limits";
  fields: readonly (readonly [name: string, label: string, byDefault: string])[];
}

/** Settings that show their defaults while they are empty. */
function Numbers({ draft, set, problems, member, fields }: NumbersProps) {
  return (
    <>
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        {fields.map(([name, label, byDefault]) => (
          <TextField
            key={name}
            label={label}
            placeholder={byDefault}
            value={draft[member][name] ?? ""}
            onChange={(text) => set({ [member]: { ...draft[member], [name]: text } })}
          />
        ))}
      </div>
      {problems[member] && <p className="text-xs text-bad-ink">{problems[member]}</p>}
    </>
  );
}

/** In boxes that nobody may fill in, an example would look like a value. */
const example = (text: string) => (mayBalance() ? text : undefined);

/** What happens to requests on their way. */
function Requests({ draft, set, problems }: PartProps) {
  return (
    <RulesEditor
      rules={draft.rules}
      onChange={(rules) => set({ rules })}
      problem={problems.rules}
      jsonProblem={(text) => jsonProblem(text, "list")}
      policies={policyNames(draft.authentication)}
    />
  );
}

function Access({ draft, set, problems }: PartProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {(["allow", "deny"] as const).map((member) => (
        <TextareaField
          key={member}
          label={member === "allow" ? texts.allowed : texts.denied}
          rows={3}
          error={problems[member]}
          hint={member === "allow" ? texts.allowedHint : texts.deniedHint}
          placeholder={example("10.0.0.0/8")}
          value={draft[member]}
          onChange={(text) => set({ [member]: text })}
        />
      ))}
    </div>
  );
}

/** What only services of HTTP have. */
function HttpSections(part: PartProps) {
  const { draft, set, problems } = part;
  return (
    <>
      <FormSection title={texts.requests} note={texts.requestsNote}>
        <Requests {...part} />
      </FormSection>
      <FormSection title={texts.rateLimit} note={texts.rateLimitNote}>
        <RateForm
          value={draft.rate_limit}
          onChange={(rate_limit) => set({ rate_limit })}
          problem={problems.rate_limit}
        />
      </FormSection>
      <FormSection title={texts.authentication} note={texts.authenticationNote}>
        <AuthenticationForm
          value={draft.authentication}
          onChange={(authentication) => set({ authentication })}
          problem={problems.authentication}
        />
      </FormSection>
      <FormSection title={texts.compression} note={texts.compressionNote}>
        <CompressionForm
          value={draft.compression}
          onChange={(compression) => set({ compression })}
          problem={problems.compression}
        />
      </FormSection>
      <FormSection title={texts.cache} note={texts.cacheNote}>
        <CacheForm
          value={draft.cache}
          onChange={(cache) => set({ cache })}
          problem={problems.cache}
        />
      </FormSection>
      <FormSection title={texts.forwarded} note={texts.forwardedNote}>
        <ForwardedForm
          value={draft.forwarded}
          onChange={(forwarded) => set({ forwarded })}
          problem={problems.forwarded}
        />
      </FormSection>
      <FormSection title={texts.mirror} note={texts.mirrorNote}>
        <MirrorForm
          value={draft.mirror}
          onChange={(mirror) => set({ mirror })}
          problem={problems.mirror}
        />
      </FormSection>
    </>
  );
}

/** The protocols of a service with or without HTTP/2 or HTTP/3; none of them is the default. */
function withProtocol(alpn: string[] | undefined, name: string, wanted: boolean) {
  const chosen = ["h3", "h2"].filter((one) => (one === name ? wanted : alpn?.includes(one)));
  return chosen.length > 0 ? [...chosen, "http/1.1"] : undefined;
}

/** Creates or edits a virtual service. */
export function ServiceForm({ row }: { row: Service | null }) {
  const drafting = useDraft(() => serviceDraft(row), serviceProblems);
  const { draft, set } = drafting;
  const { problems, tell } = useRefusal(drafting);
  const leave = useLeave("services");
  const id = row?.virtualserviceid ?? null;
  const part = { draft, set, problems };
  const isHttp = draft.type === "http";
  const isUdp = draft.type === "udp";
  const save = () => {
    const members = serviceParams(draft);
    const params = { virtualserviceid: id, ...members };
    return savedReviewed(texts.serviceWord, id, { method: "virtualservice.update", params }, () =>
      saveService(id, members),
    );
  };
  return (
    <ObjectForm
      word={texts.serviceWord}
      drafting={drafting}
      isNew={id === null}
      save={() => tell(save())}
      readOnly={!mayBalance()}
      onSaved={leave}
      remove={() => deleteServices([id ?? ""])}
      onDeleted={leave}
      loss={texts.serviceLoss}
    >
      <FormSection title={texts.service} note={texts.serviceNote}>
        <TextField
          label={texts.name}
          required
          error={problems.name}
          autoFocus={!row}
          maxLength={128}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <SegmentedField
          label={texts.type}
          value={draft.type}
          onChange={(type) => set({ type })}
          options={[
            ["http", texts.http],
            ["tcp", texts.tcp],
            ["udp", texts.udp],
          ]}
        />
        <TextField
          label={texts.description}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
        <Checkbox
          label={texts.enabled}
          checked={draft.on}
          onChange={(event) => set({ on: event.target.checked })}
        />
      </FormSection>
      <FormSection title={texts.address} note={texts.addressNote}>
        <Address {...part} />
      </FormSection>
      {!isUdp && (
        <FormSection title={texts.tls} note={texts.tlsNote}>
          <Tls {...part} />
        </FormSection>
      )}
      {isHttp && <HttpSections {...part} />}
      <FormSection title={texts.access} note={texts.accessNote}>
        <Access {...part} />
      </FormSection>
      <FormSection title={texts.timeouts} note={texts.timeoutsNote}>
        <Numbers {...part} member="timeouts" fields={isUdp ? UDP_TIMEOUTS : TIMEOUTS} />
      </FormSection>
      <FormSection title={texts.limits} note={texts.limitsNote}>
        <Numbers {...part} member="limits" fields={isUdp ? UDP_LIMITS : LIMITS} />
      </FormSection>
    </ObjectForm>
  );
}
