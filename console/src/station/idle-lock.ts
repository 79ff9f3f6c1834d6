import { signal } from '@preact/signals';
import { settings } from '../device/settings.js';
import { canReach, finishLogOut } from '../session/device.js';
import { idleMs, watchInput } from '../session/idle.js';
import { isLocked, lock } from '../session/session.js';

const CHECK_MS = 5_000;
const MINUTE_MS = 60_000;

/** Whether the station would be locked, and is not, because the service cannot be reached. */
export const isLockDue = signal(false);

/**
 * Locks the station when nobody has used the device for as long as its setting says. Without a connection it stays open, because only
 * the service can check a password: otherwise receiving would stop until there is a connection. It is locked then, whoever uses it.
 */
export function lockWhenIdle(): () => void {
  const timer = setInterval(() => void checkUnused(), CHECK_MS);
  const stop = watchInput(lockBefore);
  // A device that slept, and a page that was loaded again, show nothing first.
  const onVisible = () => lockAtOnce();
  document.addEventListener('visibilitychange', onVisible);
  isLockDue.value = false;
  lockAtOnce();
  return () => {
    clearInterval(timer);
    stop();
    document.removeEventListener('visibilitychange', onVisible);
  };
}

/**
 * Locks on a key, which is pressed more easily than a button. Not without a connection: nobody could go on.
 * @returns whether it is locked
 */
export async function lockOnKey(): Promise<boolean> {
  const isReached = navigator.onLine && (await canReach());
  if (isReached) lock();
  return isReached;
}

function isPause(): boolean {
  const limitMs = settings.value.lockMinutes * MINUTE_MS;
  return limitMs > 0 && idleMs() >= limitMs;
}

/** Nobody is waiting for the station, so there is time to ask whether a password could be checked. */
async function checkUnused(): Promise<void> {
  // A lock without a connection has left the end of the session to be sent.
  if (isLocked.value) await finishLogOut();
  else if (!isPause()) isLockDue.value = false;
  else if (navigator.onLine && (await canReach())) lockAtOnce({ isReached: true });
  else isLockDue.value = true;
}

function lockAtOnce({ isReached = false } = {}): void {
  if (isLocked.value || !isPause()) return;
  isLockDue.value = !isReached && (isLockDue.value || !navigator.onLine);
  if (!isLockDue.value) lock();
}

/** Of an input after a pause, nothing reaches the page: it may be the end of a weight that somebody else has typed. */
function lockBefore(event: Event): boolean {
  const wasLocked = isLocked.value;
  if (!isPause()) return false;
  lockAtOnce();
  if (!wasLocked && isLocked.value && event.type === 'keydown') {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  return true;
}
