// Votes, saved and hidden articles and the theme without leaving the page: shown at once, then corrected by the response,
// or reverted with a reason.
// Without this script, and for readers without an account, the buttons submit their form.
(() => {
  "use strict";

  const live = document.getElementById("live");
  const texts = live.dataset;
  const pending = new Map(); // thing → its last known state on the server, and the latest choice
  const settled = new Map(); // article or comment → time of the response to its last choice
  const all = (selector) => document.querySelectorAll(selector);
  const grouped = (number) => number.toLocaleString(document.documentElement.lang).replace("-", "−");

  const say = (text) => {
    live.textContent = "";
    setTimeout(() => (live.textContent = text), 50);
  };

  // Where an article or a comment is on the page. `id`: an article's number, or that of a comment as `comment-7000001`.
  const elementOf = (id) => document.getElementById(id.startsWith("comment-") ? id : `article-${id}`);

  // `points`, `unit` and `numbers` are texts of the server; until it responds they are computed here, or left.
  const show = (id, { votes, opposes, choice, points = grouped(votes - opposes), unit, numbers }) => {
    for (const place of all(`[data-votes-of="${id}"]`)) {
      Object.assign(place.dataset, { votes, opposes, choice });
      const sum = place.querySelector(".points");
      sum.firstChild.data = points;
      if (unit) {
        sum.title = numbers;
        sum.lastChild.textContent = ` ${unit}`;
      }
      for (const button of place.querySelectorAll("button")) {
        const name = button.classList[0], own = name === choice;
        button.value = own ? "none" : name;
        button.ariaPressed = own;
      }
    }
    const shown = { votes: grouped(votes), opposes: grouped(opposes) };
    for (const part of elementOf(id)?.querySelectorAll("[data-count]") ?? []) {
      part.textContent = shown[part.dataset.count];
    }
  };

  const note = (id, text, address) => {
    const place = elementOf(id)?.querySelector(".about, .foot");
    place?.querySelector(".note")?.remove();
    if (!text) return;
    const el = document.createElement("p"), words = document.createElement("a");
    el.className = "message error note";
    if (address) words.href = address;
    words.textContent = text;
    el.append(words);
    place?.append(el);
  };

  const isTold = (told) => typeof told?.told === "string";

  // Returns the response, or {error, status}; {} if it was lost or invalid twice. A choice is a target state: retries
  // are safe.
  const ask = async ({ form, button }, choice, isValid = isTold, tries = 2) => {
    const address = button.getAttribute("formaction") ?? form.action;
    const body = new URLSearchParams(new FormData(form));
    body.set(button.name, choice);
    try {
      const signal = AbortSignal.timeout(8000);
      const answer = await fetch(address, { method: "POST", headers: { Accept: "application/json" }, body, signal, keepalive: true });
      const { ok, status } = answer;
      const told = await answer.json().catch(() => {});
      if (ok ? isValid(told) : status !== 502 && status !== 504) return ok ? told : { status, ...told };
    } catch {}
    return tries > 1 ? ask({ form, button }, choice, isValid, tries - 1) : {};
  };

  const tell = (id, state) => {
    const { error, status, address, told } = state.answer;
    if (status === 403 && state.button.form) return submit(state); // a stale token; newer results replace buttons
    const reason = told ? "" : error ?? texts[status] ?? texts[status ? "failed" : "lost"];
    note(id, reason, address);
    say(reason || told);
  };

  // Submits the form as without this script: the next page says why, or asks again.
  const submit = ({ form, button, goal }) => {
    button.value = goal;
    form.requestSubmit(button);
  };

  // Sends one choice at a time for each thing: a vote, a saved article, the theme. If the reader chooses again meanwhile,
  // the latest choice is sent next, and the last response counts. If the reader leaves the page meanwhile, the latest
  // choice is sent on leaving. The form is kept, because newer search results may replace the button.
  const settle = async (thing, button, goal, known, isValid) => {
    const state = pending.get(thing) ?? { known };
    Object.assign(state, { button, form: button.form, goal });
    if (pending.has(thing)) return;
    pending.set(thing, state);
    do {
      state.sent = state.goal;
      state.answer = await ask(state, state.sent, isValid);
      if (isTold(state.answer)) state.known = state.answer.choice ? state.answer : state.sent;
    } while (state.goal !== state.sent);
    pending.delete(thing);
    return state;
  };
  addEventListener("pagehide", () => {
    pending.forEach((state) => state.goal !== state.sent && ask(state, state.goal));
  });

  const cast = async (button, goal) => {
    const { votesOf: id, votes, opposes, choice } = button.closest("[data-votes-of]").dataset;
    const known = pending.get(id)?.known ?? { votes: +votes, opposes: +opposes, choice };
    const after = (count, name) => known[count] - (known.choice === name) + (goal === name);
    note(id);
    show(id, { votes: after("votes", "vote"), opposes: after("opposes", "oppose"), choice: goal });
    const isOf = (told) => String(told?.id) === id && Number.isInteger(told.votes) && Number.isInteger(told.opposes);
    const state = await settle(id, button, goal, known, isOf);
    if (!state) return;
    settled.set(id, performance.now());
    show(id, state.known);
    tell(id, state);
  };

  const mark = (button, goal) => {
    button.ariaPressed = goal === "save";
    button.value = goal === "save" ? "forget" : "save";
    button.querySelector("span").textContent = texts[button.value];
  };
  const save = async (button, goal) => {
    const id = button.closest("[id^=article-]").id.slice(8);
    mark(button, goal);
    note(id);
    const state = await settle(button, button, goal, button.value);
    if (!state) return;
    mark(button, state.known);
    tell(id, state);
  };

  // An article's row gives way to a line that takes it back, or hides more: then other rows with that link give way.
  const hide = async (button, goal) => {
    const row = button.closest(".row"), isHidden = button.name === "hide", { of } = button.dataset;
    const state = await settle(button, button, goal);
    if (!state) return;
    const { told, row: line } = state.answer;
    if (!isTold(state.answer)) return submit(state);
    say(told);
    if (of) {
      button.name = isHidden ? "show" : "hide";
      button.ariaPressed = isHidden;
      for (const other of all(`.row:not(.hid):has([href="${of}"])`)) other.hidden = isHidden;
      return;
    }
    row.classList.toggle("hid", isHidden);
    row.querySelector(".gone")?.remove();
    if (isHidden) row.append(...new DOMParser().parseFromString(line, "text/html").body.children);
    row.querySelector(isHidden ? ".gone button" : "h2 a").focus({ preventScroll: true });
  };
  const isInPlace = ({ name, form }, row) => (name === "hide" || name === "show" ? row?.querySelector(".about") : form.elements.csrfmiddlewaretoken);

  const root = document.documentElement.dataset, themes = all(".switch [name=theme]");
  const wear = (theme) => {
    if (theme) root.theme = theme;
    else delete root.theme;
    all("meta[name=color-scheme]")[0].content = theme || "light dark";
    for (const button of themes) button.ariaPressed = button.value === theme;
  };
  const choose = async (button, theme) => {
    const former = root.theme ?? "";
    wear(theme);
    const state = await settle(themes, button, theme, former);
    if (!state) return;
    if (state.answer.status) submit(state);
    else wear(state.known);
  };
  const inSettings = all("main [name=theme]").length; // the settings page shows the theme too: its form is submitted

  const press = { choice: cast, saved: save, hide, show: hide, theme: choose };
  const pressed = ({ target }) => target.closest?.("[formaction], .switch [name=theme]");
  let last;
  document.addEventListener("click", (event) => {
    const button = pressed(event);
    const isDouble = event.detail > 1 && button === last;
    last = button;
    if (!press[button?.name] || (button.name === "theme" ? inSettings : !isInPlace(button, button.closest(".row")))) return;
    event.preventDefault();
    const menu = button.closest(".drop[open]");
    if (menu) {
      menu.open = false;
      menu.firstElementChild.focus({ preventScroll: true });
    }
    if (!isDouble) press[button.name](button, button.value);
  });
  // A held key is one press.
  document.addEventListener("keydown", (event) => event.repeat && pressed(event) && event.preventDefault());

  // Applies the counts from refresh.js, unless they were requested before the response to a choice.
  document.addEventListener("counts", ({ detail: { articles, asked } }) => {
    for (const article of articles) {
      const { removed, closed } = article, id = String(article.id);
      if (pending.has(id) || settled.get(id) > asked) continue;
      show(id, article);
      for (const place of all(`[data-votes-of="${id}"]`)) {
        if (place.contains(document.activeElement)) continue;
        for (const button of place.querySelectorAll("button")) button.hidden = removed || closed;
        if (!removed) continue;
        note(id, removed);
        const row = place.closest(".row"), link = row?.querySelector("h2 a");
        const isFocused = link === document.activeElement;
        link?.removeAttribute("href");
        if (isFocused) row.focus({ preventScroll: true }); // the link can no longer have the focus
      }
    }
  });
})();
