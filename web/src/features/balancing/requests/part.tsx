import { TextareaField } from "~/ui/field";
import { texts } from "./texts";

/** What the form of a part gets. */
export interface PartFormProps<D> {
  value: D;
  onChange: (next: D) => void;
  /** What is wrong, as the page or the server says it. */
  problem: string | undefined;
}

interface PartJsonProps {
  label: string;
  hint?: string;
  value: string;
  onChange: (json: string) => void;
  problem: string | undefined;
}

/** A part that its form cannot show without loss. */
export function PartJson({ label, hint = "", value, onChange, problem }: PartJsonProps) {
  return (
    <TextareaField
      label={label}
      rows={5}
      className="font-mono text-xs"
      error={problem}
      hint={`${texts.unknownMembers} ${hint}`.trim()}
      value={value}
      onChange={onChange}
    />
  );
}

/** What is wrong with a part, unless a field shows it. */
export function PartProblem({
  problem,
  wrong,
}: {
  problem: string | undefined;
  wrong: Record<string, string>;
}) {
  if (!problem || Object.keys(wrong).length > 0) return null;
  return <p className="text-xs text-bad-ink">{problem}</p>;
}
