// Shows times in the reader's time zone, in the form of articles/formatting/values.py: as text where the date is the text,
// else as the title. Without this script they are in the site's time zone, and say so.
// It is not deferred: times are converted as the page arrives, before they are seen, so that nothing moves.
(() => {
  "use strict";

  const { lang } = document.documentElement, times = document.getElementsByTagName("time");
  const date = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const day = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, date);
  const zone = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" });
  const show = (time) => {
    const at = new Date(time.dateTime);
    if (!time.dateTime.includes("T") || isNaN(at)) return;
    const offset = zone.formatToParts(at).find(({ type }) => type === "timeZoneName").value;
    const text = `${day.format(at).replace("Sept", "Sep")} ${offset.replace("GMT", "UTC").replace(/[+]0$/, "").replace("-", "−")}`;
    const part = time.title ? "title" : "textContent";
    if (time[part] !== text) time[part] = text;
  };

  // The last one may have arrived in part only, until something follows it.
  let shown = 0;
  const isWhole = (node) => node && (node.nextSibling || isWhole(node.parentNode));
  const follow = () => {
    while (shown < times.length - 1 || isWhole(times[shown])) show(times[shown++]);
  };
  const watch = new MutationObserver((changes) => {
    if (document.readyState === "loading") return follow();
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        if (node.matches?.("time")) show(node);
        for (const time of node.querySelectorAll?.("time") ?? []) show(time);
      }
    }
  });
  watch.observe(document, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", () => [...times].slice(shown).forEach(show));
})();
