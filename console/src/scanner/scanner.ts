// Tells a scanner and a scale from a person by the time between keys, without the DOM, so that recorded timings can test it.
// docs/decisions/0079 has the rules.
import {
  isHesitant,
  isTypedNumber,
  isTypedWeight,
  isUnclear,
  lastBreak,
  readKeys,
  type End,
  type Keys,
  type Place,
} from './chain.js';
import { isJoined, slowWeightStart, wholeWeight } from './joined-weights.js';
import { isScaleText, readWeight } from './scale.js';

/** A scan without an end key is complete after this pause. Longer until the page knows whether the scanner sends an end key. */
const PAUSE_MS = 300;
const PAUSE_UNKNOWN_MS = 600;
/** A scanner that has ended a scan with Enter or Tab before does so always. Bluetooth and busy devices deliver keys late. */
const PAUSE_BEFORE_END_MS = 1_500;
/** The trigger of a scanner that is held down sends the same code again. */
const AGAIN_MS = 1_500;
/** A person presses no button so shortly after a character. */
const BURST_MS = 250;
/** Some scanners send two end keys, for example for CR and LF. */
const SECOND_END_MS = 120;
/** A longer pause separates the keys of a person from those of a scanner. Fields for numbers take whatever arrives. */
const QUIET_MS: Record<Place, number> = { code: 1_000, measure: 250, text: 250, none: 1_000 };
const GROUP_SEPARATOR = '\u001d';

export type Key = {
  /** As in KeyboardEvent. */
  key: string;
  timeMs: number;
  isRepeat?: boolean;
  hasControl?: boolean;
  /** What the field that takes the key is for. */
  place?: Place;
  /** What that field contains before the key. */
  fieldText?: string;
};

export type Scan = {
  text: string;
  /** Whether the same code was scanned a moment ago. It is not another scan. */
  isAgain: boolean;
};

/** What a burst of keys was. */
export type Reading =
  | { kind: 'scan'; scan: Scan }
  /** From a scale. `isSubmitted`: it ended with Enter. */
  | { kind: 'weight'; text: string; isSubmitted: boolean }
  /** Nobody can tell the weight of a person, or the next scan, from the keys of the scan or the scale. Nothing is taken. */
  | { kind: 'unclear'; beside: 'weight' | 'scan' | 'scale' };

export type Decision = {
  /** `undo`: the keys since the one with the index `from` came from a device; remove them from the fields that took them. */
  action: 'pass' | 'undo' | 'swallow';
  /** This key is the first of a chain of keys, so it has the index 0. */
  begins?: boolean;
  from?: number;
  reading?: Reading;
  /** What had ended before this key. Apply it first. */
  before?: Decision;
};

export type ScannerSettings = { prefix: string; suffix: string };

export type Scanner = {
  key(key: Key): Decision;
  /** How long no key may come before the burst has ended. */
  pauseMs(): number;
  /** Returns what a pause has ended. Call it when `pauseMs()` has passed since the last key. */
  pause(timeMs: number): Decision | undefined;
  /** Returns the scan that was complete before a person clicked, or before the page was closed. */
  interrupt(timeMs: number): Decision | undefined;
  /** Whether a key belongs to the characters right before it, so that it may not press a button. */
  isInBurst(timeMs: number): boolean;
};

/** The keys since the last pause. */
type Chain = Keys & {
  /** The index of the first key of a device, or undefined as long as the keys may be a person's. */
  from: number | undefined;
};

const startOf = (place: Place, before: string, quietMs: number, isAfterAct = false): Chain => ({
  characters: [],
  timesMs: [],
  place,
  before,
  quietMs,
  isAfterAct,
  from: undefined,
});

