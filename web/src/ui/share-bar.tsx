/** A share of a whole as a bar: calm below a half, a warning above, alarming above three quarters. */
export function ShareBar({ percent }: { percent: number }) {
  const width = Math.max(0.5, Math.min(100, percent));
  const colour = percent >= 75 ? "var(--sev-4)" : percent >= 50 ? "var(--sev-2)" : "var(--accent)";
  return (
    <span className="h-1.5 overflow-hidden rounded-full bg-sunken">
      <span
        className="block h-full rounded-full"
        style={{ width: `${width}%`, backgroundColor: colour }}
      />
    </span>
  );
}
