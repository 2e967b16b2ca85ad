import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import {
  MOVE_S,
  type OverrideRow,
  overrideShift,
  overridesQuery,
  revokeOverride,
  type ScheduleSummary,
  shiftsQuery,
} from "~/api/oncall";
import { fullName, userNamesQuery } from "~/api/users";
import { SaveDialog } from "~/shared/save-dialog";
import { Button } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Dialog } from "~/ui/dialog";
import { SelectField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { joined, type Shift, shiftOf, shiftWords } from "~/util/oncall";
import { AHEAD_S } from "./mine";
import { type People, shortName } from "./people";
import {
  type ChangeKind,
  choosesUser,
  keyOf,
  maySwap,
  mayTouch,
  overrideParams,
  type Rights,
  type ShiftDraft,
  shiftDraft,
  shiftProblem,
} from "./shift-draft";
import { texts } from "./texts";

const KEYS = [["oncall"]];

/** The users who can take over: the members, and for those who may change the schedule all others. */
function useUserChoices(schedule: ScheduleSummary, shift: Shift, change: boolean) {
  const { data: others = [] } = useQuery({ ...userNamesQuery(), enabled: change });
  const members = schedule.users.map((one) => [one.userid, shortName(one)] as const);
  const known = new Set(members.map(([id]) => id));
  const further = others
    .filter(({ userid }) => !known.has(userid))
    .map((one) => [one.userid, fullName(one)] as const);
  return [...members, ...further].filter(([id]) => id !== shift.userid || shift.isGap);
}

/** Shifts of other members that can be taken in exchange. */
function useOthersShifts(scheduleid: string, shift: Shift, now: number): Shift[] {
  const from = Math.floor(now / MOVE_S) * MOVE_S;
  const query = useQuery(shiftsQuery({ scheduleids: [scheduleid], from, to: from + AHEAD_S }));
  return joined((query.data ?? []).map(shiftOf)).filter(
    (one) => one.userid !== shift.userid && !one.isGap && one.from > now,
  );
}

interface FieldsProps {
  draft: ShiftDraft;
  set: (next: Partial<ShiftDraft>) => void;
  shift: Shift;
  rights: Rights;
  people: People;
  users: readonly (readonly [string, string])[];
  others: readonly Shift[];
}

/** Who takes over when, and what for. */
function ChangeFields({ draft, set, shift, rights, people, users, others }: FieldsProps) {
  const exchange = others.find((one) => keyOf(one) === draft.exchange);
  return (
    <>
      {maySwap(shift, rights) && (
        <SegmentedField<ChangeKind>
          label={texts.kind}
          value={draft.kind}
          onChange={(kind) => set({ kind })}
          options={[
            ["cover", texts.cover],
            ["swap", texts.swapShifts],
          ]}
        />
      )}
      {draft.kind === "cover" &&
        (choosesUser(shift, rights) ? (
          <SelectField
            label={texts.takesOver}
            required
            options={[["", texts.chooseUser], ...users]}
            value={draft.userid}
            onChange={(userid) => set({ userid })}
          />
        ) : (
          <p>{texts.youTakeOver}</p>
        ))}
      <div className="grid gap-4 sm:grid-cols-2">
        {(["from", "to"] as const).map((end) => (
          <TextField
            key={end}
            label={texts[end]}
            type="datetime-local"
            value={draft[end]}
            onChange={(value) => set({ [end]: value })}
          />
        ))}
      </div>
      {draft.kind === "swap" &&
        (others.length === 0 ? (
          <p className="text-soft">{texts.noShiftsToSwap}</p>
        ) : (
          <SelectField
            label={texts.inExchangeFor}
            required
            hint={
              exchange &&
              texts.swapNote(people.nameOf(shift.userid), people.nameOf(exchange.userid))
            }
            options={[
              ["", texts.chooseUser],
              ...others.map(
                (one) => [keyOf(one), `${people.nameOf(one.userid)}: ${shiftWords(one)}`] as const,
              ),
            ]}
            value={draft.exchange}
            onChange={(value) => set({ exchange: value })}
          />
        ))}
    </>
  );
}

interface FactsProps {
  shift: Shift;
  schedule: ScheduleSummary;
  override: OverrideRow | undefined;
  people: People;
}

/** Whose shift it is, when, and where it comes from. */
function Facts({ shift, schedule, override, people }: FactsProps) {
  const why = override
    ? override.swapid !== "0"
      ? texts.fromSwap
      : texts.fromOverride
    : schedule.layers[shift.layer]?.name;
  const facts: [string, string][] = [
    [texts.schedule, schedule.name],
    [texts.who, shift.isGap ? texts.nobodyIsOnCall : people.nameOf(shift.userid)],
    [texts.when, shiftWords(shift)],
  ];
  if (why)
    facts.push([texts.why, why === schedule.layers[shift.layer]?.name ? texts.layer(why) : why]);
  return (
    <dl className="grid grid-cols-[6rem_1fr] gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="tabular min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface RevokeProps {
  override: OverrideRow;
  onDone: () => void;
}

function Revoke({ override, onDone }: RevokeProps) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => revokeOverride(override.overrideid),
    onSuccess: () => {
      toast(texts.revoked);
      onDone();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["oncall"] }),
  });
  const ask = async () => {
    const loss = override.swapid === "0" ? texts.revokeLoss : texts.revokeSwapLoss;
    if (await confirmed(texts.revokeQuestion, <p>{loss}</p>, texts.revoke.replace("…", "")))
      revoking.mutate();
  };
  return (
    <>
      {revoking.error && <ErrorNote {...explain(revoking.error)} />}
      <Button
        look="danger"
        icon="trash"
        className="self-start"
        busy={revoking.isPending}
        onClick={() => void ask()}
      >
        {texts.revoke}
      </Button>
    </>
  );
}

