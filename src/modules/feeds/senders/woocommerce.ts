// WooCommerce's orders: https://woocommerce.github.io/woocommerce-rest-api-docs/#order-properties. It has no tracking numbers of its own: the
// extension Shipment Tracking and those that follow it store them as metadata, https://woocommerce.com/document/shipment-tracking/
import {
  descriptionOf,
  idOf,
  namedCodes,
  numbersOf,
  referenceOf,
  textsOf,
  valuesOf,
  type OrderText,
  type ShopOrder,
} from './shop-order.js';
import { fieldsOf, lineOf, listOf, type Fields } from './fields.js';

const TRACKING_ITEMS = '_wc_shipment_tracking_items';
/** Custom fields with one number: one that a shop without an extension adds, and that of Orders Tracking (https://docs.villatheme.com/?p=8597). */
const TRACKING_FIELDS = new Set<unknown>(['tracking_number', '_wot_tracking_number']);

/** Returns what an order says, or undefined if the body is something else. */
export function readWooCommerce(order: Fields): ShopOrder | undefined {
  const id = idOf(order['id']);
  if (id === null || !Array.isArray(order['meta_data'])) return undefined;
  const meta = listOf(order['meta_data']);
  return {
    id,
    reference: referenceOf(order['number']) ?? id,
    description: descriptionOf(order['line_items'], ({ name }) => name),
    numbers: numbersOf(meta.flatMap(trackingOf)),
    named: namedCodes(meta.map(({ key, value }) => ({ name: key, value }))),
    texts: [...textsOfAddress(addressOf(order)), ...textsOf([order['customer_note']], false)],
  };
}

function trackingOf({ key, value }: Fields): unknown[] {
  if (TRACKING_FIELDS.has(key)) return [value];
  if (key !== TRACKING_ITEMS) return [];
  return valuesOf(value).map((item) => fieldsOf(item)['tracking_number']);
}

/** An order has empty texts as its shipping address if that is the billing address. */
function addressOf({ shipping, billing }: Fields): Fields {
  const address = fieldsOf(shipping);
  const isEmpty = lineOf(address['address_1'], 1) === null && lineOf(address['address_2'], 1) === null;
  return isEmpty ? fieldsOf(billing) : address;
}

const textsOfAddress = (address: Fields): OrderText[] => [
  ...textsOf([address['address_2'], address['company']], true),
  ...textsOf([address['address_1'], address['first_name'], address['last_name']], false),
];
