// Keeps the counts and the order of an open page fresh by one small request, and tells of new articles.
// Without it a page stays as it was loaded.
(() => {
  "use strict";

  const SOON = 30_000, LATE = 300_000, LATEST = 600_000, PAUSE = 10_000, PATIENCE = 8000; // ms
  const AT_MOST = 100; // articles in one question
  const list = document.querySelector(".rows[data-order]");
  const ids = new Set([...document.querySelectorAll("[data-votes-of]")].map((place) => place.dataset.votesOf));
  if (!ids.size) return;

  const question = new URLSearchParams({ ids: [...ids].slice(0, AT_MOST).join() });
  for (const name of ["order", "groups", "since"]) if (list?.dataset[name]) question.set(name, list.dataset[name]);
  const news = document.createElement("div");
  news.className = "news";
  news.setAttribute("role", "status");
  if (list?.dataset.since) list.before(news);

  const tellNews = (text) => {
    const link = news.querySelector("a") ?? document.createElement("a");
    if (!text || link.textContent === text) return;
    link.className = "button";
    link.href = list.dataset.newest;
    link.textContent = text;
    news.append(link);
  };

  // Whether the reader is at the list: then nothing in it moves.
  const isRead = () => {
    const marked = getSelection();
    return (
      list.matches(":hover, :focus-within") ||
      list.getBoundingClientRect().top < 0 ||
      (!marked.isCollapsed && list.contains(marked.anchorNode))
    );
  };

  const reorder = (articles) => {
    const rows = [...list.children];
    const wanted = articles.map(({ id }) => document.getElementById(`article-${id}`)).filter((row) => rows.includes(row));
    const next = [...wanted, ...rows.filter((row) => !wanted.includes(row))];
    if (next.every((row, place) => row === rows[place]) || isRead()) return;
    const ranks = rows.map((row) => row.querySelector(".rank")?.textContent);
    const before = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
    list.append(...next);
    next.forEach((row, place) => {
      const rank = row.querySelector(".rank");
      if (rank) rank.textContent = ranks[place];
    });
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const [row, top] of before) {
      const way = top - row.getBoundingClientRect().top;
      if (way) row.animate([{ transform: `translateY(${way}px)` }, { transform: "none" }], { duration: 300, easing: "ease" });
    }
  };

  const showViews = ({ id, ...texts }) => {
    for (const name of ["views", "visitors"]) {
      const part = document.querySelector(`#article-${id} .${name}`);
      if (part && texts[name]) part.textContent = texts[name];
    }
  };

  const follow = (found, asked) => {
    document.dispatchEvent(new CustomEvent("counts", { detail: { articles: found.articles, asked } }));
    found.articles.forEach(showViews);
    if (list) reorder(found.articles);
    if (list?.dataset.since) tellNews(found.new);
  };

  let wait = SOON, lookedAt = Date.now(), heard = "", timer, isAsking;
  const plan = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(look, wait);
  };
  const look = async () => {
    if (isAsking) return;
    isAsking = true;
    const asked = performance.now();
    lookedAt = Date.now();
    try {
      const answer = await fetch(`/pulse/?${question}`, { signal: AbortSignal.timeout(PATIENCE) });
      if (!answer.ok) throw new Error(answer.statusText);
      const text = await answer.text();
      wait = text === heard ? Math.min(wait * 1.5, LATE) : SOON;
      heard = text;
      follow(JSON.parse(text), asked);
    } catch {
      wait = Math.min(wait * 2, LATEST);
    }
    isAsking = false;
    plan();
  };
  const comeBack = () => {
    wait = SOON;
    if (Date.now() - lookedAt > PAUSE) look();
    else plan();
  };

  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : comeBack()));
  addEventListener("pageshow", (event) => event.persisted && look());
  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") look();
  else plan();
})();
