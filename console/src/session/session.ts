import { signal } from '@preact/signals';
import {
  ApiError,
  ConnectionError,
  CrossdockClient,
  type LoggedInUser,
} from '../../../sdk/typescript/src/index.js';
import { failureText } from '../texts/failures.js';
import { t } from '../texts/texts.js';

/** A user that has logged in, with the client of that user's calls. */
export type Session = { user: LoggedInUser; client: CrossdockClient };

type Stored = { token: string; user: LoggedInUser };
type Waiting = { resolve: (token: string) => void; reject: (reason: Error) => void };
type Grant = { access_token: string; user: LoggedInUser };

// Of this tab only: a browser deletes it when the tab is closed.
const NAME = 'crossdock-session';

export const session = signal<Session | null>(null);
/** Whether the service no longer accepts the token. Calls wait until the user has logged in again. */
export const isExpired = signal(false);

let token = '';
/** Calls that wait until the user has logged in again. */
let waiting: Waiting[] = [];

/** Continues the session of this tab after a reload. */
export function restoreSession(): void {
  const stored = readStored();
  if (stored) start(stored.token, stored.user);
}

/** Starts a session, or continues the expired session of the same user with what is on the screen. */
export function acceptGrant({ access_token, user }: Grant): void {
  if (session.value?.user.id === user.id) renew(access_token, user);
  else start(access_token, user);
}

export function replaceToken(newToken: string, changes: Partial<LoggedInUser>): void {
  if (session.value) renew(newToken, { ...session.value.user, ...changes });
}

/** Ends the session here at once, and at the service if it can be reached. */
export function logOut(): void {
  const client = isExpired.value ? undefined : session.value?.client;
  if (client) void client.users.manageSessions({ action: 'logout' }, { maxRetries: 0 }).catch(ignoreOffline);
  sessionStorage.removeItem(NAME);
  endWaiting();
  isExpired.value = false;
  session.value = null;
}

/** Ends calls of a session that nobody continues. Otherwise the sender would wait for ever, and no other one could send. */
function endWaiting(): void {
  const ended = waiting;
  waiting = [];
  for (const { reject } of ended) reject(new Error(t('login.ended')));
}

// The token is forgotten here. The service ends it after 8 hours.
const ignoreOffline = () => undefined;

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

function start(newToken: string, user: LoggedInUser): void {
  token = newToken;
  let issued = '';
  const client = new CrossdockClient({
    baseUrl: location.origin,
    // Called at the first call, and again when the service has refused what it returned.
    token: () => {
      // A late answer to a call of a session that was logged out.
      if (session.value?.client !== client) return Promise.reject(new Error(t('login.ended')));
      if (token === issued) return nextToken().then((next) => (issued = next));
      issued = token;
      return token;
    },
  });
  store(newToken, user);
  endWaiting();
  isExpired.value = false;
  session.value = { user, client };
}

function renew(newToken: string, user: LoggedInUser): void {
  token = newToken;
  store(newToken, user);
  if (session.value) session.value = { ...session.value, user };
  isExpired.value = false;
  const resumed = waiting;
  waiting = [];
  for (const { resolve } of resumed) resolve(newToken);
}

function nextToken(): Promise<string> {
  isExpired.value = true;
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

function store(storedToken: string, user: LoggedInUser): void {
  sessionStorage.setItem(NAME, JSON.stringify({ token: storedToken, user } satisfies Stored));
}

function readStored(): Stored | undefined {
  const text = sessionStorage.getItem(NAME);
  // This page wrote it.
  return text === null ? undefined : (JSON.parse(text) as Stored);
}
