/** A cohort map that is being moved: prototypes, what follows them, and how good the arrangement is. */

import { Arrangement, type Places } from "../data/arrangement";
import { fetched, type Atlas } from "../data/atlas";
import { asNumbers, type Column } from "../data/columns";
import type { CohortsEntry, KindEntry, Manifest } from "../data/manifest";
import { readResponse, type ResponseColumn } from "../data/response";
import { cohortPosition, cohortSeparation } from "../geometry/scores";

export interface Figures {
  readonly S_c: number;
  readonly S_s: number;
  /** Of how many samples the figures were counted; all, or a fair part. */
  readonly looked: number;
}

/** Samples looked at for the live figures. */
const MOST = 5000;

export class CohortSession {
  private constructor(
    readonly atlas: Atlas,
    readonly entry: CohortsEntry,
    readonly arrangement: Arrangement,
    private readonly samples: KindEntry,
    private readonly prototypes: KindEntry,
    private readonly membership: Uint32Array,
    private readonly coordinates: Float64Array | null,
  ) {}

  /** Load what moving needs, of the map itself or of a new fit of the same samples. */
  static async load(atlas: Atlas, manifest: Manifest = atlas.manifest, folder?: string): Promise<CohortSession> {
    const entry = manifest.cohorts!;
    const column = (name: string): Promise<Column> => fetched(atlas.source, name, manifest.columns[name], folder);
    const samples = kindNamed(manifest, entry.samples);
    const prototypes = kindNamed(manifest, entry.kind);
    const [x, y] = folder === undefined ? [atlas.x, atlas.y] : await Promise.all(["x", "y"].map(column));
    const [home, membership] = await Promise.all([entry.prototypes.column, entry.membership].map(column));
    const coordinates = entry.coordinates ? await column(entry.coordinates.column) : null;
    const part = (values: Column): Float32Array<ArrayBuffer> =>
      (values as Float32Array<ArrayBuffer>).slice(samples.start, samples.start + samples.count);
    const response = entry.drag ? await loadResponse(entry, column, samples.count) : null;
    const arrangement = new Arrangement(
      entry.names,
      Float64Array.from(asNumbers("prototypes", home)),
      { x: part(x), y: part(y) },
      response,
    );
    const own = coordinates && Float64Array.from(asNumbers("coordinates", coordinates));
    return new CohortSession(atlas, entry, arrangement, samples, prototypes, membership as Uint32Array, own);
  }

  /** How much every point of the map follows a cohort; its own prototype follows wholly. */
  shares(cohort: number): Float32Array {
    const shares = new Float32Array(this.atlas.n);
    shares.set(this.arrangement.share(cohort), this.samples.start);
    shares[this.prototypes.start + cohort] = 1;
    return shares;
  }

  /** Put all points where the arrangement has them. */
  apply(): void {
    const { x, y } = this.arrangement.places();
    this.atlas.x.set(x, this.samples.start);
    this.atlas.y.set(y, this.samples.start);
    this.entry.names.forEach((_, cohort) => {
      const [px, py] = this.arrangement.place(cohort);
      this.atlas.x[this.prototypes.start + cohort] = px;
      this.atlas.y[this.prototypes.start + cohort] = py;
    });
  }

  /** Say of every cohort whether most of its samples lie right of its prototype. */
  leans(): boolean[] {
    const { start } = this.samples;
    const sums = new Float64Array(this.entry.names.length);
    this.membership.forEach((cohort, i) => {
      if (cohort < sums.length) sums[cohort] += Math.sign(this.atlas.x[start + i] - this.arrangement.prototypes[2 * cohort]);
    });
    return [...sums].map((sum) => sum > 0);
  }

  /** Count S_c and S_s, also while one cohort is on its way by (dx, dy). */
  figures(cohort = -1, dx = 0, dy = 0): Figures {
    const { start, count } = this.samples;
    const prototypes = this.arrangement.prototypes.slice();
    let places: Places = {
      x: this.atlas.x.slice(start, start + count) as Float32Array<ArrayBuffer>,
      y: this.atlas.y.slice(start, start + count) as Float32Array<ArrayBuffer>,
    };
    if (cohort >= 0) {
      const share = this.arrangement.share(cohort);
      places = { x: places.x.map((v, i) => v + share[i] * dx), y: places.y.map((v, i) => v + share[i] * dy) };
      prototypes[2 * cohort] += dx;
      prototypes[2 * cohort + 1] += dy;
    }
    const step = Math.max(1, Math.ceil(count / MOST));
    return {
      S_c: cohortPosition(places, this.membership, prototypes, step),
      S_s: cohortSeparation(places, this.membership, step),
      looked: Math.ceil(count / step),
    };
  }

  /** The moved cohorts by name, for a link. */
  moved(): Record<string, readonly [number, number]> {
    const { home, prototypes } = this.arrangement;
    const names = this.entry.names.filter(
      (_, j) => prototypes[2 * j] !== home[2 * j] || prototypes[2 * j + 1] !== home[2 * j + 1],
    );
    return Object.fromEntries(names.map((name) => [name, this.arrangement.place(this.entry.names.indexOf(name))]));
  }

  /** Arrange cohorts by name, as a link says; those not named are where the map has them. */
  arrange(moved: Readonly<Record<string, readonly [number, number]>>): void {
    const places = this.arrangement.home.slice();
    this.entry.names.forEach((name, j) => {
      if (name in moved) places.set(moved[name], 2 * j);
    });
    this.arrangement.arrange(places);
  }

  /** The prototypes as a table of names and the map's own coordinates, for ``relscape cohorts --prototypes``. */
  table(): { header: string[]; rows: (string | number)[][] } {
    const { coordinates, entry, arrangement } = this;
    const to = matrix(entry.coordinates?.to ?? null);
    const k = coordinates === null || to === null ? 2 : coordinates.length / entry.names.length;
    const axes = k === 2 ? ["x", "y"] : Array.from({ length: k }, (_, axis) => `z${axis}`);
    const rows = entry.names.map((name, j) => {
      const [x, y] = arrangement.place(j);
      if (coordinates === null || to === null) return [name, x, y];
      const [dx, dy] = [x - arrangement.home[2 * j], y - arrangement.home[2 * j + 1]];
      return [name, ...axes.map((_, axis) => coordinates[j * k + axis] + dx * to[0][axis] + dy * to[1][axis])];
    });
    return { header: ["cohort", ...axes], rows };
  }
}

function kindNamed(manifest: Manifest, name: string): KindEntry {
  const kind = manifest.kinds.find((candidate) => candidate.name === name);
  if (kind === undefined) throw new Error(`The map has no kind "${name}"; export it again.`);
  return kind;
}

async function loadResponse(
  entry: CohortsEntry,
  column: (name: string) => Promise<Column>,
  count: number,
): Promise<ResponseColumn | null> {
  const { response, names } = entry;
  if (response === null) return null;
  const values = (await column(response.column)) as Uint16Array;
  const indices = response.index_column === undefined ? null : ((await column(response.index_column)) as Uint16Array);
  return readResponse(response, values, indices, count, names.length);
}

/** Read the two rows by which a move in the picture becomes one of coordinates. */
function matrix(to: readonly (readonly number[])[] | readonly number[] | null): number[][] | null {
  if (to === null || to.length === 0) return null;
  if (typeof to[0] !== "number") return (to as readonly (readonly number[])[]).map((row) => [...row]);
  const flat = to as readonly number[];
  return [flat.slice(0, flat.length / 2), flat.slice(flat.length / 2)];
}
