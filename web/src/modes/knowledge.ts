/** Knowledge-graph mode: choose a head and a relation, and see the tails that the model believes in. */

import type { Question } from "../state/view";
import { allow, chooser, section, textButton } from "../ui/controls";
import { completion } from "../ui/completion";
import { thingRow } from "../ui/detail";
import { element, refill } from "../ui/dom";
import { mainPane, type Explorer } from "../ui/explorer";
import { shortNumber } from "../ui/format";
import { pointSuggestions } from "../ui/search_box";

const TOP = 20;
const NAMED = 10;

/** Rank, energy, probability where the model tells one, and whether the fact was known. */
type Answer = readonly [number, number, number | null, boolean];

export function knowledgeMode(explorer: Explorer): HTMLElement {
  const { store } = explorer;
  const pane = mainPane(explorer);
  const { atlas } = pane;
  const { relations, entities_kind: kind } = atlas.manifest.knowledge!;
  const answers = element("div", { class: "answers", "aria-live": "polite" });
  let entity = -1;

  const side = chooser(
    "Ask for",
    [
      { value: "head", text: "tails: head, relation, ?" },
      { value: "tail", text: "heads: ?, relation, tail" },
    ],
    store.view.question?.side ?? "head",
    () => ask(),
  );
  const box = completion(
    "Entity to ask about",
    "Entity …",
    (text) =>
      pointSuggestions(explorer, text, kind, (point) => {
        entity = point;
        ask();
      }),
    "No entity is called so.",
  );
  const relation = chooser(
    "Relation",
    relations.map((name) => ({ value: name, text: name })),
    store.view.question?.relation ?? relations[0] ?? "",
    () => ask(),
  );
  const fromFocus = textButton("Take the selected thing", () => {
    entity = atlas.find(store.view.focus ?? "");
    box.input.value = atlas.label(entity);
    ask();
  });

  const ask = (): void => {
    if (entity < 0) return;
    const chosen = side.select.value as Question["side"];
    store.set({ question: { side: chosen, entity: atlas.key(entity), relation: relation.select.value } });
  };
  const show = async (question: Question | null): Promise<void> => {
    if (question === null) {
      pane.view.setMarks("answers", null);
      refill(answers);
      return;
    }
    try {
      const asked = atlas.find(question.entity);
      if (asked < 0) throw new Error(`“${question.entity}” is not on this map.`);
      entity = asked;
      box.input.value = atlas.label(asked);
      const found = await atlas.source.ask<{ answers: Answer[] }>("knowledge", {
        [question.side]: asked,
        relation: question.relation,
        top: TOP,
      });
      if (store.view.question === question) showAnswers(explorer, answers, asked, question, found.answers);
    } catch (error) {
      explorer.complain(error);
    }
  };
  const reason = atlas.source.offline;
  for (const control of [side.select, relation.select, box.input]) allow(control, reason);
  const choose = (): void => {
    const focused = atlas.find(store.view.focus ?? "");
    allow(fromFocus, reason || (focused >= 0 && atlas.kindOf(focused).name === kind ? "" : "Select a thing on the map first"));
  };
  choose();
  store.onChange((view, changed) => {
    if (changed("question")) void show(view.question);
    if (changed("focus")) choose();
  });
  if (store.view.question !== null && reason === "") void show(store.view.question);
  return section(
    "Ask the knowledge graph",
    "mode knowledge",
    side.root,
    element("div", { class: "field wide" }, element("span", { class: "label" }, "Entity"), box.root),
    fromFocus,
    relation.root,
    reason !== "" && element("p", { class: "quiet" }, reason),
    answers,
  );
}

function showAnswers(
  explorer: Explorer,
  target: HTMLElement,
  asked: number,
  { side, relation }: Question,
  answers: readonly Answer[],
): void {
  const { atlas, view } = mainPane(explorer);
  const points = answers.map(([point]) => point);
  view.setMarks("answers", {
    rings: [...points.map((point) => ({ point, strong: false })), { point: asked, strong: true }],
    lines: answers.map(([to, , , known], rank) => ({
      from: asked,
      to,
      strength: 1 - rank / answers.length,
      dashed: !known,
    })),
    names: [asked, ...points.slice(0, NAMED)],
    pales: true,
  });
  const energies = answers.map(([, energy]) => energy);
  const [best, worst] = [Math.min(...energies), Math.max(...energies)];
  const rows = answers.map(([point, energy, probability, known]) => {
    const row = thingRow(explorer, point, shortNumber(energy), 1 - (0.9 * (energy - best)) / (worst - best || 1));
    row.classList.toggle("known", known);
    row.title = [
      known ? "a fact the model was given" : "not among the facts it was given",
      probability === null ? "" : `probability ${shortNumber(probability)}`,
    ]
      .filter(Boolean)
      .join("; ");
    return row;
  });
  const name = atlas.label(asked);
  const sentence = side === "head" ? `${name} · ${relation} · ?` : `? · ${relation} · ${name}`;
  refill(
    target,
    element("h3", {}, sentence),
    element("p", { class: "quiet" }, "By energy, the least first: the lower, the surer. Dashed lines are new, solid ones were known."),
    element("ol", { class: "things ranked" }, ...rows),
    textButton("Clear", () => explorer.store.set({ question: null })),
  );
}
