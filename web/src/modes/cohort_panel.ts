/** The figures and controls of a cohort map, as elements. */

import type { CohortsEntry } from "../data/manifest";
import { allow, chooser, iconButton, section, slider, textButton } from "../ui/controls";
import { element, refill } from "../ui/dom";
import { figure } from "../ui/format";
import { percent } from "../ui/about";

export interface PanelActions {
  readonly undo: () => void;
  readonly reset: () => void;
  readonly save: () => void;
  readonly refit: (alpha: number, variant: string) => void;
}

/** A word for each figure, and what it counts. */
const MEANING: Readonly<Record<string, readonly [string, string]>> = {
  S_c: ["in place", "The share of samples whose nearest prototype is their own."],
  S_s: ["apart", "The share of samples whose nearest other sample is of their cohort."],
  S_n: ["neighbours", "How much of each sample’s neighbourhood within its cohort the map keeps."],
};

export class CohortPanel {
  readonly root: HTMLElement;
  private readonly values = new Map<string, { now: HTMLElement; change: HTMLElement; first: number | null }>();
  private readonly note = element("p", { class: "quiet" });
  private readonly undo: HTMLButtonElement;
  private readonly reset: HTMLButtonElement;
  private readonly refit: HTMLButtonElement;
  private readonly alpha: HTMLInputElement;
  private readonly alphaText = element("output", {});
  private readonly variant: HTMLSelectElement;
  private readonly progress = element("progress", { hidden: true, "aria-label": "Computing" });
  private readonly message = element("p", { class: "quiet", role: "status" });

  constructor(entry: CohortsEntry, actions: PanelActions) {
    this.undo = iconButton("undo", "Undo the last move", actions.undo);
    this.reset = iconButton("reset", "Put all cohorts back", actions.reset);
    const save = textButton("Download arrangement", actions.save);
    save.title = "A table that relscape cohorts --prototypes reads";
    const sliding = slider("α: cohorts against neighbours", "Weight α of cohorts against neighbours", entry.alpha ?? 0.6, () =>
      this.tellAlpha(),
    );
    this.alpha = sliding.input;
    this.alpha.step = "0.01";
    sliding.root.append(this.alphaText);
    const variants = entry.variants ?? [entry.variant];
    const choosing = chooser(
      "Variant",
      variants.map((name) => ({ value: name, text: name })),
      entry.variant,
      () => {},
    );
    this.variant = choosing.select;
    this.refit = textButton("Recompute", () => actions.refit(Number(this.alpha.value), this.variant.value));
    this.root = section(
      "Cohorts",
      "mode cohorts",
      element("div", { class: "figures", "aria-live": "off" }, ...Object.keys(MEANING).map((name) => this.figureOf(name, entry))),
      this.note,
      element("div", { class: "buttons" }, this.undo, this.reset, save),
      element("div", { class: "refit" }, sliding.root, element("div", { class: "row" }, choosing.root, this.refit)),
      this.progress,
      this.message,
    );
    this.tellAlpha();
  }

  private figureOf(name: string, entry: CohortsEntry): HTMLElement {
    const first = entry.scores[name] ?? null;
    const now = element("strong", { "data-figure": name }, figure(first));
    const change = element("span", { class: "change" });
    this.values.set(name, { now, change, first });
    const [letter, index] = name.split("_");
    const [word, meaning] = MEANING[name];
    const chance = name === "S_n" ? (entry.scores["S_n_chance"] ?? null) : null;
    return element(
      "div",
      { class: "figure", title: chance === null ? meaning : `${meaning} By chance: ${figure(chance)}.` },
      element("span", { class: "what" }, letter, element("sub", {}, index)),
      change,
      now,
      element("span", { class: "word" }, word),
    );
  }

  /** Show a figure, and how far it is from that of the map as it was made. */
  show(name: string, value: number | null, reason = ""): void {
    const { now, change, first } = this.values.get(name)!;
    now.textContent = figure(value);
    now.title = reason;
    const difference = value === null || first === null || Number.isNaN(value) ? 0 : value - first;
    const tells = Math.abs(difference) >= 0.0005;
    change.textContent = tells ? `${difference > 0 ? "+" : "−"}${Math.abs(difference).toFixed(3)}` : "";
    change.classList.toggle("worse", tells && difference < 0);
    change.classList.toggle("better", tells && difference > 0);
  }

  /** Say that a figure is being counted. */
  wait(name: string): void {
    this.show(name, null, "The server is counting");
    this.values.get(name)!.now.textContent = "…";
  }

  /** Take the figures of a new fit as those to compare with. */
  rebase(entry: CohortsEntry): void {
    for (const [name, kept] of this.values) {
      kept.first = entry.scores[name] ?? null;
      this.show(name, kept.first);
    }
    this.variant.value = entry.variant;
    if (entry.alpha !== null) this.alpha.value = String(entry.alpha);
    this.tellAlpha();
  }

  private tellAlpha(): void {
    this.alphaText.textContent = Number(this.alpha.value).toFixed(2);
  }

  /** Say what can be done now, and why the rest cannot. */
  allow(state: { undo: boolean; moved: boolean; refitReason: string }): void {
    allow(this.undo, state.undo ? "" : "Nothing was moved");
    allow(this.reset, state.moved ? "" : "All cohorts are where the map has them");
    for (const control of [this.refit, this.alpha, this.variant]) allow(control, state.refitReason);
    if (state.refitReason !== "") this.message.textContent = state.refitReason;
  }

  /** Say how exact the moved points are, or why none can be moved. */
  explain(entry: CohortsEntry, looked: number, all: number): void {
    const parts = [
      !entry.drag && (entry.drag_reason ?? "The handles of this map cannot be dragged."),
      looked < all && `Live figures are of ${looked.toLocaleString("en")} samples. `,
      entry.drag &&
        entry.response !== null &&
        `Moved points are off by at most ${percent(entry.response.error)} of the move.`,
    ];
    refill(this.note, ...parts);
  }

  /** Show how far a computation is: a share, null for unknown, or nothing when it ended. */
  advance(share: number | null | undefined, message: string): void {
    this.progress.hidden = share === undefined;
    if (share === null) this.progress.removeAttribute("value");
    else if (share !== undefined) this.progress.value = share;
    this.message.textContent = message;
  }
}
