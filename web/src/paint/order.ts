/** The order in which points are drawn: large kinds below small ones, and each kind mixed. */

import type { KindEntry } from "../data/manifest";

export interface Span {
  readonly kind: number;
  readonly start: number;
  readonly count: number;
}

export interface DrawingOrder {
  /** The point in every slot. */
  readonly points: Uint32Array;
  /** The slots of each kind, the lowest layer first. */
  readonly spans: readonly Span[];
}

/** Mix the points of every kind, always in the same way, so that no class covers another. */
export function drawingOrder(kinds: readonly KindEntry[]): DrawingOrder {
  const layers = kinds.map((kind, number) => ({ kind, number })).sort((a, b) => b.kind.count - a.kind.count);
  const points = new Uint32Array(kinds.reduce((sum, { count }) => sum + count, 0));
  const spans: Span[] = [];
  let slot = 0;
  for (const { kind, number } of layers) {
    const part = points.subarray(slot, slot + kind.count);
    for (let i = 0; i < kind.count; i++) part[i] = kind.start + i;
    shuffle(part);
    spans.push({ kind: number, start: slot, count: kind.count });
    slot += kind.count;
  }
  return { points, spans };
}

/** Mix in place, by Marsaglia's xorshift from a fixed seed. */
function shuffle(values: Uint32Array): void {
  let state = 2463534242;
  for (let i = values.length - 1; i > 0; i--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const j = (state >>> 0) % (i + 1);
    [values[i], values[j]] = [values[j], values[i]];
  }
}
