/** What passwords must have, by the bits of `passwd_check_rules`. */
export const PASSWORD_RULES = [
  "Upper and lower case letters",
  "Digits",
  "Special characters",
  "Nothing easily guessed",
] as const;

/** Names of the rules in a sum of them. */
export const rulesIn = (sum: number): string[] =>
  PASSWORD_RULES.filter((_, bit) => (sum >> bit) & 1);
