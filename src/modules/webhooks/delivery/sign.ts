import { createHmac } from 'node:crypto';

export type SignedMessage = { id: string; sentAt: Date; body: string };

/**
 * Returns the headers of Standard Webhooks for a message, signed with each secret, so that a receiver with
 * the old secret can still verify it.
 * @param secrets `whsec_` and base64, newest first
 */
export function signatureHeaders(
  secrets: string[],
  { id, sentAt, body }: SignedMessage,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => sign(secret, `${id}.${timestamp}.${body}`)).join(' '),
  };
}

/** Not with the package standardwebhooks, whose SHA-256 in JavaScript took a twentieth of a delivery. The tests verify with it. */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
