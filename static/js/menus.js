// Closes an open menu when the reader presses Escape, follows a link, or clicks or moves the focus elsewhere. Shows the
// name of a button below the mouse: a picture has no words. Shows a password on demand.
(() => {
  "use strict";

  const open = () => document.querySelector(".drop[open]");
  const leave = ({ type, target }) => {
    const menu = open();
    if (menu && (!menu.contains(target) || (type === "click" && target.closest("a")))) menu.open = false;
  };

  document.addEventListener("click", leave);
  document.addEventListener("focusin", leave);
  document.addEventListener("keydown", ({ key }) => {
    const menu = key === "Escape" && open();
    if (!menu) return;
    menu.open = false;
    menu.firstElementChild.focus();
  });

  document.addEventListener("mouseover", ({ target }) => {
    const button = target.closest(":is(button, summary)[aria-label]");
    if (button) button.title = button.ariaLabel;
  });

  const show = (button, isShown) => {
    const [word, other] = button.children;
    button.previousElementSibling.type = isShown ? "text" : "password";
    word.hidden = isShown;
    other.hidden = !isShown;
  };
  document.addEventListener("click", ({ target }) => {
    const button = target.closest(".secret button");
    if (button) show(button, button.previousElementSibling.type === "password");
  });
  // Browsers take a text that is shown for no password, and keep it for other forms.
  document.addEventListener("submit", ({ target }) => {
    for (const button of target.querySelectorAll(".secret button")) show(button, false);
  });
})();
