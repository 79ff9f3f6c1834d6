// When somebody has used this device last: one time for all its tabs (decision 0136).

const NAME = 'crossdock-last-input';
/** The time is written so often at most, because every key of a scanner is an input. */
const ACCURACY_MS = 5_000;
const INPUTS = ['keydown', 'pointerdown', 'wheel', 'touchstart'];

let writtenMs = 0;

export function noteInput(now = Date.now()): void {
  if (now >= writtenMs && now - writtenMs < ACCURACY_MS) return;
  writtenMs = now;
  localStorage.setItem(NAME, String(now));
}

/** How long nobody has used any tab. A device that has noted nothing, or whose clock was set back, begins now. */
export function idleMs(now = Date.now()): number {
  const last = Number(localStorage.getItem(NAME));
  if (last > 0 && last <= now) return now - last;
  writtenMs = 0;
  noteInput(now);
  return 0;
}

/**
 * Notes keys, clicks and touches until it is stopped.
 * @param isPause called before an input is noted. An input that it returns true for is not noted, so that a long pause does not end with it
 */
export function watchInput(isPause: (event: Event) => boolean = () => false): () => void {
  const watching = new AbortController();
  const onInput = (event: Event) => {
    if (!isPause(event)) noteInput();
  };
  for (const name of INPUTS)
    window.addEventListener(name, onInput, {
      capture: true,
      // A key may be stopped. Scrolling need not wait.
      passive: name !== 'keydown',
      signal: watching.signal,
    });
  return () => watching.abort();
}
