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
 * Lay a stamp of a colour over the sheet, around a pixel; what would lie outside is cut off. This is where the time
 * goes, so it mixes in place.
 */
export function blend(
  sheet: Sheet,
  stamp: Stamp,
  column: number,
  row: number,
  color: number,
  opacity: number,
): void {
  const { width, height, pixels } = sheet;
  const { cover } = stamp;
  const x0 = column + stamp.left;
  const y0 = row + stamp.top;
  const left = x0 < 0 ? -x0 : 0;
  const top = y0 < 0 ? -y0 : 0;
  const right = x0 + stamp.width > width ? width - x0 : stamp.width;
  const bottom = y0 + stamp.height > height ? height - y0 : stamp.height;
  const outer = color & OUTER;
  const inner = (color & INNER) >>> 8;
  for (let v = top; v < bottom; v++) {
    const line = (y0 + v) * width + x0;
    const own = v * stamp.width;
    for (let u = left; u < right; u++) {
      const strength = (cover[own + u] * opacity) >> 8;
      if (strength === 0) continue;
      const below = pixels[line + u];
      const rest = 256 - strength;
      const outers = ((Math.imul(below & OUTER, rest) + Math.imul(outer, strength)) >>> 8) & OUTER;
      const inners = (Math.imul((below & INNER) >>> 8, rest) + Math.imul(inner, strength)) & INNER;
      pixels[line + u] = outers | inners | OPAQUE;
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
