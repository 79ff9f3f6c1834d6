import { findCandidates, type Candidate } from './candidates.js';
import { compact, halfOf, plainText, readsIn } from './noise.js';

/** What a scan says. */
export type ScanReading = {
  /**
   * The scanned text without AIM identifiers, control characters around it, and repetition. Empty if nothing else was
   * scanned.
   */
  text: string;
  /**
   * The numbers to look up, best first: without white space, in capital letters. If no format describes the whole scan,
   * also its parts.
   */
  numbers: string[];
  /** The carriers' formats that a number fits, best first. Empty if there is none. */
  candidates: Candidate[];
};

/** A symbol on a parcel has fewer characters. Longer text is not compared with the formats. */
const MAX_LENGTH = 1_000;

/** A matrix code on a parcel has about a dozen elements. */
const MAX_PARTS = 16;

/**
 * Reads a scan: removes what the scanner added, and finds the carriers' formats that the number fits. It uses no
 * database, and its time is proportional to the length of the text.
 */
export function readScan(scan: string): ScanReading {
  if (scan.length > MAX_LENGTH) return { text: plainText(scan), numbers: [], candidates: [] };
  const reads = readsIn(scan);
  const whole = compact(reads.flat().join(''));
  // A doubled scan is read as one half of its text.
  const half = halfOf(whole);
  for (const number of half === undefined ? [whole] : [half, whole]) {
    const candidates = findCandidates(number);
    if (candidates.length === 0) continue;
    const isSpelledOnce = number === whole && reads.length === 1;
    return { text: isSpelledOnce ? textOf(reads, scan) : number, numbers: [number], candidates };
  }
  const parts = unique([whole, half ?? whole, ...partsOf(reads)]).slice(0, MAX_PARTS);
  return {
    text: textOf(reads, scan),
    numbers: parts.filter(Boolean),
    candidates: parts.flatMap(findCandidates),
  };
}

/** Returns the text of the only read. Several different reads are not one number: their text stays as it was sent. */
function textOf(reads: string[][], scan: string): string {
  const [only, another] = reads;
  return only && !another ? only.join('') : plainText(scan);
}

/** Returns the reads and their elements, if the scan has several. */
const partsOf = (reads: string[][]): string[] =>
  [...reads.map((elements) => elements.join('')), ...reads.flat()].map(compact);

const unique = (texts: string[]): string[] => [...new Set(texts)];
