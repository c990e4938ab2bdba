// A preview of a text while the member types it. Without this script, a button shows it.
(() => {
  "use strict";

  const text = document.querySelector("[data-preview]"), shown = document.querySelector(".preview");
  if (!text || !shown) return;
  const { preview, csrfmiddlewaretoken: token } = text.form.elements;
  let timer;
  const draw = async () => {
    const sent = text.value, body = new URLSearchParams({ text: sent, csrfmiddlewaretoken: token.value });
    const answer = await fetch(text.dataset.preview, { method: "POST", body });
    const { html } = await answer.json();
    if (sent !== text.value) return;
    const { body: drawn } = new DOMParser().parseFromString(html ?? "", "text/html");
    shown.querySelector(".text").replaceChildren(...drawn.childNodes);
    shown.hidden = !html;
  };
  preview.hidden = true;
  document.querySelector(".markdown")?.after(shown);
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => draw().catch(() => {}), 300); // the next letter tries again
  });
})();
