// Single keys: move among the articles, vote, open, turn pages. The dialog of templates/keys.html lists them.
(() => {
  "use strict";

  const help = document.getElementById("keys");
  if (!help || document.documentElement.dataset.keyboard === "off") return;

  const CHORD = 1500; // ms between g and the letter after it
  const TYPED_INTO = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
  const find = (selector) => document.querySelector(selector);

  const current = () => document.activeElement.closest(".row") ?? find("article.article");
  const press = (selector) => current()?.querySelector(selector)?.click();

  const move = (step) => {
    const rows = [...document.querySelectorAll(".rows > .row")];
    const at = rows.indexOf(document.activeElement.closest(".row"));
    const inSight = rows.findIndex((row) => row.getBoundingClientRect().bottom > 0);
    const row = rows[at < 0 ? inSight : at + step];
    if (!row) return;
    (row.querySelector("h2 a[href]") ?? row).focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };

  const showHelp = () => help.showModal();
  const search = () => {
    const field = find("header input[name=q]");
    field?.focus();
    field?.select();
  };

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    o: () => press("a[data-article]"),
    c: () => press("a.permalink"),
    a: () => press("button.vote:not([hidden])"),
    z: () => press("button.oppose:not([hidden])"),
    n: () => find(".pager a[rel=next]")?.click(),
    p: () => find(".pager a[rel=prev]")?.click(),
    "/": search,
    "?": showHelp,
  };

  let chordAt = -CHORD;
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat || event.defaultPrevented) return;
    if (target.closest(TYPED_INTO) || find("dialog[open]")) return;
    const isChord = event.timeStamp - chordAt < CHORD;
    chordAt = key === "g" ? event.timeStamp : -CHORD;
    const goal = isChord && ["f", "n", "h"].includes(key) && help.dataset[key];
    const isRow = key === "Enter" && target.matches(".row");
    const action = goal ? () => location.assign(goal) : isRow ? actions.o : Object.hasOwn(actions, key) && actions[key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // A button in the footer, for who does not know of the key.
  const entry = document.createElement("li");
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "plain", textContent: help.dataset.entry });
  button.addEventListener("click", showHelp);
  entry.append(button);
  find(".site-footer .menu")?.append(entry);
})();
