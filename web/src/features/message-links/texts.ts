/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  messageLinks: "Message links",
  purpose:
    "Links in messages acknowledge, suppress or close a problem without a sign-in. Write {ALERT.LINK.ACK}, {ALERT.LINK.SUPPRESS} or {ALERT.LINK.CLOSE} into the text of an operation or of a media type.",
  url: "Address of the interface",
  urlHint:
    "Under which recipients reach it, such as https://monitor.example.org. Without an address, messages have no links.",
  lifetime: "Lifetime",
  lifetimeHint: "How long a link can be used after its message was sent.",
  save: "Save message links",
  saved: "The settings of message links were saved.",
} as const;
