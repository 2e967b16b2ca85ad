import { useQuery } from "@tanstack/react-query";
import { type MediaTypeName, mediaTypeNamesQuery } from "~/api/media-types";
import { MediaTypeKind, Status } from "~/api/schema";
import { QueryError } from "~/shared/fallback";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { SeverityMark } from "~/ui/severity";
import { patched, without } from "~/util/rows";
import { SEVERITIES, severityName } from "~/util/severity";
import { type MediaDraft, newMedia } from "./media-draft";
import { texts } from "./texts";

interface MediaProps {
  media: MediaDraft;
  set: (next: Partial<MediaDraft>) => void;
  types: readonly MediaTypeName[];
}

function Severities({ media, set }: Pick<MediaProps, "media" | "set">) {
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="pb-1 text-xs font-medium text-soft">{texts.severities}</legend>
      <div className="grid grid-cols-2 gap-x-4 gap-y-1.5 sm:grid-cols-3">
        {SEVERITIES.map((severity) => {
          const id = String(severity);
          const on = media.severities.includes(id);
          return (
            <Checkbox
              key={id}
              label={
                <span className="inline-flex items-center gap-1.5">
                  <SeverityMark severity={severity} size={12} />
                  {severityName(severity)}
                </span>
              }
              checked={on}
              onChange={() =>
                set({
                  severities: on
                    ? media.severities.filter((one) => one !== id)
                    : [...media.severities, id],
                })
              }
            />
          );
        })}
      </div>
      {media.severities.length === 0 && <p className="text-xs text-bad-ink">{texts.noSeverity}</p>}
    </fieldset>
  );
}

const isEmail = (types: readonly MediaTypeName[], id: string) =>
  types.find((type) => type.mediatypeid === id)?.type === MediaTypeKind.Email;

function Fields({ media, set, types }: MediaProps) {
  const type = types.find((one) => one.mediatypeid === media.mediatypeid);
  const known = types.map((one) => [one.mediatypeid, one.name] as const);
  // A type that the user may not read keeps its place.
  const options = type ? known : [[media.mediatypeid, texts.unknownType] as const, ...known];
  return (
    <>
      <SelectField
        label={texts.mediaType}
        options={options}
        value={media.mediatypeid}
        disabled={media.provisioned}
        hint={
          media.provisioned
            ? texts.fromDirectory
            : type?.status === Status.Disabled
              ? texts.typeIsDisabled
              : undefined
        }
        onChange={(mediatypeid) => set({ mediatypeid, several: isEmail(types, mediatypeid) })}
      />
      {media.several ? (
        <TextareaField
          label={texts.addresses}
          required
          disabled={media.provisioned}
          hint={texts.anAddressPerLine}
          rows={Math.min(media.sendto.split("\n").length + 1, 6)}
          value={media.sendto}
          onChange={(sendto) => set({ sendto })}
        />
      ) : (
        <TextField
          label={texts.sendTo}
          required
          disabled={media.provisioned}
          maxLength={1024}
          value={media.sendto}
          onChange={(sendto) => set({ sendto })}
        />
      )}
      <Severities media={media} set={set} />
      <TextField
        label={texts.activeTimes}
        required
        hint={texts.activeTimesHint}
        maxLength={1024}
        value={media.period}
        onChange={(period) => set({ period })}
      />
      <Checkbox
        label={texts.enabled}
        checked={media.on}
        onChange={(e) => set({ on: e.target.checked })}
      />
    </>
  );
}

interface MediaEditorProps {
  medias: MediaDraft[];
  onChange: (medias: MediaDraft[]) => void;
}

/** Where a user gets messages. */
export function MediaEditor({ medias, onChange }: MediaEditorProps) {
  const { data: types = [], error, refetch } = useQuery(mediaTypeNamesQuery());
  const first = types[0]?.mediatypeid ?? "";
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-xs font-medium text-soft">{texts.media}</h3>
      {error && <QueryError error={error} onRetry={() => void refetch()} />}
      {medias.length === 0 && <p className="text-xs text-bad-ink">{texts.noMedia}</p>}
      {medias.map((media, at) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: media have no identity but their place
          key={at}
          aria-label={texts.mediaNumber(at + 1)}
          className="relative flex flex-col gap-3 rounded-md border p-3"
        >
          {!media.provisioned && (
            <IconButton
              icon="trash"
              label={texts.removeMedia(at + 1)}
              className="absolute top-1.5 right-1.5"
              onClick={() => onChange(without(medias, at))}
            />
          )}
          <Fields media={media} set={(next) => onChange(patched(medias, at, next))} types={types} />
        </fieldset>
      ))}
      {types.length > 0 && (
        <AddButton onClick={() => onChange([...medias, newMedia(first, isEmail(types, first))])}>
          {texts.addMedia}
        </AddButton>
      )}
    </section>
  );
}
