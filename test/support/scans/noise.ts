// What scanners, labels and people make of a number: every row of the table in docs/site/pages/scanning.md.

const GS = '\u001d';
const unspaced = (text: string) => text.replaceAll(' ', '');

/** Symbologies with the modifiers that their readers send; ISO/IEC 15424. */
const AIM_IDENTIFIERS = [
  'A0',
  'C0',
  'C1',
  'E0',
  'F0',
  'G0',
  'I1',
  'L2',
  'Q1',
  'Q3',
  'U1',
  'd1',
  'd2',
  'e0',
  'z3',
];

/** Characters that are not shown (Default_Ignorable_Code_Point), and the blank of Braille. */
const INVISIBLE = [
  0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200d, 0x206a, 0x2800, 0x3164, 0xfe0f, 0xffa0, 0xe0020,
];

const wide = (text: string) =>
  text.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));

/** Noise around a number. A second symbol is never meant. */
export const NOISE: Record<string, (number: string) => string> = {
  'as it is': (number) => number,
  'spaces inside': (number) => [...unspaced(number)].join(' '),
  'a no-break space inside': (number) => `${number.slice(0, 3)}\u00a0${number.slice(3)}`,
  'lower case': (number) => number.toLowerCase(),
  'the CapsLock of the other case': (number) =>
    number.replace(/[a-z]/gi, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    ),
  'a CR': (number) => `${number}\r`,
  'CR and LF': (number) => `${number}\r\n`,
  'a TAB': (number) => `${number}\t`,
  'STX and ETX': (number) => `\u0002${number}\u0003`,
  'GS around it': (number) => `${GS}${number}${GS}`,
  'a spelled GS around it': (number) => `<GS>${number}{GS}`,
  '[FNC1] in front': (number) => `[FNC1]${number}`,
  '^] in front': (number) => `^]${number}`,
  '\\x1d behind it': (number) => `${number}\\x1d`,
  '~d029 in front': (number) => `~d029${number}`,
  'a byte order mark': (number) => `\ufeff${number}`,
  'a zero-width space': (number) => `${number.slice(0, 2)}\u200b${number.slice(2)}\u200b`,
  'the asterisks of Code 39': (number) => `*${number}*`,
  'quotation marks': (number) => `"${number}"`,
  'an AIM identifier and asterisks': (number) => `]A0*${number}*\r`,
  'full-width characters': (number) => wide(unspaced(number)),
  'hyphens that do not break': (number) => number.replaceAll('-', '\u2011'),
  dashes: (number) => number.replaceAll('-', '\u2013'),
  repetition: (number) => unspaced(number) + unspaced(number),
  'repetition with a space': (number) => `${unspaced(number)} ${unspaced(number)}`,
  'repetition with a CR': (number) => `${number}\r${number}\r`,
  'repetition with AIM identifiers': (number) => `]C1${number}]C1${number}`,
  'repetition in another case': (number) => `${number}\r${number.toLowerCase()}\r`,
  '~029 in front': (number) => `~029${number}`,
  'an AIM identifier inside quotation marks': (number) => `"]C1${number}"`,
  'an AIM identifier inside asterisks': (number) => `*]A0${number}*`,
  'asterisks inside quotation marks and spaces': (number) => `" *${number}* "`,
  'quotation marks inside brackets': (number) => `("${number}")`,
  'brackets inside asterisks and brackets': (number) => `[*<{${number}}>*]`,
  'asterisks that are sent twice': (number) => `**${number}**`,
  'two AIM identifiers': (number) => `]C1]C1${number}`,
  'a comma behind it': (number) => `${number},`,
  'repetition between asterisks': (number) => `*${unspaced(number)}**${unspaced(number)}*`,
  'repetition between quotation marks': (number) => `"${number}" "${number}"`,
  'repetition between quotation marks with a comma': (number) => `"${number}","${number}"`,
  'repetition between brackets': (number) => `[${number}][${number}]`,
  'repetition three times': (number) => unspaced(number).repeat(3),
  'repetition three times with spaces': (number) => Array(3).fill(unspaced(number)).join(' '),
  'repetition four times': (number) => unspaced(number).repeat(4),
  'repetition with a comma': (number) => `${number},${number}`,
  'repetition three times with semicolons': (number) => Array(3).fill(number).join('; '),
  'repetition with a stroke': (number) => `${number}/${number}`,
  'repetition with an AIM identifier inside': (number) => `${number}]C1${number}`,
  'repetition with AIM identifiers and commas': (number) => `]C1${number},]C1${number},`,
  'repetition with a comma in another case': (number) => `${number},${number.toLowerCase()}`,
  ...Object.fromEntries(
    INVISIBLE.map((code) => [
      `U+${code.toString(16)} inside and behind`,
      (number: string) => {
        const character = String.fromCodePoint(code);
        return `${number.slice(0, 2)}${character}${number.slice(2)}${character}`;
      },
    ]),
  ),
  ...Object.fromEntries(
    AIM_IDENTIFIERS.map((identifier) => [
      `the AIM identifier ]${identifier}`,
      (number: string) => `]${identifier}${number}`,
    ]),
  ),
};

const ADDED_LAST = /CR|TAB|STX|GS|FNC1|\^\]|x1d|029|byte order|AIM identifier \]|full-width/;
const REPEATED = /repetition|asterisks|quotation|two AIM|comma/;

const those = (isOne: (name: string) => boolean) =>
  Object.entries(NOISE).flatMap(([name, make]) => (isOne(name) ? [make] : []));

/** What changes the characters of a number, what is around it on a label, and what a device adds last. */
export const LAYERS = {
  spelling: those((name) => !ADDED_LAST.test(name) && !REPEATED.test(name)),
  label: those((name) => REPEATED.test(name)),
  /** Around a number, in any order. */
  frames: those((name) => REPEATED.test(name) && !/repetition|AIM/.test(name)),
  device: those((name) => ADDED_LAST.test(name) && !REPEATED.test(name)),
};

/** What a stored number must not contain. */
export const STORED_NOISE = /[\p{Cc}\p{Cf}]|^[*"\]]|[*"]$|^\s|\s$/u;
