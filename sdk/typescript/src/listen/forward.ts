import { createHmac } from 'node:crypto';
import type { CourierEvent } from '../generated/core/types.gen.js';

/** As long as the service waits for the response to a webhook. */
const TIMEOUT_MS = 10_000;
const SHOWN_CHARACTERS = 200;

export type Receiver = {
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  /** Sent as `Authorization: Bearer`. */
  apiToken?: string;
};

/** What the program answered. Without a response `status` is undefined, and `text` says why. */
export type Answer = { isAccepted: boolean; status?: number; text: string; ms: number };

/** Posts an event as the service sends it in its `event` format: the same body, headers and signature. */
export async function forward(event: CourierEvent, { url, secret, apiToken }: Receiver): Promise<Answer> {
  const body = JSON.stringify(event);
  const startedMs = performance.now();
  const answer = (rest: Omit<Answer, 'ms'>): Answer => ({
    ...rest,
    ms: Math.round(performance.now() - startedMs),
  });
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Crossdock-Webhooks/1',
        ...(apiToken ? { authorization: `Bearer ${apiToken}` } : {}),
        ...signatureOf(event.event_id, body, secret),
      },
      body,
      // The service does not follow redirects either.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, ok: isAccepted } = response;
    return answer({ isAccepted, status, text: isAccepted ? '' : await startOf(response) });
  } catch (error) {
    return answer({ isAccepted: false, text: reasonOf(error) });
  }
}

function signatureOf(id: string, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The start of a response's text on one line, without characters that a terminal would obey. */
async function startOf(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    // Leaving the loop cancels the rest.
    if (text.length > SHOWN_CHARACTERS) break;
  }
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, SHOWN_CHARACTERS);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} s`;
  // fetch says only that it failed; its cause says why.
  return error.cause === undefined ? error.message : reasonOf(error.cause) || error.message;
}
