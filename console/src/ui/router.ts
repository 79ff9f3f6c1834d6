import { computed, signal } from '@preact/signals';

// Two kinds of addresses. The station and the couriers' pages: `/console#/manifests/<id>`. The office: `/console/customers/<code>?page=2`,
// where the query has what a list shows. Lists of couriers have it behind the hash: `/console#/parcels/<house number>?page=2`. Addresses
// contain no secrets and no scans (decision 0121).

const ROOT = '/console';

const read = () => ({ path: location.pathname, search: location.search, hash: location.hash });

const address = signal(read());

/** Reads the address again. A page of the station has no address of the office in front of it. */
function update(): void {
  if (isStationHash(location.hash) && location.pathname !== ROOT)
    history.replaceState(null, '', ROOT + location.hash);
  address.value = read();
}

const isStationHash = (hash: string) => hash.startsWith('#/');

type Ask = (leave: () => void) => void;

let ask: Ask | undefined;

/** Sets the question before another address opens, which may call `leave` later. Undefined ends it. */
export function askBeforeLeaving(question: Ask | undefined): void {
  ask = question;
}

/** The browser has gone to another address: back, forward, or to another page behind the hash. */
function onMove(): void {
  const { path, search, hash } = address.peek();
  const isSame = location.pathname === path && location.search === search && location.hash === hash;
  if (!ask || isSame) {
    update();
    return;
  }
  // The page stays, with its address as a new entry, so that one step back leads where the person wanted to go.
  history.pushState(null, '', path + search + hash);
  ask(() => history.back());
}

window.addEventListener('hashchange', onMove);
window.addEventListener('popstate', onMove);
update();

/** `#/manifests/<id>` is the page `manifests` with the argument `<id>`. A list has more in a query behind it. */
export const route = computed(() => {
  const [path = '', search = ''] = address.value.hash.split('?');
  const [, page = '', argument] = path.split('/').map(decode);
  return { page, argument: argument || undefined, query: new URLSearchParams(search) };
});

export function linkTo(page: string, argument?: string, query: Query = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${page}${argument ? `/${encodeURIComponent(argument)}` : ''}${search && `?${search}`}`;
}

export function goTo(page: string, argument?: string): void {
  if (location.pathname === ROOT) location.hash = linkTo(page, argument);
  else openAddress(ROOT + linkTo(page, argument));
}

/** Whether an argument of an address can be the id of a record. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

type OfficeAddress = {
  /** Empty at `/console` itself. */
  page: string;
  /** Which object, for example the code of a customer. */
  argument: string | undefined;
  /** Which part of it. */
  tab: string | undefined;
  query: URLSearchParams;
};

/** The address in the office, or undefined at a page of the station. */
export const officeAddress = computed((): OfficeAddress | undefined => {
  const { path, search, hash } = address.value;
  if (isStationHash(hash)) return undefined;
  const [page = '', argument, tab] = path
    .slice(ROOT.length + 1)
    .split('/')
    .map(decode);
  return { page, argument: argument || undefined, tab: tab || undefined, query: new URLSearchParams(search) };
});

/** A person may have typed the address, with a percent sign that encodes nothing. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Query = URLSearchParams | Record<string, string>;

/** Returns the address of a page of the office, of one of its objects, or of a part of an object. */
/** Whether the address is a page of the office. It needs nothing of the station, which loads when it is opened. */
export const isAtOffice = (): boolean => Boolean(officeAddress.peek()?.page);

export function officeLink(parts: string | [page: string, ...parts: string[]], query: Query = {}): string {
  const path = [parts].flat().map(encodeURIComponent).join('/');
  const search = new URLSearchParams(query).toString();
  return `${ROOT}/${path}${search && `?${search}`}`;
}

/** Opens an address, after the question if there is one. `isSame`: the page is the same, so that the way back skips the address before. */
export function openAddress(link: string, { isSame = false } = {}): void {
  const open = () => {
    history[isSame ? 'replaceState' : 'pushState'](null, '', link);
    update();
  };
  if (ask && !isSame) ask(open);
  else open();
}

/** Opens links between the office and the station without loading the page again. */
export function followLinks(): void {
  const onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain =
      event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !isOfPage(link)) return;
    // The browser itself goes from page to page of the station.
    if (link.pathname === location.pathname && link.hash !== '') return;
    event.preventDefault();
    openAddress(link.pathname + link.search + link.hash);
  };
  document.addEventListener('click', onClick);
}

/** Links in the page itself, such as the one to skip the menu, are the browser's. */
const isOfPage = ({ pathname, hash }: HTMLAnchorElement) =>
  (pathname === ROOT || pathname.startsWith(`${ROOT}/`)) && (hash === '' || isStationHash(hash));
