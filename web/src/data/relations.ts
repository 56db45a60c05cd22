/** Relations laid out by point, so that the strongest of one are found at once. */

import type { RelationEntry } from "./manifest";

export interface Partner {
  readonly point: number;
  readonly weight: number;
  /** Whether the relation leads from the asked point to this one. */
  readonly outgoing: boolean;
}

export interface Adjacency {
  readonly entry: RelationEntry;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly weight: Float32Array;
  /** Where the entries of each point begin in ``slots``, which lists entries twice: 2·e outgoing, 2·e + 1 not. */
  readonly starts: Uint32Array;
  readonly slots: Uint32Array;
}

/** Sort the entries of a relation by the points they touch. */
export function indexRelation(
  entry: RelationEntry,
  from: Uint32Array,
  to: Uint32Array,
  weight: Float32Array,
  n: number,
): Adjacency {
  const starts = new Uint32Array(n + 1);
  for (const point of from) starts[point + 1]++;
  for (const point of to) starts[point + 1]++;
  for (let i = 0; i < n; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  const slots = new Uint32Array(2 * from.length);
  for (let e = 0; e < from.length; e++) {
    slots[next[from[e]]++] = 2 * e;
    slots[next[to[e]]++] = 2 * e + 1;
  }
  return { entry, from, to, weight, starts, slots };
}

/** List the strongest partners of a point, by the size of the weight; a loop counts once. */
export function strongest(relation: Adjacency, point: number, count: number): Partner[] {
  const { from, to, weight, starts, slots } = relation;
  const partners: Partner[] = [];
  for (let at = starts[point]; at < starts[point + 1]; at++) {
    const e = slots[at] >> 1;
    const outgoing = (slots[at] & 1) === 0;
    if (!outgoing && from[e] === to[e]) continue;
    partners.push({ point: outgoing ? to[e] : from[e], weight: weight[e], outgoing });
  }
  partners.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.point - b.point);
  return partners.slice(0, count);
}

/** Count the entries that touch a point. */
export function degree(relation: Adjacency, point: number): number {
  return relation.starts[point + 1] - relation.starts[point];
}
