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
  type QueuedScan,
  type ScanResult,
} from '../../console/src/queue/scans.js';
import { Batches, pairResults, type Rejection } from '../../console/src/queue/batches.js';
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
  ...changes,
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

test('the counts tell own scans from those of others, which are named once', () => {
  const queue = [
    scanAt(1),
    scanAt(2, { state: 'attention' }),
    scanAt(3, { owner: 'bo', ownerName: 'Bo' }),
    scanAt(4, { owner: 'bo', ownerName: 'Bo' }),
  ];
  expect(countQueue(queue, 'wanda')).toEqual({ waiting: 1, attention: 1, ofOthers: 2, others: ['Bo'] });
});

describe('the big word', () => {
  const parcel = {
    package_id: null,
    tracking_number: 'N',
    house_number: null,
    status: null,
    courier_id: null,
    courier_name: null,
  };
  const state = {
    ...parcel,
    user_code: 'IEX-1',
    flagged: false,
    manifest_id: null,
    manifest_number: null,
    loaded_manifest_id: null,
    location: null,
  };

  test.each([
    ['receive', { parcel: state }, 'good', 'received'],
    ['receive', { parcel: { ...state, user_code: null } }, 'warn', 'noOwner'],
    ['receive', { parcel: { ...state, flagged: true } }, 'warn', 'checkOwner'],
    ['load', {}, 'good', 'loaded'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'other_manifest' }, 'bad', 'wrongFlight'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'on_hold' }, 'bad', 'hold'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'not_received' }, 'warn', 'notReceived'],
    ['load', { result: 'conflict', outcome: 'conflict', reason: 'a_later_reason' }, 'bad', 'notPossible'],
    ['load', { result: 'refused', outcome: null, reason: 'invalid' }, 'bad', 'refused'],
  ] as const)('of %s with %j is %s: %s', (kind, changes, tone, word) => {
    expect(verdictOf(kind, answer(changes))).toEqual({ tone, word });
  });
});
