import type { MediaTypeTest } from "~/api/media-types";
import { MediaTypeKind } from "~/api/schema";
import type { Pair } from "~/util/pairs";
import type { MediaTypeDraft } from "./draft";

/** What the test dialog asks for. */
export interface TrialDraft {
  sendto: string;
  subject: string;
  message: string;
  /** Of webhooks and scripts. */
  params: Pair[];
}

/** Whether parameters decide what is sent, instead of an address and a text. */
export const hasParams = (type: string) =>
  type === MediaTypeKind.Webhook || type === MediaTypeKind.Script;

export function trialDraft(draft: MediaTypeDraft): TrialDraft {
  const params =
    draft.type === MediaTypeKind.Script
      ? draft.args.map(({ value }, at) => ({ name: `Argument ${at + 1}`, value }))
      : draft.params;
  return {
    sendto: "",
    subject: "Test subject",
    message: "This is the test message from Vedette.",
    params: params.map((one) => ({ ...one })),
  };
}

/** Why the test cannot be sent yet. */
export function trialProblem(type: string, trial: TrialDraft): string | undefined {
  if (hasParams(type)) return undefined;
  if (!trial.sendto.trim()) return "Enter an address.";
  return trial.message.trim() ? undefined : "Enter a message.";
}

/** Addresses of e-mail are a list, separated by commas or lines. */
const addresses = (text: string) =>
  text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter(Boolean);

/** What `mediatype.test` takes. */
export function trialParams(
  mediatypeid: string,
  type: string,
  { sendto, subject, message, params }: TrialDraft,
): MediaTypeTest {
  if (type === MediaTypeKind.Webhook)
    return { mediatypeid, parameters: params.filter(({ name }) => name.trim()) };
  if (type === MediaTypeKind.Script)
    return { mediatypeid, parameters: params.map(({ value }) => ({ value })) };
  if (type === MediaTypeKind.Email)
    return { mediatypeid, sendto: addresses(sendto), subject, message };
  return { mediatypeid, sendto: sendto.trim(), message };
}

/** An error of the server: why, and below it the lines of the log. */
export function errorParts(text: string): { what: string; log: string } {
  const [what = "", ...log] = text.split(/\n\nLog:\n/);
  return { what, log: log.join("\n") };
}
