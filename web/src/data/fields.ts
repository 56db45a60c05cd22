/** What is known of the points: numbers, classes, texts; and how these are sorted for colours. */

import { asNumbers, asTexts, missingCode, type Column } from "./columns";
import type { FieldEntry, KindEntry } from "./manifest";

export const MISSING = 0xffffffff;

export interface NumberField {
  readonly type: "number";
  readonly name: string;
  readonly kinds: readonly string[];
  /** One number a point, NaN where there is none. */
  readonly values: Float32Array | Float64Array;
}

export interface CategoryField {
  readonly type: "category";
  readonly name: string;
  readonly kinds: readonly string[];
  readonly categories: readonly string[];
  /** One code a point, MISSING where there is none. */
  readonly codes: Uint32Array;
}

export interface TextField {
  readonly type: "text";
  readonly name: string;
  readonly kinds: readonly string[];
  readonly values: readonly (string | null)[];
}

export type Field = NumberField | CategoryField | TextField;

/** Put the columns of one field, which may come kind by kind, onto all n points. */
export function joinField(entries: readonly FieldEntry[], columns: readonly Column[], n: number): Field {
  const [first] = entries;
  const alike = entries.map((entry, i) => ({ entry, column: columns[i] })).filter(({ entry }) => entry.type === first.type);
  const name = first.name;
  const kinds = alike.flatMap(({ entry }) => entry.kinds);
  if (first.type === "number") {
    const exact = alike.some(({ column }) => column instanceof Float64Array);
    const values = (exact ? new Float64Array(n) : new Float32Array(n)).fill(NaN);
    for (const { entry, column } of alike) values.set(asNumbers(name, column), startOf(entry, column, n));
    return { type: "number", name, kinds, values };
  }
  if (first.type === "category") return joinCategories(name, kinds, alike, n);
  const values: (string | null)[] = new Array<string | null>(n).fill(null);
  for (const { entry, column } of alike) {
    const start = startOf(entry, column, n);
    asTexts(name, column).forEach((text, i) => (values[start + i] = text));
  }
  return { type: "text", name, kinds, values };
}

function startOf(entry: FieldEntry, column: Column, n: number): number {
  return column.length === n ? 0 : (entry.start ?? 0);
}

function joinCategories(
  name: string,
  kinds: readonly string[],
  parts: readonly { entry: FieldEntry; column: Column }[],
  n: number,
): CategoryField {
  const numbers = new Map<string, number>();
  const codes = new Uint32Array(n).fill(MISSING);
  for (const { entry, column } of parts) {
    const raw = asNumbers(name, column) as Uint32Array | Uint16Array | Uint8Array;
    const none = missingCode(raw);
    const own = (entry.categories ?? []).map((text) => {
      if (!numbers.has(text)) numbers.set(text, numbers.size);
      return numbers.get(text) as number;
    });
    const start = startOf(entry, column, n);
    for (let i = 0; i < raw.length; i++) if (raw[i] !== none) codes[start + i] = own[raw[i]];
  }
  return { type: "category", name, kinds, categories: [...numbers.keys()], codes };
}

/** The classes that get colours, and how many points each has. */
export interface Classes {
  readonly names: readonly string[];
  readonly counts: readonly number[];
  /** For every category of the field its place among ``names``, or -1. */
  readonly place: Int32Array;
  readonly others: number;
  readonly otherPoints: number;
  readonly missing: number;
}

/**
 * Choose the most frequent classes, the most frequent first, so that it has the strongest colour; classes that
 * are numbers keep their own order. Kinds without the field are not counted among those that lack a value. Classes
 * of another map, ``first``, keep their places, so that their colours are the same on both.
 */
export function sortIntoClasses(
  field: CategoryField,
  kinds: readonly KindEntry[],
  limit: number,
  first: readonly string[] = [],
): Classes {
  const counts = new Float64Array(field.categories.length);
  let missing = 0;
  for (const { name: kind, start, count } of kinds) {
    if (!field.kinds.includes(kind)) continue;
    for (let i = start; i < start + count; i++) {
      if (field.codes[i] === MISSING) missing++;
      else counts[field.codes[i]]++;
    }
  }
  const present = [...field.categories.keys()].filter((code) => counts[code] > 0);
  const name = (code: number): string => field.categories[code];
  present.sort((a, b) => counts[b] - counts[a] || (name(a) < name(b) ? -1 : 1));
  if (first.length > 0) return placedAs(field, counts, missing, present, first, limit);
  const shown = present.slice(0, limit);
  if (shown.every((code) => name(code).trim() !== "" && Number.isFinite(Number(name(code))))) {
    shown.sort((a, b) => Number(name(a)) - Number(name(b)));
  }
  const place = new Int32Array(field.categories.length).fill(-1);
  shown.forEach((code, at) => (place[code] = at));
  const left = present.slice(limit);
  return {
    names: shown.map(name),
    counts: shown.map((code) => counts[code]),
    place,
    others: left.length,
    otherPoints: left.reduce((sum, code) => sum + counts[code], 0),
    missing,
  };
}

/** Give classes the places that another map has given them, and the rest the places that are left. */
function placedAs(
  field: CategoryField,
  counts: Float64Array,
  missing: number,
  present: readonly number[],
  first: readonly string[],
  limit: number,
): Classes {
  const known = new Set(first);
  const fresh = present.filter((code) => !known.has(field.categories[code]));
  const names = [...first, ...fresh.map((code) => field.categories[code])].slice(0, limit);
  const at = new Map(names.map((name, i) => [name, i]));
  const codes = new Map(field.categories.map((name, code) => [name, code]));
  const place = Int32Array.from(field.categories, (name) => at.get(name) ?? -1);
  const left = present.filter((code) => place[code] < 0);
  return {
    names,
    counts: names.map((name) => counts[codes.get(name) ?? -1] ?? 0),
    place,
    others: left.length,
    otherPoints: left.reduce((sum, code) => sum + counts[code], 0),
    missing,
  };
}

export interface Scale {
  readonly low: number;
  readonly high: number;
}

const SAMPLE = 50_000;

/** Span the middle 98 % of the numbers, so that one extreme does not take all the colours. */
export function scaleOf(values: Float32Array | Float64Array): Scale {
  const step = Math.max(1, Math.floor(values.length / SAMPLE));
  const present = Float64Array.from(values)
    .filter((value, i) => i % step === 0 && Number.isFinite(value))
    .sort();
  if (present.length === 0) return { low: 0, high: 1 };
  let [low, high] = [quantile(present, 0.01), quantile(present, 0.99)];
  if (!(high > low)) [low, high] = [present[0], present[present.length - 1]];
  return high > low ? { low, high } : { low: low - 0.5, high: high + 0.5 };
}

/** Interpolate between sorted values, as numpy does. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}
