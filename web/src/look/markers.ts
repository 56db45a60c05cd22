/** The outlines of markers, one for each kind, for canvases and SVG; the point layer draws the same shapes. */

export const MARKERS = ["circle", "triangle", "square", "diamond", "down", "plus", "cross", "hexagon"] as const;
export type Marker = (typeof MARKERS)[number];

export function markerOf(kind: number): Marker {
  return MARKERS[kind % MARKERS.length];
}

const ARM = 0.36;
const TURN = Math.SQRT1_2;

const PLUS: readonly (readonly [number, number])[] = [
  [-ARM, -1], [ARM, -1], [ARM, -ARM], [1, -ARM], [1, ARM], [ARM, ARM],
  [ARM, 1], [-ARM, 1], [-ARM, ARM], [-1, ARM], [-1, -ARM], [-ARM, -ARM],
];

/** Corners of each marker within a circle of radius 1, down the screen being positive. */
const CORNERS: Readonly<Record<Exclude<Marker, "circle">, readonly (readonly [number, number])[]>> = {
  triangle: [[0, -1], [0.95, 0.72], [-0.95, 0.72]],
  square: [[-0.82, -0.82], [0.82, -0.82], [0.82, 0.82], [-0.82, 0.82]],
  diamond: [[0, -1], [0.86, 0], [0, 1], [-0.86, 0]],
  down: [[0, 1], [0.95, -0.72], [-0.95, -0.72]],
  plus: PLUS,
  cross: PLUS.map(([x, y]) => [TURN * (x - y), TURN * (x + y)] as const),
  hexagon: Array.from({ length: 6 }, (_, i) => [Math.sin((i * Math.PI) / 3), Math.cos((i * Math.PI) / 3)] as const),
};

/** Write a marker's outline as the data of an SVG path. */
export function markerPath(marker: Marker, x: number, y: number, radius: number): string {
  if (marker === "circle") {
    const r = round(radius);
    return `M${round(x - radius)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
  const corners = CORNERS[marker].map(([dx, dy]) => `${round(x + radius * dx)} ${round(y + radius * dy)}`);
  return `M${corners.join("L")}z`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
