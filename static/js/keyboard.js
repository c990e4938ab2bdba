// Keyboard shortcuts: move between articles or comments, vote, open, turn pages. The dialog of templates/keyboard.html lists them.
(() => {
  "use strict";

  const help = document.getElementById("keys");
  if (!help || document.documentElement.dataset.keyboard === "off") return;

  const CHORD = 1500; // ms between g and the next letter
  const TYPED_INTO = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
  const TITLE = ":is(h1, h2) a[href]:first-child";
  const find = (selector) => document.querySelector(selector);
  const current = () => document.activeElement.closest(".row, .comment");
  const press = (selector) => {
    const one = current() ?? find("article.article"), scope = one?.matches(".comment") ? ":scope > details > .foot " : "";
    one?.querySelector(scope + selector)?.click();
  };

  const move = (step) => {
    const all = [...document.querySelectorAll(".rows > .row, .thread > .comment")], row = current();
    const rows = all.filter((el) => !el.parentElement.closest("details:not([open])"));
    const inSight = () => rows.find((el) => el.getBoundingClientRect().bottom > 0);
    const next = row ? rows[rows.indexOf(row) + step] : inSight();
    const isGone = next?.matches(".hid"), isRow = next?.matches(".row");
    (isRow && next.querySelector(isGone ? ".gone button" : TITLE) || next)?.focus({ preventScroll: true }); // removed: no link
    next?.scrollIntoView({ block: "nearest" });
  };

  const search = () => {
    const field = find("input[name=q]");
    if (field?.offsetWidth) field.select(); // narrow screens have only a button
    else location.assign(help.dataset.search);
  };

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    o: () => press(TITLE),
    c: () => press("a.comments"),
    a: () => press("button.vote:not([hidden])"),
    z: () => press("button.oppose:not([hidden])"),
    s: () => press("button.saving"),
    h: () => press("button[name=hide]"),
    n: () => find(".pager [rel=next]")?.click(),
    p: () => find(".pager [rel=prev]")?.click(),
    "/": search,
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

  const entry = find("#keys-entry"); // for readers who do not know the shortcut
  entry.hidden = false;
  entry.onclick = actions["?"];
})();
