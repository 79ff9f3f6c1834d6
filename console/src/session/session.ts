import { signal } from '@preact/signals';
import {
  ApiError,
  ConnectionError,
  CrossdockClient,
  type LoggedInUser,
} from '../../../sdk/typescript/src/index.js';
import { failureText } from '../texts/failures.js';
import { noteInput } from './idle.js';
import { t } from '../texts/texts.js';
import { rememberHere } from './pin/workers.js';
import {
  endAtService,
  fetchAs,
  finishLogOut,
  keepInBrowser,
  listenToOthers,
  tellOthers,
  whoIsHere,
} from './device.js';

/** A user that has logged in, with the client of that user's calls. */
export type Session = { user: LoggedInUser; client: CrossdockClient };

/** `token` is of a page of before the session cookie, which had it here. */
type Stored = { user: LoggedInUser; token?: string; isLocked?: boolean };
type Waiting = { resolve: (token: string) => void; reject: (reason: Error) => void };
type Grant = { access_token: string; user: LoggedInUser };

// Of this tab only: a reload without a connection goes on with this user. It is no credential.
const NAME = 'crossdock-session';

export const session = signal<Session | null>(null);
/** Whether the service no longer accepts the session. Calls wait until the user has logged in again. */
export const isExpired = signal(false);

/** Whether it has ended because nobody used the device. Scans belong to nobody until somebody has logged in (decision 0136). */
export const isLocked = signal(false);

/** Counts the logins of this page. The SDK asks for another credential after 401; the number tells it that there is one. */
let login = 0;
/** Calls that wait until the user has logged in again. */
let waiting: Waiting[] = [];
/** A token that the browser does not have as its cookie yet. */
let entering: Promise<void> | undefined;
/** The token of a page of before the session cookie. */
let oldToken = '';

/** Continues the session of this tab after a reload, or the one of the device in a new tab. */
export async function restoreSession(): Promise<void> {
  listenToOthers((news) => {
    if (news.kind === 'entered') enter(news.user);
    else if (news.kind === 'left') leave();
    else if (news.userId !== session.value?.user.id) return;
    else if (news.isLocked) closeScreen();
    else isExpired.value = true;
  });
  const stored = readStored();
  if (stored) {
    oldToken = stored.token ?? '';
    start(stored.user);
    if (stored.isLocked) closeScreen();
    return;
  }
  await finishLogOut();
  const user = await whoIsHere();
  // The person may have logged in meanwhile, in another tab.
  if (user && !session.value) start(user);
}

/**
 * Starts a session, or continues the expired session of the same user with what is on the screen.
 * @param onOther called before another user takes over an expired session, so that the parcel on the screen is handed over
 * @throws what the service answers
 */
export async function acceptGrant({ access_token: token, user }: Grant, onOther?: () => void): Promise<void> {
  await keep(token);
  noteInput();
  if (isExpired.value && session.value?.user.id !== user.id) onOther?.();
  enter(user);
  tellOthers({ kind: 'entered', user });
  // Without it the PIN does not work here, and the password does.
  if (session.value) void rememberHere(session.value.client, user).catch(() => undefined);
}

/** @throws what the service answers */
export async function replaceToken(newToken: string, changes: Partial<LoggedInUser>): Promise<void> {
  const { user } = session.value ?? {};
  if (user) await acceptGrant({ access_token: newToken, user: { ...user, ...changes } });
}

/** Ends the session on this device at once, and at the service as soon as it can be reached. */
export function logOut(): void {
  const user = session.value?.user;
  if (user && !isExpired.value) endAtService(user.id);
  leave();
  tellOthers({ kind: 'left' });
}

/**
 * Ends the session at the service, and keeps all that is on the screen, covered, for its user, who logs in again. Calls that are on their
 * way wait, as after any end of a session.
 */
export function lock(): void {
  const user = session.value?.user;
  if (!user || isLocked.value) return;
  if (!isExpired.value) endAtService(user.id);
  closeScreen();
  tellOthers({ kind: 'expired', userId: user.id, isLocked: true });
}

