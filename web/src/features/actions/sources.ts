import { EventSource } from "~/api/schema";
import { allows } from "~/api/session-store";
import type { ActionSource } from "~/util/actions";

/** Sources of events: word in addresses, role element, names. Triggers need no word. */
const SOURCES = [
  [EventSource.Trigger, "triggers", "trigger", "Trigger"],
  [EventSource.Service, "services", "service", "Service"],
  [EventSource.Discovery, "network", "discovery", "Discovery"],
  [EventSource.Autoregistration, "agents", "autoregistration", "Autoregistration"],
  [EventSource.Internal, "internal", "internal", "Internal"],
] as const;

/** The sources whose actions the user's role allows. */
export const allowedSources = () =>
  SOURCES.filter(([, , element]) => allows(`configuration.${element}_actions`));

/** The source that an address names, if the role allows it; otherwise the first that it allows. */
export function sourceOf(word: string | undefined): ActionSource {
  const allowed = allowedSources();
  const named = allowed.find(([, one]) => one === (word ?? "triggers"));
  return (named ?? allowed[0] ?? SOURCES[0])[0];
}

/** The word of a source in addresses. */
export function wordOf(source: ActionSource): string | undefined {
  const word = SOURCES.find(([one]) => one === source)?.[1];
  return word === "triggers" ? undefined : word;
}

/** "Trigger", at the start of a text. */
export const titleOf = (source: ActionSource) =>
  SOURCES.find(([one]) => one === source)?.[3] ?? source;
