// Drafts: what a member types stays in this browser until the site confirms it, and the page stays if sending fails.
// What is typed into other forms of a page stays while one is sent.
// Without this script, the browser sends the form.
(() => {
  "use strict";

  const MOST = 20, MOST_CHARACTERS = 100_000, LIFE_MS = 7 * 86_400_000;
  const own = `draft ${document.currentScript.dataset.member} `;
  let store;
  try {
    store = localStorage;
  } catch {
    return; // the browser keeps nothing for this site
  }
  const read = (key) => {
    try {
      return JSON.parse(store.getItem(key));
    } catch {}
  };
  const clear = (kept = []) => {
    for (const key of Object.keys(store)) if (key.startsWith("draft ") && !kept.includes(key)) store.removeItem(key);
  };
  const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  // Those of another member, old ones, and the oldest of too many are dropped; this page may add one.
  const drafts = Object.keys(store).filter((key) => key.startsWith(own)).map((key) => [key, read(key)?.at]);
  const fresh = drafts.filter(([, at]) => at > Date.now() - LIFE_MS).sort((one, other) => other[1] - one[1]);
  clear(fresh.slice(0, MOST - 1).map(([key]) => key));

  // While one form of a page is sent, and the page comes back, the others keep what was typed and ticked in them.
  const keepOthers = () => {
    const isTick = ({ type }) => ["radio", "checkbox"].includes(type);
    const state = (field) => (isTick(field) ? field.checked : field.value);
    const nameOf = (field) => field.id || [field.form.action, field.name, isTick(field) && field.value].join();
    const kinds = "[method=post]:not(:has(.draft)) :is(input:not([type=hidden], [type=password]), select, textarea)";
    const fields = [...document.querySelectorAll(kinds)];
    const first = new Map(fields.map((field) => [field, state(field)])), page = location.pathname + location.search;
    const kept = JSON.parse(sessionStorage.getItem("typed"));
    sessionStorage.removeItem("typed");
    for (const field of kept?.page === page ? fields : []) {
      const value = kept.values[nameOf(field)], fold = field.closest("details:not([open])");
      if (value === undefined) continue;
      if (fold) fold.open = true;
      field[isTick(field) ? "checked" : "value"] = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }

    let sent;
    document.addEventListener("submit", ({ target }) => (sent = target));
    addEventListener("pagehide", () => {
      const typed = fields.filter((field) => field.form !== sent && state(field) !== first.get(field));
      const values = Object.fromEntries(typed.map((field) => [nameOf(field), state(field)]));
      try {
        if (sent && typed.length) sessionStorage.setItem("typed", JSON.stringify({ page, values }));
      } catch {} // the browser has no more room
    });
  };

  const start = () => {
    keepOthers();
    for (const form of document.querySelectorAll("[data-leaves]")) form.addEventListener("submit", () => clear());
    const note = document.querySelector(".draft"), form = note?.closest("form");
    if (!form) return;
    const { pathname, search } = new URL(form.action), key = own + pathname + search;
    const { parent } = form.elements, discard = note.querySelector("button");
    const fields = [...form.querySelectorAll("textarea, [type=text], [type=url]")].filter(({ name }) => name);
    const texts = (property) => Object.fromEntries(fields.map((field) => [field.name, field[property]]));
    const shown = texts("defaultValue"), draft = read(key);
    let base = shown, sending;

    const say = (text, isError) => {
      note.firstChild.textContent = text;
      note.hidden = !text;
      note.classList.toggle("error", isError);
      discard.hidden = isError;
    };
    const fill = (values) => {
      for (const field of fields) {
        field.value = values[field.name];
        const fold = field.closest("details");
        if (field.value && fold) fold.open = true;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
    };
    const save = () => {
      const now = texts("value"), text = JSON.stringify({ at: Date.now(), parent: parent?.value, base, now });
      try {
        if (isEqual(now, base)) store.removeItem(key);
        else if (text.length <= MOST_CHARACTERS) store.setItem(key, text);
      } catch {} // the browser has no more room
    };

    // A form that the server returned has the draft already. A draft of another text than the page's is not offered.
    if (isEqual(draft?.now, shown)) base = draft.base;
    else if (isEqual(draft?.base, shown)) {
      if (parent?.value !== draft.parent) document.querySelector(`#comment-${draft.parent} > details > .foot .reply`)?.click();
      if (parent?.value === draft.parent) {
        fill(draft.now);
        const when = Object.assign(document.createElement("time"), { dateTime: new Date(draft.at).toISOString() });
        const [before, after] = note.dataset.restored.split("{when}");
        say(before, false);
        note.firstChild.append(when, after); // times.js shows the time
      }
    }
    discard.onclick = () => {
      fill(base);
      say("", false);
      fields[0].focus();
    };
    form.addEventListener("input", save);
    document.addEventListener("click", ({ target }) => target.closest?.(".reply, [name=cancel]") && save());

    form.addEventListener("submit", async (event) => {
      if (event.submitter?.name) return; // the preview
      event.preventDefault();
      if (sending) return;
      sending = true;
      say("", false);
      try {
        const signal = AbortSignal.timeout(30_000), body = new URLSearchParams(new FormData(form));
        const headers = { Accept: "application/json" };
        const answer = await fetch(form.action, { method: "POST", headers, body, signal, redirect: "manual" });
        if (answer.status > 501) throw answer;
        const { address } = await answer.json().catch(() => ({}));
        if (!address) return form.submit(); // the page that follows says why, or is the login
        store.removeItem(key);
        history.pushState(null, "", form.action); // the address may be this page's, with another fragment
        location.replace(address);
      } catch {
        say(note.dataset.lost, true);
      } finally {
        sending = false;
      }
    });
  };
  addEventListener("DOMContentLoaded", start); // after the scripts of the form
})();
