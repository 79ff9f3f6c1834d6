import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import type { OutboundRequest } from '../../../platform/outbound/client.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import { newId } from '../../../platform/values/ids.js';
import { selectTarget } from '../delivery/claim-queries.js';
import type { Called } from '../delivery/outcome.js';
import { headersOf, isKey, openSender, requestOf, type Sender } from '../delivery/send.js';
import { signatureHeaders } from '../delivery/sign.js';
import type { Mask } from '../exchanges/mask-secrets.js';
import { probeContent, probeReceivedAt, PROBE_WEIGHT_LB } from './package.js';
import { rewrittenBodies } from './rewritten.js';

type Format = Called['format'];

/** The places where receivers in the region look for the token. */
export type TokenPlace =
  | 'header Authorization'
  | 'header X-API-Key'
  | 'body APIToken'
  | 'body token'
  | 'query id';

/** The requests of a check of a webhook URL. They are those of live deliveries, marked as a test. */
export type WebhookProbe = {
  url: string;
  format: Format;
  hasToken: boolean;
  /** Replaces the courier's token and secrets in what a receiver answers. */
  mask: Mask;
  /** What the package of the requests says, for a comparison with what a receiver repeats. */
  sent: { weightLb: number; receivedAt: Date };
  /** The same delivery each time it is called, signed for the time of the call. */
  delivery(): OutboundRequest;
  /** Signed as for a receiver that verifies JSON which it has written again: the body is that of the delivery. */
  signedRewritten(): OutboundRequest;
  /** The places where a live delivery does not have the token. */
  otherPlaces: TokenPlace[];
  /** The delivery with the token also in another place. */
  withTokenIn(place: TokenPlace): OutboundRequest;
  otherFormats: Format[];
  inFormat(format: Format): OutboundRequest;
  /** A delivery with another id, and with a wrong token, signature and keys of the URL. */
  withWrongToken(): OutboundRequest;
};

/**
 * Reads the URL, the token and the secrets as a delivery does. Returns undefined if the courier has no such URL, or is disabled.
 * @param newContext creates a context for each transaction
 */
export async function openWebhookProbe(
  newContext: () => SystemContext,
  secrets: Secrets,
  queue: DeliveryQueue,
): Promise<WebhookProbe | undefined> {
  const ctx = newContext();
  const [[target]] = await ctx.read([selectTarget(ctx, queue)]);
  if (!target || target.url === null || !target.isActive) return undefined;
  return makeProbe(await openSender(newContext, secrets, queue, { ...target, url: target.url }));
}

/** Where live deliveries have the token. */
const LIVE_PLACES: Record<Format, TokenPlace[]> = {
  event: ['header Authorization'],
  flat: ['header Authorization', 'header X-API-Key', 'body APIToken'],
  flat_array: ['header Authorization', 'header X-API-Key', 'body APIToken'],
};
const ALL_PLACES: TokenPlace[] = [
  'header Authorization',
  'header X-API-Key',
  'body APIToken',
  'body token',
  'query id',
];
const FORMATS: Format[] = ['flat_array', 'flat', 'event'];

function makeProbe(sender: Sender): WebhookProbe {
  const { format, url, token, mask, clock, queue } = sender;
  const sentAt = clock();
  const packageOf = (eventId: string) => ({ courierId: queue.courierId, eventId, sentAt });
  const id = newId();
  const content = probeContent(format, packageOf(id), token ?? '');
  const make = (by: Pick<Sender, 'url' | 'headers' | 'secrets'>, sent: object, messageId = id) =>
    requestOf(by, { id: messageId, sentAt: clock(), body: JSON.stringify(sent), isTest: true });

  return {
    url,
    format,
    hasToken: token !== null,
    mask,
    sent: { weightLb: PROBE_WEIGHT_LB, receivedAt: probeReceivedAt(sentAt) },
    delivery: () => make(sender, content),
    signedRewritten() {
      const body = JSON.stringify(content);
      const now = clock();
      const signed = rewrittenBodies(body).map((each) =>
        signatureHeaders(sender.secrets, { id, sentAt: now, body: each }),
      );
      const signatures = signed.map((headers) => headers['webhook-signature']).join(' ');
      const headers = { ...signed[0], 'webhook-signature': signatures };
      return requestOf(sender, { id, sentAt: now, body, isTest: true }, headers);
    },
    otherPlaces: token === null ? [] : ALL_PLACES.filter((place) => !LIVE_PLACES[format].includes(place)),
    withTokenIn: (place) => make(inPlace(sender, place, token ?? ''), addToken(content, place, token ?? '')),
    otherFormats: FORMATS.filter((each) => each !== format),
    inFormat: (other) =>
      make(
        { ...sender, headers: headersOf(other, token, sender) },
        probeContent(other, packageOf(id), token ?? ''),
      ),
    withWrongToken() {
      const wrong = wrongText(token ?? '');
      const otherId = newId();
      const stranger = {
        url: withWrongKeys(url),
        headers: headersOf(format, wrong, sender),
        secrets: [`whsec_${randomBytes(32).toString('base64')}`],
      };
      return make(stranger, probeContent(format, packageOf(otherId), wrong), otherId);
    },
  };
}

function inPlace(sender: Sender, place: TokenPlace, token: string): Sender {
  if (place === 'header X-API-Key') return { ...sender, headers: { ...sender.headers, 'x-api-key': token } };
  if (place !== 'query id') return sender;
  const url = new URL(sender.url);
  url.searchParams.set('id', token);
  return { ...sender, url: url.href };
}

function addToken(content: object, place: TokenPlace, token: string): object {
  if (!place.startsWith('body ')) return content;
  const field = { [place.slice('body '.length)]: token };
  return Array.isArray(content)
    ? content.map((each: object) => ({ ...each, ...field }))
    : { ...content, ...field };
}

/** Of the same length, so that a receiver which checks only that is found too. At least one character. */
const wrongText = (text: string): string =>
  randomBytes(Math.max(16, text.length))
    .toString('hex')
    .slice(0, text.length || 16);

/** Replaces the values of the query that can be keys. */
export function withWrongKeys(text: string): string {
  const url = new URL(text);
  for (const [name, value] of url.searchParams)
    if (isKey(value)) url.searchParams.set(name, wrongText(value));
  return url.href;
}
