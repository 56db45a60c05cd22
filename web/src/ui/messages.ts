/** What the page says: short news, and complaints that stay until they are closed. */

import { iconButton } from "./controls";
import { element, refill } from "./dom";

const BRIEF = 3500;

export class Messages {
  private readonly news = element("p", { class: "news", role: "status", "aria-live": "polite" });
  private readonly alarm = element("div", { class: "alarm", role: "alert", hidden: true });
  private readonly spoken = element("p", { class: "spoken", "aria-live": "polite" });
  readonly root = element("div", { class: "messages" }, this.alarm, this.news, this.spoken);
  private timer = 0;

  say(text: string): void {
    window.clearTimeout(this.timer);
    this.news.textContent = text;
    this.news.classList.add("shown");
    this.timer = window.setTimeout(() => this.news.classList.remove("shown"), BRIEF);
  }

  announce(text: string): void {
    this.spoken.textContent = text;
  }

  complain(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    refill(this.alarm, element("p", {}, text), iconButton("close", "Close", () => (this.alarm.hidden = true)));
    this.alarm.hidden = false;
  }
}
