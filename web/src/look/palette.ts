/** Colours and markers, the same as in relscape's static pictures. */

import { interpolateViridis } from "d3-scale-chromatic";

/** Okabe and Ito's colours for colour-blind readers, the dark ones first; yellow is too pale for dots. */
export const KIND_COLORS = [
  "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A5195", "#8C6D31",
] as const;

/** Ten strong colours for the most frequent classes, then a light one of each hue. */
export const CLASS_COLORS = [
  "#0072B2", "#E07000", "#008A5A", "#C81D25", "#7A3DB8", "#7A4A1E", "#D6409F", "#00A3B4", "#7D8200", "#1E2A78",
  "#7DB9F0", "#FFB765", "#6FD39B", "#FF8F85", "#C3A0F0", "#C49A6C", "#F7A8D8", "#7FE0E0", "#CDD04A", "#5566FF",
] as const;

export interface Theme {
  readonly name: "light" | "dark";
  readonly paper: string;
  readonly ink: string;
  readonly muted: string;
  readonly faint: string;
  readonly other: string;
  readonly accent: string;
}

export const LIGHT: Theme = {
  name: "light",
  paper: "#FFFFFF",
  ink: "#1F2328",
  muted: "#5F6872",
  faint: "#E3E6EA",
  other: "#A9B0B8",
  accent: "#0067A3",
};

export const DARK: Theme = {
  name: "dark",
  paper: "#14171C",
  ink: "#E8EAED",
  muted: "#9AA4AF",
  faint: "#2C323A",
  other: "#68727D",
  accent: "#6BBDF0",
};

export type Rgb = readonly [number, number, number];

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function hex([r, g, b]: Rgb): string {
  return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** Mix two colours; ``share`` is that of the second. */
export function mixed(first: Rgb, second: Rgb, share: number): Rgb {
  return [0, 1, 2].map((i) => first[i] + (second[i] - first[i]) * share) as unknown as Rgb;
}

/** The luminance of WCAG 2, from 0 to 1. */
export function luminance(color: Rgb): number {
  const [r, g, b] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast ratio of WCAG 2, from 1 to 21. */
export function contrast(first: Rgb, second: Rgb): number {
  const [a, b] = [luminance(first), luminance(second)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Move a colour towards the ink until it stands out from the paper by at least ``ratio``. */
export function readable(color: Rgb, theme: Theme, ratio: number): Rgb {
  const [paper, ink] = [rgb(theme.paper), rgb(theme.ink)];
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mixed(color, ink, share);
    if (contrast(candidate, paper) >= ratio) return candidate;
  }
  return ink;
}

const DOT_CONTRAST = { light: 1.3, dark: 3.6 } as const;

/** Take a palette for dots: as it is on white, its dark colours lifted on dark paper. */
export function dots(colors: readonly string[], theme: Theme): Rgb[] {
  return colors.map((color) => readable(rgb(color), theme, DOT_CONTRAST[theme.name]));
}

const STEPS = 256;
const PALEST = 0.94;

/** The scale for numbers: viridis without its palest end; on dark paper without its darkest. */
export function shades(theme: Theme): Rgb[] {
  const [low, high] = theme.name === "light" ? [0, PALEST] : [0.12, 1];
  return Array.from({ length: STEPS }, (_, i) => {
    const shade = interpolateViridis(low + ((high - low) * i) / (STEPS - 1));
    return rgb(shade.startsWith("#") ? shade : hex(shade.match(/\d+/g)!.map(Number) as unknown as Rgb));
  });
}
