const DAY_S = 86_400;

/** Whole days until this time; negative once it is over. */
export const daysLeft = (until: number, now: number) => Math.floor((until - now) / DAY_S);
