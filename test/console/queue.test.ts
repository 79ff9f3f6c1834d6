import { describe, expect, test } from '@jest/globals';
import {
  BATCH_SIZE,
  countQueue,
  delayAfter,
  newScanId,
  nextBatch,
  settle,
  stampOf,
  storable,
  twoWeights,
  type Correction,
  type QueuedScan,
  type ScanResult,
} from '../../console/src/queue/scans.js';
import { Batches, pairResults, type Rejection } from '../../console/src/queue/batches.js';
import { latestMeasures, receivedParcels } from '../../console/src/queue/received.js';
import { verdictOf } from '../../console/src/queue/verdict.js';

const scanAt = (second: number, changes: Partial<QueuedScan> = {}): QueuedScan => ({
  scan_id: `scan-${second}`,
  owner: 'wanda',
  ownerName: 'Wanda',
  station: 'Dock 1',
  state: 'waiting',
  request: {
    scan_id: `scan-${second}`,
    scanned_at: stampOf(new Date(Date.UTC(2026, 10, 21, 8, 0, second))),
    kind: 'load',
    scan: `NUMBER${second}`,
  },
  ...changes,
});

const answer = (changes: Partial<ScanResult>): ScanResult => ({
  scan_id: 'scan-1',
  result: 'done',
  outcome: 'done',
  reason: null,
  message: 'Text.',
  errors: [],
  parcel: null,
  other_receipt: null,
  ...changes,
});

const STATE: NonNullable<ScanResult['parcel']> = {
  package_id: null,
  tracking_number: 'N',
  house_number: null,
  status: null,
  weight: null,
  courier_id: null,
  courier_name: null,
  user_code: 'IEX-1',
  flagged: false,
  manifest_id: null,
  manifest_number: null,
  loaded_manifest_id: null,
  location: null,
};

const correctionOf = (scanId: string, weight: number): Correction => ({
  scan_id: scanId,
  owner: 'wanda',
  scan: 'NUMBER',
  measures: { weight },
  package_id: null,
});

const idsOf = (queue: QueuedScan[], owner = 'wanda') =>
  nextBatch(queue, owner)?.scans.map(({ scan_id }) => scan_id);

test('a scan has no character that the service would refuse with the whole batch', () => {
  expect(storable('1Z\0\ud83d 9\u001dñ📦')).toBe('1Z 9\u001dñ📦');
});

describe('the next batch', () => {
  test('has the oldest scans first, at most as many as the service takes', () => {
    const queue = Array.from({ length: BATCH_SIZE + 20 }, (_, index) => scanAt(BATCH_SIZE + 20 - index));
    expect(idsOf(queue)).toHaveLength(BATCH_SIZE);
    expect(idsOf(queue)?.slice(0, 3)).toEqual(['scan-1', 'scan-2', 'scan-3']);
  });

  test('never has the scans of another user, nor those that a person must see', () => {
    const queue = [scanAt(1, { owner: 'bo' }), scanAt(2, { state: 'attention' }), scanAt(3)];
    expect(idsOf(queue)).toEqual(['scan-3']);
    expect(idsOf(queue, 'bo')).toEqual(['scan-1']);
    expect(nextBatch(queue, 'nobody')).toBeUndefined();
  });

  test('is of one station, because the service stores the station with the batch', () => {
    const queue = [scanAt(1), scanAt(2, { station: 'Dock 2' }), scanAt(3)];
    expect(idsOf(queue)).toEqual(['scan-1', 'scan-3']);
  });
});

