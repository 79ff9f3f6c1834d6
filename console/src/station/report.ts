// Where an answer appears that comes late: the big word belongs to the parcel that is open.
import { show, showEarlier } from '../ui/outcome.js';
import type { Tone } from '../ui/tone.js';
import { work } from './work.js';

/** Whether the page of the parcel in work is on the screen. Another page has words of its own. */
let isOnScreen = () => false;

export const setShown = (isShown: () => boolean): void => void (isOnScreen = isShown);
export const isShown = (): boolean => isOnScreen();

/** Whether the person is looking at a parcel other than the one that was scanned as `subject`. */
export function isBusyWithAnother(subject: string): boolean {
  const { parcel } = work.value;
  return isShown() && parcel !== undefined && parcel.scan !== subject;
}

/** Shows what happened to a parcel that may not be the one on the screen: as the big word, or beside that of the open parcel. */
export function report(tone: Tone, word: string, detail: string, subject: string): void {
  if (!isBusyWithAnother(subject)) show(tone, word, detail, subject);
  else showEarlier(tone, word, detail.includes(subject) ? detail : `${subject} · ${detail}`, subject);
}
