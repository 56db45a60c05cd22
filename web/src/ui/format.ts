/** Numbers and counts as people read them. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Write a number with about four digits, whole ones whole. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return WHOLE.format(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
}

/** Write a share with three decimals; nothing known is a dash. */
export function figure(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(3);
}

/** Count things of a kind: "1 word", "1,204 words"; kinds whose names end in s stay as they are. */
export function counted(count: number, noun: string): string {
  return `${WHOLE.format(count)} ${count === 1 || noun.endsWith("s") ? noun : plural(noun)}`;
}

function plural(noun: string): string {
  if (/[^aeiou]y$/i.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(x|ch|sh)$/i.test(noun) ? `${noun}es` : `${noun}s`;
}

/** Write any value of a JSON record on one line. */
export function plain(value: unknown): string {
  if (typeof value === "number") return shortNumber(value);
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "object") {
    return Object.entries(value).map(([name, part]) => `${name} ${plain(part)}`).join(", ");
  }
  return String(value);
}