describe('a scan with which the service cannot deal', () => {
  const rejection = (status: number): Rejection => ({ status, message: 'Refused.', errors: [] });

  /** Sends the queue to a service that deals with each batch as told. Returns the scans in the order of their ends. */
  function sendAll(queue: QueuedScan[], statusOf: (scans: QueuedScan[]) => number | undefined) {
    const batches = new Batches();
    const done: string[] = [];
    const aside: string[] = [];
    let requests = 0;
    let rest = queue;
    for (
      let batch = batches.next(rest, 'wanda');
      batch && requests < 60;
      batch = batches.next(rest, 'wanda')
    ) {
      requests += 1;
      const status = statusOf(batch.scans);
      const ids = batch.scans.map(({ scan_id }) => scan_id);
      const failure = status === undefined ? undefined : batches.failed(batch, rejection(status));
      if (!failure) {
        batches.succeeded(batch);
        done.push(...ids);
      } else if (failure.action === 'setAside') aside.push(...ids);
      if (!failure || failure.action === 'setAside')
        rest = rest.filter(({ scan_id }) => !ids.includes(scan_id));
    }
    return { done, aside, requests, left: rest.map(({ scan_id }) => scan_id) };
  }

  const queue = Array.from({ length: BATCH_SIZE }, (_, index) => scanAt(index));
  const hasAny = (scans: QueuedScan[], ...ids: string[]) =>
    scans.some(({ scan_id }) => ids.includes(scan_id));

  test.each([400, 413, 422])('is set aside after %d, and all others are sent', (status) => {
    const sent = sendAll(queue, (scans) => (hasAny(scans, 'scan-7', 'scan-80') ? status : undefined));
    expect(sent.aside).toEqual(['scan-7', 'scan-80']);
    expect(new Set(sent.done).size).toBe(BATCH_SIZE - 2);
    expect(sent.left).toEqual([]);
    // Eight requests find one of 100. The last sends the rest.
    expect(sent.requests).toBeLessThanOrEqual(17);
  });

  test('has the reason of the service', () => {
    const [first] = queue;
    if (!first) throw new Error('The queue is empty.');
    const errors = [
      { field: 'scans[0].scan', code: 'invalid_encoding', message: 'scans[0].scan has a NUL.' },
    ];
    expect(
      new Batches().failed({ station: 'Dock 1', scans: [first] }, { ...rejection(400), errors }),
    ).toMatchObject({
      action: 'setAside',
      result: { scan_id: 'scan-0', result: 'refused', message: 'scans[0].scan has a NUL.' },
    });
  });

  test('stays in the queue after 500, behind all others', () => {
    const sent = sendAll(queue, (scans) => (hasAny(scans, 'scan-7') ? 500 : undefined));
    expect(sent.aside).toEqual([]);
    expect(new Set(sent.done).size).toBe(BATCH_SIZE - 1);
    expect(sent.left).toEqual(['scan-7']);
  });

  test.each([401, 403, 408, 429, 502, 503, 504])('is not looked for after %d', (status) => {
    const sent = sendAll(queue, () => status);
    expect(sent).toMatchObject({ aside: [], done: [], left: queue.map(({ scan_id }) => scan_id) });
  });

  test('lets the other scans that failed with it be tried again, in turns', () => {
    const batches = new Batches();
    const three = queue.slice(0, 3);
    batches.postpone(three);
    const tried = Array.from({ length: 4 }, () => {
      const batch = batches.next(three, 'wanda');
      if (!batch) throw new Error('Nothing is sent.');
      batches.failed(batch, rejection(500));
      return batch.scans.map(({ scan_id }) => scan_id);
    });
    expect(tried).toEqual([['scan-0'], ['scan-1'], ['scan-2'], ['scan-0']]);
    batches.succeeded({ station: 'Dock 1', scans: three });
    expect(batches.next(three, 'wanda')?.scans).toHaveLength(3);
  });

  test('is not looked for without an answer', () => {
    expect(new Batches().failed({ station: 'Dock 1', scans: queue }, undefined)).toEqual({ action: 'wait' });
  });
});

describe('the results of a batch', () => {
  const scans = [scanAt(1), scanAt(2), scanAt(3)];
  const resultOf = (scan_id: string | null) => answer({ scan_id });
  const idsIn = (results: unknown) => {
    const { answers, unanswered } = pairResults(scans, results);
    return {
      answers: answers.map(({ scan, result }) => [scan.scan_id, result.scan_id]),
      unanswered: unanswered.map(({ scan_id }) => scan_id),
    };
  };

  test('belong to the scans with their ids, in whatever order', () => {
    const results = ['scan-3', 'scan-1', 'scan-2'].map(resultOf);
    expect(idsIn(results).answers).toEqual(scans.map(({ scan_id }) => [scan_id, scan_id]));
  });

  test('belong to the scan in the same place if the service could not read its id', () => {
    expect(idsIn([resultOf('scan-1'), resultOf(null), resultOf('scan-3')])).toEqual({
      answers: [
        ['scan-1', 'scan-1'],
        ['scan-2', null],
        ['scan-3', 'scan-3'],
      ],
      unanswered: [],
    });
  });

  test('leave scans unanswered that they do not name', () => {
    expect(idsIn([resultOf('scan-1'), resultOf('other')])).toEqual({
      answers: [['scan-1', 'scan-1']],
      unanswered: ['scan-2', 'scan-3'],
    });
  });

  test.each([[undefined], [null], ['<html>'], [{}], [[null, 1, 'text']]])(
    'answer no scan if they are %j, as from another server',
    (results) => expect(idsIn(results).unanswered).toHaveLength(3),
  );
});

