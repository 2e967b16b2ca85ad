import { Status } from "~/api/schema";
import type { Media } from "~/api/users";
import { SEVERITIES } from "~/util/severity";

/** A medium as the dialog holds it. */
export interface MediaDraft {
  /** Undefined: a new one. */
  mediaid?: string;
  mediatypeid: string;
  /** Addresses, a line each; only e-mail has several. */
  sendto: string;
  /** The API has a list of addresses. */
  several: boolean;
  on: boolean;
  /** The user's directory gave it: type and addresses stay. */
  provisioned?: boolean;
  severities: string[];
  period: string;
}

const ALWAYS = "1-7,00:00-24:00";

export const newMedia = (mediatypeid: string, several: boolean): MediaDraft => ({
  mediatypeid,
  several,
  sendto: "",
  on: true,
  severities: SEVERITIES.map(String),
  period: ALWAYS,
});

export function mediaDraft(media: Media): MediaDraft {
  const bits = Number(media.severity);
  return {
    mediaid: media.mediaid,
    mediatypeid: media.mediatypeid,
    several: Array.isArray(media.sendto),
    sendto: [media.sendto].flat().join("\n"),
    on: media.active === Status.Enabled,
    severities: SEVERITIES.filter((severity) => bits & (1 << severity)).map(String),
    period: media.period,
    ...(media.provisioned === "1" && { provisioned: true }),
  };
}

const addressesOf = (media: MediaDraft) =>
  media.sendto
    .split(media.several ? /[\n,;]/ : /\n/)
    .map((address) => address.trim())
    .filter(Boolean);

/** Why a medium cannot be saved; the server also checks the periods. */
export function mediaProblem(medias: readonly MediaDraft[]): string | undefined {
  if (medias.some((media) => !media.mediatypeid)) return "Choose a media type.";
  if (medias.some((media) => addressesOf(media).length === 0))
    return "Enter an address for each media type.";
  if (medias.some((media) => !media.period.trim())) return "Enter active times.";
  return undefined;
}

/** The media as the create and update methods take them. */
export function mediaParams(medias: readonly MediaDraft[]): object[] {
  return medias.map((media) => {
    const addresses = addressesOf(media);
    return {
      mediaid: media.mediaid,
      mediatypeid: media.mediatypeid,
      sendto: media.several ? addresses : (addresses[0] ?? ""),
      active: media.on ? Status.Enabled : Status.Disabled,
      severity: String(media.severities.reduce((bits, one) => bits | (1 << Number(one)), 0)),
      period: media.period.trim(),
    };
  });
}
