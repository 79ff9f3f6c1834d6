import { Webhook } from 'standardwebhooks';

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
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
  };
}
