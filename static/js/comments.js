// Replies to comments without leaving the page: its form moves below the comment.
// Without this script, "Reply" leads to a page with the form.
(() => {
  "use strict";

  const write = document.querySelector(".write"), form = write?.querySelector("form");
  if (!form) return;
  const { text, parent, cancel } = form.elements, names = write.querySelectorAll("summary, label");
  const home = document.createElement("div"), { value } = parent, { textContent } = names[0];
  write.before(home);

  const move = (place, to, words) => {
    parent.value = to;
    for (const name of names) name.textContent = words;
    cancel.hidden = place === home;
    place.after(write);
    write.open = place !== home || !!text.value;
  };

  cancel.onclick = () => {
    const link = write.previousElementSibling.querySelector(".reply");
    move(home, value, textContent);
    link.focus();
  };
  names[0].onclick = () => write.open || setTimeout(() => text.focus());

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".reply");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    move(link.closest(".foot"), link.closest(".comment").id.slice(8), link.getAttribute("aria-label"));
    if (event.isTrusted) text.focus(); // not when drafts.js restores a reply
  });
})();
