import { describe, expect, test } from '@jest/globals';
import { codesOf, ownerOf } from '../../../src/modules/feeds/customer-codes.js';
import { readShopify } from '../../../src/modules/feeds/senders/shopify.js';
import { readWooCommerce } from '../../../src/modules/feeds/senders/woocommerce.js';
import { shopifyOrder, wooOrder } from './feed-calls.js';

const none = (): never => {
  throw new Error('The body is no order.');
};

describe('Shopify', () => {
  test('an order has the numbers of its fulfillments, each once', () => {
    const order = shopifyOrder({
      id: 1001,
      numbers: ['1Z999AA10123456784', '1Z999AA10123456784', 9_400_111],
    });
    expect(readShopify(order)).toMatchObject({
      id: '1001',
      reference: '#1001',
      description: '3 × Paperback, Lamp',
      numbers: ['1Z999AA10123456784', '9400111'],
    });
  });

  test('a fulfillment is one of its order', () => {
    const fulfillment = { id: 7, order_id: 1001, status: 'success', line_items: [] };
    const destination = { address2: 'IEX-1001' };
    const read = (name: string, numbers: object) =>
      readShopify({ ...fulfillment, name, destination, ...numbers });
    expect(read('#1001.1', { tracking_numbers: ['A1', 'B2'], tracking_number: 'A1' })).toEqual({
      id: '1001',
      reference: '#1001',
      description: null,
      numbers: ['A1', 'B2'],
      named: [],
      texts: [{ text: 'IEX-1001', mayBeDigits: true }],
    });
    expect(read('#1001-F2', { tracking_number: 'A1', tracking_numbers: [] })).toMatchObject({
      reference: '#1001',
      numbers: ['A1'],
    });
  });

  test('a cancelled or failed fulfillment announces nothing, and a cancelled order announces what was sent', () => {
    const order = { ...shopifyOrder({ numbers: ['A1', 'B2', 'C3'] }), cancelled_at: '2026-11-30T10:00:00Z' };
    const [first, second, third] = order.fulfillments;
    const fulfillments = [first, { ...second, status: 'cancelled' }, { ...third, status: 'failure' }];
    expect(readShopify({ ...order, fulfillments })?.numbers).toEqual(['A1']);
  });

  test('an order that is not sent yet has no numbers, and other bodies are no orders', () => {
    expect(readShopify(shopifyOrder({ numbers: [] }))?.numbers).toEqual([]);
    expect(readShopify(shopifyOrder({ numbers: [null, '', ' ', [], {}] }))?.numbers).toEqual([]);
    const others = [
      {},
      { id: 5 },
      { id: 'x', fulfillments: {} },
      { order_id: null },
      { id: -1, fulfillments: [] },
    ];
    expect(others.map(readShopify)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  test('a number that is too long to be one is not cut', () => {
    expect(readShopify(shopifyOrder({ numbers: ['9'.repeat(256)] }))?.numbers).toEqual([null]);
  });
});

describe('WooCommerce', () => {
  test('an order has the numbers of Shipment Tracking, also as PHP sends a list with gaps', () => {
    const order = wooOrder({ id: 727, numbers: [] });
    const value = { 1: { tracking_number: 'A1' }, 3: { tracking_number: 'B2' } };
    const meta = [{ key: '_wc_shipment_tracking_items', value }];
    expect(readWooCommerce({ ...order, meta_data: meta })).toMatchObject({
      id: '727',
      reference: '727',
      description: '3 × Paperback, Lamp',
      numbers: ['A1', 'B2'],
    });
  });

  test('an order has the number of a custom field', () => {
    const order = wooOrder({ numbers: ['A1'] });
    const fields = [
      { key: 'tracking_number', value: 'B2' },
      { key: '_wot_tracking_number', value: 'C3' },
      { key: 'other', value: 'D4' },
    ];
    expect(readWooCommerce({ ...order, meta_data: [...order.meta_data, ...fields] })?.numbers).toEqual([
      'A1',
      'B2',
      'C3',
    ]);
  });

  test('the billing address counts if there is no other', () => {
    const billing = { address_1: 'IEX-1001 Lane', address_2: 'IEX-1002' };
    const order = { ...wooOrder({ numbers: ['A1'] }), billing };
    expect(codesOf(readWooCommerce(order) ?? none())).not.toContain('IEX-1002');
    const empty = { ...order, shipping: { address_1: '', address_2: '' } };
    expect(codesOf(readWooCommerce(empty) ?? none())).toContain('IEX-1002');
  });

  test('a deleted order and other bodies are no orders', () => {
    expect([{ id: 5 }, {}, { id: 5, meta_data: 'x' }, { action: 'a', arg: 5 }].map(readWooCommerce)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('the customer of an order', () => {
  const customer = (id: string, userCode: string, isActive = true) => ({ id, userCode, isActive });
  const CUSTOMERS = [
    customer('1', 'IEX-1001'),
    customer('2', 'IEX-1002'),
    customer('3', '8200'),
    customer('4', 'IEX-9', false),
  ];
  const own = (fields: Parameters<typeof shopifyOrder>[0], defaultId: string | null = null) => {
    const order = readShopify(shopifyOrder(fields)) ?? none();
    const codes = new Set(codesOf(order));
    const read = CUSTOMERS.filter(({ id, userCode }) => codes.has(userCode) || id === defaultId);
    return ownerOf(order, read, defaultId);
  };
  const numbers = ['A1'];

  test.each([
    ['the second line of the address', { address2: 'IEX-1001' }],
    ['a word of it', { address2: 'Suite #IEX-1001.' }],
    ['it in small letters', { address2: 'iex-1001' }],
    ['the note', { note: 'My box is IEX-1001, thank you!' }],
    ['a field for it', { attributes: [{ name: 'Número de casillero', value: 'IEX-1001' }] }],
    [
      'a field for it before the address',
      { address2: 'IEX-1002', attributes: [{ name: 'user_code', value: 'IEX-1001' }] },
    ],
  ])('is named by %s', (_where, fields) => {
    expect(own({ numbers, ...fields })).toEqual({ userCode: 'IEX-1001' });
  });

  test('with a code of digits is not found in a street, a note or a name', () => {
    // The street has the number 8200.
    expect(own({ numbers, note: 'Before 8200' })).toEqual({ reason: 'no_user_code' });
    expect(own({ numbers, address2: 'Box 8200' })).toEqual({ userCode: '8200' });
  });

  test('is that of the feed only if the order names none', () => {
    expect(own({ numbers }, '2')).toEqual({ userCode: 'IEX-1002' });
    expect(own({ numbers, address2: 'IEX-1001' }, '2')).toEqual({ userCode: 'IEX-1001' });
    const wrong = [{ name: 'mailbox', value: 'IEX-7777' }];
    expect(own({ numbers, attributes: wrong }, '2')).toEqual({ reason: 'unknown_user_code' });
  });

  test('is nobody if there are several, none, or an inactive one', () => {
    expect(own({ numbers, address2: 'IEX-1001', note: 'IEX-1002' }, '2')).toEqual({
      reason: 'several_customers',
    });
    expect(own({ numbers })).toEqual({ reason: 'no_user_code' });
    expect(own({ numbers, address2: 'IEX-9' }, '2')).toEqual({ reason: 'unknown_user_code' });
    expect(own({ numbers }, '4')).toEqual({ reason: 'unknown_user_code' });
  });
});
