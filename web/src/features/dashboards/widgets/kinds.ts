import { texts } from "./texts";

/** The kinds of widgets of Zabbix 7.0, and `plaintext` of earlier versions. */
export type Kind = keyof typeof texts.kinds;

export const isKind = (type: string): type is Kind => Object.hasOwn(texts.kinds, type);

/** The name that a widget has if its user gave none. */
export const kindName = (type: string): string => (isKind(type) ? texts.kinds[type] : type);
