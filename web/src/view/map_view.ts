/** One map on the screen: points, what is drawn over them, and the camera. */

import type { Atlas } from "../data/atlas";
import type { Links } from "../paint/painter";
import { between, close, fitting, resized, toScreen, toWorld, type Camera, type Size } from "../geometry/camera";
import { frameOf, including } from "../geometry/frame";
import type { Polygon } from "../geometry/region";
import { LIGHT, hex, mixed, readable, rgb, type Rgb, type Theme } from "../look/palette";
import { cameraAt, type Place } from "../state/view";
import { element } from "../ui/dom";
import { Gestures } from "./gestures";
import type { Box } from "./labels";
import { Layers } from "./layers";
import { RING_GAP, STAR_TEXT, markedPoints, type Marks } from "./marks";
import { animate } from "./motion";
import { Names, type LabelSettings } from "./names";
import { drawScene, fontFor, type Scene } from "./overlay";
import { Picker } from "./picking";
import { diameterFor, enlargement, growth } from "./sizes";

export interface ViewListeners {
  readonly camera: (camera: Camera, size: Size) => void;
  readonly hover: (point: number, sx: number, sy: number) => void;
  readonly pick: (point: number) => void;
  readonly region: (polygon: Polygon) => void;
}

const REACH = 12;
const EDGE = 40;
const FLIGHT = 450;
const TRAVEL = 900;
const REST = 120;

export class MapView {
  readonly surface: HTMLElement;
  readonly gestures: Gestures;
  readonly layers: Layers;
  size: Size = { width: 1, height: 1 };
  theme: Theme = LIGHT;
  camera: Camera = { x: 0, y: 0, k: 1 };
  region: Polygon | null = null;
  hovered = -1;
  /** Called after every picture, for what lies over the map; and what room that takes from names. */
  afterDrawing: () => void = () => {};
  taken: () => Box[] = () => [];
  /** What lies over the map as elements, as marks for a picture of it. */
  overlaid: () => Marks = () => ({});

  private readonly canvas = element("canvas", { class: "over", "aria-hidden": "true" });
  private readonly context: CanvasRenderingContext2D;
  private readonly names: Names;
  private readonly inks = new Map<number, string>();
  private readonly marks = new Map<string, Marks>();
  private picker: Picker | null = null;
  private drawing: Polygon | null = null;
  private shares: Float32Array | null = null;
  private move: readonly [number, number] = [0, 0];
  private base: Camera = this.camera;
  private frame;
  private wanted = false;
  private stale = true;
  private rest = 0;
  private stopFlight: () => void = () => {};
  /** Kind whose points are handles, drawn apart; -1 for none. */
  private readonly handleKind: number;

  constructor(
    readonly host: HTMLElement,
    readonly atlas: Atlas,
    private readonly listeners: ViewListeners,
    { name, handles }: { readonly name: string; readonly handles: boolean },
  ) {
    const { cohorts } = atlas.manifest;
    this.handleKind = handles ? atlas.kinds.findIndex(({ name: kind }) => kind === cohorts?.kind) : -1;
    this.layers = new Layers(atlas, this.handleKind, () => this.draw());
    this.surface = element("div", { class: "surface", tabindex: "0", role: "application", "aria-label": name });
    host.append(this.layers.painter.canvas, this.canvas, this.surface);
    this.context = this.canvas.getContext("2d")!;
    this.names = new Names(atlas, this.context, this.handleKind);
    this.frame = frameOf(atlas.x, atlas.y);
    this.gestures = new Gestures(this.surface, {
      camera: (camera) => {
        this.stopFlight();
        this.look(camera);
      },
      hover: (sx, sy) => this.hover(this.pointAt(sx, sy), sx, sy),
      leave: () => this.hover(-1, 0, 0),
      pick: (sx, sy) => listeners.pick(this.pointAt(sx, sy)),
      drawing: (polygon) => {
        this.drawing = polygon;
        this.drawOver();
      },
      region: (polygon) => listeners.region(polygon),
    });
  }

  /** Begin, once the map has its place on the page; and follow its size from now on. */
  start(place: Place | null): void {
    this.measure();
    this.setCamera(place === null ? this.base : cameraAt(place, this.size));
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  // ------------------------------------------------------------------ how it looks

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.draw();
    this.refresh();
  }

  setColors(colors: Uint8Array, visible: Uint8Array, emphasis: ReadonlySet<number> | null): void {
    this.layers.setColors(colors, visible, emphasis);
    this.draw();
    this.refresh();
  }

  setSizes(sizes: Float32Array): void {
    this.layers.setSizes(sizes);
    this.draw();
  }

  setLabels(settings: LabelSettings): void {
    this.names.settings = settings;
    this.refresh();
  }

  setLinks(links: readonly Links[]): void {
    this.layers.setLinks(links);
    this.draw();
  }

