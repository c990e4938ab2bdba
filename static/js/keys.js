// Single keys: move among the articles, vote, open, turn pages. The dialog of templates/keys.html lists them.
(() => {
  "use strict";

  const help = document.getElementById("keys");
  if (!help || document.documentElement.dataset.keyboard === "off") return;

  const CHORD = 1500; // ms from g to the letter after it
  const TYPED_INTO = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
  const find = (selector) => document.querySelector(selector);
  const current = () => document.activeElement.closest(".row");
  const press = (selector) => (current() ?? find("article.article"))?.querySelector(selector)?.click();

  const move = (step) => {
    const rows = [...document.querySelectorAll(".rows > .row")], row = current();
    const inSight = () => rows.find((one) => one.getBoundingClientRect().bottom > 0);
    const next = row ? rows[rows.indexOf(row) + step] : inSight();
    next?.querySelector("h2 a").focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  };

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    o: () => press("a[data-article]"),
    c: () => press("a.permalink"),
    a: () => press("button.vote:not([hidden])"),
    z: () => press("button.oppose:not([hidden])"),
    n: () => find(".pager [rel=next]")?.click(),
    p: () => find(".pager [rel=prev]")?.click(),
    "/": () => find("header input[name=q]")?.select(),
    "?": () => help.showModal(),
  };

  let chordAt = -CHORD;
  document.addEventListener("keydown", (event) => {
    const { key, target, timeStamp } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (target.closest(TYPED_INTO) || find("dialog[open]")) return;
    const goal = timeStamp - chordAt < CHORD && /^[fnh]$/.test(key) && help.dataset[key];
    chordAt = key === "g" ? timeStamp : -CHORD;
    const name = key === "Enter" && target.matches(".row") ? "o" : key;
    if (!goal && !Object.hasOwn(actions, name)) return;
    event.preventDefault();
    if (goal) location.assign(goal);
    else actions[name]();
  });

  // For who does not know of the key.
  const entry = document.createElement("li"), button = document.createElement("button");
  Object.assign(button, { type: "button", className: "plain", textContent: help.dataset.entry, onclick: actions["?"] });
  entry.append(button);
  find(".site-footer .menu")?.append(entry);
})();
