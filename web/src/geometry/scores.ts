/** How well a map shows its cohorts, counted in the page: in their places (S_c) and apart (S_s). */

import type { Places } from "../data/arrangement";

export const NONE = 0xffffffff;

/**
 * Give the share of samples whose nearest prototype is that of their own cohort; prototypes that are equally
 * near share a sample. Samples are looked at in steps of ``step``.
 */
export function cohortPosition(
  { x, y }: Places,
  cohorts: Uint32Array,
  prototypes: Float64Array,
  step = 1,
): number {
  let [score, counted] = [0, 0];
  const c = prototypes.length / 2;
  for (let i = 0; i < x.length; i += step) {
    const own = cohorts[i];
    if (own === NONE) continue;
    counted++;
    let [least, ties, mine] = [Infinity, 0, false];
    for (let j = 0; j < c; j++) {
      const [dx, dy] = [x[i] - prototypes[2 * j], y[i] - prototypes[2 * j + 1]];
      const square = dx * dx + dy * dy;
      if (square < least) [least, ties, mine] = [square, 1, j === own];
      else if (square === least) {
        ties++;
        mine ||= j === own;
      }
    }
    if (mine) score += 1 / ties;
  }
  return counted === 0 ? NaN : score / counted;
}

/**
 * Give the share of samples whose nearest other sample is of their own cohort; where several are equally near,
 * the share of them that is. Samples are looked at in steps of ``step``, and compared with all.
 */
export function cohortSeparation(places: Places, cohorts: Uint32Array, step = 1): number {
  const grid = new Grid(places, cohorts);
  let [score, counted] = [0, 0];
  for (let i = 0; i < cohorts.length; i += step) {
    if (cohorts[i] === NONE) continue;
    const share = grid.alike(i);
    if (Number.isNaN(share)) continue;
    counted++;
    score += share;
  }
  return counted === 0 ? NaN : score / counted;
}

/** Samples sorted into square cells, so that the nearest is found in a few of them. */
class Grid {
  private readonly columns: number;
  private readonly rows: number;
  private readonly cell: number;
  private readonly x0: number;
  private readonly y0: number;
  private readonly starts: Uint32Array;
  private readonly members: Uint32Array;

  constructor(
    private readonly places: Places,
    private readonly cohorts: Uint32Array,
  ) {
    const { x, y } = places;
    let [x0, y0, x1, y1, n] = [Infinity, Infinity, -Infinity, -Infinity, 0];
    for (let i = 0; i < x.length; i++) {
      if (cohorts[i] === NONE) continue;
      n++;
      if (x[i] < x0) x0 = x[i];
      if (x[i] > x1) x1 = x[i];
      if (y[i] < y0) y0 = y[i];
      if (y[i] > y1) y1 = y[i];
    }
    const [across, up] = n === 0 ? [0, 0] : [x1 - x0, y1 - y0];
    // About two samples a cell, were they spread evenly; thin maps get long rows of cells.
    this.cell = Math.max(Math.sqrt((across * up * 2) / Math.max(n, 1)), Math.max(across, up) / 2000) || 1;
    [this.x0, this.y0] = [x0, y0];
    this.columns = Math.floor(across / this.cell) + 1;
    this.rows = Math.floor(up / this.cell) + 1;
    this.starts = new Uint32Array(this.columns * this.rows + 1);
    for (let i = 0; i < x.length; i++) if (cohorts[i] !== NONE) this.starts[this.cellOf(i) + 1]++;
    for (let at = 0; at < this.starts.length - 1; at++) this.starts[at + 1] += this.starts[at];
    const next = this.starts.slice();
    this.members = new Uint32Array(n);
    for (let i = 0; i < x.length; i++) if (cohorts[i] !== NONE) this.members[next[this.cellOf(i)]++] = i;
  }

  private column(i: number): number {
    return Math.min(Math.floor((this.places.x[i] - this.x0) / this.cell), this.columns - 1);
  }

  private row(i: number): number {
    return Math.min(Math.floor((this.places.y[i] - this.y0) / this.cell), this.rows - 1);
  }

  private cellOf(i: number): number {
    return this.row(i) * this.columns + this.column(i);
  }

  /** The share of the nearest others of a sample that is of its cohort; NaN where there is no other. */
  alike(i: number): number {
    const [column, row] = [this.column(i), this.row(i)];
    const found = { square: Infinity, ties: 0, same: 0 };
    const farthest = Math.max(this.columns, this.rows);
    for (let ring = 0; ring <= farthest; ring++) {
      // Whatever lies in this ring or beyond is at least ring - 1 cells away.
      const free = Math.max(ring - 1, 0) * this.cell;
      if (free * free > found.square) break;
      this.lookAround(i, column, row, ring, found);
    }
    return found.ties === 0 ? NaN : found.same / found.ties;
  }

  private lookAround(
    i: number,
    column: number,
    row: number,
    ring: number,
    found: { square: number; ties: number; same: number },
  ): void {
    const { x, y } = this.places;
    for (let r = Math.max(row - ring, 0); r <= Math.min(row + ring, this.rows - 1); r++) {
      const whole = Math.abs(r - row) === ring;
      for (let c = column - ring; c <= column + ring; c += whole || ring === 0 ? 1 : 2 * ring) {
        if (c < 0 || c >= this.columns) continue;
        const cell = r * this.columns + c;
        for (let at = this.starts[cell]; at < this.starts[cell + 1]; at++) {
          const other = this.members[at];
          if (other === i) continue;
          const [dx, dy] = [x[other] - x[i], y[other] - y[i]];
          const square = dx * dx + dy * dy;
          if (square > found.square) continue;
          if (square < found.square) [found.square, found.ties, found.same] = [square, 0, 0];
          found.ties++;
          if (this.cohorts[other] === this.cohorts[i]) found.same++;
        }
      }
    }
  }
}
