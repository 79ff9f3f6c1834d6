import { groupRelated } from '../../../../platform/values/group-related.js';
import type { SentItem } from './read-scans.js';

/** The scans that one transaction executes, so that other work waits for the locks of few parcels, and not for long. */
const MAX_SCANS = 100;

/**
 * Divides the scans of a batch into pieces, each for a transaction of its own (decision 0096). Scans that can be of one parcel are in one
 * piece, so that each result tells the state of the parcel after the batch. Parcels are in the order of their earliest scans, as if
 * these were sent one by one.
 */
export function divideIntoPieces(scans: SentItem[]): SentItem[][] {
  if (scans.length <= MAX_SCANS) return scans.length === 0 ? [] : [scans];
  const places = new Map(scans.map((scan, place) => [scan, place]));
  const placeOf = (scan: SentItem) => places.get(scan) ?? 0;
  return fill(groupRelated(scans, keysOf).sort((a, b) => compareText(earliestOf(a), earliestOf(b)))).map(
    (piece) => piece.sort((a, b) => placeOf(a) - placeOf(b)),
  );
}

/** Also the id: of two scans with one id, the first in the batch is executed. */
const keysOf = ({ id, reading }: SentItem): string[] => [id, ...reading.numbers.flatMap(({ keys }) => keys)];

const earliestOf = (scans: SentItem[]): string =>
  scans.reduce((earliest, { scannedAt }) => (scannedAt < earliest ? scannedAt : earliest), '~');

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** A group with more scans has a piece of its own. */
function fill(groups: SentItem[][]): SentItem[][] {
  const pieces: SentItem[][] = [];
  let room = 0;
  for (const group of groups) {
    if (group.length > room) {
      pieces.push([]);
      room = MAX_SCANS;
    }
    pieces.at(-1)?.push(...group);
    room -= group.length;
  }
  return pieces;
}
