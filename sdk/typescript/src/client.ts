import { submitBatch, type Batch, type BatchOptions } from './batch.js';
import { createCall, type Call, type Settings } from './call.js';
import { fixedCredential, logIn, renewedCredential, type Credential } from './credential.js';
import { CrossdockError } from './errors.js';
import { createClient, createConfig } from './generated/core/client/index.js';
import type { LoginGrant, PrealertSubmission } from './generated/core/types.gen.js';
import { KeyMethods, prealertsOfKey, TokenMethods, VERSION } from './generated/methods.js';

export type ClientOptions = {
  /** The URL of your instance, for example `https://demo.crossdock.example`. */
  baseUrl: string;
  /** How long one attempt may take. Default 30,000. */
  timeoutMs?: number;
  /** How often a request is repeated if that is safe. Default 3. */
  maxRetries?: number;
  /** A longer `Retry-After` is not waited for; the error is thrown. Default 60,000. */
  maxRetryAfterMs?: number;
  /** Replaces the global fetch, for example to use a proxy. */
  fetch?: typeof fetch;
};

export type KeyClientOptions = ClientOptions & {
  /** The courier's API key, `api_key` in its settings. */
  apiKey: string;
};

export type TokenClientOptions = ClientOptions &
  (
    | {
        username: string;
        password: string;
        /** Returns a six-digit code or a backup code. Called at each login of a user with a second factor. */
        secondFactor?: () => string | Promise<string>;
      }
    | {
        /** A token, or a function that returns one. The function is called again after 401. */
        token: string | (() => string | Promise<string>);
      }
  );

/** The client of a courier's system, which announces parcels with an API key. */
export class CrossdockKeyClient extends KeyMethods {
  override readonly prealerts: KeyMethods['prealerts'] & BatchMethods;

  constructor(options: KeyClientOptions) {
    const call = createCall(settingsOf(options), fixedCredential(options.apiKey));
    super(call);
    this.prealerts = {
      ...prealertsOfKey(call),
      submitBatch: (prealerts, batchOptions) => submitBatch(call, prealerts, batchOptions),
    };
  }
}

export type BatchMethods = {
  /**
   * Submits many pre-alerts. Each has its own result: a duplicate or an invalid one does not affect the others, unless the
   * batch is atomic.
   */
  submitBatch(
    prealerts: Iterable<PrealertSubmission> | AsyncIterable<PrealertSubmission>,
    options?: BatchOptions,
  ): Promise<Batch>;
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
    const credential = renewedCredential(
      () => logIn(call, options),
      (grant) => grant.access_token,
    );
    return { credential, login: credential.grant };
  }
  const { token } = options;
  const credential =
    typeof token === 'string' ? fixedCredential(token) : renewedCredential(token, (value) => value);
  return {
    credential,
    login: () => Promise.reject(new CrossdockError('This client has a token, no user name and password.')),
  };
}

function settingsOf({ baseUrl, fetch, ...limits }: ClientOptions): Settings {
  if (!URL.canParse(baseUrl))
    throw new CrossdockError('baseUrl must be a URL such as https://demo.crossdock.example.');
  const { timeoutMs = 30_000, maxRetries = 3, maxRetryAfterMs = 60_000 } = limits;
  const client = createClient(
    createConfig({
      baseUrl: baseUrl.replace(/\/+$/, ''),
      ...(fetch ? { fetch } : {}),
      // Pages cannot set it, and their users' browsers matter more.
      ...('document' in globalThis
        ? {}
        : { headers: { 'User-Agent': `crossdock-sdk-typescript/${VERSION}` } }),
    }),
  );
  return { client, timeoutMs, maxRetries, maxRetryAfterMs };
}
