/** Movements over time, which people who asked for none do not get. */

export function wantsStillness(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Begin and end gently. */
export function eased(t: number): number {
  return t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
}

/** Call ``step`` with 0 to 1 over some milliseconds; the returned function stops it where it is. */
export function animate(duration: number, step: (t: number) => void, done: () => void = () => {}): () => void {
  if (wantsStillness()) {
    step(1);
    done();
    return () => {};
  }
  let running = true;
  const started = performance.now();
  const tick = (now: number): void => {
    if (!running) return;
    const t = Math.min(Math.max((now - started) / duration, 0), 1);
    step(eased(t));
    if (t < 1) requestAnimationFrame(tick);
    else done();
  };
  requestAnimationFrame(tick);
  return () => {
    running = false;
  };
}