/** A reload must not open the page again: without a connection it would go on with this user. */
function closeScreen(): void {
  if (!session.value) return;
  store(session.value.user, true);
  isLocked.value = true;
  isExpired.value = true;
}

/** Ends the session of this tab. */
function leave(): void {
  sessionStorage.removeItem(NAME);
  oldToken = '';
  endWaiting();
  openScreen();
  session.value = null;
}

function keep(token: string): Promise<void> {
  const kept = keepInBrowser(token).finally(() => (entering = undefined));
  entering = kept;
  return kept;
}

/** Ends calls of a session that nobody continues. Otherwise the sender would wait for ever, and no other one could send. */
function endWaiting(): void {
  const ended = waiting;
  waiting = [];
  for (const { reject } of ended) reject(new Error(t('login.ended')));
}

/** Returns the client of the user that is logged in. */
export function api(): CrossdockClient {
  if (!session.value) throw new Error('Nobody is logged in.');
  return session.value.client;
}

/** Returns a client for a login. `askCode` is called if the user has a second factor. */
export const loginClient = (username: string, password: string, askCode: () => Promise<string>) =>
  new CrossdockClient({ baseUrl: location.origin, username, password, secondFactor: askCode, maxRetries: 0 });

/** Returns the text of a failure for people. */
export function messageOf(error: unknown): string {
  if (isOffline(error)) return t('common.offline');
  if (error instanceof ApiError)
    return error.code === 'unexpected_response' ? t('common.unexpected') : failureText(error);
  return error instanceof Error ? error.message : String(error);
}

export const isOffline = (error: unknown): boolean => error instanceof ConnectionError;

/** Somebody has logged in, here or in another tab. */
function enter(user: LoggedInUser): void {
  if (session.value?.user.id === user.id) renew(user);
  else start(user);
}

function start(user: LoggedInUser): void {
  let issued = '';
  const client = new CrossdockClient({
    baseUrl: location.origin,
    fetch: fetchAs(user.id),
    // Called at the first call, and again when the service has refused the cookie.
    token: async () => {
      await carryOver();
      // A late answer to a call of a session that was logged out.
      if (session.value?.client !== client) throw new Error(t('login.ended'));
      const next = issued === String(login) ? await nextLogin() : String(login);
      return (issued = next);
    },
  });
  login += 1;
  store(user);
  endWaiting();
  openScreen();
  session.value = { user, client };
}

function openScreen(): void {
  isExpired.value = false;
  isLocked.value = false;
}

function renew(user: LoggedInUser): void {
  login += 1;
  store(user);
  if (session.value) session.value = { ...session.value, user };
  openScreen();
  const resumed = waiting;
  waiting = [];
  for (const { resolve } of resumed) resolve(String(login));
}

/** Gives the token of a page of before the session cookie to the browser. @throws ConnectionError, and the next call tries again */
async function carryOver(): Promise<void> {
  if (oldToken === '') return;
  try {
    await (entering ?? keep(oldToken));
  } catch (error) {
    if (isOffline(error)) throw error;
    // The session has ended: the next answer asks for the password.
  }
  oldToken = '';
}

/** Waits until the user has logged in again, or finds that another tab has done so. */
function nextLogin(): Promise<string> {
  if (waiting.length === 0 && !isExpired.value) void findOut();
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

/** The cookie was refused: its session has ended, or another tab has replaced it and this one did not hear of it. */
async function findOut(): Promise<void> {
  // A new password ends the session before the page has the next token.
  await entering?.catch(() => undefined);
  const asked = session.value;
  const user = await whoIsHere();
  if (session.value?.client !== asked?.client || waiting.length === 0 || isLocked.value) return;
  if (user) {
    enter(user);
    return;
  }
  isExpired.value = true;
  if (asked) tellOthers({ kind: 'expired', userId: asked.user.id });
}

function store(user: LoggedInUser, isClosed = false): void {
  const stored: Stored = isClosed ? { user, isLocked: true } : { user };
  sessionStorage.setItem(NAME, JSON.stringify(stored));
}

function readStored(): Stored | undefined {
  const text = sessionStorage.getItem(NAME);
  // This page wrote it.
  return text === null ? undefined : (JSON.parse(text) as Stored);
}
