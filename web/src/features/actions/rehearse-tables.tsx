import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import {
  problemNamesQuery,
  type Rehearsal,
  type RehearsedMessage,
  type RehearsedUser,
} from "~/api/rehearsals";
import { Button } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Dot } from "~/ui/severity";
import { formatCount } from "~/util/format";
import { formatClock } from "~/util/time";
import { judged } from "~/util/verdicts";
import type { RecipientNames } from "./names";
import { busiestWords, byMessages, isCut, stepWords, withheldWords } from "./rehearsal";
import { texts } from "./texts";

/** Rows before "Show all". */
const SHORT = 25;

/** Scrolled by keyboard too. */
const scrolls = (label: string) => ({ role: "region", "aria-label": label, tabIndex: 0 });
const CELL = "px-3 py-1.5 align-top";
const NUMBER = "px-3 py-1.5 text-right align-top tabular";

interface TableProps {
  label: string;
  /** Titles of columns; those of numbers are at the right. */
  head: readonly (readonly [title: string, isNumber: boolean])[];
  className: string;
  children: ReactNode;
}

function Table({ label, head, className, children }: TableProps) {
  return (
    <div {...scrolls(label)} className="max-w-full shrink-0 overflow-x-auto rounded-md border">
      <table className={cx("w-full text-xs", className)}>
        <thead>
          <tr className="bg-sunken text-soft">
            {head.map(([title, isNumber]) => (
              <th
                key={title}
                scope="col"
                className={cx("px-3 py-1.5 font-medium", isNumber ? "text-right" : "text-left")}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface AllProps {
  shown: number;
  of: number;
  onClick: () => void;
}

function ShowAll({ shown, of, onClick }: AllProps) {
  if (shown >= of) return null;
  return (
    <Button small className="self-start" onClick={onClick}>
      {texts.showAll(formatCount(of))}
    </Button>
  );
}

const USER_HEAD = [
  [texts.user, false],
  [texts.messages, true],
  [texts.atNight, true],
  [texts.busiestHour, false],
  [texts.failed, true],
  [texts.withheld, false],
  [texts.sentInFact, true],
] as const;

function UserRow({ user, name }: { user: RehearsedUser; name: string }) {
  const count = (text: string) => formatCount(Number(text));
  return (
    <tr className="border-t">
      <th scope="row" className={cx(CELL, "text-left font-medium break-words")}>
        {name}
      </th>
      <td className={cx(NUMBER, "font-medium")}>{count(user.messages)}</td>
      <td className={NUMBER}>{count(user.at_night)}</td>
      <td className={cx(CELL, "tabular whitespace-nowrap")}>{busiestWords(user)}</td>
      <td className={cx(NUMBER, user.failed !== "0" && "font-medium text-bad-ink")}>
        {count(user.failed)}
      </td>
      <td className={CELL}>
        {withheldWords(user).map((words) => (
          <p key={words}>{words}</p>
        ))}
      </td>
      <td className={NUMBER}>{count(user.sent)}</td>
    </tr>
  );
}

interface PartProps {
  rehearsal: Rehearsal;
  nameOf: (userid: string) => string;
}

/** What each user would have got, beside what the user got. */
export function RehearsedUsers({ rehearsal, nameOf }: PartProps) {
  const [all, setAll] = useState(false);
  const users = byMessages(rehearsal.users);
  const shown = all ? users : users.slice(0, SHORT);
  return (
    <>
      <Table label={texts.users} head={USER_HEAD} className="min-w-[44rem]">
        {shown.map((user) => (
          <UserRow key={user.userid} user={user} name={nameOf(user.userid)} />
        ))}
      </Table>
      <ShowAll shown={shown.length} of={users.length} onClick={() => setAll(true)} />
    </>
  );
}

const MESSAGE_HEAD = [
  [texts.time, false],
  [texts.problem, false],
  [texts.user, false],
  [texts.address, false],
  [texts.step, false],
  [texts.result, false],
] as const;

interface MessageProps {
  message: RehearsedMessage;
  problem: string;
  user: string;
  media: string;
}

function MessageRow({ message, problem, user, media }: MessageProps) {
  const { tone, what } = judged(message.verdict);
  return (
    <tr className="border-t">
      <td className={cx(CELL, "tabular whitespace-nowrap")}>
        {formatClock(Number(message.clock))}
      </td>
      <td className={cx(CELL, "break-words")}>{problem}</td>
      <td className={cx(CELL, "break-words")}>{user}</td>
      <td className={cx(CELL, "break-all")}>
        {message.sendto.replaceAll("\n", ", ")} <span className="text-soft">{media}</span>
      </td>
      <td className={cx(CELL, "whitespace-nowrap")}>{stepWords(message)}</td>
      <td className={CELL}>
        <span className="flex items-baseline gap-1.5">
          <Dot tone={tone} />
          {message.verdict === "sent" ? texts.wouldBeSent : what}
        </span>
      </td>
    </tr>
  );
}

/** The first messages. */
export function RehearsedMessages({
  rehearsal,
  nameOf,
  names,
}: PartProps & { names: RecipientNames }) {
  const [all, setAll] = useState(false);
  const { messages } = rehearsal;
  const shown = all ? messages : messages.slice(0, SHORT);
  const eventids = useMemo(() => {
    const listed = all ? messages : messages.slice(0, SHORT);
    return [...new Set(listed.map(({ eventid }) => eventid))];
  }, [all, messages]);
  const problems = useQuery(problemNamesQuery(eventids));
  return (
    <>
      <Table label={texts.firstMessages} head={MESSAGE_HEAD} className="min-w-[44rem]">
        {shown.map((message, at) => (
          <MessageRow
            // biome-ignore lint/suspicious/noArrayIndexKey: messages have no identity but their place
            key={at}
            message={message}
            problem={problems.data?.get(message.eventid) ?? texts.problemOf(message.eventid)}
            user={nameOf(message.userid)}
            media={
              message.mediatypeid === "0" ? "" : texts.byMedia(names.mediaType(message.mediatypeid))
            }
          />
        ))}
      </Table>
      <ShowAll shown={shown.length} of={messages.length} onClick={() => setAll(true)} />
      {isCut(rehearsal) && (
        <p className="text-xs text-soft">{texts.onlyFirst(formatCount(messages.length))}</p>
      )}
    </>
  );
}
