/** The single file: base64 of gzip of one container that holds the manifest and all columns. */

import { checkedManifest, type Manifest } from "./manifest";

const MAGIC = "RELSCAPE";

export interface Container {
  readonly manifest: Manifest;
  readonly column: (name: string) => ArrayBuffer;
}

/** Undo base64 without a detour over a huge array of characters. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Undo gzip. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Open a container: magic, length of the manifest, manifest, then columns at 8-byte offsets. */
export function openContainer(buffer: ArrayBuffer): Container {
  const magic = new TextDecoder().decode(buffer.slice(0, MAGIC.length));
  if (magic !== MAGIC) throw new Error("The data of this page are damaged: export the map again.");
  const length = new DataView(buffer).getUint32(MAGIC.length, true);
  const start = MAGIC.length + 4;
  const text = new TextDecoder().decode(new Uint8Array(buffer, start, length));
  const manifest = checkedManifest(JSON.parse(text));
  return { manifest, column: (name) => slice(buffer, manifest, name) };
}

function slice(buffer: ArrayBuffer, manifest: Manifest, name: string): ArrayBuffer {
  const entry = manifest.columns[name];
  if (entry?.offset === undefined || entry.bytes === undefined) {
    throw new Error(`This page does not carry the column "${name}".`);
  }
  return buffer.slice(entry.offset, entry.offset + entry.bytes);
}
