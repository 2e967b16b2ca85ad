import type { Member, ScheduleSummary } from "~/api/oncall";
import { session } from "~/api/session-store";
import { colorPlaces } from "~/util/oncall";
import { texts } from "./texts";

/** What a user is called here: first and last name, or the user name. */
export const shortName = ({ username, name, surname }: Member) =>
  [name, surname].filter(Boolean).join(" ") || username;

/** Names and colours of the users of some schedules. */
export interface People {
  nameOf: (userid: string) => string;
  /** Place of the user's colour. */
  colorOf: (userid: string) => number;
}

export function peopleOf(schedules: readonly Pick<ScheduleSummary, "users">[]): People {
  const members = schedules.flatMap(({ users }) => users);
  const names = new Map(members.map((one) => [one.userid, shortName(one)]));
  const colors = colorPlaces(members.map(({ userid }) => userid));
  const own = session()?.userid;
  return {
    nameOf: (userid) => {
      if (userid === "0") return texts.nobody;
      const name = names.get(userid) ?? texts.unknown;
      return userid === own ? texts.you(name) : name;
    },
    colorOf: (userid) => colors.get(userid) ?? 0,
  };
}