export interface ShiftDialogProps {
  shift: Shift;
  kind: ChangeKind;
  schedule: ScheduleSummary;
  rights: Rights;
  people: People;
  /** When it was opened. */
  now: number;
  onClose: () => void;
}

/** A shift or a gap: what it is, and who takes it over. */
export function ShiftDialog(props: ShiftDialogProps) {
  const { shift, schedule, rights, people, now, onClose } = props;
  const { data: overrides } = useQuery(overridesQuery(schedule.scheduleid));
  const override = overrides?.find(({ overrideid }) => overrideid === shift.overrideid);
  const users = useUserChoices(schedule, shift, rights.change);
  const others = useOthersShifts(schedule.scheduleid, shift, now);
  const [draft, setDraft] = useState(() => shiftDraft(shift, props.kind, rights, now));
  const revocable =
    override && (rights.change || [override.userid, override.createdby].includes(rights.own));
  const top = (
    <>
      <Facts shift={shift} schedule={schedule} override={override} people={people} />
      {revocable && <Revoke override={override} onDone={onClose} />}
    </>
  );
  const title = shift.isGap ? texts.gap : texts.shift;
  if (!mayTouch(shift, rights, now))
    return (
      <Dialog
        title={title}
        onClose={onClose}
        footer={<Button onClick={onClose}>{texts.close}</Button>}
      >
        <div className="flex flex-col gap-3">
          {top}
          <p className="text-soft">{shift.to <= now ? texts.over : texts.notAMember}</p>
        </div>
      </Dialog>
    );
  return (
    <SaveDialog
      title={title}
      word={texts.overrideWord}
      problem={shiftProblem(draft, shift, rights, now)}
      save={() => overrideShift(overrideParams(draft, shift, others))}
      saved={draft.kind === "swap" ? texts.swapSaved : texts.overrideSaved}
      keys={KEYS}
      onClose={onClose}
      draft={draft}
      restored={false}
    >
      {top}
      <ChangeFields
        draft={draft}
        set={(next) => setDraft({ ...draft, ...next })}
        shift={shift}
        rights={rights}
        people={people}
        users={users}
        others={others}
      />
    </SaveDialog>
  );
}
