// Notifications: asks the browser for a subscription when the member presses the button, and sends it with the form.
// The button is shown where the browser can, and is not on yet; without this script there is none.
(async () => {
  "use strict";

  const form = document.querySelector("[data-push]");
  if (!form || !("PushManager" in window) || !navigator.serviceWorker) return;
  const { push, on } = form.dataset, button = form.querySelector("button"), said = form.querySelector("[role]");
  const { pushManager } = await navigator.serviceWorker.ready;
  const former = await pushManager.getSubscription();
  if (former && on !== undefined) return;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    said.textContent = "";
    try {
      await former?.unsubscribe(); // that of another login or another key of the site
      const wanted = { userVisibleOnly: true, applicationServerKey: push };
      form.elements.subscription.value = JSON.stringify(await pushManager.subscribe(wanted));
      form.submit();
    } catch {
      said.textContent = form.querySelector("template").content.textContent;
      button.disabled = false;
    }
  });
})();
