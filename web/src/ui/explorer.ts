/** What all panels share: the maps on the screen, the view, and how to say something. */

import type { Atlas } from "../data/atlas";
import type { Field } from "../data/fields";
import { NameIndex } from "../data/search";
import type { ColorKey } from "../look/coloring";
import { hex, rgb, type Theme } from "../look/palette";
import { markerOf, markerPath } from "../look/markers";
import type { Store } from "../state/store";
import type { MapView } from "../view/map_view";
import type { LabelOrder } from "../view/label_order";
import { swatch } from "./dom";

/** One map on the screen, and what is known of its look. */
export interface Pane {
  readonly number: number;
  readonly atlas: Atlas;
  readonly view: MapView;
  key: ColorKey;
  field: Field | null;
  order: LabelOrder | null;
  selected: readonly number[];
}

export interface Explorer {
  readonly store: Store;
  readonly panes: readonly Pane[];
  theme(): Theme;
  /** Tell something that happened, to eyes (briefly) and to screen readers. */
  say(text: string): void;
  /** Tell screen readers what eyes see anyway. */
  announce(text: string): void;
  /** Tell what went wrong, until it is closed. */
  complain(error: unknown): void;
  /** Hear of a new look, when colours and legend have been made again. */
  onLook(listener: () => void): void;
  /** Find anew what a drawn region holds, when points have moved. */
  placesChanged(): void;
  /** Hear of a new selection. */
  onSelection(listener: () => void): void;
}

/** The first map, which panels speak of. */
export function mainPane(explorer: Explorer): Pane {
  return explorer.panes[0];
}

/** The marker of a point in its colour. */
export function pointSwatch(pane: Pane, point: number): SVGSVGElement {
  return kindSwatch(pane.atlas.kindNumbers[point], hex(pane.view.color(point)));
}

export function kindSwatch(kind: number, color: string): SVGSVGElement {
  return swatch(markerPath(markerOf(kind), 10, 10, 7), color);
}

/** The colour of a kind: its own while kinds have colours, that of quiet text otherwise. */
export function kindColor(pane: Pane, kind: number, theme: Theme): string {
  return hex(pane.key.type === "kinds" ? pane.key.colors[kind] : rgb(theme.muted));
}

const indices = new WeakMap<Atlas, NameIndex>();

/** The index of all names of a map, made when first searched. */
export function nameIndex(atlas: Atlas): NameIndex {
  let index = indices.get(atlas);
  if (index === undefined) {
    index = new NameIndex(atlas.labels, atlas.ids);
    indices.set(atlas, index);
  }
  return index;
}
