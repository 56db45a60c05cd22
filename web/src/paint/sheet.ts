/** A picture in memory, and what is laid over it pixel by pixel. */

import type { Rgb } from "../look/palette";
import type { Stamp } from "./stamps";

export interface Sheet {
  readonly width: number;
  readonly height: number;
  /** Opaque pixels, each red, green, blue and 255 from the lowest byte up; signed, as engines count fastest so. */
  readonly pixels: Int32Array;
}

/** Red and blue, and green, apart: so that two channels are mixed by one multiplication. */
const OUTER = 0x00ff00ff;
const INNER = 0x0000ff00;
const OPAQUE = 0xff000000 | 0;

export function packed([r, g, b]: Rgb): number {
  return Math.round(r) | (Math.round(g) << 8) | (Math.round(b) << 16) | OPAQUE;
}

/** Mix a colour over another; ``strength`` from 0 to 256 is the share of the new one. */
export function mix(below: number, above: number, strength: number): number {
  const rest = 256 - strength;
  const outer = (Math.imul(below & OUTER, rest) + Math.imul(above & OUTER, strength)) >>> 8;
  const inner = (Math.imul((below & INNER) >>> 8, rest) + Math.imul((above & INNER) >>> 8, strength)) & INNER;
  return (outer & OUTER) | inner | OPAQUE;
}

/**
 * Lay a stamp of a colour over the sheet, around a pixel. This is where the time goes, so stamps that lie wholly on the
 * sheet, nearly all, are mixed in place and without a look at their edges.
 */
export function blend(sheet: Sheet, stamp: Stamp, column: number, row: number, color: number, opacity: number): void {
  const { width, height, pixels } = sheet;
  const [x0, y0] = [column + stamp.left, row + stamp.top];
  if (x0 < 0 || y0 < 0 || x0 + stamp.width > width || y0 + stamp.height > height) {
    blendPart(sheet, stamp, x0, y0, color, opacity);
    return;
  }
  const { steps, strengths } = stamp;
  const middle = row * width + column;
  const outer = color & OUTER;
  const inner = (color & INNER) >>> 8;
  for (let i = 0; i < steps.length; i++) {
    const at = middle + steps[i];
    const strength = (strengths[i] * opacity) >> 8;
    const rest = 256 - strength;
    const below = pixels[at];
    const outers = ((Math.imul(below & OUTER, rest) + Math.imul(outer, strength)) >>> 8) & OUTER;
    const inners = (Math.imul((below & INNER) >>> 8, rest) + Math.imul(inner, strength)) & INNER;
    pixels[at] = outers | inners | OPAQUE;
  }
}

/** Lay over what there is room for of a stamp whose first pixel is (x0, y0). */
function blendPart(
  { width, height, pixels }: Sheet,
  stamp: Stamp,
  x0: number,
  y0: number,
  color: number,
  opacity: number,
): void {
  for (let v = Math.max(-y0, 0); v < Math.min(stamp.height, height - y0); v++) {
    for (let u = Math.max(-x0, 0); u < Math.min(stamp.width, width - x0); u++) {
      const at = (y0 + v) * width + x0 + u;
      pixels[at] = mix(pixels[at], color, (stamp.cover[v * stamp.width + u] * opacity) >> 8);
    }
  }
}

/** Draw a line one pixel wide; parts outside of the sheet are cut off. */
export function drawLine(
  { width, height, pixels }: Sheet,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  color: number,
  strength: number,
): void {
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [from, to] = [0, 1];
  for (const [start, way, limit] of [
    [x0, dx, width - 1],
    [y0, dy, height - 1],
  ]) {
    if (way === 0) {
      if (start < 0 || start > limit) return;
      continue;
    }
    const [enter, leave] = way > 0 ? [-start / way, (limit - start) / way] : [(limit - start) / way, -start / way];
    from = Math.max(from, enter);
    to = Math.min(to, leave);
  }
  if (from > to) return;
  const steps = Math.max(1, Math.ceil(Math.max(Math.abs(dx), Math.abs(dy)) * (to - from)));
  for (let step = 0; step < steps; step++) {
    const share = from + ((to - from) * step) / steps;
    const at = Math.round(y0 + dy * share) * width + Math.round(x0 + dx * share);
    pixels[at] = mix(pixels[at], color, strength);
  }
}
