import type { Credential } from './credential.js';
import { downloadOf, type Download } from './download.js';
import { ConnectionError, errorOf, TimeoutError } from './errors.js';
import type { Client } from './generated/core/client/index.js';
import { listingOf, type AnyPage, type Listing, type Paging } from './listing.js';
import { delayBeforeRetry, reasonOf, sleep, type RetrySettings } from './retry.js';
import { formOf } from './upload.js';

/** Options of one call. */
export type CallOptions = {
  /** Cancels the call, its retries, and the download that it returns. */
  signal?: AbortSignal;
  /** How long one attempt may take, for a download until its headers. Replaces the client's. */
  timeoutMs?: number;
  maxRetries?: number;
  /** Replaces the key that the SDK creates, so that a call can be repeated by another process. */
  idempotencyKey?: string;
};

export type Settings = RetrySettings & { client: Client; timeoutMs: number };

/** What may be done with an operation. The generator knows it from the contract. */
export type Policy = {
  /** `safe` operations only read. `key` operations are repeated with the same Idempotency-Key. */
  repeat: 'safe' | 'key' | 'never';
  /** Sent without a credential. */
  isPublic?: boolean;
  isForm?: boolean;
};

export type Input = { query?: object; path?: object; body?: unknown };

/** A function of the generated core. */
type Operation = (options: never) => unknown;

export type Call = {
  // The generator names the type of the response.
  json<Result>(operation: Operation, input: Input, options?: CallOptions, policy?: Policy): Promise<Result>;
  file(operation: Operation, input: Input, options?: CallOptions, policy?: Policy): Promise<Download>;
  list<Page extends AnyPage>(
    operation: Operation,
    input: Input,
    options: CallOptions | undefined,
    policy: Policy,
    paging: Paging,
    place: 'query' | 'body',
  ): Listing<Page>;
};

/** What the generated client returns: `data` of a success, `error` of a failure, no `response` if there was none. */
type Outcome = { data?: unknown; error?: unknown; response?: Response };

export function createCall(settings: Settings, credential: Credential): Call {
  const json = async <Result>(operation: Operation, input: Input, options?: CallOptions, policy?: Policy) => {
    const { data } = await send(settings, credential, operation, input, 'json', options, policy);
    // The generator names the type of the operation's response.
    return data as Result;
  };
  return {
    json,
    async file(operation, input, options, policy) {
      const { response } = await send(settings, credential, operation, input, 'stream', options, policy);
      return downloadOf(response);
    },
    list: <Page extends AnyPage>(
      operation: Operation,
      input: Input,
      options: CallOptions | undefined,
      policy: Policy,
      paging: Paging,
      place: 'query' | 'body',
    ) => {
      // Lists take an object as query or body.
      const filters = (input[place] ?? {}) as Record<string, unknown>;
      return listingOf<Page>(paging, filters, (page) =>
        json<Page>(operation, { [place]: page }, options, policy),
      );
    },
  };
}

/** Sends a request until it succeeds, or fails for good. */
async function send(
  settings: Settings,
  credential: Credential,
  operation: Operation,
  input: Input,
  parseAs: 'json' | 'stream',
  options: CallOptions = {},
  policy: Policy = { repeat: 'never' },
): Promise<{ data: unknown; response: Response }> {
  const { signal } = options;
  const form = policy.isForm ? formOf(input.body) : undefined;
  const isRepeatable = policy.repeat !== 'never' && form?.isRepeatable !== false;
  const retries = {
    ...settings,
    ...(options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries }),
  };
  const key = policy.repeat === 'key' ? { 'Idempotency-Key': options.idempotencyKey ?? newKey() } : {};
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs;
  let isRenewed = false;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const value = policy.isPublic ? undefined : await credential.get();
    const request = { ...input, ...(await form?.open()), headers: { ...form?.headers, ...key } };
    const result = await attemptOnce(settings.client, operation, request, {
      parseAs,
      value,
      timeoutMs,
      signal,
    });
    if ('response' in result) return result;
    const { error } = result;
    const isRefused = 'status' in error && error.status === 401 && value !== undefined;
    if (isRefused && !isRenewed && form?.isRepeatable !== false && credential.renew(value)) {
      // A refused request was not executed, so that this is no retry.
      isRenewed = true;
      attempt -= 1;
      continue;
    }
    const delayMs = isRepeatable ? delayBeforeRetry(error, attempt, retries) : undefined;
    if (delayMs === undefined) throw error;
    await sleep(delayMs, signal);
  }
}

type Attempt = {
  parseAs: 'json' | 'stream';
  /** The credential. */
  value: string | undefined;
  timeoutMs: number;
  signal: AbortSignal | undefined;
};

async function attemptOnce(
  client: Client,
  operation: Operation,
  request: object,
  { parseAs, value, timeoutMs, signal }: Attempt,
): Promise<{ data: unknown; response: Response } | { error: Error }> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(reasonOf(signal));
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new TimeoutError(`No response within ${timeoutMs} ms.`)),
    timeoutMs,
  );
  let isStreaming = false;
  try {
    const options = { client, parseAs, auth: () => value, signal: controller.signal, ...request };
    // The generator passes only functions of the core, which take these options and return an Outcome.
    const { data, error, response } = (await operation(options as never)) as Outcome;
    if (response?.ok) {
      isStreaming = parseAs === 'stream';
      return { data, response };
    }
    if (response) return { error: errorOf(response, error) };
    throw error;
  } catch (error) {
    if (controller.signal.aborted) {
      if (signal?.aborted) throw reasonOf(signal);
      return { error: reasonOf(controller.signal) };
    }
    return {
      error: new ConnectionError('The service cannot be reached, or the response was lost.', {
        cause: error,
      }),
    };
  } finally {
    clearTimeout(timer);
    // The caller's signal also cancels a download that is in progress.
    if (!isStreaming) signal?.removeEventListener('abort', onAbort);
  }
}

/** 128 random bits. randomUUID() is missing on pages without HTTPS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
