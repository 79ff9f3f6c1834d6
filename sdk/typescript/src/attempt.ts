import { ConnectionError, errorOf, TimeoutError } from './errors.js';
import type { Client } from './generated/core/client/index.js';
import { reasonOf } from './retry.js';

/** A function of the generated core. */
export type Operation = (options: never) => unknown;

/** What the generated client returns: `data` of a success, `error` of a failure, no `response` if there was none. */
type Outcome = { data?: unknown; error?: unknown; response?: Response };

export type Attempt = {
  parseAs: 'json' | 'stream';
  /** The credential. */
  value: string | undefined;
  /** Whether the credential is an API key, which has a header with a name. */
  isKey: boolean | undefined;
  limit: TimeLimit;
};

export type Success = { data: unknown; response: Response };

/** Cancels an attempt that takes too long, or that the caller cancels. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time again, because there was progress. */
  restart = (): void => {
    clearTimeout(this.#timer);
    const late = () => this.#controller.abort(new TimeoutError(`No response within ${this.#timeoutMs} ms.`));
    this.#timer = setTimeout(late, this.#timeoutMs);
  };

  /** Stops the time, while the caller does its part. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  /**
   * Waits for a part of the attempt, at most until its time is over. Aborting the request is not enough: Node 20 forgets the signal of a
   * request that was garbage-collected while its body arrives.
   */
  within<Result>(part: Promise<Result>): Promise<Result> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(reasonOf(signal));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      void part.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  /** Returns the reason of a failure. @throws the reason of the caller's signal */
  errorOf(cause: unknown): Error {
    if (this.#signal?.aborted) throw reasonOf(this.#signal);
    if (this.signal.aborted) return reasonOf(this.signal);
    return cause instanceof ConnectionError ? cause : ConnectionError.of(cause);
  }

  #onAbort = () => this.#controller.abort(reasonOf(this.#signal));
}

/** Sends a request once. A response in JSON is read to its end, so that one that breaks in its body is no success. */
export async function attemptOnce(
  client: Client,
  operation: Operation,
  request: object,
  { parseAs, value, isKey = false, limit }: Attempt,
): Promise<Success | { error: Error }> {
  let isStreaming = false;
  try {
    const auth = ({ name }: { name?: string }) => (isKey === (name !== undefined) ? value : undefined);
    const options = { client, parseAs, auth, signal: limit.signal, ...request };
    // The generator passes only functions of the core, which take these options and return an Outcome.
    const { data, error, response } = (await limit.within(
      Promise.resolve(operation(options as never)),
    )) as Outcome;
    if (!response) throw error;
    if (!response.ok) return { error: errorOf(response, error) };
    const isOwn = parseAs === 'json' ? isOurs(data) : !isPage(response);
    if (!isOwn)
      throw new Error(
        'The response is not one of the service. Something on the way has answered, such as a proxy.',
      );
    isStreaming = parseAs === 'stream';
    return { data, response };
  } catch (error) {
    return { error: limit.errorOf(error) };
  } finally {
    if (isStreaming) limit.pause();
    else limit.end();
  }
}

/** Every success of the service has this field. The generated client returns an object without fields for an empty body. */
const isOurs = (data: unknown) =>
  ['success', '2fa_required'].includes(String((Object(data) as { status?: unknown }).status));

/** A file is never JSON or a page. */
const isPage = ({ headers }: Response) => /json|html/.test(headers.get('content-type') ?? '');
