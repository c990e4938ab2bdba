// Reports views the server cannot see: a click on an article's link, or a page that was prefetched or prerendered.
(() => {
  "use strict";

  const send = (id) => {
    const view = new Blob([JSON.stringify({ articleId: Number(id) })], { type: "application/json" });
    navigator.sendBeacon?.("/api/views", view);
  };

  const follow = ({ target, button }) => {
    const link = button < 2 && target.closest?.("[data-article][href]");
    if (link) send(link.dataset.article);
  };
  addEventListener("click", follow);
  addEventListener("auxclick", follow);

  const shown = document.querySelector("[data-viewed-article]");
  const sendShown = () => send(shown.dataset.viewedArticle);
  const loading = performance.getEntriesByType("navigation")[0];
  if (shown && document.prerendering) document.addEventListener("prerenderingchange", sendShown, { once: true });
  else if (shown && (loading?.activationStart || loading?.deliveryType)) sendShown();
})();
