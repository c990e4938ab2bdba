// Results that follow what is typed. Without it the form is sent as it is.
(() => {
  "use strict";

  const form = document.getElementById("search");
  const told = document.getElementById("told");
  if (!form) return;
  const HEARD = 3000; // ms after which what was said aloud is not in the page a second time
  let timer, latest, hushing;

  const renew = async () => {
    latest?.abort();
    const mine = (latest = new AbortController());
    const given = [...new FormData(form)].filter(([, value]) => value.trim());
    const address = `${form.action}?${new URLSearchParams(given)}`;
    document.getElementById("found").setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address, { signal: mine.signal });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = fresh.getElementById("found");
      if (!answer.ok || !found) throw new Error(answer.statusText);
      document.getElementById("found").replaceWith(found);
      document.title = fresh.title;
      history.replaceState(null, "", address);
      told.textContent = found.dataset.told;
      clearTimeout(hushing);
      hushing = setTimeout(() => (told.textContent = ""), HEARD);
    } catch (error) {
      if (error.name !== "AbortError") document.getElementById("found").removeAttribute("aria-busy");
    }
  };

  const soon = (event) => {
    if (event.isComposing) return; // Chinese is still being chosen
    clearTimeout(timer);
    timer = setTimeout(renew, 200);
  };
  for (const kind of ["input", "compositionend"]) form.addEventListener(kind, soon);
  form.addEventListener("submit", () => {
    clearTimeout(timer);
    latest?.abort();
  });
})();
