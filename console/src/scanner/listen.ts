import type { Place } from './chain.js';
import { createScanner, type Decision, type Key, type Reading, type ScannerSettings } from './scanner.js';

type TextField = HTMLInputElement | HTMLTextAreaElement;

/** What a field contained before a key, for each key of the chain that a field took. */
type Snapshot = { field: TextField; value: string; start: number | null };

export type Listener = {
  onReading(reading: Reading): void;
  /** Returns the field that takes the keys of a person if no field has the focus. */
  fieldForKeys(): HTMLInputElement | undefined;
};

/** Listens to the whole page, whatever has the focus. Returns a function that stops it. */
export function listenForKeys(listener: Listener, settingsOf: () => ScannerSettings): () => void {
  const scanner = createScanner(settingsOf);
  let snapshots: (Snapshot | undefined)[] = [];
  let pauseTimer = 0;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const field = fieldOf(event) ?? redirect(event);
    if (!field) keepFromControls(event);
    apply(scanner.key(keyOf(event, field)), event, field);
    clearTimeout(pauseTimer);
    const pauseMs = scanner.pauseMs();
    pauseTimer = window.setTimeout(() => {
      const decision = scanner.pause(event.timeStamp + pauseMs);
      if (decision) finish(decision);
    }, pauseMs + 5);
  };

  /** Gives the key to a field. The browser then writes the character there itself. */
  function redirect(event: KeyboardEvent): TextField | undefined {
    // A space presses a button.
    if (!isTyped(event) || (event.key === ' ' && isControl(event.target))) return undefined;
    const field = listener.fieldForKeys();
    field?.focus();
    return field;
  }

  /** A select would change with the characters of a scan, and a button be pressed by its spaces and its end key. */
  function keepFromControls(event: KeyboardEvent): void {
    const isChoice = event.target instanceof HTMLSelectElement && isTyped(event) && event.key !== ' ';
    const isPressed = PRESSING.has(event.key) && scanner.isInBurst(event.timeStamp);
    if (isChoice || isPressed) event.preventDefault();
  }

  function apply(decision: Decision, event: KeyboardEvent, field: TextField | undefined): void {
    if (decision.before) finish(decision.before);
    if (decision.begins) snapshots = [];
    if (decision.action === 'pass') {
      if (isTyped(event) || isSeparator(event))
        snapshots.push(field && { field, value: field.value, start: startOf(field) });
    } else {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    finish(decision);
  }

  function finish({ action, from = 0, reading }: Decision): void {
    if (action === 'undo') {
      restore(snapshots.slice(from));
      snapshots = [];
    }
    if (reading) listener.onReading(reading);
  }

  /** A scan without an end key that is complete is not lost, and not given to the page that a click opens. */
  const onInterruption = ({ timeStamp }: Event) => {
    const decision = scanner.interrupt(timeStamp);
    if (decision) finish(decision);
  };

  const listening = new AbortController();
  const options = { capture: true, signal: listening.signal };
  window.addEventListener('keydown', onKeyDown, options);
  window.addEventListener('pointerdown', onInterruption, options);
  window.addEventListener('pagehide', onInterruption, options);
  return () => {
    clearTimeout(pauseTimer);
    listening.abort();
  };
}

const keyOf = (event: KeyboardEvent, field: TextField | undefined): Key => ({
  key: event.key,
  timeMs: event.timeStamp,
  isRepeat: event.repeat,
  hasControl: event.ctrlKey || event.metaKey || event.altKey,
  place: placeOf(field),
  fieldText: field?.value ?? '',
});

const placeOf = (field: TextField | undefined): Place =>
  field ? ((field.dataset['keys'] as Place | undefined) ?? 'text') : 'none';

const isTyped = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  [...key].length === 1 && !ctrlKey && !metaKey && !altKey;

/** Scanners send the separator of GS1 codes as Ctrl and ]. */
const isSeparator = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key === ']' && (ctrlKey || metaKey || altKey);

const isControl = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('button, a, summary, input, select') !== null;

function fieldOf({ target }: KeyboardEvent): TextField | undefined {
  if (target instanceof HTMLTextAreaElement) return target;
  return target instanceof HTMLInputElement && !TICKED.has(target.type) ? target : undefined;
}

/** Keys that press a control or move the focus from it. */
const PRESSING = new Set(['Enter', 'Tab', ' ']);

const TICKED = new Set(['checkbox', 'radio', 'button', 'submit']);

/** Fields for dates have no selection. */
const startOf = (field: TextField): number | null => field.selectionStart;

/** Removes the keys of a device from the fields that took them, and tells the page. */
function restore(snapshots: (Snapshot | undefined)[]): void {
  const restored = new Set<TextField>();
  for (const snapshot of snapshots) {
    if (!snapshot || restored.has(snapshot.field)) continue;
    restored.add(snapshot.field);
    const { field, value, start } = snapshot;
    if (field.value === value) continue;
    field.value = value;
    if (start !== null) field.setSelectionRange(start, start);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}
