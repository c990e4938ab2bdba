// Help while an article is posted: the title's length, whether the link is known, a filter for many groups.
// Without it the server says the same after the form is sent.
(() => {
  "use strict";

  const PAUSE = 300; // ms without a key, before the server is asked
  const NEAR = 30; // characters before the limit from which on the count is read aloud
  const FEW = 6; // groups that need no filter

  const output = (name, after) => {
    const found = document.createElement("output");
    found.className = `help ${name}`;
    after.after(found);
    return found;
  };

  // As articles/text.py counts: code points, without what cannot be seen, each space once.
  const UNSEEN = /\p{Co}|\p{Cc}|(?![\u200c\u200d\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2])\p{Cf}/gu;
  const lengthOf = (text) => {
    const seen = text.normalize("NFC").replace(/[\s\u2800\x1c-\x1f\x85]/g, " ").replace(UNSEEN, "");
    return [...seen.replace(/ +/g, " ").trim()].length;
  };

  const count = (title) => {
    const limit = title.maxLength;
    const shown = output("counter", title);
    title.removeAttribute("maxlength"); // which counts an emoji as two or more
    const renew = () => {
      const length = lengthOf(title.value);
      const text = title.dataset.counter.replace("{n}", length).replace("{limit}", limit);
      shown.setAttribute("aria-live", limit - length > NEAR ? "off" : "polite");
      shown.classList.toggle("over", length > limit);
      shown.textContent = text;
      title.setCustomValidity(length > limit ? text : "");
    };
    title.addEventListener("input", renew);
    renew();
  };

  const tellKnown = (link) => {
    const shown = output("known", link);
    let timer, latest;
    const ask = async () => {
      latest?.abort();
      const mine = (latest = new AbortController());
      try {
        const question = new URLSearchParams({ link: link.value });
        const answer = await fetch(`${link.dataset.known}?${question}`, { signal: mine.signal });
        const { told, address } = answer.ok ? await answer.json() : {};
        const found = document.createElement("a");
        Object.assign(found, { href: address, textContent: told });
        shown.replaceChildren(...(told ? [found] : []));
      } catch {} // the next key asks again, and posting tells
    };
    const later = () => {
      clearTimeout(timer);
      shown.replaceChildren();
      if (link.value.includes(".")) timer = setTimeout(ask, PAUSE);
    };
    link.addEventListener("input", later);
    later();
  };

  const filter = (choice, boxes) => {
    const label = document.createElement("label");
    const field = document.createElement("input");
    Object.assign(field, { type: "search", autocomplete: "off", id: `${choice.id}_filter` });
    Object.assign(label, { className: "typed", htmlFor: field.id, textContent: choice.dataset.filter });
    boxes.before(label, field);
    const told = output("found", field);
    const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
    const named = (item, words) => fold(`${item.textContent} ${item.querySelector("input").value}`).includes(words);
    const matching = () => [...boxes.children].filter((item) => named(item, fold(field.value)));
    const renew = () => {
      const found = new Set(matching());
      for (const item of boxes.children) item.hidden = !found.has(item) && !item.querySelector("input").checked;
      told.textContent = field.value && choice.dataset.found.replace("{n}", found.size);
    };
    field.addEventListener("input", renew);
    field.addEventListener("keydown", (event) => {
      if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
      event.preventDefault(); // Enter would send the form
      const [only, ...others] = matching();
      if (event.key === "Enter" && (!field.value || !only || others.length)) return;
      if (event.key === "Enter") only.querySelector("input").click();
      field.value = "";
      renew();
    });
  };

  for (const title of document.querySelectorAll("input[data-counter]")) count(title);
  for (const link of document.querySelectorAll("input[data-known]")) tellKnown(link);
  for (const choice of document.querySelectorAll("[data-filter]")) {
    const boxes = choice.querySelector(".boxes");
    if (boxes?.children.length > FEW) filter(choice, boxes);
  }
})();
