import { createScanner, type Decision, type Scan, type ScannerSettings } from './scanner.js';

/** What a field contained before the first key of a burst. */
type Snapshot = { field: HTMLInputElement | HTMLTextAreaElement; value: string; start: number | null };

export type Listener = {
  onScan(scan: Scan): void;
  /** A key that a person pressed outside a field. */
  onKey(key: string): void;
};

/** A key of a person is reported after this time, because a scan may begin with the same key. */
const PERSON_MS = 50;

/** Listens to the whole page, whatever has the focus. Returns a function that stops it. */
export function listenForScans(listener: Listener, settingsOf: () => ScannerSettings): () => void {
  const scanner = createScanner(settingsOf);
  let snapshot: Snapshot | undefined;
  let pauseTimer = 0;
  let personTimer = 0;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const decision = scanner.key({
      key: event.key,
      timeMs: event.timeStamp,
      isRepeat: event.repeat,
      hasControl: event.ctrlKey || event.metaKey || event.altKey,
    });
    apply(decision, event);
    clearTimeout(pauseTimer);
    const pauseMs = scanner.pauseMs();
    pauseTimer = window.setTimeout(() => {
      const scan = scanner.pause(event.timeStamp + pauseMs);
      if (scan) listener.onScan(scan);
    }, pauseMs + 5);
  };

  function apply(decision: Decision, event: KeyboardEvent): void {
    clearTimeout(personTimer);
    if (decision.begins) snapshot = snapshotOf(event.target);
    if (decision.action === 'undo') restore(snapshot);
    if (decision.action !== 'pass') {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (!isField(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      personTimer = window.setTimeout(() => listener.onKey(event.key), PERSON_MS);
    }
    if (decision.scan) listener.onScan(decision.scan);
  }

  window.addEventListener('keydown', onKeyDown, { capture: true });
  return () => {
    clearTimeout(pauseTimer);
    clearTimeout(personTimer);
    window.removeEventListener('keydown', onKeyDown, { capture: true });
  };
}

const isField = (target: EventTarget | null) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement;

function snapshotOf(target: EventTarget | null): Snapshot | undefined {
  if (!(target instanceof HTMLInputElement) && !(target instanceof HTMLTextAreaElement)) return undefined;
  return { field: target, value: target.value, start: target.selectionStart };
}

/** Removes the first keys of a scan from the field that took them, and tells the page. */
function restore(snapshot: Snapshot | undefined): void {
  if (!snapshot || snapshot.field.value === snapshot.value) return;
  const { field, value, start } = snapshot;
  field.value = value;
  if (start !== null) field.setSelectionRange(start, start);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
