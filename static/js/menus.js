// Closes an open menu when the reader presses Escape, follows a link, or clicks or moves the focus elsewhere.
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
})();
