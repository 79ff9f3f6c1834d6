import { signal } from '@preact/signals';
import { isStation, PIN } from './pin/workers.js';
import { isWeightText } from '../scanner/scale.js';
import type { Reading } from '../scanner/scanner.js';

/** A scan that arrived while the station was locked, or that its user had not received. It belongs to nobody until a person takes it. */
export type LockedScan = { text: string; atMs: number };

// Of this tab, and over a reload and a log-out: whoever unlocks the station sees them.
const NAME = 'crossdock-locked-scans';
const MOST = 50;

/**
 * Numbers of carriers and of this warehouse have no lower-case letters. A password that a program types as fast as a scanner does usually
 * has some, and a PIN is shorter. They must not be shown to the next person, so such a text is counted and not kept.
 */
const CODE = /^[^\p{Ll}]{6,}$/u;

/** Whether a text is a number of a parcel rather than a name of a user, which has lower-case letters or no digits. */
export const isNumber = (text: string): boolean => /^(?=.*\d)[^\p{Ll}\s]{8,}$/u.test(text.trim());

export const lockedScans = signal<LockedScan[]>(read());
/** How many readings of this lock were not kept. Its page asks to repeat them. */
export const missedScans = signal(0);

/** Keeps a scan for the person who unlocks the station. Returns whether it was kept. */
export function keepLockedScan(reading: Reading, now = Date.now()): boolean {
  const { text, isAgain } = reading.kind === 'scan' ? reading.scan : { text: '', isAgain: false };
  // A parcel is weighed again.
  if (reading.kind === 'weight' || isWeightText(text)) return false;
  const isKept =
    CODE.test(text) && !(isStation() && PIN.test(text)) && (isHere(text) || lockedScans.value.length < MOST);
  if (isKept) handOverScan(text, now);
  else if (!isAgain) missedScans.value += 1;
  return isKept;
}

/** Keeps a number for whoever logs in next. */
export function handOverScan(text: string, now = Date.now()): void {
  if (!isHere(text)) store([...lockedScans.value, { text, atMs: now }]);
}

const isHere = (text: string) => lockedScans.value.some((each) => each.text === text);

/** Forgets a scan that a person has taken or dismissed. */
export const forgetLockedScan = (text: string): void =>
  store(lockedScans.value.filter((each) => each.text !== text));

function store(scans: LockedScan[]): void {
  lockedScans.value = scans;
  if (scans.length === 0) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, JSON.stringify(scans));
}

function read(): LockedScan[] {
  try {
    // This page wrote it.
    return JSON.parse(sessionStorage.getItem(NAME) ?? '[]') as LockedScan[];
  } catch {
    return [];
  }
}
