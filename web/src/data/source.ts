/** Where a map comes from: the server that opened this page, or the page itself. */

import { fromBase64, gunzip, openContainer, type Container } from "./container";
import { checkedManifest, type Manifest } from "./manifest";

export interface Source {
  /** Why questions for a server cannot be asked; empty when they can. */
  readonly offline: string;
  manifest(): Promise<Manifest>;
  /** Fetch a column, of the map or of a new fit that the server keeps elsewhere. */
  bytes(column: string, folder?: string): Promise<ArrayBuffer>;
  /** Ask the server; ``body`` makes it a POST. */
  ask<Answer>(path: string, query?: Readonly<Record<string, string | number>>, body?: Float32Array<ArrayBuffer>): Promise<Answer>;
}

const NEEDS_SERVER = "This page is a file on its own. Run “relscape explore” on the map to use this.";

/** Find the source of the page's map: its own data where it carries some, the server otherwise. */
export function pageSource(): Source {
  const own = document.getElementById("relscape-data");
  return own === null ? serverSource("/api/") : embeddedSource(own.textContent ?? "");
}

/** Give the second map of a comparison. */
export function secondSource(): Source {
  return serverSource("/api/2/");
}

function serverSource(root: string): Source {
  return {
    offline: "",
    manifest: async () => checkedManifest(await (await get(`${root}manifest`)).json()),
    bytes: async (column, folder = "columns/") =>
      (await get(`${root}${folder}${encodeURIComponent(column)}`)).arrayBuffer(),
    ask: async <Answer>(
      path: string,
      query: Readonly<Record<string, string | number>> = {},
      body?: Float32Array<ArrayBuffer>,
    ) => {
      const parameters = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
      const text = parameters.toString();
      const response = await get(`${root}${path}${text ? `?${text}` : ""}`, body);
      return (await response.json()) as Answer;
    },
  };
}

async function get(address: string, body?: Float32Array<ArrayBuffer>): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(
      address,
      body && { method: "POST", body, headers: { "Content-Type": "application/octet-stream" } },
    );
  } catch {
    throw new Error("The server does not answer. Is “relscape explore” still running?");
  }
  if (!response.ok) throw new Error(await complaint(response));
  return response;
}

async function complaint(response: Response): Promise<string> {
  try {
    const content = (await response.json()) as { error?: string };
    if (content.error) return content.error;
  } catch {
    // an answer that is not JSON says nothing we could show
  }
  return `The server answered ${response.status} ${response.statusText}.`;
}

function embeddedSource(text: string): Source {
  let opened: Promise<Container> | undefined;
  const container = (): Promise<Container> =>
    (opened ??= gunzip(fromBase64(text)).then((buffer) => openContainer(buffer)));
  return {
    offline: NEEDS_SERVER,
    manifest: async () => (await container()).manifest,
    bytes: async (column) => (await container()).column(column),
    ask: () => Promise.reject(new Error(NEEDS_SERVER)),
  };
}
