import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedBody } from '../../../platform/contract/types.js';
import type { components } from '../../../../generated/contract.js';

export type FeedKind = components['schemas']['FeedKind'];

/** A body with its headers, and what the sender has in the URL. */
export type Delivery = SignedBody & { token: string | undefined };

const hmac = (secret: string, ...parts: (string | Buffer)[]): Buffer => {
  const made = createHmac('sha256', secret);
  for (const part of parts) made.update(part);
  return made.digest();
};

/** Compares in a time that does not depend on the texts. */
function isSame(sent: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(sent), hash(expected));
}

const headerOf = ({ headers }: SignedBody, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** EasyPost's libraries normalize the secret. */
function isSignedByEasyPost(delivery: Delivery, secret: string): boolean {
  const sent = headerOf(delivery, 'x-hmac-signature');
  const expected = hmac(secret.normalize('NFKD'), delivery.bytes).toString('hex');
  return sent !== undefined && isSame(sent, `hmac-sha256-hex=${expected}`);
}

const SHIPPO = /^t=(\d{1,15}), ?v1=([0-9a-f]{64})$/;

/** A sender that signs must sign rightly: the token counts only without a signature. */
function isSignedByShippo(delivery: Delivery, secret: string): boolean {
  const sent = headerOf(delivery, 'shippo-auth-signature');
  if (sent === undefined) return delivery.token !== undefined && isSame(delivery.token, secret);
  const [, time, signature] = SHIPPO.exec(sent.trim()) ?? [];
  if (time === undefined || signature === undefined) return false;
  return isSame(signature, hmac(secret, `${time}.`, delivery.bytes).toString('hex'));
}

/**
 * Both shops send the HMAC in base64: https://shopify.dev/docs/apps/build/webhooks/verify-deliveries and
 * https://developer.woocommerce.com/docs/apis/rest-api/v2/webhooks/
 */
const isSignedByShop =
  (header: string) =>
  (delivery: Delivery, secret: string): boolean => {
    const sent = headerOf(delivery, header);
    return sent !== undefined && isSame(sent, hmac(secret, delivery.bytes).toString('base64'));
  };

const CHECKS: Record<FeedKind, (delivery: Delivery, secret: string) => boolean> = {
  easypost: isSignedByEasyPost,
  shippo: isSignedByShippo,
  shopify: isSignedByShop('x-shopify-hmac-sha256'),
  woocommerce: isSignedByShop('x-wc-webhook-signature'),
};

/** Returns whether a delivery has the signature of one of the secrets. Compares with all of them. */
export const isSigned = (kind: FeedKind, delivery: Delivery, secrets: readonly string[]): boolean =>
  secrets.map((secret) => CHECKS[kind](delivery, secret)).includes(true);
