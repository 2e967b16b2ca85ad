import type { ReactNode } from "react";

interface FormSectionProps {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}

/** A part of a form: what it is about on the left, its fields on the right. */
export function FormSection({ title, note, children }: FormSectionProps) {
  return (
    <section className="grid gap-x-8 gap-y-3 border-b py-5 md:grid-cols-[13rem_minmax(0,1fr)] last:border-0">
      <div>
        <h2 className="text-sm font-semibold">{title}</h2>
        {note && <p className="pt-0.5 text-xs text-soft">{note}</p>}
      </div>
      <div className="flex min-w-0 max-w-3xl flex-col gap-4">{children}</div>
    </section>
  );
}
