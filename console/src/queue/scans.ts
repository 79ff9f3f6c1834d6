// The rules of the queue, without IndexedDB and the network.

import { v4 } from 'uuid';
// Not from the index: tests import this file, and the index needs the types of a browser.
import type { ScanResult, StationScan } from '../../../sdk/typescript/src/generated/core/types.gen.js';

export type { ScanResult, StationScan };

/** A scan that waits on this device. */
export type QueuedScan = {
  scan_id: string;
  /** The user who scanned. Only this user's session sends it. */
  owner: string;
  ownerName: string;
  station: string;
  request: StationScan;
  /** `attention`: the service answered with a conflict or a refusal, and a person must see it. */
  state: 'waiting' | 'attention';
  result?: ScanResult;
};

/** New measures of a received parcel. It waits until the service has executed the scan, and is sent then. */
export type Correction = {
  scan_id: string;
  /** Another one for each correction of a scan. Missing in corrections of an earlier version. */
  correction_id?: string;
  owner: string;
  ownerName?: string;
  scan: string;
  measures: { weight: number; length?: number; width?: number; height?: number };
  /** Known when the scan was executed. */
  package_id: string | null;
  /** Why the service did not take it. A person must see that. */
  failure?: string;
};

/** Whether the service has neither taken nor refused the correction. */
export const isWaiting = ({ failure }: Pick<Correction, 'failure'>): boolean => failure === undefined;

/** The service takes 500. Fewer, because an intake of another station waits for the parcels of a batch (decision 0061). */
export const BATCH_SIZE = 100;

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

/**
 * Returns how long to wait after failed attempts in a row. The jitter keeps stations apart after an outage.
 * @param askedMs the pause that the service asks for with Retry-After. At most 15 s of it, so that no pause is longer than 30 s
 */
export function delayAfter(failures: number, random: number, askedMs = 0): number {
  const longestMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
  return Math.max(longestMs / 2, Math.min(askedMs, LONGEST_DELAY_MS / 2)) + (random * longestMs) / 2;
}

/** Returns the text without the characters that the service refuses with the whole batch: NUL, and halves of a character. */
export const storable = (text: string): string => text.replace(/\0|\p{Surrogate}/gu, '');

/** Returns a random UUID. Not crypto.randomUUID(), which is missing on pages without HTTPS. */
export const newScanId = (): string => v4();

export type Batch = { station: string; scans: QueuedScan[] };

/** Returns the next batch of a user: the oldest scans, of one station. */
export function nextBatch(queue: QueuedScan[], owner: string, limit = BATCH_SIZE): Batch | undefined {
  const waiting = queue
    .filter((scan) => scan.owner === owner && scan.state === 'waiting')
    .sort((a, b) => compareText(a.request.scanned_at, b.request.scanned_at));
  const [first] = waiting;
  if (!first) return undefined;
  const { station } = first;
  return { station, scans: waiting.filter((scan) => scan.station === station).slice(0, limit) };
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Whether the scan has its effect, or a parcel that was received before keeps its first measures. */
export const isExecuted = ({ outcome, reason }: Pick<ScanResult, 'outcome' | 'reason'>): boolean =>
  outcome === 'done' || (outcome === 'conflict' && reason === 'already_received');

/** Two people have weighed the parcel: what this scan weighed, and what the other one did. Stored is one of them, or a correction. */
export type TwoWeights = { own: number; other: number; stored: number };

/** The service stores three decimals, and people read two. */
const LEAST_DIFFERENCE_LB = 0.005;

/** Returns the two weights if they are different. The service of an earlier version does not tell the other one. */
export function twoWeights({ request }: QueuedScan, result: ScanResult): TwoWeights | undefined {
  if (request.kind !== 'receive' || !isExecuted(result)) return undefined;
  const { parcel, other_receipt: receipt, outcome } = result as Partial<ScanResult>;
  const stored = parcel?.weight ?? undefined;
  const other = outcome === 'done' ? receipt?.weight : (receipt?.weight ?? stored);
  if (other === undefined || Math.abs(other - request.weight) < LEAST_DIFFERENCE_LB) return undefined;
  return { own: request.weight, other, stored: stored ?? (outcome === 'done' ? request.weight : other) };
}

/** Returns what remains of a sent scan: nothing, or the scan with its answer until a person has seen it. */
export function settle(scan: QueuedScan, result: ScanResult): QueuedScan | undefined {
  const isSettled = isExecuted(result) && !twoWeights(scan, result);
  return isSettled ? undefined : { ...scan, state: 'attention', result };
}

/** Returns a time as the service takes it: UTC, with milliseconds. */
export const stampOf = (moment: Date): string => moment.toISOString().replace('T', ' ').replace('Z', '');

export type QueueCounts = { waiting: number; attention: number; ofOthers: number; others: string[] };

/** Counts what is stored on this device: scans, and corrections, which the service does not have either. */
export function countQueue(queue: QueuedScan[], corrections: Correction[], owner: string): QueueCounts {
  const waiting = [...queue.filter(({ state }) => state === 'waiting'), ...corrections.filter(isWaiting)];
  const others = waiting.filter((each) => each.owner !== owner);
  return {
    waiting: waiting.length - others.length,
    attention: queue.filter((scan) => scan.owner === owner && scan.state === 'attention').length,
    ofOthers: others.length,
    others: [...new Set(others.map(({ ownerName }) => ownerName ?? '–'))],
  };
}
