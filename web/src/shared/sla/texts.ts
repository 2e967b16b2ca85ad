/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  cell: (period: string, sli: string, slo: string) => `${period}: ${sli}, objective ${slo}`,
  summary: (met: number, missed: number, unknown: number) =>
    [`${met} met`, `${missed} missed`, unknown > 0 && `${unknown} unknown`]
      .filter(Boolean)
      .join(", "),
  bars: (name: string, periods: number, summary: string) =>
    `${name}, last ${periods} periods: ${summary}`,
} as const;
