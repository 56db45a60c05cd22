/** Pictures of what is on the screen, with a legend, to keep: pixels (PNG) or lines (SVG). */

import type { Pane } from "../ui/explorer";
import { hex, shades, type Theme } from "../look/palette";
import { markerOf, markerPath } from "../look/markers";
import { FAMILY, drawScene } from "../view/overlay";

/** One line of a picture's legend. */
export interface Key {
  readonly text: string;
  readonly color: string;
  readonly marker: number;
}

const MOST_KEYS = 24;

/** List what the colours and markers mean, as far as they are shown. */
export function keysOf({ atlas, key }: Pane, hiddenKinds: readonly string[], hiddenClasses: readonly string[], theme: Theme): Key[] {
  const kinds = atlas.kinds
    .map(({ name }, marker) => ({
      text: name,
      marker,
      color: key.type === "kinds" ? hex(key.colors[marker]) : theme.muted,
    }))
    .filter(({ text }) => !hiddenKinds.includes(text));
  if (key.type === "kinds") return kinds;
  if (key.type === "scale") {
    const ramp = shades(theme);
    const steps = [0, 0.25, 0.5, 0.75, 1];
    return [
      ...kinds,
      ...steps.map((share) => ({
        text: `${key.field} ${Number((key.scale.low + share * (key.scale.high - key.scale.low)).toPrecision(3))}`,
        color: hex(ramp[Math.round(255 * share)]),
        marker: 0,
      })),
    ];
  }
  const classes = key.classes.names
    .map((text, i) => ({ text, color: hex(key.colors[i]), marker: 0 }))
    .filter(({ text }) => !hiddenClasses.includes(text));
  return [...kinds, ...classes].slice(0, MOST_KEYS);
}

const RATIO = 2;
const LINE = 18;

/** Paint the map as it is seen, at twice the pixels, with title, legend and what layout it is. */
export async function png(pane: Pane, keys: readonly Key[], note: string): Promise<Blob> {
  const { view, atlas } = pane;
  const { width, height } = view.size;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * RATIO, height * RATIO];
  const context = canvas.getContext("2d")!;
  context.fillStyle = view.theme.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(view.drawPoints(RATIO), 0, 0, canvas.width, canvas.height);
  view.draw();
  context.scale(RATIO, RATIO);
  drawScene(context, view.pictureScene());
  writeAround(context, view.theme, height, atlas.manifest.title, keys, note);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error("The browser could not write the picture.")) : resolve(blob))),
  );
}

function writeAround(
  context: CanvasRenderingContext2D,
  theme: Theme,
  height: number,
  title: string,
  keys: readonly Key[],
  note: string,
): void {
  context.font = `12px ${FAMILY}`;
  const widest = Math.max(0, ...keys.map(({ text }) => context.measureText(text).width));
  context.globalAlpha = 0.85;
  context.fillStyle = theme.paper;
  context.fillRect(8, 8, Math.max(widest + 40, 40), keys.length * LINE + 34);
  context.globalAlpha = 1;
  context.textBaseline = "middle";
  context.fillStyle = theme.ink;
  context.font = `600 14px ${FAMILY}`;
  context.fillText(title, 16, 24);
  context.font = `12px ${FAMILY}`;
  keys.forEach(({ text, color, marker }, i) => {
    const y = 48 + i * LINE;
    context.fillStyle = color;
    context.fill(new Path2D(markerPath(markerOf(marker), 23, y, 5)));
    context.fillStyle = theme.ink;
    context.fillText(text, 36, y);
  });
  context.fillStyle = theme.muted;
  context.fillText(note, 16, height - 14);
}
