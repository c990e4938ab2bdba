// Votes without leaving the page: shown at once, then as the server answers, or taken back with the reason.
// Without it, and for readers without account, the forms are sent as they are.
(() => {
  "use strict";

  const live = document.getElementById("live");
  const texts = live.dataset;
  const pending = new Map(); // article → counts the server told last, choice wished for
  const settled = new Map(); // article → when its last choice was answered
  const all = (selector) => document.querySelectorAll(selector);
  const grouped = (number) => number.toLocaleString(document.documentElement.lang);

  const say = (text) => {
    live.textContent = "";
    setTimeout(() => (live.textContent = text), 50);
  };

  // `points` and `numbers` are the server's words; until it answers they are made here, or left.
  const show = (id, { votes, opposes, choice, points = grouped(votes - opposes), numbers }) => {
    const title = document.querySelector(`a[data-article="${id}"]`)?.textContent;
    for (const place of all(`[data-votes-of="${id}"]`)) {
      Object.assign(place.dataset, { votes, opposes, choice });
      const sum = place.querySelector(".points");
      sum.firstChild.data = points;
      if (numbers) sum.title = numbers;
      for (const button of place.querySelectorAll("button")) {
        const name = button.classList[0], own = name === choice;
        button.value = own ? "none" : name;
        button.ariaPressed = own;
        if (texts.vote) button.ariaLabel = texts[own ? "un" + name : name].replace("{title}", () => title);
      }
    }
    const shown = { votes: grouped(votes), opposes: grouped(opposes), points };
    for (const part of all(`#article-${id} [data-count]`)) {
      part.querySelector("dd").textContent = shown[part.dataset.count] ?? part.dataset[choice];
    }
  };

  const note = (id, text, address) => {
    const place = document.querySelector(`#article-${id} .about`);
    place?.querySelector(".note")?.remove();
    if (!text) return;
    const found = document.createElement("p"), words = document.createElement("a");
    found.className = "message error note";
    if (address) words.href = address;
    words.textContent = text;
    found.append(words);
    place?.append(found);
  };

  const isOf = (id, told) => String(told?.id) === id && Number.isInteger(told.votes) && Number.isInteger(told.opposes);

  // The counts, or {error, status}; {} if the answer was lost twice, or was another's. A choice is a state: repeating
  // it does no harm.
  const ask = async (id, form, choice, tries = 2) => {
    const body = new URLSearchParams(new FormData(form)), headers = { Accept: "application/json" };
    body.set("choice", choice);
    try {
      const signal = AbortSignal.timeout(8000);
      const answer = await fetch(form.action, { method: "POST", headers, body, signal, keepalive: true });
      const { ok, status } = answer;
      const told = await answer.json().catch(() => {});
      if (ok ? isOf(id, told) : status !== 502 && status !== 504) return ok ? told : { status, ...told };
    } catch {}
    return tries > 1 ? ask(id, form, choice, tries - 1) : {};
  };

  const settle = async (id, form, state) => {
    let wish, answer;
    do {
      wish = state.wish;
      answer = await ask(id, form, wish);
      if (answer.choice) state.known = answer;
    } while (state.wish !== wish); // changed meanwhile: the latest wins
    pending.delete(id);
    settled.set(id, performance.now());
    show(id, state.known);
    const { error, status, address } = answer;
    const reason = answer.choice ? "" : error ?? texts[status] ?? texts[status ? "failed" : "lost"];
    note(id, reason, address);
    say(reason || answer.told);
  };

  const cast = (form, wish) => {
    const { votesOf: id, votes, opposes, choice } = form.closest("[data-votes-of]").dataset;
    const state = pending.get(id) ?? { known: { votes: Number(votes), opposes: Number(opposes), choice } };
    const { known } = state;
    state.wish = wish;
    note(id);
    const after = (count, name) => known[count] - (known.choice === name) + (wish === name);
    show(id, { votes: after("votes", "vote"), opposes: after("opposes", "oppose"), choice: wish });
    if (pending.has(id)) return;
    pending.set(id, state);
    settle(id, form, state);
  };

  const pressed = ({ target }) => target.closest?.("[data-votes-of] button");
  let last;
  document.addEventListener("click", (event) => {
    const button = pressed(event);
    const isDouble = event.detail > 1 && button === last;
    last = button;
    if (!button?.form.elements.csrfmiddlewaretoken) return;
    event.preventDefault();
    if (!isDouble) cast(button.form, button.value);
  });
  // A key held down is one press.
  document.addEventListener("keydown", (event) => event.repeat && pressed(event) && event.preventDefault());

  // What refresh.js heard, but for what was asked before a choice was answered.
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
        place.closest(".row")?.querySelector("h2 a").removeAttribute("href");
      }
    }
  });
})();
