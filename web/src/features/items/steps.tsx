import type { PreprocessingStep } from "~/api/items";
import { OnFail } from "~/api/schema";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Input, Select, Textarea } from "~/ui/field";
import {
  joinParams,
  newParams,
  ON_FAIL,
  STEP_KINDS,
  type StepParam,
  splitParams,
  stepKind,
} from "~/util/preprocessing";
import { moved, replaced, without } from "~/util/rows";
import { texts } from "./texts";

interface StepsEditorProps {
  steps: readonly PreprocessingStep[];
  onChange: (steps: PreprocessingStep[]) => void;
  disabled?: boolean;
  /** The kinds of steps offered; all without it. */
  only?: ReadonlySet<string>;
}

const KINDS = STEP_KINDS.map((kind) => [kind.type, kind.label] as const);

function ParamBox({
  param,
  value,
  onChange,
}: {
  param: StepParam;
  value: string;
  onChange: (v: string) => void;
}) {
  if (param.choices) {
    return (
      <Select
        aria-label={param.label}
        options={param.choices}
        value={value}
        onChange={(e) => onChange(e.target.value)}
        className="min-w-40 flex-1"
      />
    );
  }
  if (param.multiline) {
    return (
      <Textarea
        aria-label={param.label}
        placeholder={param.placeholder ?? param.label}
        rows={4}
        value={value}
        onChange={(e) => onChange(e.target.value)}
        className="flex-1 font-mono text-xs"
      />
    );
  }
  return (
    <Input
      aria-label={param.label}
      placeholder={param.placeholder ? `${param.label}: ${param.placeholder}` : param.label}
      value={value}
      onChange={(e) => onChange(e.target.value)}
      className="min-w-32 flex-1 font-mono text-xs"
    />
  );
}

interface StepRowProps {
  step: PreprocessingStep;
  place: number;
  count: number;
  only?: ReadonlySet<string>;
  onChange: (step: PreprocessingStep) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

function StepRow({ step, place, count, only, onChange, onMove, onRemove }: StepRowProps) {
  const kind = stepKind(step.type);
  const parts = splitParams(step.type, step.params);
  const setPart = (at: number, value: string) => {
    const next = kind?.params.map((_, i) => (i === at ? value : (parts[i] ?? ""))) ?? [];
    onChange({ ...step, params: joinParams(step.type, next) });
  };
  return (
    <li className="flex flex-col gap-2 rounded-md border bg-sunken p-2">
      <div className="flex flex-wrap items-start gap-2 sm:flex-nowrap">
        <span className="tabular w-5 pt-1.5 text-center text-xs text-faint">{place + 1}</span>
        <Select
          aria-label={texts.stepNumber(place + 1)}
          options={only ? KINDS.filter(([type]) => only.has(type)) : KINDS}
          value={step.type}
          onChange={(e) =>
            onChange({
              type: e.target.value,
              params: newParams(e.target.value),
              error_handler: "0",
              error_handler_params: "",
            })
          }
          className="w-66! shrink-0"
        />
        <div className="flex min-w-0 flex-1 flex-wrap gap-2">
          {kind?.params.map((param, i) => (
            <ParamBox
              key={param.label}
              param={param}
              value={parts[i] ?? ""}
              onChange={(v) => setPart(i, v)}
            />
          ))}
        </div>
        <div className="flex">
          <IconButton
            icon="up"
            small
            label={texts.moveUp}
            disabled={place === 0}
            onClick={() => onMove(-1)}
          />
          <IconButton
            icon="arrowDown"
            small
            label={texts.moveDown}
            disabled={place === count - 1}
            onClick={() => onMove(1)}
          />
          <IconButton icon="trash" small label={texts.removeStep} onClick={onRemove} />
        </div>
      </div>
      {!kind?.neverFails && (
        <div className="flex items-center gap-2 pl-7 text-xs text-soft">
          {texts.onFail}
          <Select
            aria-label={texts.onFail}
            options={ON_FAIL}
            value={step.error_handler}
            onChange={(e) =>
              onChange({ ...step, error_handler: e.target.value, error_handler_params: "" })
            }
            className="w-40!"
          />
          {(step.error_handler === OnFail.SetValue || step.error_handler === OnFail.SetError) && (
            <Input
              aria-label={step.error_handler === OnFail.SetValue ? texts.value : texts.error}
              placeholder={
                step.error_handler === OnFail.SetValue ? texts.valueWord : texts.errorMessage
              }
              value={step.error_handler_params}
              onChange={(e) => onChange({ ...step, error_handler_params: e.target.value })}
              className="w-60!"
            />
          )}
        </div>
      )}
    </li>
  );
}

/** The chain of steps that each value goes through, in order. */
export function StepsEditor({ steps, onChange, disabled, only }: StepsEditorProps) {
  return (
    <fieldset disabled={disabled} className={cx("flex flex-col gap-2", disabled && "opacity-60")}>
      <legend className="sr-only">{texts.preprocessingSteps}</legend>
      {steps.length === 0 && <p className="text-sm text-soft">{texts.noStepsValuesAre}</p>}
      <ol className="flex flex-col gap-2">
        {steps.map((step, i) => (
          <StepRow
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
            key={i}
            step={step}
            place={i}
            count={steps.length}
            only={only}
            onChange={(next) => onChange(replaced(steps, i, next))}
            onMove={(by) => onChange(moved(steps, i, i + by))}
            onRemove={() => onChange(without(steps, i))}
          />
        ))}
      </ol>
      <AddButton
        onClick={() =>
          onChange([
            ...steps,
            { type: "12", params: "", error_handler: "0", error_handler_params: "" },
          ])
        }
      >
        {texts.addStep}
      </AddButton>
    </fieldset>
  );
}