  /** Draw what a panel found; null takes it away. */
  setMarks(name: string, marks: Marks | null): void {
    const paled = this.marks.get(name)?.pales === true || marks?.pales === true;
    if (marks === null) this.marks.delete(name);
    else this.marks.set(name, marks);
    if (paled) {
      const asked = [...this.marks.values()].filter(({ pales }) => pales);
      this.layers.setAsked(asked.length === 0 ? null : new Set(asked.flatMap(markedPoints)));
      this.draw();
    }
    this.refresh();
  }

  setRegion(region: Polygon | null): void {
    this.region = region;
    this.drawOver();
  }

  /** Draw what lies over the points anew, with names and their colours chosen again. */
  refresh(): void {
    this.inks.clear();
    this.names.forget();
    this.drawOver();
  }

  // ------------------------------------------------------------------ camera

  /** Look somewhere else, and tell the pointer's zoom of it. */
  setCamera(camera: Camera): void {
    this.gestures.setCamera(camera);
    this.look(camera);
  }

  private look(camera: Camera): void {
    this.camera = camera;
    this.listeners.camera(camera, this.size);
    this.draw();
    window.clearTimeout(this.rest);
    this.rest = window.setTimeout(() => this.refresh(), REST);
  }

  flyTo(camera: Camera): void {
    this.stopFlight();
    const from = this.camera;
    this.stopFlight = animate(FLIGHT, (t) => this.setCamera(between(from, camera, t)));
  }

  /** Show all of the map. */
  fit(): void {
    this.flyTo(this.base);
  }

  /** Look where a link says; null is all of the map. */
  goTo(place: Place | null): void {
    this.flyTo(place === null ? this.base : cameraAt(place, this.size));
  }

  get whole(): boolean {
    return close(this.camera, this.base);
  }

  zoomBy(factor: number): void {
    this.flyTo({ ...this.camera, k: this.camera.k * factor });
  }

  panBy(sx: number, sy: number): void {
    const { x, y, k } = this.camera;
    this.setCamera({ x: x + sx / k, y: y - sy / k, k });
  }

  /** Bring a point into view, gently; one that is well in view stays. */
  reveal(point: number): void {
    const [x, y] = this.place(point);
    const [sx, sy] = this.toScreen(x, y);
    const { width, height } = this.size;
    if (sx < EDGE || sy < EDGE || sx > width - EDGE || sy > height - EDGE) this.flyTo({ x, y, k: this.camera.k });
  }

  private measure(): void {
    this.size = { width: Math.max(this.host.clientWidth, 1), height: Math.max(this.host.clientHeight, 1) };
    this.canvas.width = Math.round(this.size.width * this.ratio);
    this.canvas.height = Math.round(this.size.height * this.ratio);
    this.base = fitting(this.frame, this.size);
    this.gestures.setBase(this.base, this.size);
  }

  private resize(): void {
    const [before, whole] = [this.size, this.whole];
    if (before.width === this.host.clientWidth && before.height === this.host.clientHeight) return;
    this.measure();
    this.setCamera(whole ? this.base : resized(this.camera, before, this.size));
    this.names.forget();
    this.stale = true;
    this.render();
  }

  /** Frame the map anew, with some places that must be seen. */
  reframe(places: Iterable<readonly [number, number]>): void {
    const { whole } = this;
    this.frame = including(frameOf(this.atlas.x, this.atlas.y), places);
    this.measure();
    this.setCamera(whole ? this.base : this.camera);
  }

  get ratio(): number {
    return Math.min(window.devicePixelRatio || 1, 2);
  }

  // ------------------------------------------------------------------ moving points

  /** Get ready to drag a prototype that points follow by their shares. */
  beginDrag(shares: Float32Array): void {
    this.shares = shares;
    this.layers.painter.setShares(shares);
  }

  drag(dx: number, dy: number): void {
    this.move = [dx, dy];
    this.layers.painter.drag(dx, dy);
    this.draw();
  }

  /** Put the points where they belong now; the map's places have been changed. */
  settle(): void {
    [this.shares, this.move] = [null, [0, 0]];
    this.layers.settle();
    this.picker = null;
    this.prepare();
    this.draw();
    this.refresh();
  }

  /** Let the points travel from where they were drawn to the map's changed places. */
  travel(step: (t: number) => void = () => {}): void {
    this.layers.painter.setTargets(this.atlas.x, this.atlas.y);
    const advance = (t: number): void => {
      this.layers.painter.travel(t);
      step(t);
      this.draw();
    };
    animate(TRAVEL, advance, () => this.settle());
  }

  place(point: number): [number, number] {
    const share = this.shares === null ? 0 : this.shares[point];
    return [this.atlas.x[point] + share * this.move[0], this.atlas.y[point] + share * this.move[1]];
  }

  toScreen(x: number, y: number): [number, number] {
    return toScreen(this.camera, this.size, x, y);
  }

