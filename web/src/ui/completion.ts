/** A search box that completes what is typed, for pointer and keyboard. */

import { element, freshId, icon, refill, type Child } from "./dom";
import { ICONS } from "./icons";

export interface Suggestion {
  readonly mark: Child;
  readonly text: string;
  readonly note: string;
  readonly choose: () => void;
}

export interface Completion {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
}

/** Make a box; ``find`` gives suggestions for a text, and ``empty`` is said when there are none. */
export function completion(
  label: string,
  placeholder: string,
  find: (text: string) => readonly Suggestion[],
  empty: string,
): Completion {
  const id = freshId("suggestions");
  const list = element("ul", { id, role: "listbox", class: "suggestions", "aria-label": label, hidden: true });
  const input = element("input", {
    type: "search",
    role: "combobox",
    placeholder,
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-controls": id,
    "aria-expanded": "false",
    autocomplete: "off",
    spellcheck: "false",
  });
  let found: readonly Suggestion[] = [];
  let active = 0;

  const close = (): void => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (suggestion: Suggestion): void => {
    input.value = suggestion.text;
    close();
    suggestion.choose();
  };
  const mark = (): void => {
    [...list.children].forEach((child, i) => child.setAttribute("aria-selected", String(i === active)));
    const chosen = found.length > 0 ? list.children[active] : undefined;
    if (chosen) {
      input.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    }
  };
  const open = (): void => {
    found = find(input.value);
    active = 0;
    const items = found.map((suggestion, i) =>
      element(
        "li",
        {
          id: `${id}-${i}`,
          role: "option",
          pointerdown: (event: PointerEvent) => event.preventDefault(),
          click: () => choose(suggestion),
        },
        suggestion.mark,
        element("span", { class: "name" }, suggestion.text),
        element("span", { class: "note" }, suggestion.note),
      ),
    );
    const nothing = element("li", { class: "nothing", role: "option", "aria-disabled": "true" }, empty);
    refill(list, ...(items.length > 0 ? items : [nothing]));
    list.hidden = input.value.trim() === "" && found.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark();
  };
  input.addEventListener("input", open);
  input.addEventListener("focus", () => {
    input.select();
    open();
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (list.hidden) input.blur();
      else close();
      event.stopPropagation();
    } else if (event.key === "Enter" && found.length > 0 && !list.hidden) {
      choose(found[active]);
      event.preventDefault();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length > 0) {
      if (list.hidden) open();
      else active = (active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
      mark();
      event.preventDefault();
    }
  });
  const root = element("div", { class: "completion" }, icon(...ICONS.search), input, list);
  return { root, input };
}
