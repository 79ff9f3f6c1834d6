import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../../fixtures/demo/seed.js';

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string; isReused: boolean };

export type Question = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Sent unchanged instead of `body`. The headers may set its Content-Type; the default is JSON. */
  raw?: string;
};

const KEY = { 'x-api-key': DEMO.apiKeys.IEX };

/** Sends a request to a process at `url`. @throws the socket's error if the response is incomplete */
export function ask(url: string, question: Question, agent?: Agent): Promise<Answer> {
  const { method = 'GET', path, headers = {}, body, raw } = question;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const entity =
    text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), { method, headers: { ...entity, ...headers }, agent });
    asked.on('error', reject);
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
          isReused: asked.reusedSocket,
        });
      });
    });
    asked.end(text);
  });
}

export const prealertOf = (trackingNumber: string): Question => ({
  method: 'POST',
  path: '/api/Prealert.php',
  headers: KEY,
  body: { UserCode: 'IEX-1001', TrackingNumber: trackingNumber },
});

export async function announce(url: string, trackingNumber: string): Promise<number> {
  return (await ask(url, prealertOf(trackingNumber))).status;
}

/** Returns the access token of a demo user. */
export async function logIn(
  url: string,
  username = 'admin',
  password: string = DEMO.password,
  host?: string,
) {
  const reply = await ask(url, {
    method: 'POST',
    path: '/api/login.php',
    headers: host ? { host } : {},
    body: { action: 'login', username, password },
  });
  if (reply.status !== 200) throw new Error(`Login returned ${reply.status}: ${reply.text}`);
  // The contract defines this shape of a login without a second factor.
  return (JSON.parse(reply.text) as { data: { access_token: string } }).data.access_token;
}

export const listOf = (token: string, search = ''): Question => ({
  path: `/api/ManagePrealerts.php?search=${encodeURIComponent(search)}`,
  headers: { authorization: `Bearer ${token}` },
});

/** Returns the number of pre-alerts that match the search. */
export async function countPrealerts(url: string, search: string, token?: string): Promise<number> {
  const { text } = await ask(url, listOf(token ?? (await logIn(url)), search));
  // The contract defines this shape of a list.
  return (JSON.parse(text) as { meta: { stats: { total: number } } }).meta.stats.total;
}

/** Sends requests at a constant rate until `isOver` returns true. Resolves when all have completed. */
export async function askSteadily(
  perSecond: number,
  isOver: () => boolean,
  askNext: (n: number) => Promise<void>,
): Promise<void> {
  const startMs = performance.now();
  const asked: Promise<void>[] = [];
  while (!isOver()) {
    const due = ((performance.now() - startMs) / 1000) * perSecond;
    while (asked.length < due) asked.push(askNext(asked.length));
    await sleep(5);
  }
  await Promise.all(asked);
}

/** The response, or the code of the socket's error. */
export type Outcome = Answer | string;

/** Returns the code of an error, or the error as text if it has no code. */
export const codeOf = (error: unknown): string =>
  String((error as NodeJS.ErrnoException | undefined)?.code ?? error);

export const isServed = (outcome: Outcome): boolean => typeof outcome !== 'string' && outcome.status < 300;

/** Whether the response is 503 in the error envelope with a Retry-After header. */
export function isUnavailable(outcome: Outcome): outcome is Answer {
  if (typeof outcome === 'string' || outcome.status !== 503) return false;
  // Every error response is a JSON object. Otherwise the comparison fails.
  const { status, code } = JSON.parse(outcome.text) as { status: string; code: string };
  return (
    status === 'error' &&
    (code === 'unavailable' || code === 'overloaded') &&
    Number(outcome.headers['retry-after']) > 0
  );
}

/** Whether the response is that 503 from a replica that shuts down, which closes the connection. */
export const isGoodbye = (outcome: Outcome): boolean =>
  isUnavailable(outcome) && outcome.headers.connection === 'close';

/** Logs in a user who must change its password, and changes it. Returns the token of the new password. */
export async function logInFirst(
  url: string,
  username: string,
  password: string,
  host: string,
): Promise<string> {
  const token = await logIn(url, username, password, host);
  const changed = await ask(url, {
    method: 'POST',
    path: '/api/ChangePassword.php',
    headers: { host, authorization: `Bearer ${token}` },
    body: { current_password: password, new_password: `${password}-own-choice` },
  });
  if (changed.status !== 200) throw new Error(`The password was not changed: ${changed.text}`);
  // The contract's response to changePassword.
  const { data } = JSON.parse(changed.text) as { data: { access_token: string } };
  return data.access_token;
}
