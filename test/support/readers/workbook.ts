import { inflateRawSync } from 'node:zlib';

/** A cell: text from the shared list, or a number. */
export type SheetCell = { type: 'text' | 'number'; value: string };

/**
 * Reads a workbook's only sheet without the library that wrote it: unzips it and parses its XML, which must
 * be well-formed. A missing cell is undefined.
 */
export function readWorkbook(bytes: Buffer): (SheetCell | undefined)[][] {
  const files = unzip(bytes);
  const texts = readTexts(fileOf(files, 'xl/sharedStrings.xml'));
  const sheets = [...files.keys()].filter((name) => name.startsWith('xl/worksheets/sheet'));
  if (sheets.length !== 1) throw new Error(`The workbook has ${sheets.length} sheets.`);
  const rows: (SheetCell | undefined)[][] = [];
  let column = 0;
  let type = 'n';
  for (const { path, name, attributes, text } of parse(fileOf(files, sheets[0] ?? ''))) {
    if (name === 'f') throw new Error('A cell contains a formula.');
    if (name === 'row') rows.push(Array.from({ length: 14 }));
    if (name === 'c') column = (attributes['r'] ?? '').charCodeAt(0) - 'A'.charCodeAt(0);
    if (name === 'c') type = attributes['t'] ?? 'n';
    const row = rows.at(-1);
    if (text !== undefined && path.endsWith('/row/c/v') && row) row[column] = readCell(type, text, texts);
  }
  return rows;
}

function readTexts(xml: string): string[] {
  const texts: string[] = [];
  for (const { path, name, text } of parse(xml)) {
    if (name === 'si') texts.push('');
    if (text !== undefined && path.endsWith('/si/t')) texts.push((texts.pop() ?? '') + unescapeText(text));
  }
  return texts;
}

type Node = { path: string; name?: string; attributes: Record<string, string>; text?: string };

/** Yields the start tags and texts of a document in order. @throws unless the document is well-formed */
function* parse(xml: string): Generator<Node> {
  // oxlint-disable-next-line no-control-regex -- characters that XML 1.0 forbids
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(xml))
    throw new Error('The XML contains a forbidden character.');
  const open: string[] = [];
  const tokens =
    /<\?[^>]*\?>|<(?<end>\/)?(?<name>[\w:]+)(?<rest>(?:\s+[\w:]+="[^"<]*")*)\s*(?<empty>\/)?>|(?<text>[^<]+)/y;
  while (tokens.lastIndex < xml.length) {
    const at = tokens.lastIndex;
    const groups = tokens.exec(xml)?.groups;
    if (!groups) throw new Error(`Not well-formed: ${xml.slice(at, at + 60)}`);
    const { end, name, rest = '', empty, text } = groups;
    const path = () => `/${open.join('/')}`;
    // XML parsers convert every line break to LF.
    if (text !== undefined)
      yield { path: path(), attributes: {}, text: decode(text.replace(/\r\n?/g, '\n')) };
    if (name === undefined) continue;
    if (end && open.pop() !== name) throw new Error(`</${name}> has no start tag.`);
    if (end) continue;
    open.push(name);
    const pairs = [...rest.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
      key,
      decode(value),
    ]);
    yield { path: path(), name, attributes: Object.fromEntries(pairs) as Record<string, string> };
    if (empty) open.pop();
  }
  if (open.length > 0) throw new Error(`<${open.join('><')}> has no end tag.`);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(#x?[0-9a-fA-F]+|\w+);|&/g, (all, name: string | undefined) => {
    const known = name && ENTITIES[name];
    if (known) return known;
    const code = name?.startsWith('#x') ? parseInt(name.slice(2), 16) : Number(name?.slice(1));
    if (!name?.startsWith('#') || Number.isNaN(code)) throw new Error(`${all} is not a character reference.`);
    return String.fromCodePoint(code);
  });
}

function fileOf(files: Map<string, Buffer>, name: string): string {
  const bytes = files.get(name);
  if (!bytes) throw new Error(`The workbook has no ${name}.`);
  return bytes.toString();
}

function readCell(type: string, raw: string, texts: string[]): SheetCell {
  if (type === 'n') return { type: 'number', value: raw };
  const value = type === 's' ? texts[Number(raw)] : undefined;
  if (value === undefined) throw new Error(`Unknown cell of type ${type}: ${raw}`);
  return { type: 'text', value };
}

/** ECMA-376, ST_Xstring: characters that XML cannot contain are written as _xHHHH_. */
const unescapeText = (text: string) =>
  text.replace(/_x([0-9A-Fa-f]{4})_/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));

const CENTRAL_ENTRY = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;

/** Returns the files of a zip archive by its central directory. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  if (end < 0 || archive.readUInt32LE(end) !== END_OF_DIRECTORY)
    throw new Error('This is not a zip archive.');
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== CENTRAL_ENTRY)
      throw new Error('The directory of the archive is invalid.');
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    files.set(name, contentOf(archive, at));
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return files;
}

function contentOf(archive: Buffer, entry: number): Buffer {
  const size = archive.readUInt32LE(entry + 20);
  const header = archive.readUInt32LE(entry + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const bytes = archive.subarray(start, start + size);
  return archive.readUInt16LE(entry + 10) === 0 ? bytes : inflateRawSync(bytes);
}
