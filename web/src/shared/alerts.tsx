import type { Alert } from "~/api/alerts";
import { AlertType } from "~/api/schema";
import { fullName } from "~/api/users";
import { Dot } from "~/ui/severity";
import { deliveryOf } from "~/util/alerts";
import { texts } from "./texts";

/** How far an alert is, as a dot and in words. */
export function DeliveryMark({ alert }: { alert: Alert }) {
  const { tone, words } = deliveryOf(alert);
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Dot tone={tone} />
      <span className={tone === "bad" ? "font-medium text-bad-ink" : undefined}>{words}</span>
    </span>
  );
}

/** Who got the alert; names of users that the viewer may not see are unknown. */
export function recipientOf(alert: Alert): string {
  if (alert.alerttype === AlertType.Command) return texts.command;
  const [user] = alert.users;
  return user ? fullName(user) : texts.userThatYouCannotView;
}

/** The media type's name; rows of users without media have none. */
export const mediaTypeOf = (alert: Alert) => alert.mediatypes[0]?.name;
