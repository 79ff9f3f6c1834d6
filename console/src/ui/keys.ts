import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Scan } from '../scanner/scanner.js';

// The page on the screen takes the scans. A page that takes none lets them open Find.

type ScanHandler = (scan: Scan) => void;

let handlers: ScanHandler[] = [];

/** Gives the scans to a page while it is on the screen. The latest handler has them. */
function takeScans(handler: ScanHandler): () => void {
  handlers = [...handlers, handler];
  return () => {
    handlers = handlers.filter((each) => each !== handler);
  };
}

/** Returns whether a page has taken the scan. */
export function giveScan(scan: Scan): boolean {
  const handler = handlers.at(-1);
  handler?.(scan);
  return handler !== undefined;
}

/** Takes the scans while a page is on the screen. */
export function useScans(onScan: ScanHandler): void {
  // The handler of the latest rendering, because it reads the page's state.
  const latest = useRef(onScan);
  latest.current = onScan;
  // Before the page is painted, so that no scan falls between.
  useLayoutEffect(() => takeScans((scan) => latest.current(scan)), []);
}
