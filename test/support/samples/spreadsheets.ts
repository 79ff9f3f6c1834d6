/** How a program writes a table as a text file. */
export type Dialect = {
  encoding: keyof typeof ENCODERS;
  separator?: ',' | ';' | '\t' | '|';
  lineEnd?: '\r\n' | '\n' | '\r';
  /** Whether the last line has an end. Google Sheets writes none. */
  endsLastLine?: boolean;
  /** Whether every cell is quoted, not only those that need it. */
  quotesAll?: boolean;
  /** A line above the table, as it is written. */
  firstLine?: string;
};

/** Writes a table as a spreadsheet program does. */
export function writeTable(table: string[][], dialect: Dialect): Buffer {
  const { encoding, separator = ',', lineEnd = '\r\n', endsLastLine = true, quotesAll, firstLine } = dialect;
  const quote = (cell: string) =>
    quotesAll || cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const lines = table.map((row) => row.map(quote).join(separator));
  const text = [...(firstLine === undefined ? [] : [firstLine]), ...lines].join(lineEnd);
  return ENCODERS[encoding](endsLastLine ? text + lineEnd : text);
}

const ENCODERS = {
  'UTF-8': (text: string) => Buffer.from(text),
  'UTF-8 with BOM': (text: string) => Buffer.from(`\ufeff${text}`),
  'UTF-16LE with BOM': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16BE with BOM': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'Windows-1252': byteEncoder(lettersOf('windows-1252')),
  'Mac Roman': byteEncoder(lettersOf('macintosh')),
  // Node does not know this code page. These are the bytes of the letters in the tests.
  CP850: byteEncoder(
    new Map([
      ['é', 0x82],
      ['á', 0xa0],
      ['í', 0xa1],
      ['ó', 0xa2],
      ['ú', 0xa3],
      ['ñ', 0xa4],
      ['Ñ', 0xa5],
      ['ü', 0x81],
    ]),
  ),
};

function lettersOf(label: string): Map<string, number> {
  const bytes = Uint8Array.from({ length: 128 }, (_, n) => n + 128);
  return new Map([...new TextDecoder(label).decode(bytes)].map((letter, n) => [letter, n + 128]));
}

function byteEncoder(letters: Map<string, number>) {
  return (text: string): Buffer =>
    Buffer.from(
      [...text].map((character) => {
        const byte = character < '\u0080' ? character.charCodeAt(0) : letters.get(character);
        if (byte === undefined) throw new Error(`The encoding has no ${character}.`);
        return byte;
      }),
    );
}
