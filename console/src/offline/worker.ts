// The service worker: a reload without a connection opens the console. It answers for the page and its files only, never for the API.
// The build replaces these three names. The version is a hash of the files, so each build has a cache of its own.
declare const VERSION: string;
declare const FILES: string[];
/** The pages of the office, which have addresses of their own. */
declare const OFFICE: string[];

type ExtendableEvent = Event & { waitUntil(work: Promise<unknown>): void };
type FetchEvent = Event & { request: Request; respondWith(response: Promise<Response>): void };

/** The part of ServiceWorkerGlobalScope that is used here. The types of the page do not contain it. */
type Scope = {
  addEventListener(name: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(name: 'fetch', listener: (event: FetchEvent) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  location: Location;
};

const scope = globalThis as unknown as Scope;

const PREFIX = 'crossdock-console-';
const CACHE = PREFIX + VERSION;
const PAGE = '/console';
/** A network that is slower counts as none, because the page in the cache can work. */
const PATIENCE_MS = 3_000;

scope.addEventListener('install', (event) => {
  event.waitUntil(install());
});

scope.addEventListener('activate', (event) => {
  event.waitUntil(deleteOthers().then(() => scope.clients.claim()));
});

scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== scope.location.origin) return;
  if (request.mode === 'navigate' && isPage(pathname)) event.respondWith(openPage(request));
  else if (FILES.includes(pathname)) event.respondWith(openFile(request, pathname));
});

function isPage(path: string): boolean {
  const [, , page = ''] = path.split('/');
  return path === PAGE || path === `${PAGE}/` || (path.startsWith(`${PAGE}/`) && OFFICE.includes(page));
}

/** All files or none: a page never meets files of another version. */
async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([PAGE, ...FILES]);
  await scope.skipWaiting();
}

async function deleteOthers(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The newest page if the service answers. The page of the login of a network, or of a proxy, counts as no answer. */
async function openPage(request: Request): Promise<Response> {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (response.ok && !response.redirected) return response;
    return (await cached(PAGE)) ?? response;
  } catch (error) {
    const page = await cached(PAGE);
    if (page) return page;
    throw error;
  }
}

/** The names of files contain a hash of their content, so the cache is always right. */
async function openFile(request: Request, path: string): Promise<Response> {
  return (await cached(path)) ?? fetch(request);
}

const cached = async (path: string) => (await caches.open(CACHE)).match(path);

export {};
