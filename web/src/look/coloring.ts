/** Which colour each point has, and what the legend says about it. */

import { MISSING, scaleOf, sortIntoClasses, type Classes, type Field, type Scale } from "../data/fields";
import type { KindEntry } from "../data/manifest";
import { CLASS_COLORS, KIND_COLORS, dots, rgb, shades, type Rgb, type Theme } from "./palette";

export interface Coloring {
  /** Red, green, blue of every point. */
  readonly colors: Uint8Array;
  readonly key: ColorKey;
}

export type ColorKey =
  | { readonly type: "kinds"; readonly colors: readonly Rgb[] }
  | { readonly type: "classes"; readonly field: string; readonly classes: Classes; readonly colors: readonly Rgb[] }
  | { readonly type: "scale"; readonly field: string; readonly scale: Scale; readonly missing: boolean };

/** Give every kind the colour of its place on the map, the same from picture to picture. */
export function kindColors(kinds: readonly KindEntry[], theme: Theme): Rgb[] {
  const palette = dots(KIND_COLORS, theme);
  return kinds.map((_, number) => palette[number % palette.length]);
}

export function colorByKind(kinds: readonly KindEntry[], n: number, theme: Theme): Coloring {
  const palette = kindColors(kinds, theme);
  const colors = new Uint8Array(3 * n);
  kinds.forEach(({ start, count }, number) => {
    for (let i = start; i < start + count; i++) colors.set(palette[number], 3 * i);
  });
  return { colors, key: { type: "kinds", colors: palette } };
}

/** Colour by classes or by a scale, as another map does where ``like`` is its key; points without a value are grey. */
export function colorByField(
  field: Field,
  kinds: readonly KindEntry[],
  n: number,
  theme: Theme,
  like: ColorKey | null = null,
): Coloring {
  if (field.type === "category") {
    return colorByClass(field, kinds, n, theme, like?.type === "classes" ? like.classes.names : []);
  }
  if (field.type === "number") {
    return colorByNumber(field, n, theme, like?.type === "scale" ? like.scale : scaleOf(field.values));
  }
  throw new Error(`The field "${field.name}" holds texts of their own; colours would mean nothing.`);
}

function colorByClass(
  field: Field & { type: "category" },
  kinds: readonly KindEntry[],
  n: number,
  theme: Theme,
  first: readonly string[],
): Coloring {
  const classes = sortIntoClasses(field, kinds, CLASS_COLORS.length, first);
  const palette = dots(CLASS_COLORS, theme).slice(0, classes.names.length);
  const other = rgb(theme.other);
  const colors = new Uint8Array(3 * n);
  for (let i = 0; i < n; i++) {
    const code = field.codes[i];
    const place = code === MISSING ? -1 : classes.place[code];
    colors.set(place < 0 ? other : palette[place], 3 * i);
  }
  return { colors, key: { type: "classes", field: field.name, classes, colors: palette } };
}

function colorByNumber(field: Field & { type: "number" }, n: number, theme: Theme, scale: Scale): Coloring {
  const ramp = shades(theme);
  const other = rgb(theme.other);
  const colors = new Uint8Array(3 * n);
  let missing = false;
  for (let i = 0; i < n; i++) {
    const share = (field.values[i] - scale.low) / (scale.high - scale.low);
    const known = Number.isFinite(share);
    missing ||= !known;
    colors.set(known ? ramp[Math.round(255 * Math.min(Math.max(share, 0), 1))] : other, 3 * i);
  }
  return { colors, key: { type: "scale", field: field.name, scale, missing } };
}

/** Mark which points are shown: those of shown kinds and, where classes have colours, of shown classes. */
export function visibleMask(
  kinds: readonly KindEntry[],
  n: number,
  hiddenKinds: readonly string[],
  field: Field | null,
  key: ColorKey,
  hiddenClasses: readonly string[],
): Uint8Array {
  const visible = new Uint8Array(n).fill(1);
  for (const { name, start, count } of kinds) {
    if (hiddenKinds.includes(name)) visible.fill(0, start, start + count);
  }
  if (field?.type !== "category" || key.type !== "classes" || hiddenClasses.length === 0) return visible;
  const hidden = new Set(hiddenClasses);
  const others = hidden.has(OTHERS);
  const codes = field.categories.map((name, code) => (key.classes.place[code] < 0 ? others : hidden.has(name)));
  const missing = hidden.has(WITHOUT);
  const having = new Set(field.kinds);
  for (const kind of kinds) {
    if (!having.has(kind.name)) continue;
    for (let i = kind.start; i < kind.start + kind.count; i++) {
      const code = field.codes[i];
      if (code === MISSING ? missing : codes[code]) visible[i] = 0;
    }
  }
  return visible;
}

/** How the classes too many for colours, and points without a class, are called among hidden classes. */
export const OTHERS = "\u0000others";
export const WITHOUT = "\u0000without";

const SMALLEST = 0.6;
const LARGEST = 2.6;

/** Give every point a size, 1 being the usual one: areas go with the number. */
export function sizesOf(field: Field | null, n: number): Float32Array {
  const sizes = new Float32Array(n).fill(1);
  if (field?.type !== "number") return sizes;
  const { low, high } = scaleOf(field.values);
  for (let i = 0; i < n; i++) {
    const share = (field.values[i] - low) / (high - low);
    if (Number.isFinite(share)) {
      sizes[i] = Math.sqrt(SMALLEST ** 2 + (LARGEST ** 2 - SMALLEST ** 2) * Math.min(Math.max(share, 0), 1));
    }
  }
  return sizes;
}
