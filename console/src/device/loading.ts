// A scan while the page is loading. The first part of the console listens, and the workplace says what to do.
import { discardEarlyKeys } from '../scanner/early.js';

let tell = (): void => undefined;
let isReady = (): void => undefined;

/** Keys of a session that goes on after a reload. On the login page, they are the person's. */
export function watchLoading(): void {
  ({ isReady } = discardEarlyKeys(() => tell()));
}

/** The workplace takes the keys from now on. */
export function endLoading(onDiscarded: () => void): void {
  tell = onDiscarded;
  isReady();
}
