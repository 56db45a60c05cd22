/** Small controls that all panels share. */

import { element, freshId, icon, type Child } from "./dom";
import { ICONS } from "./icons";

/** A button with an icon, its name for those who cannot see it, and a hint for those who hover. */
export function iconButton(name: keyof typeof ICONS, label: string, click: () => void): HTMLButtonElement {
  const button = element("button", { type: "button", class: "icon-button", "aria-label": label, title: label, click });
  button.append(icon(...ICONS[name]));
  return button;
}

export function textButton(text: string, click: () => void, look = ""): HTMLButtonElement {
  return element("button", { type: "button", class: `text-button ${look}`.trim(), click }, text);
}

export interface Option {
  readonly value: string;
  readonly text: string;
}

/** A select with its label above. */
export function chooser(
  label: string,
  options: readonly Option[],
  chosen: string,
  choose: (value: string) => void,
): { readonly root: HTMLElement; readonly select: HTMLSelectElement } {
  const id = freshId("choose");
  const select = element("select", { id, change: () => choose(select.value) });
  select.append(...options.map(({ value, text }) => element("option", { value }, text)));
  select.value = chosen;
  return { root: element("div", { class: "field" }, element("label", { for: id }, label), select), select };
}

/** A slider from 0 to 1 with its label. */
export function slider(
  label: Child,
  spoken: string,
  value: number,
  slide: (value: number) => void,
): { readonly root: HTMLElement; readonly input: HTMLInputElement } {
  const id = freshId("slide");
  const input = element("input", {
    id,
    type: "range",
    min: "0",
    max: "1",
    step: "0.05",
    "aria-label": spoken,
    input: () => slide(Number(input.value)),
  });
  input.value = String(value);
  return { root: element("div", { class: "slider" }, element("label", { for: id }, label), input), input };
}

/** A part of a panel, with its heading. */
export function section(title: string, look: string, ...children: readonly Child[]): HTMLElement {
  return element("section", { class: look }, element("h2", {}, title), ...children);
}

/** Disable a control and say why, or enable it again. */
export function allow(control: HTMLButtonElement | HTMLSelectElement | HTMLInputElement, reason: string): void {
  control.disabled = reason !== "";
  if (reason !== "") control.title = reason;
  else if (!control.classList.contains("icon-button")) control.removeAttribute("title");
}
