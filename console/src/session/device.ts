// The session of the device: one for all tabs. The browser keeps its credential in a cookie that no script can read (decision 0123).
import { ApiError, CrossdockClient, type LoggedInUser } from '../../../sdk/typescript/src/index.js';

/** Of all tabs: `open` if somebody may be logged in, or who has logged out while the service could not be reached. No credential. */
const NAME = 'crossdock-device-session';
const OPEN = 'open';
/** A login that cannot be reached must not keep the page empty. */
const PATIENCE_MS = 3_000;

/** Without a session: the service says whose session the cookie is. */
export const UNKNOWN = 'unknown';

/**
 * Returns the fetch of a user's page. The browser adds the cookie. The service accepts it only with the id of its user, so that another
 * login in another tab never sends what this page has.
 */
export const fetchAs =
  (userId: string): typeof fetch =>
  (input, init) => {
    const request = new Request(input, init);
    // A header would replace the cookie. The SDK always sends one.
    request.headers.delete('authorization');
    request.headers.set('x-crossdock-user', userId);
    return fetch(request);
  };

/** Only a client with the user's fetch sends the cookie; this text is the SDK's, which refuses an empty one. */
const cookieClient = (userId: string) =>
  new CrossdockClient({ baseUrl: location.origin, token: 'cookie', maxRetries: 0, fetch: fetchAs(userId) });

/** Gives the token of a login to the browser, as the session of this device. @throws what the call throws */
export async function keepInBrowser(token: string): Promise<void> {
  // Otherwise a late answer could delete the new cookie.
  await finishLogOut();
  const client = new CrossdockClient({ baseUrl: location.origin, token });
  await client.users.createDeviceSession({ action: 'start' });
  localStorage.setItem(NAME, OPEN);
}

/** Returns the user that is logged in on this device. Undefined if nobody is, or the service cannot be reached. */
export async function whoIsHere(): Promise<LoggedInUser | undefined> {
  if (localStorage.getItem(NAME) !== OPEN) return undefined;
  try {
    const client = cookieClient(UNKNOWN);
    return (await client.users.deviceSession({ timeoutMs: PATIENCE_MS })).data.user;
  } catch (error) {
    if (isRefused(error)) localStorage.removeItem(NAME);
    return undefined;
  }
}

/** Whether somebody may be logged in on this device, as far as it knows without the service. */
export const mayBeLoggedIn = (): boolean => localStorage.getItem(NAME) === OPEN;

/** Whether the service answers, so that somebody could log in. A page of the network is no answer. */
export async function canReach(): Promise<boolean> {
  try {
    await cookieClient(UNKNOWN).users.deviceSession({ timeoutMs: PATIENCE_MS });
    return true;
  } catch (error) {
    return error instanceof ApiError && error.status < 500 && error.code !== 'unexpected_response';
  }
}

/** Ends the session at the service, now or as soon as it can be reached. The device counts as logged out at once. */
export function endAtService(userId: string): void {
  localStorage.setItem(NAME, userId);
  void finishLogOut();
}

let finishing: Promise<void> | undefined;

/** Ends a session that was logged out without a connection. No script can delete its cookie, only a response of the service. */
export function finishLogOut(): Promise<void> {
  return (finishing ??= sendLogOut().finally(() => (finishing = undefined)));
}

async function sendLogOut(): Promise<void> {
  const userId = localStorage.getItem(NAME);
  if (userId === null || userId === OPEN) return;
  try {
    await cookieClient(userId).users.manageSessions({ action: 'logout' }, { timeoutMs: PATIENCE_MS });
  } catch (error) {
    // Without an answer it is sent again. After a refusal the session has ended already, or the cookie is somebody else's.
    if (!isRefused(error)) return;
  }
  if (localStorage.getItem(NAME) === userId) localStorage.removeItem(NAME);
}

const isRefused = (error: unknown) => error instanceof ApiError && error.status === 401;

/** What a tab tells the others. */
export type News =
  | { kind: 'entered'; user: LoggedInUser }
  | { kind: 'expired'; userId: string; isLocked?: boolean }
  | { kind: 'left' };

const channel = new BroadcastChannel('crossdock-session');

export const tellOthers = (news: News): void => channel.postMessage(news);

/** Calls `onNews` with what other tabs tell. */
export function listenToOthers(onNews: (news: News) => void): void {
  // Only pages of this version send on this channel.
  channel.addEventListener('message', ({ data }: MessageEvent<News>) => onNews(data));
  addEventListener('online', () => void finishLogOut());
}
