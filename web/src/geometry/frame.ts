/** Which part of the plane a map fills. */

import { quantile } from "../data/fields";
import type { Frame } from "./camera";

const OUTSIDE = 0.005;
const MARGIN = 0.04;
const REACH = 1.5;
const SAMPLE = 100_000;

/**
 * Frame the points. A few far out must not squeeze all others into a dot: an axis ends at its 0.5 % and 99.5 %
 * quantiles, unless the outermost point is hardly farther out.
 */
export function frameOf(x: Float32Array, y: Float32Array): Frame {
  const [x0, x1] = limits(x);
  const [y0, y1] = limits(y);
  const largest = Math.max(x1 - x0, y1 - y0) || 1;
  const [dx, dy] = [MARGIN * (x1 - x0 || largest), MARGIN * (y1 - y0 || largest)];
  return { x0: x0 - dx, y0: y0 - dy, x1: x1 + dx, y1: y1 + dy };
}

/** Widen a frame to hold more places. */
export function including(frame: Frame, places: Iterable<readonly [number, number]>): Frame {
  let { x0, y0, x1, y1 } = frame;
  for (const [x, y] of places) {
    [x0, x1] = [Math.min(x0, x), Math.max(x1, x)];
    [y0, y1] = [Math.min(y0, y), Math.max(y1, y)];
  }
  return { x0, y0, x1, y1 };
}

function limits(values: Float32Array): [number, number] {
  if (values.length === 0) return [0, 0];
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const step = Math.max(1, Math.floor(values.length / SAMPLE));
  const sorted = values.filter((_, i) => i % step === 0).sort();
  const [near, far] = [quantile(sorted, OUTSIDE), quantile(sorted, 1 - OUTSIDE)];
  return high - low <= REACH * (far - near) ? [low, high] : [near, far];
}
