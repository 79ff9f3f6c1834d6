import { Agent, request, type Dispatcher } from 'undici';
import type { BodyOf, DataOf } from '../src/platform/contract/types.js';
import type { PrintBridgeConfig } from './config.js';
import { waitBeforeRetry } from './backoff.js';
import type { Log } from './log.js';

type Called = 'claimLabelJobs' | 'reportLabelJob';
const PATHS = {
  login: '/api/login.php',
  claimLabelJobs: '/api/ClaimLabelJobs.php',
  reportLabelJob: '/api/ReportLabelJob.php',
} satisfies Record<Called | 'login', string>;

type Bodies = { [Id in Called]: BodyOf<Id> };

/** The service refuses the call in a way that only a person can change. */
export class RefusedError extends Error {}

/** The service has answered that the job is not ours, or has ended. */
export class NotOursError extends Error {}

/** The call may succeed later. */
class TemporaryError extends Error {
  constructor(
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

export type Service = {
  /**
   * Calls an operation until the service answers. Logs in, again if the token has ended.
   *
   * @throws RefusedError, NotOursError, or the reason of `stop`
   */
  call<Id extends Called>(id: Id, body: Bodies[Id], stop: AbortSignal): Promise<DataOf<Id>>;
  close(): Promise<void>;
};

type Reply = {
  status: number;
  body: { code?: string; message?: string; data?: unknown };
  retryAfterMs: number;
};

const TIME_LIMITS = { connectTimeout: 10_000, headersTimeout: 30_000, bodyTimeout: 30_000 };
const TEMPORARY = new Set([408, 429]);
const NOT_OURS = new Set(['label_job_not_claimed', 'label_job_not_found']);

export function openService(config: PrintBridgeConfig, log: Log): Service {
  const agent = new Agent(TIME_LIMITS);
  let token: string | undefined;
  let isAway = false;

  async function logIn(): Promise<string> {
    const { username, password } = config;
    const reply = await send(agent, config.url, 'login', { action: 'login', username, password });
    const data = reply.body.data;
    if (typeof data === 'object' && data && 'access_token' in data && typeof data.access_token === 'string')
      return data.access_token;
    if (reply.status === 200)
      throw new RefusedError('The user needs a second factor. Use a user without one for the print bridge.');
    throw errorOf(reply, 'refused the login');
  }

  async function callOnce(id: Called, body: object): Promise<unknown> {
    const isNew = token === undefined;
    token ??= await logIn();
    const reply = await send(agent, config.url, id, body, token);
    if (reply.status === 200) return reply.body.data;
    if (reply.status !== 401) throw errorOf(reply, 'refused the call');
    token = undefined;
    if (isNew) throw new TemporaryError('The service does not accept its own token.');
    return callOnce(id, body);
  }

  function noteAway(error: Error): void {
    if (!isAway) log(`The service cannot be reached; the bridge tries again: ${error.message}`);
    isAway = true;
  }

  return {
    async call<Id extends Called>(id: Id, body: Bodies[Id], stop: AbortSignal) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          const data = await callOnce(id, body);
          if (isAway) log('The service is back.');
          isAway = false;
          // The service checks its responses against the contract.
          return data as DataOf<Id>;
        } catch (error) {
          if (!(error instanceof TemporaryError)) throw error;
          noteAway(error);
          await waitBeforeRetry(attempt, stop, error.retryAfterMs);
        }
      }
    },
    close: () => agent.close(),
  };
}

async function send(
  dispatcher: Dispatcher,
  url: string,
  id: Called | 'login',
  body: object,
  token?: string,
): Promise<Reply> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    const response = await request(`${url}${PATHS[id]}`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1_000 || 0;
    return { status: response.statusCode, body: parseEnvelope(text), retryAfterMs };
  } catch (error) {
    throw new TemporaryError(error instanceof Error ? error.message : String(error));
  }
}

/** A proxy may answer instead of the service, with a page. */
function parseEnvelope(text: string): Reply['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value ? value : {};
  } catch {
    return {};
  }
}

function errorOf({ status, body, retryAfterMs }: Reply, what: string): Error {
  const { code, message = `status ${status}` } = body;
  if (code === undefined || status >= 500 || TEMPORARY.has(status))
    return new TemporaryError(`The service ${what}: ${message}`, retryAfterMs);
  return NOT_OURS.has(code) ? new NotOursError(message) : new RefusedError(`The service ${what}: ${message}`);
}
