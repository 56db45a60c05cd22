/** Markers as small pictures of how much they cover each pixel, for drawing by the processor. */

import type { Marker } from "../look/markers";

export interface Stamp {
  readonly width: number;
  readonly height: number;
  /** From the pixel of a point's place to the stamp's first pixel. */
  readonly left: number;
  readonly top: number;
  /** How much each pixel is covered, row by row, from 0 to 256. */
  readonly cover: Uint16Array;
  /** The pixels that are covered at all: steps to them from that of the point's place in a sheet, and how much. */
  readonly steps: Int32Array;
  readonly strengths: Uint16Array;
}

/** Places within a pixel that get a stamp of their own, along each axis. */
export const FINE = 4;

/** How far outside of a marker's outline a place is, in radii: below 1 inside, above 1 outside; y goes down. */
export function outline(marker: Marker, x: number, y: number): number {
  const [a, b] = [Math.abs(x), Math.abs(y)];
  switch (marker) {
    case "circle":
      return Math.hypot(x, y);
    case "triangle":
      return Math.max(y + 0.28, 0.874 * a - 0.483 * y + 0.517);
    case "square":
      return Math.max(a, b) / 0.82;
    case "diamond":
      return a / 0.86 + b;
    case "down":
      return Math.max(0.28 - y, 0.874 * a + 0.483 * y + 0.517);
    case "plus":
      return Math.max(a, b, Math.min(a, b) / 0.36);
    case "cross": {
      const [p, q] = [Math.SQRT1_2 * Math.abs(x + y), Math.SQRT1_2 * Math.abs(x - y)];
      return Math.max(p, q, Math.min(p, q) / 0.36);
    }
    case "hexagon":
      return Math.max(a, 0.5 * a + 0.866 * b) / 0.866;
  }
}

/** Make the stamp of a marker whose middle lies (dx, dy) of a pixel beyond the pixel's corner, for sheets of a width. */
export function makeStamp(marker: Marker, diameter: number, dx: number, dy: number, across: number): Stamp {
  const radius = Math.max(diameter, 1) / 2;
  // A point smaller than a pixel covers a part of it.
  const strength = Math.min(diameter, 1) ** 2;
  const reach = radius + 0.5;
  const [left, top] = [Math.floor(dx - reach), Math.floor(dy - reach)];
  const [width, height] = [Math.ceil(dx + reach) - left, Math.ceil(dy + reach) - top];
  const cover = new Uint16Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = [left + column + 0.5 - dx, top + row + 0.5 - dy];
      const away = outline(marker, x / radius, y / radius);
      cover[row * width + column] = Math.round(256 * strength * Math.min(Math.max((1 - away) * radius + 0.5, 0), 1));
    }
  }
  const covered = [...cover.keys()].filter((at) => cover[at] > 0);
  const steps = Int32Array.from(covered, (at) => (top + Math.floor(at / width)) * across + left + (at % width));
  return { width, height, left, top, cover, steps, strengths: Uint16Array.from(covered, (at) => cover[at]) };
}

/** Stamps of one marker at all places within a pixel, made when first needed, at steps of half a pixel in size. */
export class StampBook {
  private readonly pages = new Map<number, Stamp[]>();
  private across = 0;

  constructor(private readonly marker: Marker) {}

  /** Give the stamps of a diameter for sheets of a width, FINE × FINE of them, row by row of places within the pixel. */
  page(diameter: number, across: number): readonly Stamp[] {
    if (across !== this.across) this.pages.clear();
    this.across = across;
    const key = Math.max(Math.round(2 * diameter), 1);
    let page = this.pages.get(key);
    if (page === undefined) {
      page = Array.from({ length: FINE * FINE }, (_, i) =>
        makeStamp(this.marker, key / 2, ((i % FINE) + 0.5) / FINE, (Math.floor(i / FINE) + 0.5) / FINE, across),
      );
      this.pages.set(key, page);
    }
    return page;
  }
}
