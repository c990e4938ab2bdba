// Help in forms: a character counter, a hint on known links, a filter for groups, buttons that copy and share.
// Without this script, the server checks the same after the form is submitted.
(() => {
  "use strict";

  const all = (selector) => document.querySelectorAll(selector);
  const grouped = (number) => Number(number).toLocaleString(document.documentElement.lang);
  const parsed = (html) => new DOMParser().parseFromString(html ?? "", "text/html").body;
  const output = (name, field) => {
    const el = document.createElement("output");
    el.className = `help ${name}`;
    field.after(el);
    return el;
  };

  // Cleans a line as articles/text/lines.py does, with its steps.
  const clean = (text, steps) => {
    const after = steps.reduce((line, [pattern, by]) => line.replace(RegExp(pattern, "gu"), by), text.normalize("NFC"));
    return after === text ? text : clean(after, steps);
  };

  for (const line of all("[data-counter]")) {
    const { counter, limit, unread, steps } = line.dataset, shown = output("counter", line);
    line.oninput = () => {
      const raw = [...line.value];
      const length = raw.length > unread ? raw.length : [...clean(line.value, JSON.parse(steps))].length;
      shown.textContent = counter.replace("{n}", grouped(length)).replace("{limit}", grouped(limit));
      shown.ariaLive = limit - length > 30 ? "off" : "polite"; // announced only near the limit
      shown.classList.toggle("over", length > limit);
      line.setCustomValidity(length > limit ? shown.textContent : "");
    };
    line.oninput();
  }

  // The code for the first administrator is behind the `#` of an address, which browsers do not send.
  const code = document.querySelector("input[name=code]");
  if (code && /^#[A-Z2-7-]{24,}$/.test(location.hash)) {
    code.value = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);
    document.querySelector("input[name=username]").focus();
  }

  for (const button of all("[data-copied]")) {
    button.hidden = !navigator.clipboard;
    button.onclick = async () => {
      await navigator.clipboard.writeText(button.value);
      button.textContent = button.dataset.copied;
    };
  }

  for (const button of all("[data-shared]")) {
    button.hidden = !navigator.share;
    button.onclick = () => navigator.share({ url: button.value }).catch(() => {}); // cancelled
  }

  for (const link of all("[data-known]")) {
    const shown = document.querySelector(".known") ?? output("known", link);
    let timer;
    const ask = async () => {
      const sent = link.value;
      const answer = await fetch(link.dataset.known + encodeURIComponent(sent));
      const { html } = await answer.json();
      if (sent !== link.value) return;
      shown.replaceChildren(...parsed(html).childNodes);
    };
    link.oninput = () => {
      clearTimeout(timer);
      shown.replaceChildren();
      if (link.value) timer = setTimeout(() => ask().catch(() => {}), 300); // posting shows it anyway
    };
    if (!shown.childElementCount) link.oninput();
  }

  // Suggests a title after each comma, not only for the first.
  for (const field of all("[list]")) {
    const options = [...field.list.options], titles = options.map(({ value }) => value);
    field.oninput = () => {
      const [before] = field.value.match(/^.*[,;，、；] */) ?? [""];
      options.forEach((option, place) => (option.value = before + titles[place]));
    };
  }

  for (const choice of all("[data-filter]")) {
    const boxes = choice.querySelector(".boxes"), items = [...boxes.children];
    const label = document.createElement("label"), field = document.createElement("input");
    Object.assign(field, { type: "search", autocomplete: "off", id: `${choice.id}_filter` });
    Object.assign(label, { className: "typed", htmlFor: field.id, textContent: choice.dataset.filter });
    boxes.before(label, field);
    const out = output("found", field), box = (item) => item.querySelector("input");
    const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
    let found;
    field.oninput = () => {
      found = items.filter((item) => fold(`${item.textContent} ${box(item).value}`).includes(fold(field.value)));
      for (const item of items) item.hidden = !found.includes(item) && !box(item).checked;
      out.textContent = field.value && choice.dataset.found.replace("{n}", grouped(found.length));
    };
    field.onkeydown = (event) => {
      const isEnter = event.key === "Enter";
      if (event.isComposing || (!isEnter && event.key !== "Escape")) return;
      event.preventDefault(); // Enter would submit the form
      if (isEnter && (!field.value || found.length !== 1)) return;
      if (isEnter) box(found[0]).click();
      field.value = "";
      field.oninput();
    };
  }
})();
