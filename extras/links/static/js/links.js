// Proposes the title of a link while a member types it. Without this script, a button does. What was typed stays.
(() => {
  "use strict";

  for (const link of document.querySelectorAll("[data-titles]")) {
    const { form } = link, { csrfmiddlewaretoken: token, title } = form.elements;
    const EVERY_MS = 500, MOST_TRIES = 24;
    const shown = form.querySelector(".link-info");
    let timer, asked = "", proposed = "";

    const fill = (field, value) => {
      field.value = value;
      const fold = field.closest("details");
      if (fold) fold.open = true;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };

    const show = (html) => {
      const { body } = new DOMParser().parseFromString(html ?? "", "text/html");
      for (const use of body.querySelectorAll("[data-value]")) {
        const line = use.closest("[data-of]"), field = form.elements[line.dataset.of];
        use.hidden = false;
        if (field.value === use.dataset.value) line.remove();
        use.onclick = () => {
          fill(field, use.dataset.value);
          line.remove();
          field.focus();
        };
      }
      body.querySelector("[data-without-script]")?.remove();
      shown.replaceChildren(...body.childNodes);
    };

    const ask = async (tries) => {
      const sent = link.value, body = new URLSearchParams({ link: sent, csrfmiddlewaretoken: token.value });
      const answer = await fetch(link.dataset.titles, { method: "POST", body });
      const { state, title: found, html, error } = await answer.json();
      if (sent !== link.value) return;
      if (state === "fetching" && tries) timer = setTimeout(() => ask(tries - 1).catch(() => {}), EVERY_MS);
      if (found && (!title.value || title.value === proposed)) {
        proposed = found;
        fill(title, found);
      }
      show(html);
      if (answer.status === 429) shown.textContent = error;
    };

    // What is typed letter by letter is asked for once it is complete, when the member leaves the field.
    const clear = () => {
      clearTimeout(timer);
      shown.textContent = asked = "";
    };
    const begin = () => {
      if (link.value === asked) return;
      clear();
      asked = link.value;
      if (/^https?:\/\/[^/]+\.[^/]+/i.test(asked)) ask(MOST_TRIES).catch(() => {});
    };
    link.addEventListener("input", ({ inputType }) => (/^(insertText|delete)/.test(inputType) ? clear : begin)());
    link.addEventListener("change", begin);
    begin();
  }
})();
