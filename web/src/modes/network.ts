/** Network mode: the links between things, and links that the model would suggest, dashed. */

import { allow, section } from "../ui/controls";
import { thingRow } from "../ui/detail";
import { element, freshId, refill } from "../ui/dom";
import { mainPane, type Explorer } from "../ui/explorer";
import { counted, shortNumber } from "../ui/format";

const TOP = 10;

/** The thing, its score, the probability where there is one, and whether the link exists. */
type Suggested = readonly [number, number, number | null, boolean];

/** A box to tick, with its text. */
function tick(text: string, ticked: boolean, change: (ticked: boolean) => void): { root: HTMLElement; box: HTMLInputElement } {
  const id = freshId("tick");
  const box = element("input", { id, type: "checkbox", change: () => change(box.checked) });
  box.checked = ticked;
  return { root: element("div", { class: "tick" }, box, element("label", { for: id }, text)), box };
}

/** Switches that draw all pairs of a relation at once. */
export function linkSwitches(explorer: Explorer, names: readonly string[]): HTMLElement[] {
  const { store } = explorer;
  const { relations } = mainPane(explorer).atlas.manifest;
  return names.map((name) => {
    const count = relations.find((relation) => relation.name === name)?.count ?? 0;
    const text = name === "links" ? `Draw all ${counted(count, "link")}` : `Draw all ${counted(count, "pair")} of ${name}`;
    const made = tick(text, store.view.links.includes(name), (ticked) => {
      const others = store.view.links.filter((other) => other !== name);
      store.set({ links: ticked ? [...others, name] : others });
    });
    store.onChange(({ links }) => (made.box.checked = links.includes(name)));
    return made.root;
  });
}

export function networkMode(explorer: Explorer): HTMLElement {
  const { store } = explorer;
  const pane = mainPane(explorer);
  const { atlas } = pane;
  const { kind, links, suggest } = atlas.manifest.network!;
  const answers = element("div", { class: "answers", "aria-live": "polite" });
  const reason = atlas.source.offline || (suggest ? "" : "This map does not carry its model, so it cannot suggest links.");
  const suggesting = tick("Suggest links for the selected thing", store.view.suggest, (ticked) =>
    store.set({ suggest: ticked }),
  );
  allow(suggesting.box, reason);

  const show = async (): Promise<void> => {
    const { focus, suggest: wanted } = store.view;
    const point = atlas.find(focus ?? "");
    pane.view.setMarks("suggested", null);
    if (!wanted || reason !== "") return refill(answers);
    if (point < 0 || atlas.kindOf(point).name !== kind) {
      return refill(answers, element("p", { class: "quiet" }, `Select a ${kind} on the map.`));
    }
    try {
      const found = await atlas.source.ask<{ links: Suggested[] }>("suggest", { point, top: TOP });
      if (store.view.focus !== focus || !store.view.suggest) return;
      const fresh = found.links.filter(([, , , known]) => !known);
      const most = Math.max(...fresh.map(([, score, probability]) => probability ?? score)) || 1;
      pane.view.setMarks("suggested", {
        lines: fresh.map(([to, , ,], rank) => ({ from: point, to, strength: 1 - rank / (fresh.length + 1), dashed: true })),
        rings: fresh.map(([other]) => ({ point: other, strong: false })),
        names: fresh.map(([other]) => other),
        pales: true,
      });
      const rows = fresh.map(([other, score, probability]) =>
        thingRow(explorer, other, shortNumber(probability ?? score), (probability ?? score) / most),
      );
      refill(
        answers,
        element("h3", {}, `Links ${atlas.label(point)} might have`),
        element("ol", { class: "things ranked" }, ...rows),
      );
    } catch (error) {
      explorer.complain(error);
    }
  };
  store.onChange(({ suggest: wanted }, changed) => {
    suggesting.box.checked = wanted;
    if (changed("focus", "suggest")) void show();
  });
  if (store.view.suggest) void show();
  return section(
    "Network",
    "mode network",
    ...linkSwitches(explorer, [links]),
    suggesting.root,
    reason !== "" && element("p", { class: "quiet" }, reason),
    answers,
  );
}
