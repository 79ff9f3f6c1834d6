import { createHmac, randomUUID } from 'node:crypto';
import type { FeedKind } from '../../../src/modules/feeds/senders/signatures.js';
import type { Api } from '../../support/fixture/api.js';
import { unchecked } from '../../support/fixture/sent.js';

export type MadeFeed = { id: string; secret: string; kind: FeedKind };
type Event = Record<string, unknown>;

const hmac = (secret: string, ...parts: (string | Buffer)[]) => {
  const made = createHmac('sha256', secret);
  for (const part of parts) made.update(part);
  return made;
};

/** The headers with which each sender signs a body. */
export const SIGNED: Record<FeedKind, (secret: string, body: string) => Record<string, string>> = {
  easypost: (secret, body) => ({
    'x-hmac-signature': `hmac-sha256-hex=${hmac(secret, body).digest('hex')}`,
  }),
  shopify: (secret, body) => ({ 'x-shopify-hmac-sha256': hmac(secret, body).digest('base64') }),
  woocommerce: (secret, body) => ({ 'x-wc-webhook-signature': hmac(secret, body).digest('base64') }),
  shippo: (secret, body) => ({
    'shippo-auth-signature': `t=1795249800,v1=${hmac(secret, '1795249800.', body).digest('hex')}`,
  }),
};

type Heard = { number: string; status: string; at?: string; carrier?: string; detail?: string };

/** An event of EasyPost, with an id of its own. */
export const easyPost = ({ number, status, at, carrier = 'UPS', detail = 'unknown' }: Heard): Event => ({
  id: `evt_${randomUUID().replaceAll('-', '')}`,
  object: 'Event',
  description: 'tracker.updated',
  pending_urls: ['https://demo.crossdock.example/'],
  result: {
    object: 'Tracker',
    tracking_code: number,
    status,
    status_detail: detail,
    carrier,
    updated_at: '2026-11-30T23:59:59Z',
    tracking_details: at === undefined ? [] : [{ datetime: at, status, message: `Now ${status}` }],
  },
});

/** An event of Shippo. */
export const shippo = ({ number, status, at, carrier = 'ups' }: Heard, substatus?: unknown): Event => ({
  event: 'track_updated',
  test: false,
  data: {
    carrier,
    tracking_number: number,
    tracking_status:
      at === undefined ? null : { status, status_date: at, status_details: `Now ${status}`, substatus },
  },
});

type Ordered = {
  id?: number;
  numbers: unknown[];
  address2?: string;
  note?: string | null;
  attributes?: { name: string; value: string }[];
};

let lastOrder = 5_000_000_000_000;
export const newOrderId = (): number => (lastOrder += 1);

/** An order of Shopify, for nobody unless it says so. */
export const shopifyOrder = ({
  id = newOrderId(),
  numbers,
  address2 = '',
  note = null,
  attributes = [],
}: Ordered) => ({
  id,
  name: `#${id}`,
  cancelled_at: null,
  note,
  note_attributes: attributes,
  shipping_address: {
    name: 'Marcia Campbell',
    company: null,
    address1: '8200 NW 41st St',
    address2,
    zip: '33166',
  },
  line_items: [
    { title: 'Paperback', quantity: 3 },
    { title: 'Lamp', quantity: 1 },
  ],
  fulfillments: numbers.map((number, index) => ({
    id: id + index,
    status: 'success',
    tracking_company: 'UPS',
    tracking_number: number,
    tracking_numbers: [number],
  })),
});

/** An order of WooCommerce with the extension Shipment Tracking, for nobody unless it says so. */
export const wooOrder = ({
  id = newOrderId(),
  numbers,
  address2 = '',
  note = '',
  attributes = [],
}: Ordered) => ({
  id,
  number: String(id),
  status: 'completed',
  customer_note: note,
  shipping: { first_name: 'Marcia', company: '', address_1: '8200 NW 41st St', address_2: address2 },
  line_items: [
    { name: 'Paperback', quantity: 3 },
    { name: 'Lamp', quantity: 1 },
  ],
  meta_data: [
    ...attributes.map(({ name, value }) => ({ key: name, value })),
    {
      key: '_wc_shipment_tracking_items',
      value: numbers.map((number) => ({ tracking_provider: 'ups', tracking_number: number })),
    },
  ],
});

/** Creates feeds and sends events to them. */
export function makeFeedCalls(api: Api) {
  return {
    async create(
      as: string,
      kind: FeedKind = 'easypost',
      secret?: string,
      userCode: string | null = null,
    ): Promise<MadeFeed> {
      const name = `Feed ${randomUUID()}`;
      const fields = {
        action: 'create',
        kind,
        name,
        secret,
        ...(userCode === null ? {} : { user_code: userCode }),
      } as const;
      const { data } = await api.as(as).manageFeeds(fields).ok();
      return { id: data.feed.feed_id, secret: secret ?? data.secret ?? '', kind };
    },
    /** Sends an event as the sender would; a text as it is. */
    send(feed: MadeFeed, event: Event | string, host?: string) {
      const body = typeof event === 'string' ? event : JSON.stringify(event);
      return api.anonymous.receiveFeedEvent(unchecked(body), {
        query: { feed_id: feed.id },
        headers: SIGNED[feed.kind](feed.secret, body),
        ...(host ? { host } : {}),
      });
    },
    /** Sends a body with any headers. */
    sendWith(feedId: string, body: string, headers: Record<string, string>, token?: string) {
      const query = { feed_id: feedId, ...(token === undefined ? {} : { token }) };
      return api.anonymous.receiveFeedEvent(unchecked(body), { query, headers });
    },
    async announce(as: string, number: string, userCode = 'IEX-1001'): Promise<string> {
      const fields = { tracking_number: number, user_code: userCode, vendor: 'V' };
      const { data } = await api
        .as(as)
        .createPrealert({ ...fields, description: undefined, courier_id: undefined })
        .created();
      return data.prealert_id;
    },
    async prealert(as: string, number: string) {
      const { data } = await api
        .as(as)
        .listPrealerts(unchecked({ search: number }))
        .ok();
      return data[0];
    },
  };
}
