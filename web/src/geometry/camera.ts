/** The camera: which part of the map's plane is seen, and where each place is on the screen. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The place at the middle of the screen, and pixels for one unit of the map; up is up. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

/** What d3-zoom keeps: screen = k · base screen + (x, y). */
export interface Transform {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

export interface Frame {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [size.width / 2 + (x - camera.x) * camera.k, size.height / 2 - (y - camera.y) * camera.k];
}

export function toWorld(camera: Camera, size: Size, sx: number, sy: number): [number, number] {
  return [camera.x + (sx - size.width / 2) / camera.k, camera.y - (sy - size.height / 2) / camera.k];
}

/** Show a whole frame at equal scale, leaving margins of pixels, a wider one below, where the tools are. */
export function fitting(frame: Frame, size: Size, margin = 20, below = 52): Camera {
  const width = Math.max(size.width - 2 * margin, 1);
  const height = Math.max(size.height - margin - below, 1);
  const across = frame.x1 - frame.x0 || 1;
  const up = frame.y1 - frame.y0 || 1;
  const k = Math.min(width / across, height / up);
  const [x, y] = [(frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2];
  return { x, y: y - (below - margin) / 2 / k, k };
}

/** Say which part of the plane is seen. */
export function seen(camera: Camera, size: Size): Frame {
  const [across, up] = [size.width / 2 / camera.k, size.height / 2 / camera.k];
  return { x0: camera.x - across, y0: camera.y - up, x1: camera.x + across, y1: camera.y + up };
}

export function fromTransform(base: Camera, size: Size, transform: Transform): Camera {
  const [middleX, middleY] = [size.width / 2, size.height / 2];
  return {
    x: base.x + ((middleX - transform.x) / transform.k - middleX) / base.k,
    y: base.y - ((middleY - transform.y) / transform.k - middleY) / base.k,
    k: base.k * transform.k,
  };
}

export function toTransform(base: Camera, size: Size, camera: Camera): Transform {
  const k = camera.k / base.k;
  const [middleX, middleY] = [size.width / 2, size.height / 2];
  return {
    k,
    x: middleX - k * (middleX + (camera.x - base.x) * base.k),
    y: middleY - k * (middleY - (camera.y - base.y) * base.k),
  };
}

/** Keep what was seen when the window changes: the same middle, and as much of the shorter side. */
export function resized(camera: Camera, from: Size, to: Size): Camera {
  const factor = Math.min(to.width, to.height) / Math.max(Math.min(from.width, from.height), 1);
  return { ...camera, k: camera.k * factor };
}

/** Go from one camera to another, zooming evenly; ``t`` from 0 to 1. */
export function between(from: Camera, to: Camera, t: number): Camera {
  const k = from.k * (to.k / from.k) ** t;
  // Places travel as the scale does, so that the path looks straight and steady.
  const share = Math.abs(to.k - from.k) < 1e-9 * from.k ? t : (1 / from.k - 1 / k) / (1 / from.k - 1 / to.k);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share, k };
}

/** Tell whether two cameras show the same, but for rounding. */
export function close(a: Camera, b: Camera): boolean {
  const pixels = Math.hypot(a.x - b.x, a.y - b.y) * b.k;
  return pixels < 0.5 && Math.abs(a.k / b.k - 1) < 1e-3;
}
