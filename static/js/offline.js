// Starts the worker, which keeps the last pages for when the site cannot be reached, and shows notifications.
"use strict";

addEventListener("load", () => navigator.serviceWorker?.register("/worker.js", { updateViaCache: "all" }).catch(() => {}));
