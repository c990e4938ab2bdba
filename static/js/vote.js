// Votes without leaving the page: shown at once, then as the server answers, or taken back with the reason.
// Without it, and for readers without account, the forms are sent as they are.
(() => {
  "use strict";

  const PATIENCE = 8000; // ms, then an answer counts as lost
  const live = document.getElementById("live");
  const texts = live.dataset;
  const pending = new Map(); // article → what the server said last, and the choice wished for
  const settled = new Map(); // article → when its last choice was answered

  const say = (text) => {
    live.textContent = "";
    setTimeout(() => (live.textContent = text), 50);
  };

  const places = (id) => document.querySelectorAll(`[data-votes-of="${id}"]`);
  const titleOf = (id) => document.querySelector(`a[data-article="${id}"]`)?.textContent ?? "";
  const grouped = (number) => number.toLocaleString(document.documentElement.lang);

  const showButton = (button, id, choice) => {
    const name = button.classList.contains("vote") ? "vote" : "oppose";
    const own = name === choice;
    button.value = own ? "none" : name;
    button.setAttribute("aria-pressed", own);
    const label = texts[own ? `un${name}` : name];
    if (label) button.setAttribute("aria-label", label.replace("{title}", () => titleOf(id)));
  };

  // `points` and `numbers` are the server's words; until it answers they are made here, or left.
  const show = (id, { votes, opposes, choice, points = grouped(votes - opposes), numbers }) => {
    for (const place of places(id)) {
      Object.assign(place.dataset, { votes, opposes, choice });
      const sum = place.querySelector(".points");
      const text = document.createTreeWalker(sum, NodeFilter.SHOW_TEXT);
      while (text.nextNode() && !/\d/.test(text.currentNode.data));
      text.currentNode.data = points;
      if (numbers) sum.title = numbers;
      for (const button of place.querySelectorAll("button")) showButton(button, id, choice);
    }
    const shown = { votes: grouped(votes), opposes: grouped(opposes), points };
    for (const part of document.querySelectorAll(`#article-${id} [data-count]`)) {
      part.querySelector("dd").textContent = shown[part.dataset.count] ?? part.dataset[choice];
    }
  };

  const hush = (id) => document.querySelectorAll(`[data-note-of="${id}"]`).forEach((note) => note.remove());

  const note = (id, text, address) => {
    hush(id);
    const found = document.createElement("p");
    found.className = "message error note";
    found.dataset.noteOf = id;
    const words = address ? document.createElement("a") : found;
    if (address) words.href = address;
    words.textContent = text;
    if (address) found.append(words);
    places(id)[0]?.closest(".row, .article")?.querySelector(".about")?.append(found);
  };

  // The counts, or {error, status}; {} if the answer was lost twice. A choice is a state: asking again does no harm.
  const ask = async (form, choice) => {
    const body = new URLSearchParams(new FormData(form));
    body.set("choice", choice);
    const headers = { Accept: "application/json" };
    for (let tries = 0; tries < 2; tries++) {
      try {
        const signal = AbortSignal.timeout(PATIENCE);
        const answer = await fetch(form.action, { method: "POST", headers, body, signal, keepalive: true });
        if (answer.ok) return await answer.json();
        if (answer.status === 502 || answer.status === 504) continue;
        return { status: answer.status, ...(await answer.json().catch(() => ({}))) };
      } catch {} // lost on the way there or back
    }
    return {};
  };

  const reason = ({ error, status }) => {
    const known = { 403: texts.stale, 429: texts.busy, 503: texts.away };
    return error ?? known[status] ?? (status ? texts.failed : texts.lost);
  };

  const settle = async (id, form) => {
    const state = pending.get(id);
    let wish, answer;
    do {
      wish = state.wish;
      answer = await ask(form, wish);
      if (answer.choice) state.known = answer;
    } while (state.wish !== wish); // it was changed meanwhile: the latest wins
    pending.delete(id);
    settled.set(id, performance.now());
    show(id, state.known);
    if (!answer.choice) note(id, reason(answer), answer.address);
    say(answer.told ?? reason(answer));
  };

  const cast = (form, wish) => {
    const place = form.closest("[data-votes-of]");
    const { votesOf: id, votes, opposes, choice } = place.dataset;
    const isFirst = !pending.has(id);
    const numbers = place.querySelector(".points").title;
    if (isFirst) pending.set(id, { known: { votes: Number(votes), opposes: Number(opposes), choice, numbers } });
    const state = pending.get(id), { known } = state;
    state.wish = wish;
    hush(id);
    show(id, {
      votes: known.votes - (known.choice === "vote") + (wish === "vote"),
      opposes: known.opposes - (known.choice === "oppose") + (wish === "oppose"),
      choice: wish,
    });
    if (isFirst) settle(id, form);
  };

  let lastPressed;
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-votes-of] button");
    const isDouble = event.detail > 1 && button === lastPressed;
    lastPressed = button;
    if (!button?.form?.elements.csrfmiddlewaretoken) return;
    event.preventDefault();
    if (!isDouble) cast(button.form, button.value);
  });
  // A key held down is one press.
  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.target.closest?.("[data-votes-of] button")) event.preventDefault();
  });

  const showEnd = (id, { removed, closed }) => {
    for (const place of places(id)) {
      const row = place.closest(".row");
      if (place.contains(document.activeElement)) continue;
      place.querySelector(".points").classList.toggle("closed", Boolean(removed || closed));
      for (const button of place.querySelectorAll("button")) button.hidden = Boolean(removed || closed);
      if (!removed || !row || row.classList.contains("gone")) continue;
      row.classList.add("gone");
      row.querySelector("a[data-article]")?.removeAttribute("href");
      note(id, removed);
    }
  };

  // What refresh.js has heard, but for what was asked before a choice was answered.
  document.addEventListener("counts", ({ detail: { articles, asked } }) => {
    for (const article of articles) {
      const id = String(article.id);
      if (pending.has(id) || settled.get(id) > asked) continue;
      show(id, article);
      showEnd(id, article);
    }
  });
})();
