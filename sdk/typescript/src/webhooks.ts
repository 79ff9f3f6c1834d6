import { CrossdockError, WebhookVerificationError } from './errors.js';
import type { CourierEvent, WebhookTestEvent } from './generated/core/types.gen.js';

/** What the service sends to your URLs. */
export type WebhookEvent = CourierEvent | WebhookTestEvent;

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How far the webhook's time may be from the clock. Default 300 seconds, against replayed webhooks. */
  toleranceSeconds?: number;
  now?: Date;
};

const VERSION = 'v1';

/**
 * Verifies a webhook and returns its event. The signature follows Standard Webhooks.
 *
 * @param payload the body exactly as received, not parsed and written again
 * @param secret `webhook_secret` of the courier's settings, or several while you change it
 * @throws WebhookVerificationError if the webhook is not authentic, or too old; CrossdockError if there is no secret
 */
export async function verifyWebhook(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | undefined | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const secrets = secretsOf(secret);
  const id = required(headers, 'webhook-id');
  const sentAt = required(headers, 'webhook-timestamp');
  const signatures = required(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(sentAt))
    throw new WebhookVerificationError('webhook-timestamp is not a number of seconds.');
  if (Math.abs(now.getTime() / 1000 - Number(sentAt)) > toleranceSeconds)
    throw new WebhookVerificationError(
      `webhook-timestamp is more than ${toleranceSeconds} seconds from the clock.`,
    );
  const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : new Uint8Array(payload);
  const signed = concat(new TextEncoder().encode(`${id}.${sentAt}.`), bytes);
  for (const each of secrets) {
    const key = await importKey(each);
    for (const signature of signatures) if (await isSignature(key, signature, signed)) return eventOf(bytes);
  }
  throw new WebhookVerificationError('No signature of the webhook matches the secret.');
}

/** Programs in JavaScript, and environment variables, can lack it. */
function secretsOf(given: string | undefined | readonly string[] | null): readonly string[] {
  const secrets = typeof given === 'object' && given !== null ? given : [given];
  const known = secrets.filter((each): each is string => typeof each === 'string' && each !== '');
  if (known.length > 0 && known.length === secrets.length) return known;
  throw new CrossdockError('The secret of the webhook is missing. Copy it from the settings of the courier.');
}

function required(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : fieldOf(headers, name);
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

function fieldOf(headers: Exclude<WebhookHeaders, Headers>, name: string): string | undefined {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'object' ? value.join(' ') : value;
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0)
    throw new WebhookVerificationError('The secret is not whsec_ and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** crypto.subtle compares in constant time. Signatures of other versions are ignored. */
async function isSignature(
  key: CryptoKey,
  signature: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const [version, value = ''] = signature.split(',');
  const bytes = version === VERSION ? decodeBase64(value) : undefined;
  return bytes !== undefined && crypto.subtle.verify('HMAC', key, bytes, signed);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    // atob() throws for text that is not base64.
    return undefined;
  }
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  // The service signed it.
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
