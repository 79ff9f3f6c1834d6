import { signal } from '@preact/signals';
import type { Reading } from '../scanner/scanner.js';

/** A scan that arrived while the station was locked, or that its user had not received. It belongs to nobody until a person takes it. */
export type LockedScan = { text: string; atMs: number };

// Of this tab, and over a reload and a log-out: whoever unlocks the station sees them.
const NAME = 'crossdock-locked-scans';
const MOST = 50;

/** Codes of parcels have no small letters. A password that a program types as fast as a scanner usually has some, and is not kept. */
const CODE = /^[^a-z]{6,}$/;

export const lockedScans = signal<LockedScan[]>(read());

/** Keeps a scan for the person who unlocks the station. Returns whether it was kept. */
export function keepLockedScan(reading: Reading, now = Date.now()): boolean {
  if (reading.kind !== 'scan') return false;
  const { text, isAgain } = reading.scan;
  if (!CODE.test(text)) return false;
  if (isAgain) return true;
  if (lockedScans.value.length >= MOST) return false;
  handOverScan(text, now);
  return true;
}

/** Keeps a number for whoever logs in next. */
export function handOverScan(text: string, now = Date.now()): void {
  if (!lockedScans.value.some((each) => each.text === text))
    store([...lockedScans.value, { text, atMs: now }]);
}

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
