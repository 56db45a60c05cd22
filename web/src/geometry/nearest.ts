/** Nearest neighbours in the map's real coordinates, of every kind. */

import type { CoordinatesEntry, KindEntry } from "../data/manifest";

export interface Near {
  readonly point: number;
  readonly distance: number;
}

/** Coordinates of all points, row by row, as numbers. */
export interface Coordinates {
  readonly k: number;
  readonly values: Float32Array;
}

/** Read coordinates, undoing their rounding to 16 bits where they travelled so. */
export function readCoordinates(entry: CoordinatesEntry, column: Float32Array | Uint16Array): Coordinates {
  const { k } = entry;
  if (!entry.quantised) return { k, values: column as Float32Array };
  const { scale = [], offset = [] } = entry;
  const values = new Float32Array(column.length);
  for (let i = 0; i < column.length; i++) values[i] = offset[i % k] + scale[i % k] * column[i];
  return { k, values };
}

/** Find the ``count`` nearest points of each kind by distance, the point itself left out. */
export function nearestOfKinds(
  { k, values }: Coordinates,
  kinds: readonly KindEntry[],
  point: number,
  count: number,
): Map<string, Near[]> {
  const found = new Map<string, Near[]>();
  for (const kind of kinds) found.set(kind.name, nearestIn(values, k, kind, point, count));
  return found;
}

function nearestIn(values: Float32Array, k: number, kind: KindEntry, point: number, count: number): Near[] {
  const best: { point: number; square: number }[] = [];
  let bound = Infinity;
  const own = point * k;
  for (let other = kind.start; other < kind.start + kind.count; other++) {
    if (other === point) continue;
    let square = 0;
    const at = other * k;
    for (let axis = 0; axis < k && square < bound; axis++) {
      const d = values[at + axis] - values[own + axis];
      square += d * d;
    }
    if (!(square < bound)) continue;
    let place = best.length;
    while (place > 0 && best[place - 1].square > square) place--;
    best.splice(place, 0, { point: other, square });
    if (best.length > count) best.pop();
    if (best.length === count) bound = best[count - 1].square;
  }
  return best.map(({ point: other, square }) => ({ point: other, distance: Math.sqrt(square) }));
}
