// Keeps the files of the page, so that it opens without the server. Data of people is never kept.

const CACHE = "omoide-page";

async function keep() {
  const files = await (await fetch("/page/files.json", { cache: "no-store" })).json();
  const cache = await caches.open(CACHE);
  await cache.addAll(files);
}

/** The newest file from the server; the kept one if there is no answer. */
async function fresh(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("install", (event) => {
  // Requests for data do not pass through here, so that one sent while the page closes still arrives.
  event.addRoutes?.({ condition: { urlPattern: new URLPattern({ pathname: "/api/*" }) }, source: "network" });
  event.waitUntil(keep().then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (pathname === "/" || pathname.startsWith("/page/")) event.respondWith(fresh(event.request));
});
