import { settings } from '../device/settings.js';
import { sendError } from '../queue/sender.js';
import { idleMs, watchInput } from '../session/idle.js';
import { lock } from '../session/session.js';

const CHECK_MS = 5_000;
const MINUTE_MS = 60_000;

/**
 * Locks the station when nobody has used the device for as long as its setting says. Without a connection it stays open, because only
 * the service can check a password: otherwise receiving would stop until there is a connection.
 */
export function lockWhenIdle(): () => void {
  const check = () => {
    const limitMs = settings.value.lockMinutes * MINUTE_MS;
    const isOffline = !navigator.onLine || sendError.value?.isOffline === true;
    if (limitMs > 0 && idleMs() >= limitMs && !isOffline) lock();
  };
  const timer = setInterval(check, CHECK_MS);
  const stop = watchInput(check);
  return () => {
    clearInterval(timer);
    stop();
  };
}
