import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import { type CalendarParams, createCalendar, type ScheduleSummary } from "~/api/oncall";
import { Button, IconButton } from "~/ui/button";
import { canCopy, copy } from "~/ui/copy";
import { Dialog } from "~/ui/dialog";
import { SelectField } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { texts } from "./texts";

/** The shifts that a calendar can have, as a choice each. */
function choicesOf(schedules: readonly ScheduleSummary[]) {
  return [
    ["0 1", texts.mineOfAll] as const,
    ...schedules.flatMap(({ scheduleid, name }) => [
      [`${scheduleid} 1`, texts.mineOf(name)] as const,
      [`${scheduleid} 0`, texts.allOf(name)] as const,
    ]),
  ];
}

function paramsOf(choice: string): CalendarParams {
  const [scheduleid = "0", mine] = choice.split(" ");
  return { scheduleid, mine: mine === "0" ? 0 : 1 };
}

interface CalendarDialogProps {
  schedules: readonly ScheduleSummary[];
  onClose: () => void;
}

/** Makes a secret address under which calendar programs read shifts, or revokes it. */
export function CalendarDialog({ schedules, onClose }: CalendarDialogProps) {
  const [choice, setChoice] = useState("0 1");
  const create = useMutation({ mutationFn: () => createCalendar(paramsOf(choice)) });
  const revoke = useMutation({
    mutationFn: () => createCalendar({ ...paramsOf(choice), revoke: 1 }),
    onSuccess: () => {
      create.reset();
      toast(texts.linkRevoked);
    },
  });
  const link = create.data && `${location.origin}${create.data.path}`;
  const error = create.error ?? revoke.error;
  return (
    <Dialog
      title={texts.calendarLink}
      onClose={onClose}
      footer={
        <>
          <Button busy={revoke.isPending} onClick={() => revoke.mutate()}>
            {texts.revokeLink}
          </Button>
          <Button
            look={link ? "plain" : "primary"}
            busy={create.isPending}
            onClick={() => create.mutate()}
          >
            {texts.createLink}
          </Button>
          {link && (
            <Button look="primary" onClick={onClose}>
              {texts.close}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p>{texts.calendarNote}</p>
        {error && <ErrorNote {...explain(error)} />}
        <SelectField
          label={texts.calendarOf}
          options={choicesOf(schedules)}
          value={choice}
          onChange={(next) => {
            create.reset();
            setChoice(next);
          }}
        />
        {link && (
          <div className="flex flex-col gap-2">
            <div className="flex items-center gap-2">
              <code className="flex-1 rounded-md bg-sunken px-3 py-2 font-mono text-xs break-all">
                {link}
              </code>
              {canCopy && (
                <IconButton
                  icon="copy"
                  label={texts.copyLink}
                  onClick={() => copy(link, texts.linkCopied)}
                />
              )}
            </div>
            <p className="text-xs text-soft">{texts.linkOnce}</p>
          </div>
        )}
      </div>
    </Dialog>
  );
}
