/** A map in the page: places, names, fields and relations, each loaded when first needed. */

import { asNumbers, asTexts, readColumn, type Column } from "./columns";
import { joinField, type Field } from "./fields";
import { countPoints, type ColumnEntry, type KindEntry, type Manifest } from "./manifest";
import { indexRelation, type Adjacency } from "./relations";
import type { Source } from "./source";

export class Atlas {
  readonly n: number;
  readonly kinds: readonly KindEntry[];
  /** Number of the kind of every point. */
  readonly kindNumbers: Uint8Array;
  /** Whether names are there; before, points have none. */
  named = false;
  ids: readonly string[] = [];
  labels: readonly string[] = [];

  private readonly columns = new Map<string, Promise<Column>>();
  private readonly fields = new Map<string, Promise<Field>>();
  private readonly adjacencies = new Map<string, Promise<Adjacency>>();
  private readonly places = new Map<string, Map<string, number>>();

  private constructor(
    readonly source: Source,
    readonly manifest: Manifest,
    /** Where points are drawn now; dragging a cohort and recomputing change it. */
    readonly x: Float32Array,
    readonly y: Float32Array,
  ) {
    this.kinds = manifest.kinds;
    this.n = countPoints(manifest.kinds);
    this.kindNumbers = new Uint8Array(this.n);
    this.kinds.forEach((kind, number) => this.kindNumbers.fill(number, kind.start, kind.start + kind.count));
  }

  /** Open a map as far as its first picture needs. */
  static async open(source: Source): Promise<Atlas> {
    const manifest = await source.manifest();
    const [x, y] = await Promise.all(["x", "y"].map((name) => fetched(source, name, manifest.columns[name])));
    return new Atlas(source, manifest, asNumbers("x", x) as Float32Array, asNumbers("y", y) as Float32Array);
  }

  /** Load ids and labels. */
  async loadNames(): Promise<void> {
    const ids = asTexts("ids", await this.column("ids"));
    this.ids = ids.map((id) => id ?? "");
    const labels = "labels" in this.manifest.columns ? asTexts("labels", await this.column("labels")) : ids;
    this.labels = labels.map((label, i) => label || this.ids[i]);
    this.named = true;
  }

  column(name: string): Promise<Column> {
    let column = this.columns.get(name);
    if (column === undefined) {
      column = fetched(this.source, name, this.manifest.columns[name]);
      this.columns.set(name, column);
      column.catch(() => this.columns.delete(name));
    }
    return column;
  }

  kindOf(point: number): KindEntry {
    return this.kinds[this.kindNumbers[point]];
  }

  label(point: number): string {
    return this.labels[point] ?? "";
  }

  /** Name a point as relscape's queries do. */
  key(point: number): string {
    return `${this.kindOf(point).name}:${this.ids[point] ?? ""}`;
  }

  /** Find a point by its key; -1 where this map has none. */
  find(key: string): number {
    const kind = this.kinds.find(({ name }) => key.startsWith(`${name}:`));
    if (kind === undefined || !this.named) return -1;
    let places = this.places.get(kind.name);
    if (places === undefined) {
      places = new Map();
      for (let i = kind.start; i < kind.start + kind.count; i++) places.set(this.ids[i], i);
      this.places.set(kind.name, places);
    }
    return places.get(key.slice(kind.name.length + 1)) ?? -1;
  }

  /** Say whether the names of a kind are mere numbers, which tell nobody anything on a map. */
  numbered(kind: KindEntry): boolean {
    const names = this.labels.slice(kind.start, kind.start + Math.min(kind.count, 50));
    return names.length > 0 && names.every((name) => /^\d+$/.test(name));
  }

  /** Names of the fields, each once, in the map's order. */
  get fieldNames(): readonly string[] {
    return [...new Set(this.manifest.fields.map(({ name }) => name))];
  }

  /** Names of the fields that can colour, size or order points. */
  namesOf(...types: readonly Field["type"][]): readonly string[] {
    return this.fieldNames.filter((name) => types.includes(this.manifest.fields.find((f) => f.name === name)!.type));
  }

  field(name: string): Promise<Field> {
    let field = this.fields.get(name);
    if (field === undefined) {
      const entries = this.manifest.fields.filter((entry) => entry.name === name);
      if (entries.length === 0) return Promise.reject(new Error(`This map has no field "${name}".`));
      field = Promise.all(entries.map(({ column }) => this.column(column))).then((columns) =>
        joinField(entries, columns, this.n),
      );
      this.fields.set(name, field);
    }
    return field;
  }

  relation(name: string): Promise<Adjacency> {
    let adjacency = this.adjacencies.get(name);
    if (adjacency === undefined) {
      const entry = this.manifest.relations.find((relation) => relation.name === name);
      if (entry === undefined) return Promise.reject(new Error(`This map has no relation "${name}".`));
      const { from, to, weight } = entry.columns;
      adjacency = Promise.all([from, to, weight].map((column) => this.column(column))).then(([f, t, w]) =>
        indexRelation(entry, f as Uint32Array, t as Uint32Array, asNumbers(weight, w) as Float32Array, this.n),
      );
      this.adjacencies.set(name, adjacency);
    }
    return adjacency;
  }
}

/** Load a column as a manifest describes it. */
export async function fetched(
  source: Source,
  name: string,
  entry: ColumnEntry | undefined,
  folder?: string,
): Promise<Column> {
  if (entry === undefined) throw new Error(`The map lacks the column "${name}"; export it again.`);
  return readColumn(name, entry, await source.bytes(name, folder));
}
