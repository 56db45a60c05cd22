/** The prototypes of a cohort map as they are moved by hand, with a memory of every step. */

import type { ResponseColumn } from "./response";

export interface Places {
  readonly x: Float32Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
}

export class Arrangement {
  /** Prototypes now: x and y by turns. */
  prototypes: Float64Array;
  private readonly past: Float64Array[] = [];
  private readonly columns = new Map<number, Float32Array<ArrayBuffer>>();

  /**
   * ``home`` are the prototypes the map was made with, and ``base`` the samples' places for these; ``response``
   * is null where samples cannot follow.
   */
  constructor(
    readonly names: readonly string[],
    readonly home: Float64Array,
    private readonly base: Places,
    private readonly response: ResponseColumn | null,
  ) {
    this.prototypes = home.slice();
  }

  get follows(): boolean {
    return this.response !== null;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get moved(): boolean {
    return this.prototypes.some((value, i) => value !== this.home[i]);
  }

  place(cohort: number): [number, number] {
    return [this.prototypes[2 * cohort], this.prototypes[2 * cohort + 1]];
  }

  /** How much every sample follows a cohort; zero where samples cannot. */
  share(cohort: number): Float32Array<ArrayBuffer> {
    let column = this.columns.get(cohort);
    if (column === undefined) {
      column = this.response?.(cohort) ?? new Float32Array(this.base.x.length);
      this.columns.set(cohort, column);
    }
    return column;
  }

  /** Move one cohort, remembering where all were. */
  move(cohort: number, x: number, y: number): void {
    this.past.push(this.prototypes.slice());
    this.prototypes = this.prototypes.slice();
    this.prototypes[2 * cohort] = x;
    this.prototypes[2 * cohort + 1] = y;
  }

  /** Put all prototypes somewhere at once, as one step. */
  arrange(prototypes: Float64Array): void {
    this.past.push(this.prototypes);
    this.prototypes = prototypes.slice();
  }

  undo(): void {
    this.prototypes = this.past.pop() ?? this.prototypes;
  }

  reset(): void {
    if (this.moved) this.arrange(this.home);
  }

  /**
   * Give the samples' places: those of the map, plus the response times what each prototype has moved. Rounding
   * of the response so touches only what was moved.
   */
  places(): Places {
    const x = this.base.x.slice();
    const y = this.base.y.slice();
    for (let cohort = 0; cohort < this.names.length; cohort++) {
      const dx = this.prototypes[2 * cohort] - this.home[2 * cohort];
      const dy = this.prototypes[2 * cohort + 1] - this.home[2 * cohort + 1];
      if (dx === 0 && dy === 0) continue;
      const share = this.share(cohort);
      for (let i = 0; i < x.length; i++) {
        x[i] += share[i] * dx;
        y[i] += share[i] * dy;
      }
    }
    return { x, y };
  }

  /** Write the prototypes as a table that ``relscape cohorts --prototypes`` reads. */
  rows(): (string | number)[][] {
    return this.names.map((name, cohort) => [name, ...this.place(cohort)]);
  }
}
