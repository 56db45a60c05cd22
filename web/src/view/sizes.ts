/** How large and how opaque points and names are. */

import type { Size } from "../geometry/camera";

/** The diameter of a usual point among so many of its kind, in pixels: the more, the smaller. */
export function diameterFor(count: number): number {
  const area = Math.min(Math.max(40 * (60 / Math.max(count, 1)) ** 0.42, 3.2), 40);
  return 1.5 * Math.sqrt(area);
}

export function opacityFor(count: number): number {
  return Math.min(Math.max((600 / Math.max(count, 1)) ** 0.22, 0.4), 0.9);
}

/** How much points grow when one looks closer. */
export function growth(zoom: number): number {
  return Math.min(Math.max(zoom ** 0.3, 0.75), 3.5);
}

/** The shorter side of a map on a laptop, for which all else is chosen, in pixels. */
const USUAL_SIDE = 700;

/** How much larger points are on a larger map. */
export function enlargement({ width, height }: Size): number {
  return Math.min(Math.max(Math.sqrt(Math.min(width, height) / USUAL_SIDE), 1), 1.6);
}

/** How many more names a larger map has room for. */
export function roominess({ width, height }: Size): number {
  return Math.min(Math.max((width * height) / USUAL_SIDE ** 2, 0.5), 4);
}

/** The size of names in pixels: larger on screens that are looked at from farther away. */
export function textSize({ width, height }: Size): number {
  return Math.min(width, height) >= 1000 ? 14 : 12;
}
