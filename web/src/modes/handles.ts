/** Prototypes as handles over the map, to be dragged or moved by the arrow keys. */

import { hex, mixed, readable, rgb, type Rgb, type Theme } from "../look/palette";
import { element } from "../ui/dom";
import type { Box } from "../view/labels";
import type { MapView } from "../view/map_view";

export interface HandleListeners {
  readonly begin: (cohort: number) => void;
  readonly move: (cohort: number, dx: number, dy: number) => void;
  readonly drop: (cohort: number, dx: number, dy: number) => void;
  readonly nudge: (cohort: number, dx: number, dy: number) => void;
}

const KNOB = 24;
const STEP = 10;
const FINE = 1;
const STILL: readonly [number, number] = [0, 0];
const NUDGES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export class Handles {
  readonly root = element("div", { class: "handles" });
  private readonly buttons: HTMLButtonElement[];
  private readonly widths: number[];
  private leaning: readonly boolean[] = [];
  private dragged = -1;
  private offset: readonly [number, number] = [0, 0];

  constructor(
    private readonly view: MapView,
    names: readonly string[],
    private readonly place: (cohort: number) => readonly [number, number],
    private readonly listeners: HandleListeners,
  ) {
    this.buttons = names.map((name, cohort) => this.button(name, cohort));
    this.root.append(...this.buttons);
    view.host.append(this.root);
    this.widths = this.buttons.map((button) => button.offsetWidth);
    view.afterDrawing = () => this.follow();
    const taken = view.taken;
    view.taken = () => [...taken(), ...this.boxes()];
    view.refresh();
  }

  private button(name: string, cohort: number): HTMLButtonElement {
    const button = element(
      "button",
      {
        type: "button",
        class: "handle",
        "data-cohort": name,
        "aria-label": `Cohort ${name}: drag, or use the arrow keys, to move it`,
      },
      element("span", { class: "knob" }),
      element("span", { class: "name" }, name),
    );
    button.addEventListener("pointerdown", (event) => this.begin(event, cohort));
    button.addEventListener("keydown", (event) => this.key(event, cohort));
    return button;
  }

  /** Colour every handle as its cohort. */
  paint(colors: readonly Rgb[], theme: Theme): void {
    this.buttons.forEach((button, cohort) => {
      button.style.setProperty("--cohort", hex(colors[cohort]));
      const ink = readable(mixed(colors[cohort], rgb(theme.ink), 0.45), theme, 4.5);
      button.style.setProperty("--cohort-ink", hex(ink));
    });
  }

  allow(reason: string): void {
    for (const button of this.buttons) {
      button.classList.toggle("fixed", reason !== "");
      button.title = reason;
    }
  }

  /** Write the names of those left of their knobs whose samples lie right of them. */
  lean(leaning: readonly boolean[]): void {
    this.leaning = leaning;
    this.view.refresh();
  }

  /** Show or hide them, with their kind. */
  show(shown: boolean): void {
    this.root.hidden = !shown;
  }

  private screen(cohort: number): [number, number] {
    const [x, y] = this.place(cohort);
    const [dx, dy] = cohort === this.dragged ? this.offset : [0, 0];
    return this.view.toScreen(x + dx, y + dy);
  }

  /** Put every handle over its prototype; names that would cover one written before are not shown. */
  private follow(): void {
    const written: Box[] = [];
    this.boxes().forEach((box, cohort) => {
      const button = this.buttons[cohort];
      const left = this.onLeft(cohort);
      const [sx, sy] = this.screen(cohort);
      const shift = left ? sx + KNOB - this.widths[cohort] : sx;
      button.style.transform = `translate(${shift.toFixed(1)}px, ${sy.toFixed(1)}px)`;
      button.classList.toggle("left", left);
      const covered = cohort !== this.dragged && written.some((other) => meet(box, other));
      button.classList.toggle("nameless", covered);
      if (!covered) written.push(box);
    });
  }

  /** Names keep to the screen, and else away from the samples. */
  private onLeft(cohort: number): boolean {
    const [sx] = this.screen(cohort);
    const wide = this.widths[cohort];
    if (sx - KNOB / 2 + wide > this.view.size.width) return true;
    return this.leaning[cohort] === true && sx + KNOB / 2 - wide > 0;
  }

  private boxes(): Box[] {
    if (this.root.hidden) return [];
    return this.buttons.map((_, cohort) => {
      const [sx, sy] = this.screen(cohort);
      const [half, wide] = [KNOB / 2, this.widths[cohort]];
      const x0 = this.onLeft(cohort) ? sx + half - wide : sx - half;
      return { x0, y0: sy - half, x1: x0 + wide, y1: sy + half };
    });
  }

  private begin(start: PointerEvent, cohort: number): void {
    const button = this.buttons[cohort];
    if (start.button !== 0 || button.classList.contains("fixed")) return;
    button.setPointerCapture(start.pointerId);
    let begun = false;
    const shift = (event: PointerEvent): [number, number] => [
      (event.clientX - start.clientX) / this.view.camera.k,
      -(event.clientY - start.clientY) / this.view.camera.k,
    ];
    const move = (event: PointerEvent): void => {
      if (!begun) this.listeners.begin(cohort);
      begun = true;
      this.dragged = cohort;
      this.offset = shift(event);
      this.listeners.move(cohort, ...this.offset);
    };
    const end = (event: PointerEvent): void => {
      button.removeEventListener("pointermove", move);
      button.removeEventListener("pointerup", end);
      button.removeEventListener("pointercancel", end);
      this.dragged = -1;
      if (begun) this.listeners.drop(cohort, ...(event.type === "pointerup" ? shift(event) : STILL));
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }

  private key(event: KeyboardEvent, cohort: number): void {
    const way = NUDGES[event.key];
    if (way === undefined || this.buttons[cohort].classList.contains("fixed")) return;
    const pixels = (event.shiftKey ? FINE : STEP) / this.view.camera.k;
    this.listeners.nudge(cohort, way[0] * pixels, -way[1] * pixels);
    event.preventDefault();
    event.stopPropagation();
  }
}

function meet(a: Box, b: Box): boolean {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}
