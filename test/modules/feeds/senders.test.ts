import { describe, expect, test } from '@jest/globals';
import { idOfEasyPost, readEasyPost } from '../../../src/modules/feeds/senders/easypost.js';
import { fieldsOf, lineOf, numberOf, timeOf } from '../../../src/modules/feeds/senders/fields.js';
import { readShippo } from '../../../src/modules/feeds/senders/shippo.js';

const easyPost = (result: unknown, description: unknown = 'tracker.updated') =>
  readEasyPost({ description, result });
const shippo = (data: unknown, event: unknown = 'track_updated') => readShippo({ event, data });
const HEARD = { tracking_code: 'EZ1', status: 'in_transit' };

describe('EasyPost', () => {
  test.each([
    ['unknown', 'silent', false],
    ['pre_transit', 'announced', false],
    ['in_transit', 'moving', false],
    ['out_for_delivery', 'moving', false],
    ['delivered', 'delivered_at_warehouse_door', false],
    ['available_for_pickup', 'problem', true],
    ['return_to_sender', 'problem', true],
    ['failure', 'problem', true],
    ['cancelled', 'problem', true],
    ['error', 'problem', false],
  ])('%s is %s', (status, expected, isActionNeeded) => {
    const read = easyPost({ ...HEARD, status, status_detail: 'unknown' });
    expect(read).toMatchObject({ status: expected, code: status, isActionNeeded });
  });

  test('says the last of its details, in whatever order they are', () => {
    const details = [
      { datetime: '2026-11-20T12:00:00Z', message: 'Second' },
      { datetime: '2026-11-20T08:00:00-05:00', message: 'Third' },
      { datetime: '2026-11-20T11:00:00Z', message: 'First' },
      { datetime: 'soon', message: 'Never' },
    ];
    const read = easyPost({ ...HEARD, status_detail: 'arrived_at_facility', tracking_details: details });
    expect(read).toMatchObject({
      code: 'arrived_at_facility',
      remark: 'Third',
      occurredAt: new Date('2026-11-20T13:00:00Z'),
    });
  });

  test('says nothing with another event, status or form', () => {
    expect(easyPost(HEARD)).toMatchObject({ number: 'EZ1', status: 'moving' });
    const others = [easyPost(HEARD, 'batch.updated'), easyPost({ ...HEARD, status: 'constructor' })];
    others.push(easyPost({ ...HEARD, tracking_code: 7 }), easyPost([HEARD]), easyPost(null));
    expect(others).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  test('has an id only of its own form', () => {
    expect(idOfEasyPost({ id: 'evt_dd98161ae46711edaa3c130acadc8cfc' })).toBe(
      'evt_dd98161ae46711edaa3c130acadc8cfc',
    );
    expect([{}, { id: 'evt_' }, { id: `evt_${'a'.repeat(61)}` }, { id: 5 }].map(idOfEasyPost)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('Shippo', () => {
  const track = (tracking_status: unknown) => ({ tracking_number: '92', carrier: 'usps', tracking_status });

  test.each([
    ['UNKNOWN', 'silent', false],
    ['PRE_TRANSIT', 'announced', false],
    ['TRANSIT', 'moving', false],
    ['DELIVERED', 'delivered_at_warehouse_door', false],
    ['RETURNED', 'problem', true],
    ['FAILURE', 'problem', true],
  ])('%s is %s', (status, expected, isActionNeeded) => {
    expect(shippo(track({ status, status_date: '2026-11-20T12:00:00.123Z' }))).toMatchObject({
      status: expected,
      carrier: 'usps',
      code: status.toLowerCase(),
      isActionNeeded,
      occurredAt: new Date('2026-11-20T12:00:00.123Z'),
    });
  });

  test('says itself whether somebody must act, and is silent until it knows the number', () => {
    const substatus = { code: 'delivery_attempted', text: 'Attempted', action_required: false };
    expect(shippo(track({ status: 'FAILURE', substatus }))).toMatchObject({
      code: 'delivery_attempted',
      remark: 'Attempted',
      isActionNeeded: false,
    });
    expect(shippo(track(null))).toMatchObject({ status: 'silent', occurredAt: null });
    expect([shippo(track({ status: 'LOST' })), shippo({}), shippo(track(null), 'batch_created')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('a text of a sender becomes one line of a limited length', () => {
  expect(lineOf(' a\u0000\n\tb\u2028 ', 10)).toBe('a b');
  expect(lineOf('😀'.repeat(9), 3)).toBe('😀😀😀');
  expect([lineOf('\u0007', 5), lineOf(5, 5), lineOf('', 5)]).toEqual([null, null, null]);
});

test('half of a character is left out, because it cannot be stored', () => {
  expect(lineOf('a\ud83db\ude00', 9)).toBe('ab');
  // The cut before the search for controls may halve one.
  expect(lineOf(`${' '.repeat(19)}😀`, 5)).toBeNull();
  expect(lineOf('\ud83d', 5)).toBeNull();
});

test('a number that is too long to be one is none, and not the beginning of it', () => {
  expect(numberOf(` ${'9'.repeat(255)} `)).toBe('9'.repeat(255));
  expect([numberOf('9'.repeat(256)), numberOf(5), numberOf(' ')]).toEqual([null, null, null]);
  expect(easyPost({ ...HEARD, tracking_code: '9'.repeat(256) })).toBeUndefined();
});

test('a time of a sender is read with its zone, as UTC without one, and only within this century', () => {
  expect(timeOf('2026-11-20 12:00:00')).toEqual(new Date('2026-11-20T12:00:00Z'));
  expect(timeOf('2026-11-20T12:00:00+0100')).toEqual(new Date('2026-11-20T11:00:00Z'));
  const none = ['', '2026-13-40T12:00:00Z', '1970-01-01T00:00:00Z', '2026-11-20', 5, null].map(timeOf);
  expect(none).toEqual([null, null, null, null, null, null]);
});

test('what is no object has no fields', () => {
  expect([fieldsOf(null), fieldsOf([1]), fieldsOf('a'), fieldsOf({ a: 1 })]).toEqual([{}, {}, {}, { a: 1 }]);
});
