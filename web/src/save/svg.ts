/** The map as it is seen, as a drawing that stays sharp at any size. */

import type { Pane } from "../ui/explorer";
import { hex } from "../look/palette";
import { markerOf, markerPath } from "../look/markers";
import type { Placed } from "../view/labels";
import { starCorners, type Scene } from "../view/overlay";
import { opacityFor, textSize } from "../view/sizes";
import { LINK_OPACITY } from "../paint/painter";
import { toScreen } from "../geometry/camera";
import type { Key } from "./picture";

/** More points than this make a drawing that no program opens. */
export const MOST_POINTS = 50_000;

export function escaped(text: string): string {
  const meant: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  // Characters that XML forbids are left out.
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"']/g, (c) => meant[c]);
}

/** Write the drawing: links, marks, points kind by kind, names, legend. */
export function svg(pane: Pane, keys: readonly Key[], note: string): string {
  const { view, atlas } = pane;
  const scene = view.pictureScene();
  const { width, height } = view.size;
  const { theme } = view;
  const points = inSight(pane, scene);
  if (points.length > MOST_POINTS) {
    throw new Error(
      `${points.length.toLocaleString("en")} points are in sight, too many for a drawing; zoom in, hide a kind, or save as PNG.`,
    );
  }
  const font = "ui-sans-serif, system-ui, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${font}" font-size="${textSize(view.size)}">`,
    `<title>${escaped(atlas.manifest.title)}</title>`,
    `<rect width="100%" height="100%" fill="${theme.paper}"/>`,
    ...regions(scene),
    ...links(pane, scene),
    ...lines(scene),
    ...points.map((point) => dot(pane, scene, point)),
    ...rings(scene),
    ...scene.labels.map((label) => name(scene, label)),
    ...stars(scene),
    ...legend(pane, keys),
    text(16, height - 14, note, theme.muted),
    "</svg>",
    "",
  ].join("\n");
}

function inSight({ atlas, view }: Pane, { camera, size }: Scene): number[] {
  const found: number[] = [];
  for (let point = 0; point < atlas.n; point++) {
    if (!view.shown(point)) continue;
    const [x, y] = toScreen(camera, size, atlas.x[point], atlas.y[point]);
    if (x > -10 && y > -10 && x < size.width + 10 && y < size.height + 10) found.push(point);
  }
  return found;
}

function at(scene: Scene, point: number): [number, number] {
  return toScreen(scene.camera, scene.size, ...scene.place(point));
}

function short(value: number): number {
  return Math.round(value * 10) / 10;
}

function dot({ atlas, view }: Pane, scene: Scene, point: number): string {
  const [x, y] = at(scene, point);
  const kind = atlas.kindNumbers[point];
  const path = markerPath(markerOf(kind), x, y, scene.radius(point));
  const opacity = short(opacityFor(atlas.kinds[kind].count));
  return `<path d="${path}" fill="${hex(view.color(point))}" fill-opacity="${opacity}"/>`;
}

/** All drawn links as one path. */
function links({ view }: Pane, scene: Scene): string[] {
  const { ends } = view.layers;
  if (ends.length === 0) return [];
  if (ends.length > 4 * MOST_POINTS) {
    throw new Error(`${(ends.length / 4).toLocaleString("en")} links are too many for a drawing; hide them, or save as PNG.`);
  }
  const parts: string[] = [];
  for (let at = 0; at < ends.length; at += 4) {
    const [x1, y1] = toScreen(scene.camera, scene.size, ends[at], ends[at + 1]);
    const [x2, y2] = toScreen(scene.camera, scene.size, ends[at + 2], ends[at + 3]);
    parts.push(`M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}`);
  }
  return [`<path d="${parts.join("")}" stroke="${scene.theme.muted}" stroke-opacity="${LINK_OPACITY}" fill="none"/>`];
}

/** The outline of the selection. */
function regions({ region, camera, size, theme }: Scene): string[] {
  if (region === null) return [];
  const corners: string[] = [];
  for (let i = 0; i < region.length; i += 2) {
    corners.push(toScreen(camera, size, region[i], region[i + 1]).map(short).join(" "));
  }
  return [`<path d="M${corners.join("L")}z" fill="none" stroke="${theme.accent}" stroke-dasharray="4 4"/>`];
}

function lines(scene: Scene): string[] {
  return scene.marks.flatMap(({ lines: found = [] }) =>
    found.map(({ from, to, strength, dashed }) => {
      const [[x1, y1], [x2, y2]] = [at(scene, from), at(scene, to)];
      const dash = dashed ? ' stroke-dasharray="5 5"' : "";
      return `<path d="M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}" stroke="${scene.theme.accent}" stroke-width="${short(0.75 + 1.25 * strength)}" stroke-opacity="${short(0.3 + 0.5 * strength)}"${dash}/>`;
    }),
  );
}

function rings(scene: Scene): string[] {
  return scene.marks.flatMap(({ rings: found = [] }) =>
    found.map(({ point, strong }) => {
      const [x, y] = at(scene, point);
      const radius = short(scene.radius(point) + (strong ? 3.5 : 2));
      return `<circle cx="${short(x)}" cy="${short(y)}" r="${radius}" fill="none" stroke="${scene.theme.ink}" stroke-width="${strong ? 2.5 : 1.5}"/>`;
    }),
  );
}

function stars(scene: Scene): string[] {
  return scene.marks.flatMap(({ stars: found = [] }) =>
    found.flatMap((star) => {
      const [x, y] = toScreen(scene.camera, scene.size, star.x, star.y);
      const corners = starCorners(x, y).map(([cx, cy]) => `${short(cx)} ${short(cy)}`);
      return [
        `<path d="M${corners.join("L")}z" fill="${star.color ?? scene.theme.accent}" stroke="${scene.theme.paper}"/>`,
        text(x + 15, y, star.text, scene.theme.ink, halo(scene, ' font-weight="600"')),
      ];
    }),
  );
}

function halo(scene: Scene, more = ""): string {
  return ` paint-order="stroke" stroke="${scene.theme.paper}" stroke-width="3.5" stroke-linejoin="round"${more}`;
}

function text(x: number, y: number, content: string, color: string, more = ""): string {
  return `<text x="${short(x)}" y="${short(y)}" dominant-baseline="middle" fill="${color}"${more}>${escaped(content)}</text>`;
}

function name(scene: Scene, { point, text: content, dx, dy }: Placed): string {
  const [x, y] = at(scene, point);
  return text(x + dx, y + dy, content, scene.ink(point), halo(scene));
}

function legend({ view, atlas }: Pane, keys: readonly Key[]): string[] {
  const { theme } = view;
  return [
    text(16, 24, atlas.manifest.title, theme.ink, ' font-size="14" font-weight="600"'),
    ...keys.flatMap(({ text: content, color, marker }, i) => [
      `<path d="${markerPath(markerOf(marker), 23, 48 + 18 * i, 5)}" fill="${color}"/>`,
      text(36, 48 + 18 * i, content, theme.ink),
    ]),
  ];
}