export function createScanner(settingsOf: () => ScannerSettings): Scanner {
  let chain = startOf('code', '', Infinity);
  let lastKeyMs = -Infinity;
  let last = { text: '', endMs: -Infinity, isByPause: false };
  /** When an end key ended the latest burst. */
  let endKeyMs = -Infinity;
  let endsWithKey: boolean | undefined;
  /** Whether a person has clicked or pressed a key without a character since the last chain began. */
  let hasActed = false;
  /** Undefined until the first scan: then a digit right before a scan may be its first one. */
  let hasHesitated: boolean | undefined;

  const pauseMs = () => {
    // A weight with its unit is complete.
    if (chain.place === 'measure' && chain.from !== undefined && readWeight(chain.characters.join(''))?.unit)
      return PAUSE_MS;
    return endsWithKey === undefined ? PAUSE_UNKNOWN_MS : endsWithKey ? PAUSE_BEFORE_END_MS : PAUSE_MS;
  };

  return {
    key(key) {
      const before = endBefore(key);
      const decision = decide(key);
      return before ? { ...decision, before } : decision;
    },
    pauseMs,
    pause: (timeMs) => (timeMs - lastKeyMs >= pauseMs() ? pauseAt() : undefined),
    interrupt(timeMs) {
      hasActed = true;
      return isQuiet(timeMs) ? pauseAt() : undefined;
    },
    isInBurst: (timeMs) => chain.characters.length > 0 && timeMs - lastKeyMs <= BURST_MS,
  };

  /** Returns what had ended before the key: after a pause, or because the key is a person's. */
  function endBefore(key: Key): Decision | undefined {
    const quietMs = key.timeMs - lastKeyMs;
    if (characterOf(key) === undefined) return isPersons(key) && isQuiet(key.timeMs) ? pauseAt() : undefined;
    // A text, for example a password, is typed by a person sooner than a scanner continues after such a pause.
    const limitMs = key.place === 'text' ? Math.min(pauseMs(), PAUSE_UNKNOWN_MS) : pauseMs();
    return quietMs > limitMs ? pauseAt() : undefined;
  }

  /** Whether a device has sent keys, and none for so long that a person may have acted in between. */
  function isQuiet(timeMs: number): boolean {
    return chain.from !== undefined && timeMs - lastKeyMs > PAUSE_MS;
  }

  function decide(key: Key): Decision {
    const character = characterOf(key);
    if (character === undefined) {
      hasActed ||= isPersons(key);
      if (EDITING.has(key.key)) reset();
      return { action: 'pass' };
    }
    const decision = isEnd(character) ? endByKey(key) : add(character, key);
    lastKeyMs = key.timeMs;
    return decision;
  }

  function reset(): void {
    chain = startOf('code', '', Infinity);
  }

  function add(character: string, { timeMs, isRepeat, place = 'code', fieldText = '' }: Key): Decision {
    const quietMs = timeMs - lastKeyMs;
    const isNew =
      chain.from === undefined &&
      (isRepeat || chain.characters.length === 0 || quietMs > QUIET_MS[chain.place]);
    if (isNew) {
      chain = startOf(place, fieldText, quietMs, hasActed);
      hasActed = false;
    }
    chain.characters.push(character);
    chain.timesMs.push(timeMs);
    if (isNew) return { action: 'pass', begins: true };
    if (chain.from !== undefined) return { action: 'swallow' };
    const from = readKeys(chain, 'running');
    if (from === undefined) return { action: 'pass' };
    chain = { ...chain, from };
    return { action: 'undo', from };
  }

  function endByKey({ timeMs, key, place }: Key): Decision {
    // In a field for a text, for example a password, it is the person's.
    if (chain.characters.length === 0 && place !== 'text' && isEndOfLast(timeMs)) {
      last = { ...last, isByPause: false };
      endsWithKey = true;
      return { action: 'swallow' };
    }
    const decision = end(timeMs, key === 'Enter' ? 'Enter' : 'Tab');
    if (!decision) return { action: 'pass' };
    endKeyMs = timeMs;
    if (decision.reading?.kind === 'scan') endsWithKey = true;
    return decision;
  }

  /** The second of two end keys, or the end key of a scan that a pause has ended before. */
  function isEndOfLast(timeMs: number): boolean {
    return (
      (timeMs >= endKeyMs && timeMs - endKeyMs <= SECOND_END_MS) ||
      (last.isByPause && timeMs - last.endMs <= PAUSE_BEFORE_END_MS)
    );
  }

  function pauseAt(): Decision | undefined {
    const wasByPause = last.isByPause;
    const decision = end(lastKeyMs, 'pause');
    if (decision?.reading?.kind !== 'scan') return decision;
    last = { ...last, isByPause: true };
    if (wasByPause || endsWithKey === undefined) endsWithKey = false;
    return decision;
  }

  /** Ends the chain. Returns undefined if a person typed it. */
  function end(timeMs: number, by: End): Decision | undefined {
    const ended = chain;
    const from = ended.from ?? slowWeightStart(ended) ?? readKeys(ended, by);
    // A pause does not end what may still become a scan.
    if (from !== undefined || by !== 'pause') reset();
    if (from === undefined) return undefined;
    const text = withoutAffixes(ended.characters.slice(from).join(''), settingsOf());
    const action =
      ended.from === undefined ? ({ action: 'undo', from } as const) : ({ action: 'swallow' } as const);
    if (text === '') return action;
    const whole = wholeWeight(ended, from);
    if (whole === 'unclear' || isJoined(ended, ended.from === undefined))
      return { ...action, reading: { kind: 'unclear', beside: 'scale' } };
    if (whole)
      return { ...action, reading: { kind: 'weight', ...whole, isSubmitted: isSubmitted(whole.text, by) } };
    return { ...action, reading: readingOf(ended, from, text, by, timeMs) };
  }

  function readingOf(ended: Chain, from: number, text: string, by: End, timeMs: number): Reading {
    if (ended.place === 'measure' && isScaleText(text))
      return { kind: 'weight', text, isSubmitted: isSubmitted(text, by) };
    if (isUnclear(ended, from, hasHesitated ?? true)) return { kind: 'unclear', beside: 'weight' };
    const rest = lastBreak(ended, from, PAUSE_MS);
    if (rest !== undefined && isTypedWeight(ended, rest)) return { kind: 'unclear', beside: 'weight' };
    const hasEndKey = by !== 'pause' && timeMs - lastKeyMs <= PAUSE_MS;
    if (rest !== undefined && (!hasEndKey || isTypedNumber(ended, from, rest))) {
      endsWithKey = false;
      return { kind: 'unclear', beside: 'scan' };
    }
    if (from === 0) hasHesitated = (hasHesitated ?? false) || isHesitant(ended);
    const isAgain = text === last.text && timeMs - last.endMs <= AGAIN_MS;
    last = { text, endMs: timeMs, isByPause: false };
    return { kind: 'scan', scan: { text, isAgain } };
  }
}

