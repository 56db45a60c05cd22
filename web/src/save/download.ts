/** Files for the reader to keep. */

/** Offer content as a file. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function downloadText(name: string, text: string, type: string): void {
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** Make a file's name of a map's title. */
export function fileName(title: string, ending: string): string {
  const stem = title.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").toLowerCase();
  return `${stem.slice(0, 60) || "map"}${ending}`;
}
