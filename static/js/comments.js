// Replies to comments without leaving the page: its form moves below the comment.
// Without this script, "Reply" leads to a page with the form.
(() => {
  "use strict";

  const form = document.querySelector("form.write");
  if (!form) return;
  const { text, parent, cancel } = form.elements, label = form.querySelector("label");
  const home = document.createElement("div"), { value } = parent, { textContent } = label;
  form.before(home);

  const move = (place, to, words) => {
    parent.value = to;
    label.textContent = words;
    cancel.hidden = place === home;
    place.after(form);
  };

  cancel.onclick = () => {
    const link = form.previousElementSibling.querySelector(".reply");
    move(home, value, textContent);
    link.focus();
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".reply");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    move(link.closest(".foot"), link.closest(".comment").id.slice(8), link.getAttribute("aria-label"));
    if (event.isTrusted) text.focus(); // not when drafts.js restores a reply
  });
})();
