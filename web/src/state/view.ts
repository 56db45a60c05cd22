/** What the page shows, as plain values: all that a link needs to show it again. */

import type { Camera, Size } from "../geometry/camera";
import type { Polygon } from "../geometry/region";

export type ThemeChoice = "auto" | "light" | "dark";
export type Tool = "pan" | "box" | "lasso";

export interface Question {
  readonly side: "head" | "tail";
  readonly entity: string;
  readonly relation: string;
}

/** A camera that means the same on every screen: the middle, and the units along the shorter side. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly span: number;
}

export interface View {
  readonly theme: ThemeChoice;
  readonly tool: Tool;
  /** Field that colours, null for kinds. */
  readonly color: string | null;
  readonly size: string | null;
  /** Field that orders labels, null for the map's first. */
  readonly order: string | null;
  readonly hiddenKinds: readonly string[];
  readonly hiddenClasses: readonly string[];
  /** How many labels each kind gets, from 0 to 1. */
  readonly density: Readonly<Record<string, number>>;
  /** The thing looked at, kind:id. */
  readonly focus: string | null;
  readonly region: Polygon | null;
  /** Which of two maps the region was drawn on. */
  readonly regionPane: number;
  readonly places: readonly (Place | null)[];
  /** Cohorts moved by hand, and where to. */
  readonly moved: Readonly<Record<string, readonly [number, number]>>;
  /** Relations of which all pairs are drawn. */
  readonly links: readonly string[];
  readonly suggest: boolean;
  readonly question: Question | null;
  /** The new row that is shown, -1 for none. */
  readonly row: number;
}

export const FIRST_VIEW: View = {
  theme: "auto",
  tool: "pan",
  color: null,
  size: null,
  order: null,
  hiddenKinds: [],
  hiddenClasses: [],
  density: {},
  focus: null,
  region: null,
  regionPane: 0,
  places: [null, null],
  moved: {},
  links: [],
  suggest: false,
  question: null,
  row: -1,
};

/** How many names a kind has at first. */
export const USUAL_DENSITY = 0.5;

export function placeOf(camera: Camera, { width, height }: Size): Place {
  return { x: camera.x, y: camera.y, span: Math.min(width, height) / camera.k };
}

export function cameraAt(place: Place, { width, height }: Size): Camera {
  return { x: place.x, y: place.y, k: Math.min(width, height) / place.span };
}
