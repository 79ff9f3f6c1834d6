// Keys that arrive while the page is loading. Nobody knows how many keys of a scan came before, so a part of one is never taken.

/** Most scanners leave less between two keys. Until then after its start, a page may have missed the keys before. */
const GAP_MS = 50;
/** A pause that ends a scan. */
const PAUSE_MS = 300;

type Burst = { isReady: () => void };

/**
 * Discards the keys that arrive before the page takes them, and the rest of their scan.
 * @param onDiscarded is called when that scan has ended and the page is ready
 */
export function discardEarlyKeys(onDiscarded: () => void): Burst {
  const startMs = performance.now();
  const listening = new AbortController();
  let lastMs = -Infinity;
  let isPageReady = false;
  let timer = 0;

  window.addEventListener(
    'keydown',
    (event) => {
      if (!isOfScan(event)) return;
      const isRest = event.timeStamp - lastMs <= PAUSE_MS;
      // Enter or Tab alone is a person's.
      const isCharacter = event.key.length === 1;
      const isEarly = isCharacter && (!isPageReady || event.timeStamp - startMs <= GAP_MS);
      if (!isEarly && !isRest) {
        listening.abort();
        return;
      }
      event.preventDefault();
      event.stopImmediatePropagation();
      lastMs = event.timeStamp;
      finishLater();
    },
    { capture: true, signal: listening.signal },
  );

  function finishLater(): void {
    clearTimeout(timer);
    if (!isPageReady) return;
    timer = window.setTimeout(() => {
      listening.abort();
      onDiscarded();
    }, PAUSE_MS);
  }

  return {
    isReady: () => {
      isPageReady = true;
      if (lastMs > -Infinity) finishLater();
    },
  };
}

const isOfScan = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  (key.length === 1 || key === 'Enter' || key === 'Tab') && !ctrlKey && !metaKey && !altKey;
