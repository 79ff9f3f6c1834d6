import { boldFont, fit } from './label-fonts.js';
import type { Label } from './label.js';

// In dots, 203 per inch: 4 x 6 inches.
const WIDTH = 812;
const HEIGHT = 1218;
const MARGIN = 40;
const INNER = WIDTH - 2 * MARGIN;

const BARCODE = { top: 500, height: 240 };
/** The width of the barcode's narrowest bar, in dots. */
const MODULE = 5;
/**
 * Code 128 has a start, a check and 11 modules per character, a stop of 13 modules, and a quiet zone of 10
 * modules on either side.
 */
const modulesOf = (text: string) => 11 * (text.length + 2) + 13 + 20;

/**
 * Returns the label in ZPL II for 203 dots per inch. The text is UTF-8 (`^CI28`), with command characters in
 * hexadecimal (`^FH`). It is measured in a font that is wider than the printer's own.
 */
export function writeLabelZpl({ houseNumber, courier, customer, facts }: Label, copies = 1): string {
  return [
    '^XA',
    '^CI28',
    `^PW${WIDTH}`,
    `^LL${HEIGHT}`,
    '^LH0,0',
    ...(courier ? ownerLines(courier, customer) : unknownOwner()),
    ...barcode(houseNumber),
    line(houseNumber, { y: BARCODE.top + BARCODE.height + 20, sizes: [100, 30], isCentred: true }),
    `^FO${MARGIN},878^GB${INNER},3,3^FS`,
    ...facts.flatMap(({ name, value }, index) => factLines(name, value, 900 + index * 60)),
    // The printer prints the copies, so that a label is sent once.
    ...(copies > 1 ? [`^PQ${copies}`] : []),
    '^XZ',
    '',
  ].join('\n');
}

type Owner = NonNullable<Label['courier']>;

function ownerLines({ code, name }: Owner, customer: Label['customer']): string[] {
  return [
    line(code, { y: 40, sizes: [100, 30] }),
    line(name, { y: 150, sizes: [50, 24] }),
    `^FO${MARGIN},215^GB${INNER},3,3^FS`,
    ...(customer
      ? [line(customer.code, { y: 245, sizes: [100, 30] }), line(customer.name, { y: 375, sizes: [64, 28] })]
      : [line('UNKNOWN CUSTOMER', { y: 280, sizes: [80, 30] })]),
  ];
}

/** White on black, across the label. */
const unknownOwner = () => [
  `^FO0,60^GB${WIDTH},180,180^FS`,
  line('UNKNOWN OWNER', { y: 116, sizes: [100, 30], isReversed: true, isCentred: true }),
];

function barcode(houseNumber: string): string[] {
  const modules = modulesOf(houseNumber);
  const module = Math.max(1, Math.min(MODULE, Math.floor(WIDTH / modules)));
  const left = Math.max(0, Math.round((WIDTH - (modules - 20) * module) / 2));
  return [
    `^BY${module}`,
    `^FO${left},${BARCODE.top}^BCN,${BARCODE.height},N,N,N^FH_^FD${escaped(houseNumber)}^FS`,
  ];
}

function factLines(name: string, value: string, y: number): string[] {
  const indent = 180;
  return [line(name, { y: y + 8, sizes: [30, 24] }), line(value, { y, sizes: [44, 22], indent })];
}

type Line = {
  y: number;
  /** The largest and the smallest height. */
  sizes: [number, number];
  indent?: number;
  isCentred?: boolean;
  isReversed?: boolean;
};

function line(text: string, { y, sizes, indent = 0, isCentred, isReversed }: Line): string {
  const width = INNER - indent;
  const fitted = fit(boldFont(), text, width, sizes);
  const size = Math.floor(fitted.size);
  // Centres a smaller text vertically in the space of the largest size.
  const top = y + Math.round((sizes[0] - size) / 2);
  // A block of one line can be centred. The text cannot exceed its width, because it was measured.
  const block = isCentred ? `^FB${width},1,0,C` : '';
  const font = `^A0N,${size},${size}${block}${isReversed ? '^FR' : ''}`;
  // Every printer's font contains the replacement characters.
  const shown = fitted.text.replaceAll('…', '...').replaceAll('□', '?');
  return `^FO${MARGIN + indent},${top}${font}^FH_^FD${escaped(shown)}^FS`;
}

/**
 * Escapes characters that begin a command or an escape sequence as hexadecimal: `^`, `~`, `\`, `>` in a
 * barcode, and `_` itself.
 */
const escaped = (text: string) =>
  text.replace(/[\^~\\>_]/g, (character) => `_${character.charCodeAt(0).toString(16).toUpperCase()}`);
