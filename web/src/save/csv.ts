/** Tables as text that every spreadsheet and relscape itself read. */

export type Cell = string | number | null;

/** Write rows as CSV: quotes where they are needed, and lines that end as the standard says. */
export function csv(header: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [line(header)];
  for (const row of rows) lines.push(line(row));
  return `${lines.join("\r\n")}\r\n`;
}

function line(cells: readonly Cell[]): string {
  return cells.map(cell).join(",");
}

function cell(value: Cell): string {
  if (value === null) return "";
  const text = typeof value === "number" ? (Number.isFinite(value) ? String(value) : "") : value;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
