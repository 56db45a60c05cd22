/** The explorer: opens the map that the page came with, and puts everything in its place. */

import "./style/tokens.css";
import "./style/layout.css";
import "./style/panels.css";
import "./style/map.css";
import { Atlas } from "./data/atlas";
import { pageSource, secondSource } from "./data/source";
import { startExplorer } from "./ui/app";
import { element, refill } from "./ui/dom";

async function main(): Promise<void> {
  const root = document.getElementById("app")!;
  try {
    const first = await Atlas.open(pageSource());
    const atlases = first.manifest.second ? [first, await Atlas.open(secondSource())] : [first];
    document.title = `${first.manifest.title} · relscape`;
    await startExplorer(root, atlases);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    refill(root, element("p", { class: "boot failed", role: "alert" }, text));
  }
}

void main();
