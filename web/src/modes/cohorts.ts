/** Cohort mode: handles that move the map, live figures, and new fits by the server. */

import { checkedManifest, type Manifest } from "../data/manifest";
import { MISSING } from "../data/fields";
import type { View } from "../state/view";
import { hex, rgb, type Rgb } from "../look/palette";
import { csv } from "../save/csv";
import { downloadText, fileName } from "../save/download";
import { mainPane, type Explorer, type Pane } from "../ui/explorer";
import { CohortPanel } from "./cohort_panel";
import { CohortSession } from "./cohort_session";
import { Handles } from "./handles";

const LIVE = 150;
const ASKING = 300;

interface Job {
  readonly done: boolean;
  readonly failed?: string | null;
  readonly progress: number | null;
  readonly message: string;
  readonly manifest: unknown;
}

/** Start cohort mode on the first map; gives the panel. */
export async function cohortMode(explorer: Explorer): Promise<HTMLElement> {
  const session = await CohortSession.load(mainPane(explorer).atlas);
  return new CohortMode(explorer, mainPane(explorer), session).panel.root;
}

class CohortMode {
  readonly panel: CohortPanel;
  private readonly handles: Handles;
  private lastLive = 0;
  private asking = 0;
  private busy = false;
  /** The job whose fit is shown, where it is not the map's own. */
  private job: string | null = null;
  /** The arrangement that the address was told of. */
  private told: View["moved"] | null = null;

  constructor(
    private readonly explorer: Explorer,
    private readonly pane: Pane,
    private session: CohortSession,
  ) {
    const { store } = explorer;
    this.panel = new CohortPanel(session.entry, {
      undo: () => this.travel(() => this.session.arrangement.undo()),
      reset: () => this.travel(() => this.session.arrangement.reset()),
      save: () => this.save(),
      refit: (alpha, variant) => void this.refit(alpha, variant),
    });
    this.handles = new Handles(pane.view, session.entry.names, (cohort) => this.shownAt(cohort), {
      begin: (cohort) => pane.view.beginDrag(this.session.shares(cohort)),
      move: (cohort, dx, dy) => this.drag(cohort, dx, dy),
      drop: (cohort, dx, dy) => this.drop(cohort, dx, dy),
      nudge: (cohort, dx, dy) => this.drop(cohort, dx, dy),
    });
    explorer.onLook(() => this.paint());
    store.onChange((view, changed) => {
      if (!changed("moved") || view.moved === this.told) return;
      const named = Object.keys(view.moved).length > 0;
      if (named || this.session.arrangement.moved) this.travel(() => this.session.arrange(view.moved));
    });
    this.paint();
    pane.view.reframe(session.entry.names.map((_, cohort) => session.arrangement.place(cohort)));
    if (Object.keys(store.view.moved).length > 0) {
      session.arrange(store.view.moved);
      session.apply();
      pane.view.settle();
      this.count();
    }
    this.tell();
  }

  // ------------------------------------------------------------------ moving

  /** Where handles are drawn: on their way during a journey, at their prototypes otherwise. */
  private shownAt: (cohort: number) => readonly [number, number] = (cohort) => this.session.arrangement.place(cohort);

  private drag(cohort: number, dx: number, dy: number): void {
    this.pane.view.drag(dx, dy);
    const now = performance.now();
    if (now - this.lastLive < LIVE) return;
    const { S_c, S_s } = this.session.figures(cohort, dx, dy);
    this.panel.show("S_c", S_c);
    this.panel.show("S_s", S_s);
    // Counting must never take more than half of the time.
    this.lastLive = performance.now() + (performance.now() - now);
  }

  private drop(cohort: number, dx: number, dy: number): void {
    const { arrangement, entry } = this.session;
    const [x, y] = arrangement.place(cohort);
    arrangement.move(cohort, x + dx, y + dy);
    this.session.apply();
    this.pane.view.settle();
    this.changed();
    this.explorer.say(`Moved ${entry.names[cohort]}.`);
  }

  /** Change the arrangement, and let everything travel to its new place. */
  private travel(change: () => void): void {
    const before = this.session.arrangement.prototypes;
    change();
    this.session.apply();
    this.journey(before);
    this.changed();
  }

  private journey(before: Float64Array): void {
    const after = this.session.arrangement.prototypes;
    let t = 0;
    this.shownAt = (cohort) => [
      before[2 * cohort] + (after[2 * cohort] - before[2 * cohort]) * t,
      before[2 * cohort + 1] + (after[2 * cohort + 1] - before[2 * cohort + 1]) * t,
    ];
    this.pane.view.travel((now) => {
      t = now;
      if (t === 1) this.shownAt = (cohort) => this.session.arrangement.place(cohort);
    });
  }

  private changed(): void {
    this.told = this.session.moved();
    this.explorer.store.set({ moved: this.told });
    this.explorer.placesChanged();
    this.count();
    this.tell();
  }

