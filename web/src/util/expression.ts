/** An item that an expression names: `/host/key`. An empty host is the expression's own. */
export interface ItemReference {
  host: string;
  key: string;
}

export interface ExpressionCheck {
  /** The first mistake: where it is and what it is. */
  problem: { at: number; what: string } | null;
  items: ItemReference[];
}

const FUNCTIONS = new Set(
  (
    "abs acos ascii asin atan atan2 avg avg_foreach baselinedev baselinewma between bitand " +
    "bitlength bitlshift bitnot bitor bitrshift bitxor bucket_percentile bucket_rate_foreach " +
    "bytelength cbrt ceil change changecount char concat cos cosh cot count count_foreach " +
    "countunique date dayofmonth dayofweek degrees e exists_foreach exp expm1 find first " +
    "firstclock floor forecast fuzzytime histogram_quantile in insert item_count jsonpath kurtosis " +
    "last last_foreach lastclock left length log log10 logeventid logseverity logsource " +
    "logtimestamp ltrim mad max max_foreach mid min min_foreach mod monodec monoinc nodata now " +
    "percentile pi power radians rand rate repeat replace right round rtrim signum sin sinh " +
    "skewness sqrt stddevpop stddevsamp sum sum_foreach sumofsquares tan time timeleft trendavg " +
    "trendcount trendmax trendmin trendstl trendsum trim truncate varpop varsamp xmlxpath"
  ).split(" "),
);

class Mistake extends Error {
  constructor(
    readonly at: number,
    readonly what: string,
  ) {
    super(what);
  }
}

/** Reads an expression the way the server will; keeps what items it names. */
class Reader {
  at = 0;
  readonly items: ItemReference[] = [];

  constructor(readonly text: string) {}

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++;
  }

  /** What matches here, which is then behind. */
  private take(form: RegExp): string | null {
    form.lastIndex = this.at;
    const match = form.exec(this.text);
    if (!match) return null;
    this.at += match[0].length;
    return match[0];
  }

  private fail(what: string): never {
    throw new Mistake(Math.min(this.at, this.text.length), what);
  }

  whole(): void {
    this.expression();
    this.space();
    if (this.at < this.text.length) this.fail("An operator such as and, or, > is missing here.");
  }

  private expression(): void {
    this.operand();
    for (;;) {
      this.space();
      if (!this.take(/(?:and|or)(?![A-Za-z0-9_])|<>|<=|>=|[=<>+\-*/]/y)) return;
      this.operand();
    }
  }

  private operand(): void {
    this.space();
    while (this.take(/not(?![A-Za-z0-9_])|-/y)) this.space();
    const start = this.at;
    if (this.take(/\(/y)) {
      this.expression();
      this.close();
    } else if (this.take(/\{[^{}]*\}/y) || this.macro() || this.number()) return;
    else if (this.text[this.at] === '"') this.string();
    else {
      const name = this.take(/[a-z][a-z0-9_]*/y);
      if (name === null) this.fail(this.missing());
      if (!this.take(/\(/y)) {
        this.at = start;
        this.fail(`“${name}” is not a value. Functions need parentheses, strings need quotes.`);
      }
      if (!FUNCTIONS.has(name)) {
        this.at = start;
        this.fail(`Unknown function ${name}.`);
      }
      this.parameters();
    }
  }

  private missing(): string {
    const next = this.text[this.at];
    return next === undefined || next === ")"
      ? "A value is missing here."
      : `Unexpected “${next}”.`;
  }

  private macro(): boolean {
    // A macro with a quoted context may have braces in it.
    return this.take(/\{\$[A-Z0-9._]+(?::(?:"(?:[^"\\]|\\.)*"|[^}]*))?\}/y) !== null;
  }

  private number(): boolean {
    return this.take(/(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[KMGTsmhdwy]?(?![A-Za-z0-9_])/y) !== null;
  }

  private string(): void {
    if (!this.take(/"(?:[^"\\]|\\.)*"/y)) this.fail("This string has no closing quote.");
  }

  private close(): void {
    this.space();
    if (!this.take(/\)/y)) this.fail("A closing parenthesis is missing.");
  }

  private parameters(): void {
    this.space();
    if (this.take(/\)/y)) return;
    // Periods, counts and the like follow an item; anything else takes values.
    const ofItem = this.text[this.at] === "/";
    if (ofItem) this.item();
    else this.expression();
    for (;;) {
      this.space();
      if (this.take(/\)/y)) return;
      if (!this.take(/,/y)) this.fail("A comma or a closing parenthesis is missing.");
      this.space();
      if (this.text[this.at] === '"') this.string();
      else if (ofItem) this.parameter();
      else if (this.text[this.at] === "/") this.item();
      else this.expression();
    }
  }

  /** A parameter beside an item: anything up to a comma or the end. */
  private parameter(): void {
    this.take(/(?:\{\$[A-Z0-9._]+(?::(?:"(?:[^"\\]|\\.)*"|[^}]*))?\}|[^,()"])*/y);
    if (this.text[this.at] === "(") this.fail("Enter a period, a number or a string here.");
  }

  private item(): void {
    const start = this.at;
    const head = this.take(/\/((?:\{[^}]*\}|[^/{}()",])*)\//y);
    if (head === null) this.fail("Enter an item as /host/key.");
    const keyStart = this.at;
    if (this.take(/\*|[\w.-]+/y) === null) this.fail("The key of the item is missing.");
    while (this.text[this.at] === "[") this.brackets();
    const key = this.text.slice(keyStart, this.at);
    if (this.take(/\?/y)) this.brackets();
    else if (!key.includes("*") && !head.includes("*")) {
      const host = head.slice(1, -1);
      if (!this.items.some((item) => item.host === host && item.key === key)) {
        this.items.push({ host, key });
      }
    }
    this.space();
    if (![",", ")"].includes(this.text[this.at] ?? "")) {
      this.at = this.text[this.at] === undefined ? this.at : start;
      this.fail("Enter a comma or a closing parenthesis after the item.");
    }
  }

  private brackets(): void {
    const start = this.at;
    let depth = 0;
    for (; this.at < this.text.length; this.at++) {
      const char = this.text[this.at];
      if (char === '"' && /[[,=\s]/.test(this.text[this.at - 1] ?? "")) {
        this.string();
        this.at--;
      } else if (char === "[") depth++;
      else if (char === "]" && --depth === 0) {
        this.at++;
        return;
      }
    }
    this.at = start;
    this.fail("This bracket is not closed.");
  }
}

/** Checks the form of a trigger expression; the server has the last word. */
export function checkExpression(text: string): ExpressionCheck {
  const reader = new Reader(text);
  try {
    if (text.trim()) reader.whole();
    return { problem: null, items: reader.items };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return { problem: { at: error.at, what: error.what }, items: reader.items };
  }
}
