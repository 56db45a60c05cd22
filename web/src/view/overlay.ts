/** Everything that is drawn over the points, on a canvas of its own. */

import { toScreen, type Camera, type Size } from "../geometry/camera";
import type { Polygon } from "../geometry/region";
import type { Theme } from "../look/palette";
import { lineHeight, type Placed } from "./labels";
import { RING_GAP, STAR_TEXT, type Marks, type Star } from "./marks";
import { textSize } from "./sizes";

export const FAMILY = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** The font of names on a map of some size; ``strong`` that of new things. */
export function fontFor(size: Size, strong = false): string {
  return `${strong ? "600 " : ""}${textSize(size) + (strong ? 1 : 0)}px ${FAMILY}`;
}

/** How opaque names are that a question did not ask for. */
const PALE = 0.55;

export interface Scene {
  readonly camera: Camera;
  readonly size: Size;
  readonly theme: Theme;
  /** Where a point is now, in the map's coordinates. */
  readonly place: (point: number) => readonly [number, number];
  readonly radius: (point: number) => number;
  readonly ink: (point: number) => string;
  readonly marks: readonly Marks[];
  readonly labels: readonly Placed[];
  readonly hovered: number;
  readonly region: Polygon | null;
  readonly drawing: Polygon | null;
}

/** Draw a scene; the canvas is already cleared and scaled to pixels of the page. */
export function drawScene(context: CanvasRenderingContext2D, scene: Scene): void {
  context.font = fontFor(scene.size);
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineCap = "round";
  for (const polygon of [scene.region, scene.drawing]) if (polygon !== null) drawRegion(context, scene, polygon);
  for (const { lines = [], stars = [] } of scene.marks) {
    for (const { from, to, strength, dashed } of lines) {
      drawLine(context, scene, scene.place(from), scene.place(to), strength, dashed);
    }
    for (const { x, y, near } of stars) {
      for (const point of near) drawLine(context, scene, [x, y], scene.place(point), 0.25, false);
    }
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
  for (const { rings = [], stars = [] } of scene.marks) {
    for (const { point, strong } of rings) drawRing(context, scene, point, strong ? 2.5 : 1.5, strong ? RING_GAP : 2);
    for (const star of stars) drawStar(context, scene, star);
  }
  drawLabels(context, scene);
  if (scene.hovered >= 0) drawRing(context, scene, scene.hovered, 2, 2.5);
}

function screen({ camera, size }: Scene, [x, y]: readonly [number, number]): [number, number] {
  return toScreen(camera, size, x, y);
}

function drawLine(
  context: CanvasRenderingContext2D,
  scene: Scene,
  from: readonly [number, number],
  to: readonly [number, number],
  strength: number,
  dashed: boolean,
): void {
  context.globalAlpha = 0.3 + 0.5 * strength;
  context.strokeStyle = scene.theme.accent;
  context.lineWidth = 0.75 + 1.25 * strength;
  context.setLineDash(dashed ? [5, 5] : []);
  context.beginPath();
  context.moveTo(...screen(scene, from));
  context.lineTo(...screen(scene, to));
  context.stroke();
}

function drawRing(
  context: CanvasRenderingContext2D,
  scene: Scene,
  point: number,
  width: number,
  gap: number,
): void {
  const [x, y] = screen(scene, scene.place(point));
  const radius = scene.radius(point) + gap;
  for (const [color, line] of [
    [scene.theme.paper, width + 2.5],
    [scene.theme.ink, width],
  ] as const) {
    context.strokeStyle = color;
    context.lineWidth = line;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}

/** The corners of a five-pointed star around a place on the screen. */
export function starCorners(x: number, y: number): [number, number][] {
  return Array.from({ length: 10 }, (_, corner) => {
    const radius = corner % 2 === 0 ? 11 : 4.6;
    const angle = (Math.PI * corner) / 5 - Math.PI / 2;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

function drawStar(context: CanvasRenderingContext2D, scene: Scene, { x, y, text, color }: Star): void {
  const [sx, sy] = screen(scene, [x, y]);
  context.beginPath();
  for (const corner of starCorners(sx, sy)) context.lineTo(...corner);
  context.closePath();
  context.fillStyle = color ?? scene.theme.accent;
  context.strokeStyle = scene.theme.paper;
  context.lineWidth = 2;
  context.stroke();
  context.fill();
  context.font = fontFor(scene.size, true);
  write(context, scene, text, sx + STAR_TEXT, sy, scene.theme.ink);
  context.font = fontFor(scene.size);
}

function drawRegion(context: CanvasRenderingContext2D, scene: Scene, polygon: Polygon): void {
  if (polygon.length < 4) return;
  context.beginPath();
  for (let i = 0; i < polygon.length; i += 2) context.lineTo(...screen(scene, [polygon[i], polygon[i + 1]]));
  context.closePath();
  context.fillStyle = scene.theme.accent;
  context.globalAlpha = 0.07;
  context.fill();
  context.globalAlpha = 0.8;
  context.strokeStyle = scene.theme.accent;
  context.lineWidth = 1.25;
  context.setLineDash([4, 4]);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawLabels(context: CanvasRenderingContext2D, scene: Scene): void {
  const { size } = scene;
  const height = lineHeight(size);
  const asked = new Set(scene.marks.flatMap(({ names = [] }) => names));
  for (const { point, text, dx, dy } of scene.labels) {
    const [x, y] = screen(scene, scene.place(point));
    if (x + dx > size.width || y + dy + height < 0 || y + dy - height > size.height || x + dx < -400) continue;
    context.globalAlpha = asked.size > 0 && !asked.has(point) ? PALE : 1;
    write(context, scene, text, x + dx, y + dy, scene.ink(point));
  }
  context.globalAlpha = 1;
}

function write(
  context: CanvasRenderingContext2D,
  scene: Scene,
  text: string,
  x: number,
  y: number,
  ink: string,
): void {
  context.strokeStyle = scene.theme.paper;
  context.lineWidth = 3.5;
  context.strokeText(text, x, y);
  context.fillStyle = ink;
  context.fillText(text, x, y);
}