  // ------------------------------------------------------------------ figures

  private count(): void {
    const { S_c, S_s, looked } = this.session.figures();
    const exact = !this.session.arrangement.moved;
    const { scores } = this.session.entry;
    this.panel.show("S_c", exact ? (scores["S_c"] ?? S_c) : S_c);
    this.panel.show("S_s", exact ? (scores["S_s"] ?? S_s) : S_s);
    this.panel.explain(this.session.entry, looked, this.samples());
    window.clearTimeout(this.asking);
    if (exact) this.panel.show("S_n", scores["S_n"] ?? null);
    else this.asking = window.setTimeout(() => void this.askNeighbours(), ASKING);
  }

  /** Ask the server how many neighbours the arrangement keeps. */
  private async askNeighbours(): Promise<void> {
    const { source } = this.session.atlas;
    if (source.offline !== "") return this.panel.show("S_n", null, source.offline);
    this.panel.wait("S_n");
    const asked = this.session.arrangement.prototypes;
    try {
      const answer = await source.ask<Record<string, number | null>>(
        "scores",
        this.job === null ? {} : { job: this.job },
        Float32Array.from(asked),
      );
      if (asked === this.session.arrangement.prototypes) this.panel.show("S_n", answer["S_n"] ?? null);
    } catch (error) {
      this.panel.show("S_n", null, String(error instanceof Error ? error.message : error));
    }
  }

  private tell(): void {
    const { entry, arrangement, atlas } = this.session;
    const refitReason = atlas.source.offline || (entry.refit ? "" : (entry.refit_reason ?? "This map does not carry its model."));
    this.panel.allow({ undo: arrangement.canUndo, moved: arrangement.moved, refitReason });
    this.panel.explain(entry, Math.min(this.samples(), 5000), this.samples());
    this.handles.lean(this.session.leans());
    this.handles.allow(entry.drag || refitReason === "" ? "" : (entry.drag_reason ?? refitReason));
  }

  private samples(): number {
    return this.session.atlas.kinds.find(({ name }) => name === this.session.entry.samples)!.count;
  }

  private save(): void {
    const { header, rows } = this.session.table();
    downloadText(fileName(this.session.atlas.manifest.title, "-prototypes.csv"), csv(header, rows), "text/csv");
    this.explorer.say("Arrangement saved. Use it with: relscape cohorts … --prototypes FILE");
  }

  /** Give handles the colour of their cohort, where the map is coloured by it, and hide them with their kind. */
  private paint(): void {
    const { pane, session, explorer } = this;
    const { field, key } = pane;
    const theme = explorer.theme();
    const usual: Rgb = rgb(theme.accent);
    const colors = session.entry.names.map((name) => {
      if (field?.type !== "category" || key.type !== "classes") return usual;
      const code = field.categories.indexOf(name);
      const place = code < 0 || code === MISSING ? -1 : key.classes.place[code];
      return place < 0 ? usual : key.colors[place];
    });
    this.handles.paint(colors, theme);
    pane.view.overlaid = () => ({
      stars: this.session.entry.names.map((text, cohort) => {
        const [x, y] = this.shownAt(cohort);
        return { x, y, text, color: hex(colors[cohort]), near: [] };
      }),
    });
    this.handles.show(!explorer.store.view.hiddenKinds.includes(session.entry.kind));
  }

  // ------------------------------------------------------------------ new fits

  private async refit(alpha: number, variant: string): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    const { source } = this.session.atlas;
    const { arrangement } = this.session;
    try {
      const body = arrangement.moved ? Float32Array.from(arrangement.prototypes) : new Float32Array(0);
      this.panel.advance(null, "Asking the server …");
      const { job } = await source.ask<{ job: number | string }>("refit", { alpha, variant }, body);
      const manifest = await this.finished(String(job));
      const before = arrangement.prototypes;
      this.session = await CohortSession.load(this.session.atlas, manifest, `jobs/${job}/columns/`);
      this.job = String(job);
      this.session.apply();
      this.journey(before);
      this.panel.advance(undefined, `Computed: ${variant}, α = ${alpha.toFixed(2)}.`);
      this.panel.rebase(this.session.entry);
      this.changed();
      this.explorer.say(`The map was computed anew: ${variant}, weight ${alpha.toFixed(2)}.`);
    } catch (error) {
      this.panel.advance(undefined, "");
      this.explorer.complain(error);
    } finally {
      this.busy = false;
    }
  }

  private async finished(job: string): Promise<Manifest> {
    for (;;) {
      const state = await this.session.atlas.source.ask<Job>(`jobs/${encodeURIComponent(job)}`);
      if (state.failed) throw new Error(state.failed);
      if (state.done) return checkedManifest(state.manifest);
      this.panel.advance(state.progress, state.message);
      await new Promise((resolve) => window.setTimeout(resolve, ASKING));
    }
  }
}
