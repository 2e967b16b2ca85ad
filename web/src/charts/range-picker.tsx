import { useState } from "react";
import { Button, IconButton } from "~/ui/button";
import { TextField } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { MenuItem, Popover } from "~/ui/popover";
import {
  formatClock,
  moveRange,
  PRESETS,
  parseTime,
  rangeLabel,
  resolveRange,
  type TimeRange,
  widenRange,
  zoneName,
} from "~/util/time";
import { texts } from "./texts";

interface RangePickerProps {
  range: TimeRange;
  onChange: (range: TimeRange) => void;
}

const typed = (text: string) => (/^\d{9,11}$/.test(text) ? formatClock(Number(text)) : text);

function CustomRange({ range, onChange }: RangePickerProps) {
  const [from, setFrom] = useState(typed(range.from));
  const [to, setTo] = useState(typed(range.to));
  const bad = (text: string, end: "from" | "to") =>
    parseTime(text, end) === null ? "Enter a time such as now-1h or 2026-11-21 10:00." : undefined;
  const span = resolveRange({ from, to });
  const reversed = !span && !bad(from, "from") && !bad(to, "to");
  return (
    <form
      className="flex flex-col gap-2.5 p-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (span) onChange({ from: from.trim(), to: to.trim() });
      }}
    >
      <TextField label={texts.from} error={bad(from, "from")} value={from} onChange={setFrom} />
      <TextField
        label={texts.to}
        error={bad(to, "to") ?? (reversed ? "The end must be after the start." : undefined)}
        hint={texts.now1hNowD}
        value={to}
        onChange={setTo}
      />
      <Button type="submit" look="primary" disabled={!span}>
        {texts.apply}
      </Button>
      <p className="text-xs text-faint">{texts.timesAreIn(zoneName())}</p>
    </form>
  );
}

/** Chooses a span of time: presets, typed expressions, steps back and forth. */
export function RangePicker({ range, onChange }: RangePickerProps) {
  return (
    <div className="flex items-center gap-1">
      <IconButton
        icon="left"
        label={texts.earlier}
        onClick={() => onChange(moveRange(range, -1))}
      />
      <Popover
        align="right"
        className="w-[28rem] max-w-[calc(100vw-1rem)]"
        trigger={({ open, toggle }) => (
          <Button
            onClick={toggle}
            aria-expanded={open}
            aria-label={texts.timeRange(rangeLabel(range))}
            icon="clock"
          >
            {rangeLabel(range)}
            <Icon name="down" size={13} />
          </Button>
        )}
      >
        {(close) => {
          const choose = (next: TimeRange) => {
            onChange(next);
            close();
          };
          return (
            <div className="grid grid-cols-[minmax(0,1fr)_9rem] sm:grid-cols-[1fr_11rem]">
              <CustomRange range={range} onChange={choose} />
              <div className="max-h-80 overflow-auto border-l pl-1">
                {PRESETS.map((preset) => (
                  <MenuItem
                    key={preset.label}
                    checked={preset.range.from === range.from && preset.range.to === range.to}
                    onClick={() => choose(preset.range)}
                  >
                    {preset.label}
                  </MenuItem>
                ))}
              </div>
            </div>
          );
        }}
      </Popover>
      <IconButton
        icon="right"
        label={texts.later}
        disabled={range.to === "now"}
        onClick={() => onChange(moveRange(range, 1))}
      />
      <IconButton
        icon="zoomOut"
        label={texts.zoomOut}
        onClick={() => onChange(widenRange(range))}
      />
    </div>
  );
}
