// A part of static/js/worker.js. It shows notifications, which sending.py writes, and ends them with the login.

// Of a login that ends: what it shows, and what is still on its way.
const endNotifications = async () => {
  for (const one of await registration.getNotifications()) one.close();
  await (await registration.pushManager?.getSubscription())?.unsubscribe();
};

addEventListener("fetch", (event) => {
  const { mode, method, url } = event.request;
  if (mode === "navigate" && method !== "GET" && new URL(url).pathname === LOGOUT) event.waitUntil(endNotifications());
});

addEventListener("push", (event) => {
  const { title, ...options } = event.data?.json() ?? {};
  if (title) event.waitUntil(registration.showNotification(title, options));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clients.openWindow(event.notification.data));
});
