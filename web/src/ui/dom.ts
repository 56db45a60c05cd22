/** Elements made in code. Names of things are only ever set as text, never as markup. */

export type Child = Node | string | null | false | undefined;
export type Attributes = Readonly<Record<string, string | boolean | ((event: never) => void)>>;

/**
 * Make an element. Attributes that are functions listen to the event of their name; true sets an empty attribute
 * and false none.
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  apply(made, attributes);
  made.append(...present(children));
  return made;
}

function apply(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") target.addEventListener(name, value as (event: Event) => void);
    else if (value !== false) target.setAttribute(name, value === true ? "" : value);
  }
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== null && child !== false && child !== undefined);
}

/** Put other children into an element. */
export function refill(target: Element, ...children: readonly Child[]): void {
  target.replaceChildren(...present(children));
}

const SVG = "http://www.w3.org/2000/svg";

/** Make an icon of 20 × 20 from the data of its paths. */
export function icon(...paths: readonly string[]): SVGSVGElement {
  const made = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" })) {
    made.setAttribute(name, value);
  }
  for (const data of paths) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", data);
    made.append(path);
  }
  return made;
}

/** Make a filled swatch of a marker. */
export function swatch(data: string, color: string): SVGSVGElement {
  const made = icon(data);
  made.setAttribute("class", "swatch");
  made.style.color = color;
  return made;
}

let counter = 0;

/** Give a fresh id, to tie a label to its control. */
export function freshId(stem: string): string {
  counter += 1;
  return `${stem}-${counter}`;
}
