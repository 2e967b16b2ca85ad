/** What a condition of a correlation is about. */
export const CorrelationCondition = {
  OldTag: "0",
  NewTag: "1",
  NewHostGroup: "2",
  TagPair: "3",
  OldTagValue: "4",
  NewTagValue: "5",
} as const;

/** What a correlation does. */
export const CorrelationAction = { CloseOld: "0", CloseNew: "1" } as const;

const EQUAL = [
  ["0", "is"],
  ["1", "is not"],
] as const;
const LIKE = [...EQUAL, ["2", "contains"] as const, ["3", "does not contain"] as const];

export const CONDITIONS = [
  [CorrelationCondition.OldTag, "Old event tag name"],
  [CorrelationCondition.NewTag, "New event tag name"],
  [CorrelationCondition.NewHostGroup, "New event host group"],
  [CorrelationCondition.TagPair, "Event tag pair"],
  [CorrelationCondition.OldTagValue, "Old event tag value"],
  [CorrelationCondition.NewTagValue, "New event tag value"],
] as const;

/** How a condition compares; those without a choice are equal. */
export function operatorsOf(type: string): readonly (readonly [string, string])[] {
  if (type === CorrelationCondition.NewHostGroup) return EQUAL;
  const isValue =
    type === CorrelationCondition.OldTagValue || type === CorrelationCondition.NewTagValue;
  return isValue ? LIKE : [];
}

export interface ConditionDraft {
  type: string;
  tag: string;
  value: string;
  operator: string;
  oldtag: string;
  newtag: string;
  groupid: string;
}

export const newCorrelationCondition = (type: string = CorrelationCondition.OldTag) => ({
  type,
  tag: "",
  value: "",
  operator: "0",
  oldtag: "",
  newtag: "",
  groupid: "",
});

/** A condition in words. */
export function correlationWords(
  { type, tag, value, operator, oldtag, newtag, groupid }: ConditionDraft,
  groups: ReadonlyMap<string, string>,
): string {
  const does = LIKE.find(([one]) => one === operator)?.[1] ?? operator;
  switch (type) {
    case CorrelationCondition.OldTag:
      return `Old event has tag ${tag}`;
    case CorrelationCondition.NewTag:
      return `New event has tag ${tag}`;
    case CorrelationCondition.NewHostGroup:
      return `Host group of the new event ${does} ${groups.get(groupid) ?? groupid}`;
    case CorrelationCondition.TagPair:
      return `Old tag ${oldtag} equals new tag ${newtag}`;
    case CorrelationCondition.OldTagValue:
      return `Old tag ${tag} ${does} ${value || '""'}`;
    case CorrelationCondition.NewTagValue:
      return `New tag ${tag} ${does} ${value || '""'}`;
    default:
      return `Condition ${type}`;
  }
}
