import {
  submitBatch,
  submitEach,
  type Batch,
  type BatchOptions,
  type BatchResult,
  type Prealerts,
} from './batch.js';
import { createCall, type Call, type Settings } from './call.js';
import { fixedCredential, keyCredential, logIn, renewedCredential, type Credential } from './credential.js';
import { CrossdockError } from './errors.js';
import { createClient, createConfig } from './generated/core/client/index.js';
import type { OnAttempt } from './hook.js';
import type { LoginGrant } from './generated/core/types.gen.js';
import { KeyMethods, prealertsOfKey, TokenMethods, PAGE_SIZE, VERSION } from './generated/methods.js';
import * as table from './generated/retries.js';

export type ClientOptions = {
  /** The URL of your instance, for example `https://demo.crossdock.example`. */
  baseUrl: string | undefined;
  /** How long one attempt may take, for a file without any progress. Default 30,000. */
  timeoutMs?: number;
  /** How often a request is repeated if that is safe. Default 4. */
  maxRetries?: number;
  /** A longer `Retry-After` is not waited for; the error is thrown. Default 60,000. */
  maxRetryAfterMs?: number;
  /** No attempt begins later than this after the first. Default 150,000. */
  lastAttemptMs?: number;
  /**
   * How many records a page has when all pages of a list are read, and the call sets no `limit`. Default 500, or the most that the
   * operation allows.
   */
  pageSize?: number;
  /** Called after each attempt of a call, for logs and metrics. Errors of it are ignored. */
  onAttempt?: OnAttempt;
  /** Replaces the global fetch, for example to use a proxy. */
  fetch?: typeof fetch;
};

export type KeyClientOptions = ClientOptions & {
  /**
   * The courier's API key, `api_key` in its settings, or a service token (`cdk_...`) with the scope `prealerts:write`. Undefined, as of a
   * missing environment variable, is an error.
   */
  apiKey: string | undefined;
};

export type TokenClientOptions = ClientOptions &
  (
    | {
        username: string | undefined;
        password: string | undefined;
        /** Returns a six-digit code or a backup code. Called at each login of a user with a second factor. */
        secondFactor?: () => string | Promise<string>;
      }
    | {
        /** A token, or a function that returns one. The function is called again after 401. */
        token: string | undefined | (() => string | Promise<string>);
      }
  );

/** The client of a courier's system, which announces parcels with an API key or a service token. */
export class CrossdockKeyClient extends KeyMethods {
  override readonly prealerts: KeyMethods['prealerts'] & BatchMethods;

  constructor(options: KeyClientOptions) {
    const call = createCall(settingsOf(options), keyCredential(required('apiKey', options.apiKey)));
    super(call);
    this.prealerts = {
      ...prealertsOfKey(call),
      submitBatch: (prealerts, batchOptions) => submitBatch(call, prealerts, batchOptions),
      submitEach: (prealerts, batchOptions) => submitEach(call, prealerts, batchOptions),
    };
  }
}

export type BatchMethods = {
  /**
   * Submits many pre-alerts. Each has its own result: a duplicate or an invalid one does not affect the others, unless the
   * batch is atomic. If a request fails, the error has the results before it in `results`.
   */
  submitBatch(prealerts: Prealerts, options?: BatchOptions): Promise<Batch>;
  /** The same, but yields the results as they arrive: `for await (const result of submitEach(prealerts))`. */
  submitEach(prealerts: Prealerts, options?: BatchOptions): AsyncIterable<BatchResult>;
};

/** The client of a user. It logs in at the first call, and again when the token is no longer accepted. */
export class CrossdockClient extends TokenMethods {
  /** Logs in if necessary, and returns the token and the user. Other calls do this themselves. */
  readonly login: () => Promise<LoginGrant>;

  constructor(options: TokenClientOptions) {
    const settings = settingsOf(options);
    const { credential, login } = accessOf(options, createCall(settings, NONE));
    super(createCall(settings, credential));
    this.login = login;
  }
}

/** For calls without a credential. */
const NONE = fixedCredential('');

type Access = { credential: Credential; login: () => Promise<LoginGrant> };

function accessOf(options: TokenClientOptions, call: Call): Access {
  if ('username' in options) {
    const { secondFactor } = options;
    const username = required('username', options.username);
    const account = { username, password: required('password', options.password), secondFactor };
    const credential = renewedCredential(
      () => logIn(call, account),
      (grant) => grant.access_token,
    );
    return { credential, login: credential.grant };
  }
  const { token } = options;
  const credential =
    typeof token === 'function'
      ? renewedCredential(token, (value) => value)
      : fixedCredential(required('token', token));
  return {
    credential,
    login: () => Promise.reject(new CrossdockError('This client has a token, no user name and password.')),
  };
}

/** Programs in JavaScript, and environment variables, can lack any of them. */
function required(name: string, value: string | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  const given = value === '' ? 'empty' : String(value);
  throw new CrossdockError(
    `${name} is ${given}. Check the environment variable or setting that it comes from.`,
  );
}

function settingsOf({ baseUrl, fetch, onAttempt, ...limits }: ClientOptions): Settings {
  const url = required('baseUrl', baseUrl);
  if (!URL.canParse(url))
    throw new CrossdockError('baseUrl must be a URL such as https://demo.crossdock.example.');
  const {
    timeoutMs = table.ATTEMPT_SECONDS * 1000,
    maxRetries = table.MAX_RETRIES,
    maxRetryAfterMs = table.LONGEST_RETRY_AFTER_SECONDS * 1000,
    lastAttemptMs = table.LAST_ATTEMPT_SECONDS * 1000,
    pageSize = PAGE_SIZE,
  } = limits;
  const client = createClient(
    createConfig({
      baseUrl: url.replace(/\/+$/, ''),
      // The API does not redirect. A redirect would send the API key to another host.
      redirect: 'manual',
      ...(fetch ? { fetch } : {}),
      // Pages cannot set it, and their users' browsers matter more.
      ...('document' in globalThis
        ? {}
        : { headers: { 'User-Agent': `crossdock-sdk-typescript/${VERSION}` } }),
    }),
  );
  return { client, timeoutMs, maxRetries, maxRetryAfterMs, lastAttemptMs, pageSize, onAttempt };
}