test('a scan has an id that the service accepts, and no other scan has it', () => {
  const ids = Array.from({ length: 200 }, newScanId);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('an answered scan', () => {
  test.each([
    { result: 'done' as const, reason: null },
    { result: 'repeated' as const, reason: null },
    { result: 'conflict' as const, outcome: 'conflict' as const, reason: 'already_received' as const },
    { result: 'repeated' as const, outcome: 'conflict' as const, reason: 'already_received' as const },
  ])('after which nothing is left to do ($result, $reason) leaves the queue', (each) =>
    expect(settle(scanAt(1), answer(each))).toBeUndefined(),
  );

  test.each([
    { result: 'conflict' as const, outcome: 'conflict' as const, reason: 'on_hold' as const },
    { result: 'repeated' as const, outcome: 'conflict' as const, reason: 'not_received' as const },
    { result: 'refused' as const, outcome: null, reason: 'invalid' as const },
  ])('that was not executed ($result, $reason) stays with its answer until a person has seen it', (each) => {
    const result = answer(each);
    expect(settle(scanAt(1), result)).toEqual(scanAt(1, { state: 'attention', result }));
  });
});

test('attempts follow with growing pauses, at most 30 s, never none', () => {
  const [least, most] = [0, 0.999].map((random) =>
    [1, 2, 3, 6, 50].map((failures) => Math.round(delayAfter(failures, random))),
  );
  expect(least).toEqual([500, 1_000, 2_000, 15_000, 15_000]);
  expect(most).toEqual([1_000, 1_999, 3_998, 29_985, 29_985]);
});

test('an attempt waits as long as the service asks for, and for a part that is random', () => {
  expect([1, 3, 6].map((failures) => delayAfter(failures, 0, 3_000))).toEqual([3_000, 3_000, 15_000]);
  expect(Math.round(delayAfter(1, 0.999, 3_000))).toBe(3_500);
  expect([delayAfter(1, 0, 3_600_000), Math.round(delayAfter(6, 0.999, 3_600_000))]).toEqual([
    15_000, 29_985,
  ]);
});

test('the counts tell own scans and corrections from those of others, who are named once', () => {
  const queue = [
    scanAt(1),
    scanAt(2, { state: 'attention' }),
    scanAt(3, { owner: 'bo', ownerName: 'Bo' }),
    scanAt(4, { owner: 'bo', ownerName: 'Bo' }),
  ];
  const corrections = [
    correctionOf('scan-9', 8.8),
    { ...correctionOf('scan-8', 7), failure: 'Refused.' },
    { ...correctionOf('scan-7', 6), owner: 'bo', ownerName: 'Bo' },
  ];
  expect(countQueue(queue, corrections, 'wanda')).toEqual({
    waiting: 2,
    attention: 1,
    ofOthers: 3,
    others: ['Bo'],
  });
});

const receiveAt = (second: number, weight: number): QueuedScan => {
  const { request, ...scan } = scanAt(second);
  return { ...scan, request: { ...request, kind: 'receive', weight } };
};

describe('two weights of one parcel', () => {
  const receipt = { weight: 3.3, scanned_at: '2026-11-21 08:00:00', station: 'Desk', user_name: 'Bo' };
  const parcelOf = (weight: number) => ({ ...answer({}), parcel: { ...STATE, weight } });
  const received = { reason: 'already_received', outcome: 'conflict' } as const;

  test('stay until a person has seen them, whether this scan counts or the other one', () => {
    const scan = receiveAt(1, 9.5);
    const counts = { ...parcelOf(9.5), other_receipt: receipt };
    expect(twoWeights(scan, counts)).toEqual({ own: 9.5, other: 3.3, stored: 9.5 });
    expect(settle(scan, counts)).toMatchObject({ state: 'attention' });
    const rejected = { ...parcelOf(3.3), ...received, other_receipt: receipt };
    expect(twoWeights(scan, rejected)).toEqual({ own: 9.5, other: 3.3, stored: 3.3 });
    expect(settle(scan, rejected)).toMatchObject({ state: 'attention' });
    expect(verdictOf(scan, rejected)).toEqual({ tone: 'warn', word: 'twoWeights' });
  });

  test('are two also if ReceivePackage received the parcel, or the stored one was corrected', () => {
    expect(twoWeights(receiveAt(1, 9.5), { ...parcelOf(1), ...received })).toMatchObject({
      other: 1,
      stored: 1,
    });
    const corrected = { ...parcelOf(7), ...received, other_receipt: receipt };
    expect(twoWeights(receiveAt(1, 9.5), corrected)).toMatchObject({ other: 3.3, stored: 7 });
  });

  test.each([
    ['the same weight', receiveAt(1, 3.3), { ...parcelOf(3.3), other_receipt: receipt }],
    ['no other scan', receiveAt(1, 9.5), parcelOf(9.5)],
    ['another kind', scanAt(1), { ...parcelOf(9.5), other_receipt: receipt }],
    [
      'an answer of an earlier version',
      receiveAt(1, 9.5),
      { ...answer({}), other_receipt: undefined as never },
    ],
  ])('are none for %s', (_title, scan, result) => {
    expect(twoWeights(scan, result)).toBeUndefined();
    expect(settle(scan, result)).toBeUndefined();
  });
});

describe('the parcels that a user has received', () => {
  const weightsIn = (stored: Parameters<typeof receivedParcels>[1]) =>
    receivedParcels('wanda', stored).map((parcel) => [
      parcel.request.weight,
      latestMeasures(parcel).weight,
      parcel.result !== undefined,
    ]);

  test('are listed the latest first, and one that waits has no result', () => {
    const done = { scan: receiveAt(1, 5), result: answer({}) };
    const conflict = { scan: receiveAt(2, 6), result: answer({ outcome: 'conflict' }) };
    const foreign = { scan: { ...receiveAt(3, 7), owner: 'bo' }, result: answer({}) };
    const queue = [receiveAt(4, 8), { ...receiveAt(5, 9), state: 'attention' as const }];
    expect(weightsIn({ queue, answers: [done, conflict, foreign], corrections: [] })).toEqual([
      [8, 8, false],
      [5, 5, true],
    ]);
  });

  test('have the first known answer, and a correction only as long as it waits', () => {
    const answers = [9.5, 5].map((weight) => ({ scan: receiveAt(1, weight), result: answer({}) }));
    expect(weightsIn({ queue: [], answers, corrections: [correctionOf('scan-1', 4)] })).toEqual([
      [9.5, 4, true],
    ]);
    const refused = { ...correctionOf('scan-1', 4), failure: 'Refused.' };
    expect(weightsIn({ queue: [], answers, corrections: [refused] })).toEqual([[9.5, 9.5, true]]);
  });

  test('have the stored weight if somebody else received the parcel or corrected it', () => {
    const parcelOf = (weight: number) => ({ ...STATE, package_id: 'package', weight });
    const rejected = answer({ outcome: 'conflict', reason: 'already_received', parcel: parcelOf(3.3) });
    const answers = [
      { scan: receiveAt(2, 9.5), result: rejected },
      { scan: receiveAt(1, 5), result: answer({ parcel: parcelOf(6) }) },
    ];
    expect(weightsIn({ queue: [], answers, corrections: [] })).toEqual([
      [3.3, 3.3, true],
      [6, 6, true],
    ]);
  });
});

describe('the big word', () => {
  const state = STATE;
  const otherCourier = { result: 'conflict', outcome: 'conflict', reason: 'other_courier' } as const;

  test.each([
    ['receive', { parcel: state }, 'good', 'received'],
    ['receive', { parcel: { ...state, user_code: null } }, 'warn', 'noOwner'],
    ['receive', { parcel: { ...state, flagged: true } }, 'warn', 'checkOwner'],
    ['hold', { parcel: state }, 'warn', 'held'],
    ['load', {}, 'good', 'loaded'],
    ['load', { parcel: { ...state, user_code: null } }, 'warn', 'ownerless'],
    ['load', { parcel: { ...state, flagged: true } }, 'warn', 'disputed'],
    ['unload', { parcel: { ...state, flagged: true } }, 'good', 'unloaded'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'other_manifest' }, 'bad', 'wrongFlight'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'on_hold' }, 'bad', 'hold'],
    ['load', { ...otherCourier, parcel: { ...state, courier_id: 'iex' } }, 'bad', 'wrongCourier'],
    ['load', { ...otherCourier, parcel: { ...state, courier_id: null } }, 'bad', 'ownerless'],
    ['load', { ...otherCourier, parcel: { ...state, courier_id: null, flagged: true } }, 'bad', 'disputed'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'not_received' }, 'warn', 'notReceived'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'a_later_reason' }, 'bad', 'notPossible'],
    ['load', { result: 'refused', outcome: null, reason: 'invalid' }, 'bad', 'refused'],
  ] as const)('of %s with %j is %s: %s', (kind, changes, tone, word) => {
    const { request, ...scan } = scanAt(1);
    // Only the kind is read.
    const scanOf = { ...scan, request: { ...request, kind } as QueuedScan['request'] };
    expect(verdictOf(scanOf, answer(changes))).toEqual({ tone, word });
  });
});
