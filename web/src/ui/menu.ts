/** A small menu that opens below its button. */

import { element, freshId, icon } from "./dom";
import { ICONS } from "./icons";

export interface Item {
  readonly text: string;
  readonly note: string;
  readonly choose: () => void;
}

export function menu(name: keyof typeof ICONS, label: string, items: readonly Item[]): HTMLElement {
  const id = freshId("menu");
  const close = (): void => {
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  const list = element(
    "div",
    { id, class: "menu-list", role: "menu", "aria-label": label, hidden: true },
    ...items.map(({ text, note, choose }) =>
      element(
        "button",
        {
          type: "button",
          role: "menuitem",
          click: () => {
            close();
            choose();
          },
        },
        element("span", { class: "name" }, text),
        element("span", { class: "note" }, note),
      ),
    ),
  );
  const button = element("button", {
    type: "button",
    class: "icon-button",
    "aria-label": label,
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    "aria-controls": id,
    title: label,
    click: () => {
      list.hidden = !list.hidden;
      button.setAttribute("aria-expanded", String(!list.hidden));
      if (!list.hidden) (list.firstElementChild as HTMLElement | null)?.focus();
    },
  });
  button.append(icon(...ICONS[name]));
  const root = element("div", { class: "menu" }, button, list);
  root.addEventListener("keydown", (event) => {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape" && !list.hidden) {
      close();
      button.focus();
      event.stopPropagation();
    } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      buttons[(at + (event.key === "ArrowDown" ? 1 : -1) + buttons.length) % buttons.length].focus();
      event.preventDefault();
      event.stopPropagation();
    }
  });
  root.addEventListener("focusout", (event) => {
    if (!root.contains(event.relatedTarget as Node | null)) close();
  });
  return root;
}
