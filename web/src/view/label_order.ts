/** Which names deserve to be written first. */

import type { KindEntry } from "../data/manifest";
import type { Field } from "../data/fields";

const MOST = 20_000;

/** The points of each kind that come first, the most important first; only so many that it stays quick. */
export interface LabelOrder {
  /** How important each point is; larger is more. */
  readonly rank: (point: number) => number;
  readonly leaders: readonly Uint32Array[];
}

/**
 * Order points by the first of the fields that their kind has, largest first; without any, in a mixed order, so
 * that names are spread over the map.
 */
export function labelOrder(kinds: readonly KindEntry[], fields: readonly Field[]): LabelOrder {
  const ranks = kinds.map((kind) => {
    const field = fields.find((candidate) => candidate.type === "number" && candidate.kinds.includes(kind.name));
    return field?.type === "number" ? (point: number) => finite(field.values[point]) : scattered;
  });
  const ends = kinds.map((kind) => kind.start + kind.count);
  const rank = (point: number): number => ranks[ends.findIndex((end) => point < end)](point);
  return { rank, leaders: kinds.map((kind, number) => leadersOf(kind, ranks[number])) };
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : -Infinity;
}

/** A number for every point that looks like chance and is always the same. */
function scattered(point: number): number {
  let hash = Math.imul(point + 1, 0x9e3779b1);
  hash ^= hash >>> 15;
  return (Math.imul(hash, 0x85ebca77) >>> 8) / 2 ** 24;
}

function leadersOf({ start, count }: KindEntry, rank: (point: number) => number): Uint32Array {
  let points = Uint32Array.from({ length: count }, (_, i) => start + i);
  if (count > MOST) {
    const bound = boundFor(points, rank);
    points = points.filter((point) => rank(point) >= bound).slice(0, 4 * MOST);
  }
  return points.sort((a, b) => rank(b) - rank(a) || a - b).slice(0, MOST);
}

/** Estimate from a sample the importance that about MOST points reach. */
function boundFor(points: Uint32Array, rank: (point: number) => number): number {
  const step = Math.max(1, Math.floor(points.length / MOST));
  const sample = Float64Array.from(points.filter((_, i) => i % step === 0), rank).sort();
  return sample[Math.max(0, Math.floor(sample.length * (1 - (1.2 * MOST) / points.length)))];
}

/** How many names a kind may have, from the setting of its slider: 0, then 4 to 400. */
export function labelLimit(density: number): number {
  return density <= 0 ? 0 : Math.round(4 * 100 ** density);
}

/** Take turns among kinds, each in its order. */
export function* taking(queues: readonly (readonly number[])[]): Generator<number> {
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  for (let turn = 0; turn < longest; turn++) {
    for (const queue of queues) if (turn < queue.length) yield queue[turn];
  }
}
