// Shopify's webhooks of orders and fulfillments: https://shopify.dev/docs/api/webhooks and
// https://shopify.dev/docs/api/admin-rest/latest/resources/fulfillment
import {
  descriptionOf,
  idOf,
  namedCodes,
  numbersOf,
  referenceOf,
  textsOf,
  type OrderText,
  type ShopOrder,
} from './shop-order.js';
import { fieldsOf, listOf, type Fields } from './fields.js';

/** Parcels of these were never sent. */
const FAILED = new Set<unknown>(['cancelled', 'error', 'failure']);
/** What a fulfillment adds to the name of its order: `#1001.1` or `#1001-F1`. */
const PART_OF_ORDER = /(?:\.|-F)\d+$/;

/** Returns what an order or a fulfillment says, or undefined if the body is something else. */
export function readShopify(body: Fields): ShopOrder | undefined {
  return body['order_id'] === undefined ? readOrder(body) : readFulfillment(body);
}

function readOrder(order: Fields): ShopOrder | undefined {
  const id = idOf(order['id']);
  if (id === null || !Array.isArray(order['fulfillments'])) return undefined;
  return {
    id,
    reference: referenceOf(order['name']),
    description: describe(order),
    numbers: numbersOf(listOf(order['fulfillments']).flatMap(trackingOf)),
    named: namedCodes(listOf(order['note_attributes']).map(({ name, value }) => ({ name, value }))),
    texts: [...textsOfAddress(fieldsOf(order['shipping_address'])), ...textsOf([order['note']], false)],
  };
}

function readFulfillment(fulfillment: Fields): ShopOrder | undefined {
  const id = idOf(fulfillment['order_id']);
  if (id === null) return undefined;
  return {
    id,
    reference: referenceOf(fulfillment['name'])?.replace(PART_OF_ORDER, '') ?? null,
    description: describe(fulfillment),
    numbers: numbersOf(trackingOf(fulfillment)),
    named: [],
    texts: textsOfAddress(fieldsOf(fulfillment['destination'])),
  };
}

const describe = ({ line_items: lines }: Fields) => descriptionOf(lines, ({ title }) => title);

function trackingOf(fulfillment: Fields): unknown[] {
  if (FAILED.has(fulfillment['status'])) return [];
  const { tracking_numbers: numbers, tracking_number: number } = fulfillment;
  return Array.isArray(numbers) && numbers.length > 0 ? numbers : [number];
}

const textsOfAddress = (address: Fields): OrderText[] => [
  ...textsOf([address['address2'], address['company']], true),
  ...textsOf([address['address1'], address['name'], address['first_name'], address['last_name']], false),
];
