import { attemptOnce, TimeLimit, type Operation } from './attempt.js';
import type { Credential } from './credential.js';
import { ApiError, TooSlowError } from './errors.js';
import { report, type OnAttempt } from './hook.js';
import { downloadOf, type Download, type Opened, type Repeat } from './download.js';
import type { Client } from './generated/core/client/index.js';
import { listingOf, type AnyPage, type Listing, type Paging } from './listing.js';
import { delayBeforeRetry, sleep, type RetrySettings } from './retry.js';
import { formOf, type Form } from './upload.js';

/** Options of one call. */
export type CallOptions = {
  /** Cancels the call, its retries, and the download that it returns. */
  signal?: AbortSignal;
  /** How long one attempt may take, for a file without any progress. Replaces the client's. */
  timeoutMs?: number;
  maxRetries?: number;
  /**
   * Replaces the key that the SDK creates, so that a call can be repeated by another process. Create one for each attempted change,
   * and store it with the change. One that is made of an order returns the first response to every later change of the order.
   */
  idempotencyKey?: string;
};

export type Settings = RetrySettings & {
  client: Client;
  timeoutMs: number;
  pageSize: number;
  onAttempt: OnAttempt | undefined;
};

/** What may be done with an operation. The generator knows it from the contract. */
export type Policy = {
  /** Its `operationId`. */
  id: string;
  /** `safe` operations only read. `key` operations are repeated with the same Idempotency-Key. */
  repeat: 'safe' | 'key' | 'never';
  /** Sent without a credential. */
  isPublic?: boolean;
  isForm?: boolean;
  /** After 408 the caller divides the request, instead of sending all of it again. */
  isDivisible?: boolean;
};

export type Input = { query?: object; path?: object; body?: unknown };

export type Call = {
  // The generator names the type of the response.
  json<Result>(
    operation: Operation,
    input: Input,
    options: CallOptions | undefined,
    policy: Policy,
  ): Promise<Result>;
  file(
    operation: Operation,
    input: Input,
    options: CallOptions | undefined,
    policy: Policy,
  ): Promise<Download>;
  list<Page extends AnyPage>(
    operation: Operation,
    input: Input,
    options: CallOptions | undefined,
    policy: Policy,
    paging: Paging,
    place: 'query' | 'body',
    /** The largest page of the operation. */
    largest?: number,
  ): Listing<Page>;
};

export function createCall(settings: Settings, credential: Credential): Call {
  const start = (
    operation: Operation,
    input: Input,
    parseAs: 'json' | 'stream',
    options: CallOptions = {},
    policy: Policy,
  ): Sending => ({
    ...{ settings, credential, operation, input, parseAs, options, policy },
    form: policy.isForm ? formOf(input.body) : undefined,
    key: policy.repeat === 'key' ? { 'Idempotency-Key': options.idempotencyKey ?? newKey() } : {},
    state: { attempt: 0, sent: 0, startMs: performance.now(), isRenewed: false },
  });
  const json = async <Result>(
    operation: Operation,
    input: Input,
    options: CallOptions | undefined,
    policy: Policy,
  ) => {
    const { data } = await send(start(operation, input, 'json', options, policy));
    // The generator names the type of the operation's response.
    return data as Result;
  };
  return {
    json,
    async file(operation, input, options, policy) {
      const sending = start(operation, input, 'stream', options, policy);
      return downloadOf(await send(sending), repeatOf(sending));
    },
    list: <Page extends AnyPage>(
      operation: Operation,
      input: Input,
      options: CallOptions | undefined,
      policy: Policy,
      paging: Paging,
      place: 'query' | 'body',
      largest = settings.pageSize,
    ) => {
      // Lists take an object as query or body.
      const filters = (input[place] ?? {}) as Record<string, unknown>;
      const pageSize = Math.min(largest, settings.pageSize);
      return listingOf<Page>(paging, filters, pageSize, (page) =>
        json<Page>(operation, { [place]: page }, options, policy),
      );
    },
  };
}

/** Sends a request until it succeeds, or fails for good. The state is that of one call. */
async function send(sending: Sending): Promise<Opened & { data: unknown }> {
  const { settings, credential, operation, input, parseAs, options, policy, form, key, state } = sending;
  const { signal } = options;
  for (; ; state.attempt += 1) {
    signal?.throwIfAborted();
    const value = policy.isPublic ? undefined : await credential.get();
    const limit = new TimeLimit(options.timeoutMs ?? settings.timeoutMs, signal);
    const request = { ...input, ...(await form?.open(limit.restart)), headers: { ...form?.headers, ...key } };
    const beganMs = performance.now();
    state.sent += 1;
    const { isKey } = credential;
    const result = await attemptOnce(settings.client, operation, request, { parseAs, value, isKey, limit });
    report(settings.onAttempt, policy.id, state.sent, beganMs, result);
    if ('response' in result) return { ...result, limit };
    const { error } = result;
    const isRefused = 'status' in error && error.status === 401 && value !== undefined;
    if (isRefused && !state.isRenewed && form?.isRepeatable !== false && credential.renew(value)) {
      // A refused request was not executed, so that this is no retry.
      state.isRenewed = true;
      state.attempt -= 1;
      continue;
    }
    await waitAfter(error, sending);
  }
}

/** Waits before the next attempt. @throws the error if it is final */
async function waitAfter(error: unknown, { settings, options, policy, form, state }: Sending): Promise<void> {
  const retries = {
    ...settings,
    ...(options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries }),
  };
  if (policy.isDivisible && retries.maxRetries > 0 && error instanceof ApiError && error.status === 408)
    throw new TooSlowError('The request did not arrive in time.', { cause: error });
  const isRepeatable = policy.repeat !== 'never';
  // A stream cannot be read again.
  const delayMs =
    form?.isRepeatable === false ? undefined : delayBeforeRetry(error, { ...state, isRepeatable }, retries);
  if (delayMs === undefined) throw error;
  await sleep(delayMs, options.signal);
}

/** Reads a file, and requests it again if the connection breaks in it. */
const repeatOf =
  (sending: Sending): Repeat =>
  async (first, read) => {
    for (let opened = first; ; opened = await send(sending)) {
      try {
        return await read(opened);
      } catch (error) {
        await waitAfter(error, sending);
        sending.state.attempt += 1;
      }
    }
  };

/** One call, with all of its attempts. */
type Sending = {
  settings: Settings;
  credential: Credential;
  operation: Operation;
  input: Input;
  parseAs: 'json' | 'stream';
  options: CallOptions;
  policy: Policy;
  form: Form | undefined;
  key: Record<string, string>;
  state: { attempt: number; sent: number; startMs: number; isRenewed: boolean };
};

/** 128 random bits. randomUUID() is missing on pages without HTTPS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
