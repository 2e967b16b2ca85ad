import type { Widget } from "~/api/dashboards";
import type { TagFilter } from "~/util/tags";

const byNumber = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

/** Settings of a widget, or of a part of it such as `ds.0`, by the names of Zabbix 7.0. */
export class Settings {
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  static of(widget: Pick<Widget, "fields">): Settings {
    return new Settings(new Map(widget.fields.map(({ name, value }) => [name, value])));
  }

  text(name: string, otherwise = ""): string {
    return this.values.get(name) ?? otherwise;
  }

  number(name: string, otherwise: number): number {
    const text = this.values.get(name);
    const value = Number(text);
    return text === undefined || text === "" || !Number.isFinite(value) ? otherwise : value;
  }

  /** A number that may be absent, such as the end of an axis. */
  maybe(name: string): number | undefined {
    const value = this.number(name, Number.NaN);
    return Number.isNaN(value) ? undefined : value;
  }

  flag(name: string, otherwise = false): boolean {
    const text = this.values.get(name);
    return text === undefined ? otherwise : text !== "0" && text !== "";
  }

  /** A colour such as `1E88E5` for CSS; undefined: the default of the widget. */
  color(name: string): string | undefined {
    const text = this.values.get(name)?.replace(/^#/, "");
    return text && /^[0-9a-f]{6}$/i.test(text) ? `#${text}` : undefined;
  }

  /** Values of `name` and `name.0`, `name.1`, in the order of their numbers. */
  list(name: string): string[] {
    return [...this.values.keys()]
      .filter(
        (key) => key === name || (key.startsWith(`${name}.`) && /^\d+$/.test(rest(key, name))),
      )
      .sort(byNumber)
      .map((key) => this.values.get(key) ?? "")
      .filter((value) => value !== "");
  }

  /** The settings below `name.0`, `name.1`, …, in the order of their numbers. */
  parts(name: string): Settings[] {
    const parts = new Map<string, Map<string, string>>();
    for (const [key, value] of this.values) {
      const found = key.startsWith(`${name}.`) && /^(\d+)\.(.+)$/.exec(rest(key, name));
      if (!found) continue;
      const [, number = "", inner = ""] = found;
      const part = parts.get(number) ?? new Map<string, string>();
      parts.set(number, part.set(inner, value));
    }
    return [...parts.keys()]
      .sort(byNumber)
      .map((number) => new Settings(parts.get(number) ?? new Map()));
  }

  /** Conditions such as `tags.0.tag`, `tags.0.operator`, `tags.0.value`; without a name they are left out. */
  tags(name: string): TagFilter[] {
    return this.parts(name)
      .map((part) => ({
        tag: part.text("tag"),
        operator: part.number("operator", 0),
        value: part.text("value"),
      }))
      .filter(({ tag }) => tag !== "");
  }
}

const rest = (key: string, name: string) => key.slice(name.length + 1);

/** 2: one of the tags suffices. */
export const anyOf = (text: string): 2 | undefined => (text === "2" ? 2 : undefined);
