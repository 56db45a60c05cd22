/** Projection mode: rows of a new table, and where each lands on the map. */

import { asNumbers } from "../data/columns";
import { completion, type Suggestion } from "../ui/completion";
import { allow, section, textButton } from "../ui/controls";
import { thingRow } from "../ui/detail";
import { element, refill } from "../ui/dom";
import { mainPane, type Explorer } from "../ui/explorer";
import { counted, shortNumber } from "../ui/format";
import { folded } from "../data/search";

const MOST = 12;

interface Landing {
  readonly nearest?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

export async function projectionMode(explorer: Explorer): Promise<HTMLElement> {
  const { store } = explorer;
  const pane = mainPane(explorer);
  const { atlas } = pane;
  const { names, kind, count, columns } = atlas.manifest.projection!;
  const [x, y] = await Promise.all(
    [columns.x, columns.y].map(async (name) => asNumbers(name, await atlas.column(name))),
  );
  const answers = element("div", { class: "answers", "aria-live": "polite" });
  const choose = (row: number): void => store.set({ row });
  const find = (text: string): Suggestion[] => {
    const wanted = folded(text).trim();
    const rows = names.map((name, row) => ({ name, row })).filter(({ name }) => folded(name).includes(wanted));
    return rows.slice(0, MOST).map(({ name, row }) => ({
      mark: null,
      text: name,
      note: `row ${row + 1}`,
      choose: () => choose(row),
    }));
  };
  const box = completion(`New ${kind} to place`, `Pick one of ${counted(count, "row")} …`, find, "No row is called so.");
  const previous = textButton("Previous", () => choose(Math.max(store.view.row - 1, 0)));
  const next = textButton("Next", () => choose(Math.min(store.view.row + 1, count - 1)));

  const show = async (row: number): Promise<void> => {
    allow(previous, row > 0 ? "" : "This is the first row");
    allow(next, row < count - 1 ? "" : "This is the last row");
    if (row < 0 || row >= count) {
      pane.view.setMarks("landing", null);
      return refill(answers);
    }
    box.input.value = names[row];
    const [px, py] = [x[row], y[row]];
    if (!Number.isFinite(px) || !Number.isFinite(py)) {
      pane.view.setMarks("landing", null);
      return refill(answers, element("p", { class: "quiet" }, "Nothing on the map relates to this row, so it has no place."));
    }
    const landing: Landing =
      atlas.source.offline === "" ? await atlas.source.ask<Landing>("project", { row }) : {};
    if (store.view.row !== row) return;
    const near = Object.entries(landing.nearest ?? {});
    const points = near.flatMap(([, pairs]) => pairs.map(([point]) => point));
    pane.view.setMarks("landing", {
      stars: [{ x: px, y: py, text: names[row], near: points }],
      rings: points.map((point) => ({ point, strong: false })),
      names: points,
      pales: true,
    });
    refill(
      answers,
      ...near.flatMap(([name, pairs]) => {
        const farthest = pairs.at(-1)?.[1] || 1;
        const rows = pairs.map(([point, distance]) =>
          thingRow(explorer, point, shortNumber(distance), 1 - (0.85 * distance) / farthest),
        );
        return [element("h3", {}, `Nearest ${name}`), element("ol", { class: "things" }, ...rows)];
      }),
      near.length === 0 && element("p", { class: "quiet" }, "Its neighbours need the server: run “relscape explore”."),
    );
  };
  const tryToShow = (row: number): void => void show(row).catch((error: unknown) => explorer.complain(error));
  store.onChange(({ row }, changed) => {
    if (changed("row")) tryToShow(row);
  });
  tryToShow(store.view.row);
  return section(
    "New rows",
    "mode projection",
    element("p", { class: "quiet" }, `${counted(count, kind)} of another table, placed on this map.`),
    box.root,
    element("div", { class: "buttons" }, previous, next, textButton("Clear", () => choose(-1))),
    answers,
  );
}
