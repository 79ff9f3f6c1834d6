/**
 * The times between the keys of 15 scanners, in milliseconds, with their end keys and affixes. The first gap is that between the first
 * two keys; longer codes repeat the gaps from `rest` on. Cables send steadily, Bluetooth hesitates when it wakes up and when the radio is
 * busy, and wedge programs of telephones deliver several keys at once.
 */
export type RecordedScanner = {
  name: string;
  /** The gaps at the beginning of a code. */
  first: number[];
  /** The gaps after them, in a circle. */
  rest: number[];
  /** The keys that end a code, and the pause before each. */
  ends: { key: 'Enter' | 'Tab'; gapMs: number }[];
  prefix?: string;
  suffix?: string;
};

const ENTER = [{ key: 'Enter', gapMs: 4 }] as const;

const make = (
  name: string,
  first: number[],
  rest: number[],
  ends: readonly RecordedScanner['ends'][number][] = ENTER,
  affixes: Pick<RecordedScanner, 'prefix' | 'suffix'> = {},
): RecordedScanner => ({ name, first, rest, ends: [...ends], ...affixes });

export const RECORDED_SCANNERS: RecordedScanner[] = [
  make('USB, 2 ms per key', [], [2, 2, 2, 3]),
  make('USB, 8 ms per key', [], [8, 8, 7, 9]),
  make('USB full speed with the delay of 16 ms', [], [16, 15, 17, 16]),
  make('USB with the delay of 30 ms for old computers', [], [30, 31, 29, 30]),
  make('USB, slow, 45 ms per key', [], [45, 44, 46, 45], [{ key: 'Enter', gapMs: 45 }]),
  make('USB that ends with Tab', [], [5, 4, 6, 5], [{ key: 'Tab', gapMs: 5 }]),
  make(
    'USB that ends with CR and LF',
    [],
    [6, 6, 5, 7],
    [
      { key: 'Enter', gapMs: 6 },
      { key: 'Enter', gapMs: 6 },
    ],
  ),
  make('USB without an end key', [], [4, 4, 5, 4], []),
  make('USB with a prefix and a suffix', [], [7, 8, 7, 6], ENTER, { prefix: '~', suffix: '#!' }),
  make('Bluetooth that wakes up after the first key', [40], [12, 18, 9, 31]),
  make('Bluetooth that wakes up after the second key', [14, 120], [11, 27, 16, 15]),
  make('Bluetooth that wakes up after the third key', [12, 18, 200], [14, 11, 22, 16]),
  make(
    'Bluetooth with several pauses',
    [60, 14, 150],
    [13, 27, 88, 16, 104, 15],
    [{ key: 'Enter', gapMs: 90 }],
  ),
  make('telephone, eight keys at once', [], [0, 0, 0, 0, 0, 0, 0, 130], [{ key: 'Enter', gapMs: 130 }]),
  make('telephone, three keys at once', [], [0, 1, 55], [{ key: 'Enter', gapMs: 60 }]),
];

export type RecordedKey = { key: string; gapMs: number };

/** The keys with which a scanner sends a code, each with the time since the key before. */
export function keysOf(
  { first, rest, ends, prefix = '', suffix = '' }: RecordedScanner,
  code: string,
): RecordedKey[] {
  const keys = [...prefix, ...code, ...suffix].map((key, index) => ({ key, gapMs: gapBefore(index) }));
  return [...keys, ...ends];

  function gapBefore(index: number): number {
    if (index === 0) return 0;
    return first[index - 1] ?? rest[(index - 1 - first.length) % rest.length] ?? 0;
  }
}
