// Tells a scanner from a person by the time between keys, without the DOM, so that recorded timings can test it.

/** A person who types fast leaves 60 ms and more between keys. Scanners leave 2 to 30 ms. */
const FAST_MS = 35;
/** A scan that has begun may hesitate, for example over Bluetooth. A longer pause ends it. */
const PAUSE_MS = 250;
/** The same for a scanner that has ended a scan with Enter or Tab before: it does so always, and busy devices deliver keys late. */
const PAUSE_BEFORE_END_MS = 1_000;
/** So many fast keys in a row are a scan. A person rolls two or three keys at most. */
const RECOGNISED_AT = 4;
/** The trigger of a scanner that is held down sends the same code again. */
const AGAIN_MS = 1_500;
const GROUP_SEPARATOR = '\u001d';

export type Key = {
  /** As in KeyboardEvent. */
  key: string;
  timeMs: number;
  isRepeat?: boolean;
  hasControl?: boolean;
};

export type Scan = {
  text: string;
  /** Whether the same code was scanned a moment ago. It is not another scan. */
  isAgain: boolean;
};

export type Decision = {
  /** `undo`: the keys since `begins` came from a scanner; remove them from the field that took them. */
  action: 'pass' | 'undo' | 'swallow';
  /** This key may be the first of a scan. */
  begins?: boolean;
  scan?: Scan;
};

export type ScannerSettings = { prefix: string; suffix: string };

export type Scanner = {
  key(key: Key): Decision;
  /** How long no key may come before the scan has ended. */
  pauseMs(): number;
  /** Returns the scan that a pause has ended. Call it when `pauseMs()` has passed since the last key. */
  pause(timeMs: number): Scan | undefined;
};

type Burst = { text: string; keys: number; lastMs: number; isScan: boolean };

const NOTHING: Burst = { text: '', keys: 0, lastMs: -Infinity, isScan: false };

export function createScanner(settingsOf: () => ScannerSettings): Scanner {
  let burst = NOTHING;
  let last = { text: '', endMs: -Infinity };
  let endsWithKey = false;
  const pauseMs = () => (endsWithKey ? PAUSE_BEFORE_END_MS : PAUSE_MS);

  function end(): Scan | undefined {
    const { text, isScan, lastMs } = burst;
    burst = NOTHING;
    const code = isScan ? withoutAffixes(text, settingsOf()) : '';
    if (code === '') return undefined;
    const isAgain = code === last.text && lastMs - last.endMs <= AGAIN_MS;
    last = { text: code, endMs: lastMs };
    return { text: code, isAgain };
  }

  return {
    key(key) {
      const character = characterOf(key);
      if (character === undefined) return { action: 'pass' };
      const gapMs = key.timeMs - burst.lastMs;
      const ended = burst.isScan && gapMs > pauseMs() ? end() : undefined;
      const decision = isEnd(character) ? endByKey(key.timeMs) : add(character, key);
      return ended && !decision.scan ? { ...decision, scan: ended } : decision;
    },
    pauseMs,
    pause: (timeMs) => (burst.isScan && timeMs - burst.lastMs >= pauseMs() ? end() : undefined),
  };

  function endByKey(timeMs: number): Decision {
    const wasScan = burst.isScan;
    endsWithKey ||= wasScan;
    burst = wasScan ? { ...burst, lastMs: timeMs } : NOTHING;
    const scan = end();
    if (!wasScan) return { action: 'pass' };
    return scan ? { action: 'swallow', scan } : { action: 'swallow' };
  }

  function add(character: string, { timeMs, isRepeat }: Key): Decision {
    const isNext = !isRepeat && (burst.isScan || timeMs - burst.lastMs <= FAST_MS);
    const keys = isNext ? burst.keys + 1 : 1;
    const wasScan = isNext && burst.isScan;
    const isScan = wasScan || keys >= RECOGNISED_AT;
    burst = { text: isNext ? burst.text + character : character, keys, lastMs: timeMs, isScan };
    if (keys === 1) return { action: 'pass', begins: true };
    if (!isScan) return { action: 'pass' };
    return { action: wasScan ? 'swallow' : 'undo' };
  }
}

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
