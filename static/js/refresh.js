// Refreshes the counts and the order of an open page by one small request, and announces new articles. Starts the worker,
// which keeps the last pages for when the site cannot be reached, and shows notifications. Loads the styles of the next page.
// Without this script, a page stays as it was loaded.
(() => {
  "use strict";

  addEventListener("load", () => navigator.serviceWorker?.register("/worker.js", { updateViaCache: "all" }).catch(() => {}));

  // Articles have more styles than lists. Loaded once the reader uses the list, they do not delay the article.
  const { next } = document.querySelector("link[rel=stylesheet]").dataset;
  for (const use of next ? ["pointermove", "pointerdown", "keydown"] : []) {
    addEventListener(use, () => fetch(next).catch(() => {}), { once: true });
  }

  const SOON = 30_000, LATE = 300_000, PAUSE = 10_000; // ms
  const list = document.querySelector(".rows[data-pulse]");
  if (!document.querySelector("[data-votes-of], #found")) return;

  // The page that hides more leads back to the place in the list. A browser may keep nothing.
  try {
    if (/\/hide\/$/.test(document.referrer)) scrollTo(0, sessionStorage.place);
  } catch {}
  addEventListener("pagehide", () => {
    try {
      sessionStorage.place = scrollY;
    } catch {}
  });

  const idsShown = () => {
    const places = [...document.querySelectorAll("[data-votes-of]")];
    const ids = places.map((place) => place.dataset.votesOf).filter((id) => !isNaN(id)); // not of comments
    return [...new Set(ids)].slice(0, 100);
  };

  const news = document.createElement("div"), link = document.createElement("a");
  news.className = "news";
  news.role = "status";
  link.className = "button";
  if (list?.dataset.newest) list.before(news);

  const showNews = (text) => {
    if (!text || link.textContent === text) return;
    link.href = list.dataset.newest;
    link.textContent = text;
    if (!link.isConnected) news.append(link); // moving it would lose the focus
  };

  // Rows do not move where the reader points, selects or has scrolled to.
  const isRead = () => {
    const { isCollapsed, anchorNode } = getSelection();
    const isMarked = !isCollapsed && list.contains(anchorNode);
    return isMarked || list.matches(":hover, :focus-within") || list.getBoundingClientRect().top < 0;
  };

  const reorder = (articles) => {
    const rows = [...list.children];
    const next = articles.map(({ id }) => rows.find((row) => row.id === `article-${id}`)).filter(Boolean);
    next.push(...rows.filter((row) => !next.includes(row)));
    if (next.every((row, place) => row === rows[place]) || isRead()) return;
    const ranks = () => [...list.querySelectorAll(".rank")], texts = ranks().map((rank) => rank.textContent);
    const tops = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
    list.append(...next);
    ranks().forEach((rank, place) => (rank.textContent = texts[place]));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const [row, top] of tops) {
      const way = top - row.getBoundingClientRect().top;
      if (way) row.animate([{ transform: `translateY(${way}px)` }, {}], { duration: 300, easing: "ease" });
    }
  };

  const follow = ({ articles, new: text }, asked) => {
    document.dispatchEvent(new CustomEvent("counts", { detail: { articles, asked } }));
    for (const article of articles) {
      const at = `#article-${article.id}`;
      document.querySelector(at)?.classList.toggle("read", !!article.read);
      for (const part of document.querySelectorAll(`${at} :is(.visitors, .comments, .unread)`)) {
        part.textContent = article[part.className] ?? part.textContent;
      }
    }
    if (!list) return;
    reorder(articles);
    showNews(text);
  };

  let wait = SOON, lookedAt = Date.now(), last, timer, isAsking;
  const plan = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(look, wait);
  };
  const look = async () => {
    if (isAsking) return;
    const ids = idsShown();
    if (!ids.length) return plan(); // no search results yet
    isAsking = true;
    lookedAt = Date.now();
    const asked = performance.now();
    try {
      const answer = await fetch(`/pulse/?ids=${ids}&${list?.dataset.pulse ?? ""}`, { signal: AbortSignal.timeout(8000) });
      const text = await answer.text();
      if (!answer.ok) throw answer;
      follow(JSON.parse(text), asked);
      wait = text === last ? Math.min(wait * 1.5, LATE) : SOON;
      last = text;
    } catch {
      wait = Math.min(wait * 2, 2 * LATE);
    }
    isAsking = false;
    plan();
  };

  document.addEventListener("visibilitychange", () => {
    wait = SOON;
    if (!document.hidden && Date.now() - lookedAt > PAUSE) look();
    else plan();
  });
  addEventListener("pageshow", (event) => event.persisted && look());
  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") look();
  else plan();
})();
