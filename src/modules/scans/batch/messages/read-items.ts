import { pauseWhenDue } from '../../../../platform/concurrency/pause-when-due.js';
import type { BodyOf } from '../../../../platform/contract/types.js';
import { ApiError } from '../../../../platform/errors/errors.js';
import { readSentScan, toRefusal, type RefusedScan, type SentItem } from './read-scans.js';

export type Items = BodyOf<'sendScans'>['scans'];

/** Reads the scans of a batch, and refuses those that are not acceptable by themselves. */
export async function readItems(items: Items): Promise<(SentItem | RefusedScan)[]> {
  const read: (SentItem | RefusedScan)[] = [];
  for (const item of items) {
    await pauseWhenDue();
    read.push(readItem(item));
  }
  return read;
}

function readItem(item: Items[number]): SentItem | RefusedScan {
  if ('error' in item) return { scanId: scanIdOf(item.sent), refusal: toRefusal(item.error) };
  try {
    return readSentScan(item.value);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { scanId: item.value.scan_id, refusal: toRefusal(error) };
  }
}

function scanIdOf(sent: unknown): string | null {
  if (typeof sent !== 'object' || sent === null || !('scan_id' in sent)) return null;
  return typeof sent.scan_id === 'string' ? sent.scan_id : null;
}
