import { describe, expect, test } from '@jest/globals';
import { statusAfterScan } from '../../../src/modules/scans/batch/fold-stored-parcel.js';
import { planMoves } from '../../../src/modules/scans/batch/status-moves.js';
import { foldParcel, type ParcelScan, type StatusFact } from '../../../src/modules/scans/fold/fold.js';
import { randomBatches, randomDay, seededRandom, type DayScan } from '../../support/scans/floor-days.js';

type Outcome = ParcelScan & { eventId: string | null };

const DAYS = 1_000;
const MANIFESTS = ['manifest-0', 'manifest-1'];

/** A server that receives the scans of one parcel in batches, as executeParcels does, without a database. */
function makeServer(facts: StatusFact[] = [], assigned: string | null = null) {
  const scans = new Map<string, Outcome>();
  let status: StatusFact['status'] | null = null;
  const fold = () => {
    const all = [...scans.values()];
    const isReceived = all.some(({ kind }) => kind === 'receive');
    return foldParcel({
      scans: all,
      facts: isReceived ? facts : [],
      receivedBy: isReceived ? 'scan' : 'nobody',
      assignment: { manifestId: assigned, isCourierOn: (id) => id === MANIFESTS[1] },
      hasLeft: () => false,
      statusAfter: statusAfterScan,
    });
  };
  return {
    send(batch: ParcelScan[]) {
      for (const scan of batch) if (!scans.has(scan.id)) scans.set(scan.id, { ...scan, eventId: null });
      const folded = fold();
      if (folded.status !== null) status ??= facts.at(-1)?.status ?? 'received';
      const parcel = {
        keys: ['key'],
        key: 'key',
        events: [],
        positions: [],
        receivedBy: 'scan',
        appliedReceipt: undefined,
        package: status && {
          id: 'package',
          trackingKey: 'key',
          status,
          courierId: null,
          manifestId: assigned,
        },
        scans: [...scans.values()].map((scan) => ({ ...scan, details: {} })),
      };
      // planMoves uses only the package and, of its scans, the event, the time and the remarks.
      const planned = planMoves(parcel as unknown as Parameters<typeof planMoves>[0], folded);
      for (const { scanId, move } of planned) {
        expect(statusAfterScan(move.previous, move.status === 'delivered' ? 'deliver' : 'hold')).toBe(
          move.status,
        );
        const scan = scans.get(scanId);
        if (scan) scan.eventId = move.eventId;
        status = move.status;
      }
      for (const scan of scans.values())
        scan.outcome = (folded.reasons.get(scan.id) ?? null) === null ? 'done' : 'conflict';
    },
    state: () => {
      const { reasons, ...folded } = fold();
      return { ...folded, status, reasons: Object.fromEntries([...reasons].sort()) };
    },
  };
}

const START_MS = Date.parse('2026-11-21T08:00:00.000Z');
const at = (ms: number) => new Date(START_MS + ms).toISOString();

const toScan = (scan: DayScan, id: string): ParcelScan => ({
  id,
  kind: scan.kind,
  scannedAt: at(scan.timeMs),
  arrivedAt: at(20 * 3_600_000),
  station: `${scan.station}`,
  manifestId: scan.kind === 'load' || scan.kind === 'unload' ? (MANIFESTS[scan.manifest] ?? null) : null,
  isAdmitted: true,
  location: scan.kind === 'locate' ? scan.location : null,
  outcome: null,
});

const FACTS: StatusFact[][] = [
  [],
  [{ status: 'shipped', occurredAt: at(4 * 3_600_000), recordedAt: at(4 * 3_600_000) }],
  [
    { status: 'shipped', occurredAt: at(2 * 3_600_000), recordedAt: at(2 * 3_600_000) },
    { status: 'customs_hold', occurredAt: at(5 * 3_600_000), recordedAt: at(6 * 3_600_000) },
  ],
  [{ status: 'returned', occurredAt: at(3 * 3_600_000), recordedAt: at(3 * 3_600_000) }],
];

test(`${DAYS} random days converge to one state, however their scans arrive`, () => {
  let moves = 0;
  for (let seed = 1; seed <= DAYS; seed += 1) {
    const random = seededRandom(seed);
    const day = randomDay(random, { parcels: 1, scans: 12 });
    const scans = day.map((scan, n) => toScan(scan, `scan-${String(n).padStart(3, '0')}`));
    const facts = FACTS[seed % FACTS.length] ?? [];
    const assigned = [null, ...MANIFESTS][seed % 3] ?? null;
    const states = [scans.map((scan) => [scan]), ...[1, 2, 3].map(() => randomBatches(random, scans))].map(
      (batches) => {
        const server = makeServer(facts, assigned);
        for (const batch of batches) server.send(batch);
        return server.state();
      },
    );
    const [first, ...others] = states;
    for (const other of others) expect({ seed, ...other }).toEqual({ seed, ...first });
    if (first?.status !== 'received') moves += 1;
  }
  // The days are not trivial.
  expect(moves).toBeGreaterThan(DAYS / 2);
});

describe('the fold', () => {
  const scan = (
    id: string,
    kind: ParcelScan['kind'],
    hours: number,
    fields: Partial<ParcelScan> = {},
  ): ParcelScan => ({
    id,
    kind,
    scannedAt: at(hours * 3_600_000),
    arrivedAt: at(20 * 3_600_000),
    station: 'Dock',
    manifestId: null,
    isAdmitted: true,
    location: null,
    outcome: null,
    ...fields,
  });
  const received = (...scans: ParcelScan[]) => {
    const server = makeServer();
    server.send([scan('r', 'receive', 0), ...scans]);
    return server.state();
  };

  test('the time decides, then the id', () => {
    const places = [
      scan('b', 'locate', 1, { location: 'B' }),
      scan('c', 'locate', 1, { location: 'C' }),
      scan('a', 'locate', 1, { location: 'A' }),
    ];
    expect(received(...places).location).toBe('C');
    expect(received(scan('z', 'locate', 0, { location: 'Z' }), ...places).location).toBe('C');
  });

  test('an unload takes off only what was loaded for the same manifest', () => {
    const load = scan('l', 'load', 1, { manifestId: MANIFESTS[0] ?? null });
    expect(received(load, scan('u', 'unload', 2, { manifestId: MANIFESTS[1] ?? null }))).toMatchObject({
      load: { manifestId: MANIFESTS[0] },
      reasons: { u: 'not_loaded' },
    });
    expect(received(load, scan('u', 'unload', 2, { manifestId: MANIFESTS[0] ?? null }))).toMatchObject({
      load: null,
      reasons: { u: null },
    });
  });

  test('a load for a manifest that was not ready changes nothing', () => {
    const refused = scan('l', 'load', 1, { manifestId: MANIFESTS[0] ?? null, isAdmitted: false });
    expect(received(refused)).toMatchObject({ load: null, reasons: { l: 'manifest_not_ready' } });
  });

  test('a receipt counts from the beginning, because clocks differ', () => {
    const server = makeServer();
    server.send([scan('h', 'hold', -1), scan('r', 'receive', 0)]);
    expect(server.state()).toMatchObject({ status: 'on_hold', reasons: { h: null, r: null } });
  });
});
