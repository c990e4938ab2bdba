// The worker of the browser for this site; parts of extras follow it. It keeps the last pages: when the site cannot be
// reached, a page that was opened is shown as it was, with a sentence that says so; for another page, there is a list of
// them.
//
// Pages come from the network as before. Those of one reader are dropped as soon as a page for another one arrives, as
// after a login or a logout. Only pages that have the sentence are kept: not the inbox, the settings or forms.
"use strict";

const MOST = 20, LOGOUT = "/logout/", PLACE = "<!--kept-page-->";
const READER = /^<!doctype html>\s*<html[^>]* data-reader="(\d+)"/i, SENTENCE = / data-offline="([^"]*)"/;
const LISTED = / data-kept="([^"]*)"/, TITLE = /<title>([^<]*)<\/title>/, REST = /<!--kept-page-->[^]*(?=<\/main>)/;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(Promise.all([registration.navigationPreload?.enable(), clients.claim()])));

// One change of what is kept at a time. Pages arrive in another order than they were asked for: a former reader's page
// must not be kept after the next one's.
let asked = 0, known = 0, last = Promise.resolve();
const inTurn = (work) => (last = last.then(work, work));
const dropAllBut = async (name) => {
  for (const other of await caches.keys()) if (other !== name) await caches.delete(other);
};
const keep = async (url, turn, response) => {
  const at = new Date().toISOString(), text = await response.text(), reader = READER.exec(text)?.[1];
  if (reader) await inTurn(async () => {
    if (turn < known) return;
    known = turn;
    const name = `pages of ${reader}`, headers = new Headers(response.headers);
    await dropAllBut(name);
    if (response.status !== 200 || !SENTENCE.test(text)) return;
    for (const other of ["Content-Encoding", "Content-Length", "Vary"]) headers.delete(other);
    headers.set("Date", at);
    const pages = await caches.open(name);
    await pages.delete(url);
    await pages.put(url, new Response(text, { headers }));
    for (const old of (await pages.keys()).slice(0, -MOST)) await pages.delete(old);
  });
};

const kept = async (url) => {
  const page = await caches.match(url);
  if (!page) return null;
  const text = await page.text(), at = page.headers.get("Date");
  const sentence = SENTENCE.exec(text)?.[1].replace("{when}", () => `<time datetime="${at}">${at}</time>`);
  const note = `<p class="message warning" role="status">${sentence}</p>`;
  return new Response(text.replace(PLACE, () => note), { headers: page.headers });
};

// A page that was never opened: the frame of one that was, around the list of those that are kept.
const contents = async () => {
  const names = await caches.keys(), pages = names.length ? await caches.open(names[0]) : null, found = [];
  let frame = "";
  for (const { url } of (await pages?.keys()) ?? []) {
    frame = await (await pages.match(url)).text();
    found.push(`<li><a href="${url}">${TITLE.exec(frame)?.[1]}</a></li>`);
  }
  const heading = LISTED.exec(frame)?.[1], list = `<h1>${heading}</h1><ul>${found.reverse().join("")}</ul>`;
  const html = frame.replace(TITLE, `<title>${heading}</title>`).replace(REST, () => list);
  return heading ? new Response(html, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } }) : null;
};

const open = async (event) => {
  const { request } = event, turn = ++asked;
  try {
    const response = (await event.preloadResponse) ?? (await fetch(request));
    const isPage = response.headers.get("Content-Type")?.startsWith("text/html") && response.status < 500;
    if (isPage) event.waitUntil(keep(request.url, turn, response.clone()));
    return response;
  } catch (error) {
    const page = (await kept(request.url)) ?? (await contents());
    if (page) return page;
    throw error;
  }
};

addEventListener("fetch", (event) => {
  const { mode, method, url } = event.request;
  if (mode !== "navigate") return;
  if (method === "GET") event.respondWith(open(event));
  else if (new URL(url).pathname === LOGOUT) {
    known = ++asked;
    event.waitUntil(inTurn(() => dropAllBut("")));
  }
});
