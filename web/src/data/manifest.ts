/** What the first file of a map says: kinds, columns, and what can be asked. */

export type Dtype = "f32" | "f64" | "u32" | "i32" | "u16" | "u8" | "utf8";

export interface ColumnEntry {
  readonly dtype: Dtype;
  readonly length: number;
  readonly shape?: readonly number[];
  /** Where the column begins, and its size in bytes, in a single file. */
  readonly offset?: number;
  readonly bytes?: number;
}

export interface KindEntry {
  readonly name: string;
  readonly start: number;
  readonly count: number;
}

export type FieldType = "number" | "category" | "text";

export interface FieldEntry {
  readonly name: string;
  readonly kinds: readonly string[];
  readonly type: FieldType;
  readonly column: string;
  readonly categories?: readonly string[];
  readonly start?: number;
  readonly count?: number;
}

export interface RelationEntry {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly total?: number;
  readonly columns: { readonly from: string; readonly to: string; readonly weight: string };
  readonly directed: boolean;
  readonly role: "relation" | "link";
}

export interface CoordinatesEntry {
  readonly column: string;
  readonly k: number;
  readonly quantised: boolean;
  readonly scale?: readonly number[];
  readonly offset?: readonly number[];
  readonly error?: number;
}

export interface ResponseEntry {
  readonly column: string;
  readonly form: "dense-u16" | "top";
  readonly kept?: number;
  readonly index_column?: string;
  readonly scale: number | readonly number[];
  readonly offset: number | readonly number[];
  readonly error: number;
}

export interface CohortsEntry {
  readonly names: readonly string[];
  /** The kind whose points are the prototypes, in the order of ``names``. */
  readonly kind: string;
  /** The kind whose points are the samples: the rows of the response. */
  readonly samples: string;
  /** Places in the picture, c × 2. */
  readonly prototypes: { readonly column: string; readonly shape: readonly number[] };
  /** The same in the map's own coordinates, and how a move in the picture becomes one of coordinates. */
  readonly coordinates?: {
    readonly column: string;
    readonly to: readonly (readonly number[])[] | readonly number[] | null;
  } | null;
  readonly membership: string;
  readonly response: ResponseEntry | null;
  readonly drag: boolean;
  readonly drag_reason?: string | null;
  readonly variant: string;
  readonly variants?: readonly string[];
  readonly alpha: number | null;
  readonly scores: Readonly<Record<string, number | null>>;
  readonly refit: boolean;
  readonly refit_reason?: string | null;
}

export interface Manifest {
  readonly format: string;
  readonly version: number;
  readonly title: string;
  readonly summary: {
    readonly model: string;
    readonly parameters: Readonly<Record<string, unknown>>;
    readonly scores: Readonly<Record<string, unknown>>;
    readonly provenance: Readonly<Record<string, unknown>>;
    readonly n_components: number;
    readonly layout: { readonly name: string; readonly note: string; readonly axes?: readonly string[] };
  };
  readonly kinds: readonly KindEntry[];
  readonly columns: Readonly<Record<string, ColumnEntry>>;
  readonly coordinates: CoordinatesEntry | null;
  readonly neighbors: "page" | "server" | "none";
  readonly fields: readonly FieldEntry[];
  readonly importance: readonly string[];
  readonly relations: readonly RelationEntry[];
  readonly cohorts: CohortsEntry | null;
  readonly knowledge: { readonly relations: readonly string[]; readonly entities_kind: string } | null;
  readonly network: { readonly kind: string; readonly links: string; readonly suggest: boolean } | null;
  readonly projection: {
    readonly kind: string;
    readonly count: number;
    readonly names: readonly string[];
    readonly columns: { readonly x: string; readonly y: string };
  } | null;
  readonly second?: boolean;
  readonly offline?: boolean;
}

export const FORMAT = "relscape-explorer";
export const VERSION = 1;

/** Take a parsed manifest, or say why it is none that this page reads. */
export function checkedManifest(value: unknown): Manifest {
  const manifest = value as Partial<Manifest> | null;
  if (manifest === null || typeof manifest !== "object" || manifest.format !== FORMAT) {
    throw new Error("This is not a map that the explorer can read: its manifest is of another kind.");
  }
  if (manifest.version !== VERSION) {
    throw new Error(
      `The map was written in version ${String(manifest.version)} of the explorer's format, and this page ` +
        `reads version ${VERSION}. Export it again with the installed relscape.`,
    );
  }
  return manifest as Manifest;
}

/** Count the points of all kinds. */
export function countPoints(kinds: readonly KindEntry[]): number {
  return kinds.reduce((sum, kind) => sum + kind.count, 0);
}
