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
 * @param before called before an input is noted, because the first one after a long pause must not end the pause
 */
export function watchInput(before: () => void = () => undefined): () => void {
  const watching = new AbortController();
  const onInput = () => {
    before();
    noteInput();
  };
  for (const name of INPUTS)
    window.addEventListener(name, onInput, { capture: true, passive: true, signal: watching.signal });
  return () => watching.abort();
}
