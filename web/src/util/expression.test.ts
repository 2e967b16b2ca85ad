import { describe, expect, it } from "vitest";
import { checkExpression } from "./expression";

describe("checkExpression", () => {
  const right = [
    "",
    "last(/web/system.cpu.load)>5",
    "last(/web/system.cpu.load[all,avg1],#3)>5 and not nodata(/web/agent.ping,5m)=1",
    'find(/web/log["/var/log/x y",,"a]b"],,"regexp","err(or)?")=1',
    'avg(/web/k,1h:now/d)>{$MAX:"a,b)"}*1.5K',
    "min(/web/vfs.fs.size[{#FSNAME},pfree],{$T})<10 or {$ON}=1",
    "(max(/a/k,10m)-min(/a/k,10m))/2>1e3",
    'sum(avg_foreach(/*/k?[group="x" and tag="a"],5m))>0',
    "abs(change(/a/k))>=5m",
    "between(last(/a/k),1,10)=0",
    "-last(/a/k)<>0",
    '{TRIGGER.VALUE}=0 and last(//k)="text with \\"quotes\\""',
    'count(/a/k,#10,"ge",5)>3 and time()>{$FROM}',
    "last(/Host name - 1/k.a-b_c)=1",
  ];
  it.each(right)("takes %s", (text) => {
    expect(checkExpression(text).problem).toBeNull();
  });
  const wrong: [text: string, at: number, what: RegExp][] = [
    ["last(/web/k>5", 5, /comma or a closing/],
    ["last(/web/k)>", 13, /value is missing/],
    ["last(/web/k)>5 and", 18, /value is missing/],
    ["lasst(/web/k)>5", 0, /Unknown function lasst/],
    ["last(/web/k) 5", 13, /operator/],
    ["(last(/web/k)>5", 15, /closing parenthesis/],
    ['last(/web/k)="x', 13, /closing quote/],
    ["last(/web/k[a)>5", 11, /bracket/],
    ["last(/web)>5", 5, /\/host\/key/],
    ["last(/web/)>5", 10, /key/],
    ["web>5", 0, /Functions need parentheses/],
    ["5 > ) ", 4, /missing/],
    ["a b", 0, /not a value/],
    ["last(/web/k)>5&", 14, /operator/],
  ];
  it.each(wrong)("refuses %s", (text, at, what) => {
    const { problem } = checkExpression(text);
    expect(problem?.what).toMatch(what);
    expect(problem?.at).toBe(at);
  });
  it("tells the items, each once", () => {
    const text = "last(/a/k[1,2])>last(/b/{#X})";
    expect(checkExpression("last(/a/k[1,2])>0 and max(/a/k[1,2],5m)>avg(//z,5m)").items).toEqual([
      { host: "a", key: "k[1,2]" },
      { host: "", key: "z" },
    ]);
    expect(checkExpression(text).items).toEqual([{ host: "a", key: "k[1,2]" }]);
    expect(checkExpression("sum(last_foreach(/*/k))>0").items).toEqual([]);
  });
});
