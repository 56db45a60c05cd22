/** One value that changes, and those who want to know. */

import { FIRST_VIEW, type View } from "./view";

export type Change = (view: View, changed: (...names: (keyof View)[]) => boolean) => void;

export class Store {
  private readonly listeners: Change[] = [];

  constructor(private current: View = FIRST_VIEW) {}

  get view(): View {
    return this.current;
  }

  /** Change some of the view; listeners hear of what differs. */
  set(patch: Partial<View>): void {
    const names = (Object.keys(patch) as (keyof View)[]).filter((name) => patch[name] !== this.current[name]);
    if (names.length === 0) return;
    this.current = { ...this.current, ...patch };
    for (const listener of this.listeners) {
      listener(this.current, (...wanted) => wanted.some((name) => names.includes(name)));
    }
  }

  onChange(listener: Change): void {
    this.listeners.push(listener);
  }
}
