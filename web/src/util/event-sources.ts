import { EventSource, OperationMode } from "~/api/schema";

/** Sources of events in the order in which forms offer them, with their names. */
export const SOURCE_NAMES: readonly (readonly [source: string, name: string])[] = [
  [EventSource.Trigger, "Trigger"],
  [EventSource.Service, "Service"],
  [EventSource.Discovery, "Discovery"],
  [EventSource.Autoregistration, "Autoregistration"],
  [EventSource.Internal, "Internal"],
];

const MODE_NAMES: Record<string, string> = {
  [OperationMode.Problem]: "Problem",
  [OperationMode.Recovery]: "Recovery",
  [OperationMode.Update]: "Update",
};

/** The modes of operations that events of a source have. */
export function modesOf(source: string): readonly string[] {
  const { Problem, Recovery, Update } = OperationMode;
  if (source === EventSource.Trigger || source === EventSource.Service)
    return [Problem, Recovery, Update];
  return source === EventSource.Internal ? [Problem, Recovery] : [Problem];
}

export const sourceName = (source: string) =>
  SOURCE_NAMES.find(([known]) => known === source)?.[1] ?? source;

/** What a message is about: "Trigger: recovery"; sources without an end have only their name. */
export function messageName(source: string, mode: string): string {
  if (modesOf(source).length === 1) return sourceName(source);
  return `${sourceName(source)}: ${(MODE_NAMES[mode] ?? mode).toLowerCase()}`;
}