/** Tab ends the weight of a scale with its unit. A measure without a unit may be the first of several fields. */
const isSubmitted = (text: string, by: End): boolean =>
  by === 'Enter' || (by === 'Tab' && readWeight(text)?.unit !== undefined);

/** Keys with which a person changes what is in a field. */
const EDITING = new Set([
  'Backspace',
  'Delete',
  'Escape',
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'Home',
  'End',
]);

/** Scanners send these with a character. */
const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock', 'NumLock', 'Dead']);

/** Whether a person pressed the key: a shortcut, a function key or one that moves in a field. */
const isPersons = ({ key, hasControl = false }: Key): boolean =>
  !MODIFIERS.has(key) && (hasControl || [...key].length > 1);

const isEnd = (character: string) => character === '\n';

/** Returns the character of the key, a line feed for the keys that end a scan, or undefined for keys without a character. */
function characterOf({ key, hasControl }: Key): string | undefined {
  if (key === 'Enter' || key === 'Tab') return '\n';
  // Scanners send the separator of GS1 codes as Ctrl and ].
  if (hasControl) return key === ']' ? GROUP_SEPARATOR : undefined;
  return [...key].length === 1 ? key : undefined;
}

function withoutAffixes(text: string, { prefix, suffix }: ScannerSettings): string {
  const start = prefix !== '' && text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return (suffix !== '' && start.endsWith(suffix) ? start.slice(0, -suffix.length) : start).trim();
}
