// Renews results as a form changes: such as the search. Without this script, the form is submitted.
(() => {
  "use strict";

  const form = document.querySelector("[data-renews]");
  if (!form) return;
  const PAUSE = 200, HEARD = 3000, LATE = 8000; // ms; an announcement is cleared after HEARD
  const find = (id, page = document) => page.getElementById(id);
  const all = (selector, page = document) => [...page.querySelectorAll(selector)];
  const parts = form.dataset.renews.split(" "), told = find("told"), failed = find("failed");
  let timer, latest, hushing;

  // Keeps the focus, and a reason that is being typed.
  const replace = (id, page) => {
    const former = find(id), fresh = find(id, page), controls = "a, button, input, summary";
    const place = all(`#${id} :is(${controls})`).indexOf(document.activeElement);
    const typed = former.querySelector("[name=reason]");
    if (typed) fresh.querySelector("[name=reason]")?.replaceWith(typed);
    former.replaceWith(fresh);
    if (place >= 0) (all(`#${id} :is(${controls})`)[place] ?? form.elements[0]).focus({ preventScroll: true });
  };

  // Updates the address, and the forms and links that return to it.
  const arrive = (address) => {
    history.replaceState(null, "", address);
    const next = location.pathname + location.search;
    for (const field of all("[name=next]")) field.value = field.value.replace(/^[^#]*/, next);
    for (const link of all(".account [href*='?next=']")) link.search = new URLSearchParams({ next });
  };

  const show = (page) => {
    for (const id of parts) replace(id, page);
    document.title = page.title;
    for (const link of all("[rel=alternate]")) link.remove();
    document.head.append(...all("[rel=alternate]", page));
    const { told: text } = find(parts[0]).dataset;
    told.textContent = "";
    setTimeout(() => (told.textContent = text), 50);
    clearTimeout(hushing);
    hushing = setTimeout(() => (told.textContent = ""), HEARD);
  };

  const renew = async () => {
    latest?.abort();
    const mine = (latest = new AbortController()), { signal } = mine;
    const given = [...new FormData(form)].filter(([name, value]) => value.trim() || form[name].required);
    let address = `${form.action}?${new URLSearchParams(given)}`;
    find(parts[0]).ariaBusy = true;
    setTimeout(() => mine.abort(), LATE);
    let page;
    try {
      const answer = await fetch(address, { signal });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok || !find(parts[0], page) || (answer.redirected && !failed)) throw answer;
      address = answer.url;
    } catch {
      if (mine !== latest) return; // a newer request replaces this one
      if (!failed) return form.submit();
      page = 0;
      find(parts[0]).replaceChildren();
      find(parts[0]).ariaBusy = null;
    }
    if (mine !== latest) return;
    if (failed) failed.hidden = !!page;
    if (page) show(page);
    arrive(address);
  };

  for (const kind of form.dataset.on.split(" ")) {
    form.addEventListener(kind, (event) => {
      if (event.isComposing || event.target.name === "half_life") return; // during input of Chinese; the server fills another field
      clearTimeout(timer);
      timer = setTimeout(renew, PAUSE);
    });
  }
  form.addEventListener("submit", () => {
    clearTimeout(timer);
    latest?.abort();
    latest = 0;
  });
})();
