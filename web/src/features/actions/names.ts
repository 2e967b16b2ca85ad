import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { groupsQuery } from "~/api/groups";
import { hostNamesQuery } from "~/api/hosts";
import { mediaTypeNamesQuery } from "~/api/media-types";
import { networkRulesQuery } from "~/api/network";
import { scheduleNamesQuery } from "~/api/oncall";
import { EventSource, Status } from "~/api/schema";
import { actionScriptsQuery } from "~/api/scripts";
import { templateNamesQuery } from "~/api/templates";
import { triggerLabel, triggerNamesQuery } from "~/api/trigger-config";
import { fullName, userGroupNamesQuery, userNamesQuery } from "~/api/users";
import { type ActionCondition, type ActionSource, conditionKind } from "~/util/actions";
import { checkWords } from "~/util/network";

/** The ids that conditions of a kind of object refer to. */
function idsOf(
  source: ActionSource,
  conditions: readonly ActionCondition[],
  kind: string,
): string[] {
  const ids = conditions
    .filter((one) => conditionKind(source, one.conditiontype)?.value === kind && one.value)
    .map((one) => one.value);
  return [...new Set(ids)].sort();
}

/** Names of what conditions refer to, by kind and id: `rule 7`, `group 4`. */
export function useConditionNames(
  source: ActionSource,
  conditions: readonly ActionCondition[],
): ReadonlyMap<string, string> {
  const found = source === EventSource.Discovery;
  const ids = (kind: string) => idsOf(source, conditions, kind);
  const { data: rules } = useQuery({ ...networkRulesQuery(), enabled: found });
  const { data: groups } = useQuery({
    ...groupsQuery("host"),
    enabled: ids("group").length > 0,
  });
  const { data: hosts } = useQuery(hostNamesQuery(ids("host")));
  const { data: templates } = useQuery(templateNamesQuery(ids("template")));
  const { data: triggers } = useQuery(triggerNamesQuery(ids("trigger")));
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const rule of rules ?? []) {
      names.set(`rule ${rule.druleid}`, rule.name);
      for (const check of rule.dchecks)
        names.set(`check ${check.dcheckid}`, `${rule.name}: ${checkWords(check)}`);
    }
    for (const group of groups ?? []) names.set(`group ${group.groupid}`, group.name);
    for (const host of hosts ?? []) names.set(`host ${host.hostid}`, host.name);
    for (const [id, name] of templates ?? []) names.set(`template ${id}`, name);
    for (const trigger of triggers ?? [])
      names.set(`trigger ${trigger.triggerid}`, triggerLabel(trigger));
    return names;
  }, [rules, groups, hosts, templates, triggers]);
}

/** Names of those who get messages, and of what they are sent by. Ids stand for what may not be read. */
export interface RecipientNames {
  user: (id: string) => string;
  group: (id: string) => string;
  mediaType: (id: string) => string;
  script: (id: string) => string;
  schedule: (id: string) => string;
  /** Whether a media type is known to be disabled. */
  isOff: (id: string) => boolean;
  /** Choices, each as id and name. */
  users: readonly (readonly [string, string])[];
  groups: readonly (readonly [string, string])[];
  mediaTypes: readonly (readonly [string, string])[];
  scripts: readonly (readonly [string, string])[];
  schedules: readonly (readonly [string, string])[];
}

export function useRecipientNames(): RecipientNames {
  const { data: users } = useQuery(userNamesQuery());
  const { data: groups } = useQuery(userGroupNamesQuery());
  const { data: types } = useQuery(mediaTypeNamesQuery());
  const { data: scripts } = useQuery(actionScriptsQuery());
  const { data: schedules } = useQuery(scheduleNamesQuery());
  return useMemo(() => {
    const lists = {
      users: (users ?? []).map((one) => [one.userid, fullName(one)] as const),
      groups: (groups ?? []).map((one) => [one.usrgrpid, one.name] as const),
      mediaTypes: (types ?? []).map((one) => [one.mediatypeid, one.name] as const),
      scripts: (scripts ?? []).map((one) => [one.scriptid, one.name] as const),
      schedules: (schedules ?? []).map((one) => [one.scheduleid, one.name] as const),
    };
    const namer = (list: readonly (readonly [string, string])[], word: string) => {
      const names = new Map(list);
      return (id: string) => names.get(id) ?? `${word} ${id}`;
    };
    return {
      ...lists,
      user: namer(lists.users, "user"),
      group: namer(lists.groups, "user group"),
      mediaType: namer(lists.mediaTypes, "media type"),
      script: namer(lists.scripts, "script"),
      schedule: namer(lists.schedules, "on-call schedule"),
      isOff: (id: string) =>
        types?.some((one) => one.mediatypeid === id && one.status === Status.Disabled) ?? false,
    };
  }, [users, groups, types, scripts, schedules]);
}
