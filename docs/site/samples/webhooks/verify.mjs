import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns whether a webhook came from Crossdock. `body` is the request's body as received: a Buffer or a string. */
export function isFromCrossdock(secret, headers, body) {
  const timestamp = headers['webhook-timestamp'] ?? '';
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  // A missing setting must not become an empty key, with which anyone can sign.
  const key = Buffer.from((secret ?? '').slice('whsec_'.length), 'base64');
  if (key.length === 0) return false;
  const hash = createHmac('sha256', key).update(`${headers['webhook-id']}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${hash.digest('base64')}`);
  return (headers['webhook-signature'] ?? '').split(' ').some((each) => {
    const signature = Buffer.from(each);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}
