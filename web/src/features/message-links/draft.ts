import type { LinkSettings } from "~/api/settings";
import { periodSeconds } from "~/util/time";

const LIFETIME = { min: 60, max: 30 * 86_400 };

/** The server makes links only with such an address. */
const ADDRESS = /^https?:\/\/[^\s/?#]+[^\s?#]*$/;

export function linkProblems(draft: LinkSettings): Record<string, string> {
  const problems: Record<string, string> = {};
  const url = draft.url.trim();
  if (url !== "" && !ADDRESS.test(url))
    problems.url = "Enter an http or https address, or nothing.";
  const seconds = periodSeconds(draft.link_lifetime);
  if (seconds === null || seconds < LIFETIME.min || seconds > LIFETIME.max)
    problems.link_lifetime = "Enter a duration from 1m to 30d.";
  return problems;
}

export const linkParams = ({ url, link_lifetime }: LinkSettings): LinkSettings => ({
  url: url.trim(),
  link_lifetime: link_lifetime.trim(),
});
