/** The name of the point under the pointer. */

import { valueOf } from "../save/table";
import { element, refill } from "./dom";
import { pointSwatch, type Pane } from "./explorer";
import { shortNumber } from "./format";

export class Tooltip {
  readonly root = element("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });

  show(pane: Pane, point: number, sx: number, sy: number): void {
    this.root.hidden = point < 0 || !pane.atlas.named;
    if (this.root.hidden) return;
    const { atlas, field, view } = pane;
    const value = field !== null ? valueOf(field, point) : null;
    const told = value === null ? "" : ` · ${typeof value === "number" ? shortNumber(value) : value}`;
    refill(
      this.root,
      pointSwatch(pane, point),
      element("span", { class: "name" }, atlas.label(point)),
      element("span", { class: "note" }, `${atlas.kindOf(point).name}${told}`),
    );
    const { offsetWidth: width, offsetHeight: height } = this.root;
    const x = Math.min(Math.max(sx + 14, 4), view.size.width - width - 4);
    const y = sy + 18 + height > view.size.height ? sy - height - 12 : sy + 18;
    this.root.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}
