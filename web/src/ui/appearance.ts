/** From the chosen view to colours, sizes, names and links on the maps. */

import type { Atlas } from "../data/atlas";
import type { Field } from "../data/fields";
import type { KindEntry } from "../data/manifest";
import { pointsInside } from "../geometry/region";
import { colorByField, colorByKind, sizesOf, visibleMask, type Coloring } from "../look/coloring";
import type { Theme } from "../look/palette";
import type { Store } from "../state/store";
import { USUAL_DENSITY, type View } from "../state/view";
import { labelOrder } from "../view/label_order";
import type { Pane } from "./explorer";

export interface Heard {
  readonly look: () => void;
  readonly selection: () => void;
  readonly complain: (error: unknown) => void;
}

/** Keep the look of all maps as the view says. */
export class Appearance {
  private colorings: (Coloring | null)[];

  constructor(
    private readonly store: Store,
    private readonly panes: readonly Pane[],
    private readonly theme: () => Theme,
    private readonly heard: Heard,
  ) {
    this.colorings = panes.map(() => null);
    store.onChange((_, changed) => {
      if (changed("theme")) void this.everything();
      else if (changed("color")) void this.recolor();
      else if (changed("hiddenKinds", "hiddenClasses")) this.filter();
      if (changed("region", "regionPane")) this.select();
      if (changed("size")) void this.resize();
      if (changed("order")) void this.label();
      else if (changed("density")) this.thin();
      if (changed("links")) void this.link();
    });
  }

  /** Make the look from nothing, as after loading or a change of theme. */
  async everything(): Promise<void> {
    for (const { view } of this.panes) view.setTheme(this.theme());
    await this.recolor();
  }

  /** Colour by what needs no loading, for the first picture. */
  firstLook(): void {
    this.panes.forEach((pane, number) => {
      pane.view.setTheme(this.theme());
      this.colorings[number] = colorByKind(pane.atlas.kinds, pane.atlas.n, this.theme());
    });
    this.filter();
  }

  async recolor(): Promise<void> {
    const { color } = this.store.view;
    try {
      const fields = await Promise.all(this.panes.map((pane) => fieldOf(pane, color)));
      if (color !== this.store.view.color) return;
      this.panes.forEach((pane, number) => {
        const { kinds, n } = pane.atlas;
        const field = fields[number];
        pane.field = field;
        const like = number === 0 ? null : (this.colorings[0]?.key ?? null);
        this.colorings[number] =
          field === null ? colorByKind(kinds, n, this.theme()) : colorByField(field, kinds, n, this.theme(), like);
      });
      this.filter();
    } catch (error) {
      this.heard.complain(error);
    }
  }

  /** Show and hide kinds and classes, and pale what is not selected. */
  filter(): void {
    const { hiddenKinds, hiddenClasses } = this.store.view;
    this.panes.forEach((pane, number) => {
      const coloring = this.colorings[number];
      if (coloring === null) return;
      const { kinds, n } = pane.atlas;
      pane.key = coloring.key;
      const visible = visibleMask(kinds, n, hiddenKinds, pane.field, coloring.key, hiddenClasses);
      pane.view.setColors(coloring.colors, visible, emphasis(pane));
    });
    this.heard.look();
    if (this.store.view.region !== null) this.select();
  }

  /** Find what the drawn region holds, on its own map and by name on the other. */
  select(): void {
    const { region, regionPane } = this.store.view;
    const source = this.panes[regionPane] ?? this.panes[0];
    for (const pane of this.panes) pane.view.setRegion(pane === source ? region : null);
    const { atlas, view } = source;
    source.selected =
      region === null ? [] : pointsInside(region, atlas.x, atlas.y, (point) => view.shown(point));
    for (const pane of this.panes) {
      if (pane !== source) {
        const found = source.selected.map((point) => pane.atlas.find(atlas.key(point)));
        pane.selected = found.filter((point) => point >= 0);
      }
      const coloring = this.colorings[pane.number];
      if (coloring !== null) pane.view.setColors(coloring.colors, pane.view.layers.visible, emphasis(pane));
    }
    this.heard.selection();
  }

  async resize(): Promise<void> {
    const { size } = this.store.view;
    try {
      for (const pane of this.panes) pane.view.setSizes(sizesOf(await fieldOf(pane, size), pane.atlas.n));
    } catch (error) {
      this.heard.complain(error);
    }
  }

  /** Order the names by importance. */
  async label(): Promise<void> {
    const { view } = this.store;
    try {
      for (const pane of this.panes) {
        const wanted = [...(view.order === null ? [] : [view.order]), ...pane.atlas.manifest.importance];
        const fields = await Promise.all(wanted.map((name) => fieldOf(pane, name)));
        pane.order = labelOrder(pane.atlas.kinds, fields.filter((field): field is Field => field !== null));
      }
      this.thin();
    } catch (error) {
      this.heard.complain(error);
    }
  }

  /** Give each kind as many names as its slider says. */
  private thin(): void {
    for (const pane of this.panes) {
      const { order } = pane;
      if (order !== null) pane.view.setLabels({ order, density: densities(pane, this.store.view) });
    }
  }

  async link(): Promise<void> {
    const { links } = this.store.view;
    try {
      for (const pane of this.panes) {
        const known = links.filter((name) => pane.atlas.manifest.relations.some((entry) => entry.name === name));
        pane.view.setLinks(await Promise.all(known.map((name) => pane.atlas.relation(name))));
      }
    } catch (error) {
      this.heard.complain(error);
    }
  }
}

/** How many names a kind has unless its slider was moved: none where they are mere numbers. */
export function usualDensity(atlas: Atlas, kind: KindEntry): number {
  return atlas.numbered(kind) ? 0 : USUAL_DENSITY;
}

function densities({ atlas }: Pane, view: View): number[] {
  return atlas.kinds.map((kind) => view.density[kind.name] ?? usualDensity(atlas, kind));
}

function emphasis({ selected, view }: Pane): ReadonlySet<number> | null {
  return view.region === null && selected.length === 0 ? null : new Set(selected);
}

/** Load a field; a map that lacks it has none. */
async function fieldOf({ atlas }: Pane, name: string | null): Promise<Field | null> {
  return name !== null && atlas.fieldNames.includes(name) ? atlas.field(name) : null;
}
