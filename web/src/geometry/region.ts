/** Regions drawn by hand, as flat lists of corners x, y, x, y, … in the map's coordinates. */

export type Polygon = readonly number[];

/** Make the polygon of a box between two corners. */
export function boxPolygon(x0: number, y0: number, x1: number, y1: number): Polygon {
  return [x0, y0, x1, y0, x1, y1, x0, y1];
}

export interface Bounds {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export function boundsOf(polygon: Polygon): Bounds {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < polygon.length; i += 2) {
    [x0, x1] = [Math.min(x0, polygon[i]), Math.max(x1, polygon[i])];
    [y0, y1] = [Math.min(y0, polygon[i + 1]), Math.max(y1, polygon[i + 1])];
  }
  return { x0, y0, x1, y1 };
}

/** Tell whether a place lies inside: a ray to the right crosses the outline an odd number of times. */
export function contains(polygon: Polygon, x: number, y: number): boolean {
  let inside = false;
  const n = polygon.length / 2;
  for (let i = 0, j = n - 1; i < n; j = i++) {
    const [xi, yi, xj, yj] = [polygon[2 * i], polygon[2 * i + 1], polygon[2 * j], polygon[2 * j + 1]];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

/** List the points inside a region, among those that are visible. */
export function pointsInside(
  polygon: Polygon,
  x: Float32Array,
  y: Float32Array,
  visible: (point: number) => boolean,
): number[] {
  const { x0, y0, x1, y1 } = boundsOf(polygon);
  const found: number[] = [];
  for (let i = 0; i < x.length; i++) {
    if (x[i] < x0 || x[i] > x1 || y[i] < y0 || y[i] > y1) continue;
    if (visible(i) && contains(polygon, x[i], y[i])) found.push(i);
  }
  return found;
}

/** Leave out corners that lie nearly on a line, so that a drawn outline fits into an address. */
export function simplified(polygon: Polygon, tolerance: number): Polygon {
  const n = polygon.length / 2;
  if (n <= 4) return polygon;
  const keep = new Uint8Array(n);
  keep[0] = keep[n - 1] = 1;
  const stack: [number, number][] = [[0, n - 1]];
  for (let span = stack.pop(); span !== undefined; span = stack.pop()) {
    const [first, last] = span;
    let [worst, at] = [tolerance, -1];
    for (let i = first + 1; i < last; i++) {
      const away = distanceToLine(polygon, i, first, last);
      if (away > worst) [worst, at] = [away, i];
    }
    if (at < 0) continue;
    keep[at] = 1;
    stack.push([first, at], [at, last]);
  }
  return polygon.filter((_, i) => keep[i >> 1] === 1);
}

function distanceToLine(polygon: Polygon, i: number, first: number, last: number): number {
  const [x, y] = [polygon[2 * i] - polygon[2 * first], polygon[2 * i + 1] - polygon[2 * first + 1]];
  const [dx, dy] = [polygon[2 * last] - polygon[2 * first], polygon[2 * last + 1] - polygon[2 * first + 1]];
  const length = Math.hypot(dx, dy);
  return length === 0 ? Math.hypot(x, y) : Math.abs(x * dy - y * dx) / length;
}