  toWorld(sx: number, sy: number): [number, number] {
    return toWorld(this.camera, this.size, sx, sy);
  }

  // ------------------------------------------------------------------ picking

  /** Sort the points for picking, as soon as there is time. */
  prepare(): void {
    window.setTimeout(() => (this.picker ??= new Picker(this.atlas.x, this.atlas.y)), 0);
  }

  /** Say whether a point is drawn as one, and can be picked. */
  shown(point: number): boolean {
    return this.layers.visible[point] === 1 && this.atlas.kindNumbers[point] !== this.handleKind;
  }

  pointAt(sx: number, sy: number, reach = REACH): number {
    const [x, y] = this.toWorld(sx, sy);
    return this.picker?.nearest(x, y, reach / this.camera.k, (point) => this.shown(point)) ?? -1;
  }

  private hover(point: number, sx: number, sy: number): void {
    if (point < 0 && this.hovered < 0) return;
    this.hovered = point;
    this.surface.classList.toggle("over-point", point >= 0);
    this.listeners.hover(point, sx, sy);
    this.drawOver();
  }

  // ------------------------------------------------------------------ drawing

  /** Draw everything soon, once, however often it is asked for. */
  draw(): void {
    this.stale = true;
    this.drawOver();
  }

  /** Draw what lies over the points soon. */
  private drawOver(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.render();
    });
  }

  private render(): void {
    if (this.stale) this.drawPoints(this.ratio);
    this.stale = false;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.clearRect(0, 0, this.size.width, this.size.height);
    drawScene(this.context, this.scene());
    this.afterDrawing();
  }

  /** Draw the points, for a picture at more pixels than the screen has; the next frame is as usual. */
  drawPoints(ratio: number): HTMLCanvasElement {
    const { camera, size, theme } = this;
    this.layers.painter.draw({ camera, size, theme, ratio, diameters: this.diameters() });
    return this.layers.painter.canvas;
  }

  private diameters(): number[] {
    const grown = growth(this.camera.k / this.base.k) * enlargement(this.size);
    return this.atlas.kinds.map(({ count }) => diameterFor(count) * grown);
  }

  scene(): Scene {
    const { camera, size, theme, hovered, region, drawing } = this;
    const diameters = this.diameters();
    const radius = (point: number): number =>
      (diameters[this.atlas.kindNumbers[point]] * this.layers.sizes[point]) / 2;
    const place = (point: number): [number, number] => this.place(point);
    const marks = [...this.marks.values()];
    if (this.names.stale(camera.k)) {
      const ringed = new Set(marks.flatMap(({ rings = [] }) => rings.map(({ point }) => point)));
      this.names.arrange({
        camera,
        size,
        place,
        radius: (point) => radius(point) + (ringed.has(point) ? RING_GAP : 0),
        nameable: (point) => this.layers.standsOut(point),
        picker: this.picker,
        first: marks.flatMap(({ names = [] }) => names),
        taken: [...this.taken(), ...this.marked(marks, ringed, radius)],
      });
    }
    const ink = (point: number): string => this.ink(point);
    return { camera, size, theme, place, radius, ink, marks, labels: this.names.placed, hovered, region, drawing };
  }

  /** The room that rings and stars take from names. */
  private marked(marks: readonly Marks[], ringed: ReadonlySet<number>, radius: (point: number) => number): Box[] {
    const around = (sx: number, sy: number, reach: number, text = 0): Box => {
      return { x0: sx - reach, y0: sy - reach, x1: sx + Math.max(reach, text), y1: sy + reach };
    };
    this.context.font = fontFor(this.size, true);
    const stars = marks.flatMap(({ stars: found = [] }) =>
      found.map(({ x, y, text }) => {
        const wide = STAR_TEXT + this.context.measureText(text).width + 4;
        return around(...this.toScreen(x, y), 11, wide);
      }),
    );
    const rings = [...ringed].map((point) => around(...this.toScreen(...this.place(point)), radius(point) + 1));
    return [...stars, ...rings];
  }

  /** The scene of a picture to keep: without the pointer, and with what lies over the map. */
  pictureScene(): Scene {
    const scene = this.scene();
    return { ...scene, hovered: -1, drawing: null, marks: [...scene.marks, this.overlaid()] };
  }

  color(point: number): Rgb {
    const { colors } = this.layers;
    return [colors[3 * point], colors[3 * point + 1], colors[3 * point + 2]];
  }

  /** The colour of a point's name: that of the point, moved towards the ink until it reads well. */
  private ink(point: number): string {
    let ink = this.inks.get(point);
    if (ink === undefined) {
      ink = hex(readable(mixed(this.color(point), rgb(this.theme.ink), 0.45), this.theme, 4.5));
      this.inks.set(point, ink);
    }
    return ink;
  }
}
