import { EmailProvider, MediaTypeKind, SmtpSecurity } from "~/api/schema";

export const KINDS = [
  [MediaTypeKind.Email, "E-mail"],
  [MediaTypeKind.Webhook, "Webhook"],
  [MediaTypeKind.Script, "Script"],
  [MediaTypeKind.Sms, "SMS"],
] as const;

export const kindName = (type: string) => KINDS.find(([kind]) => kind === type)?.[1] ?? type;

export const PROVIDERS = [
  [EmailProvider.Smtp, "Any mail server"],
  [EmailProvider.Gmail, "Gmail"],
  [EmailProvider.GmailRelay, "Gmail relay"],
  [EmailProvider.Office365, "Office365"],
  [EmailProvider.Office365Relay, "Office365 relay"],
] as const;

export const SECURITIES = [
  [SmtpSecurity.None, "None"],
  [SmtpSecurity.StartTls, "STARTTLS"],
  [SmtpSecurity.Tls, "TLS from the start"],
] as const;

/** What a provider's mail server is reached with; the relay of Office365 has an address per customer. */
export const PROVIDER_SERVERS: Record<
  string,
  { server: string; security: string; login: boolean }
> = {
  [EmailProvider.Gmail]: { server: "smtp.gmail.com", security: SmtpSecurity.StartTls, login: true },
  [EmailProvider.GmailRelay]: {
    server: "smtp-relay.gmail.com",
    security: SmtpSecurity.StartTls,
    login: false,
  },
  [EmailProvider.Office365]: {
    server: "smtp.office365.com",
    security: SmtpSecurity.StartTls,
    login: true,
  },
  [EmailProvider.Office365Relay]: {
    server: "",
    security: SmtpSecurity.StartTls,
    login: false,
  },
};

/** The port of submission with STARTTLS. */
export const SUBMISSION_PORT = "587";
