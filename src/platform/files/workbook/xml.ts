import { TextDecoder } from 'node:util';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { Archive } from './archive.js';
import { MAX_CHARS_BETWEEN_TAGS } from './bounds.js';
import { damaged, tooLarge } from './problem.js';

/** An element whose name is in one of the namespaces of a part. */
export type Element = {
  name: string;
  /** The value of an attribute without a namespace. */
  value(name: string): string | undefined;
  /** The attribute `r:id`, whatever its prefix. */
  relation(): string | undefined;
};

export type XmlReader = {
  open?(element: Element): void;
  text?(text: string): void;
  close?(name: string): void;
  /** Whether the rest need not be read. */
  isDone?(): boolean;
};

/** Namespaces of ECMA-376: transitional, and strict. */
const NAMESPACES = new Set([
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main',
  'http://schemas.openxmlformats.org/package/2006/relationships',
]);

/** Whether a boolean of XML is true. */
export const isTrue = (value: string | undefined): boolean => ['1', 'true'].includes(value?.trim() ?? '');

/** Elements of a sheet are nested nine deep at most. */
const MAX_DEPTH = 64;
/** Elements have fewer than 20. Each takes memory until its element ends. */
const MAX_ATTRIBUTES = 100;

/**
 * Reads a part of the workbook as it is expanded. Entities are never expanded, because a document type is refused.
 * @throws WorkbookError if it is not well-formed XML in UTF-8, has a document type, is nested deeply, has an element with
 * many attributes, or much between two tags: a text, an attribute, a comment or spaces
 */
export async function readXml(archive: Archive, path: string, reader: XmlReader): Promise<void> {
  const parser = new SaxesParser({ xmlns: true });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let depth = 0;
  let attributes = 0;
  let sinceTag = 0;
  const refuse = () => {
    throw damaged();
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) refuse();
  });
  parser.on('opentag', (tag) => {
    attributes = 0;
    sinceTag = 0;
    depth += 1;
    if (depth > MAX_DEPTH) refuse();
    if (NAMESPACES.has(tag.uri)) reader.open?.(elementOf(tag));
  });
  parser.on('closetag', (tag) => {
    sinceTag = 0;
    depth -= 1;
    if (NAMESPACES.has(tag.uri)) reader.close?.(tag.local);
  });
  const onText = (text: string) => reader.text?.(text);
  parser.on('text', onText);
  parser.on('cdata', onText);
  await archive.read(path, (bytes) => {
    const text = decode(decoder, bytes);
    sinceTag += text.length;
    parser.write(text);
    // The parser collects what is between two tags, and passes it as one text.
    if (sinceTag > MAX_CHARS_BETWEEN_TAGS) throw tooLarge('cellText');
    return !reader.isDone?.();
  });
  if (reader.isDone?.()) return;
  parser.write(decode(decoder));
  parser.close();
}

function decode(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch {
    throw damaged();
  }
}

const elementOf = ({ local, attributes }: SaxesTagNS): Element => ({
  name: local,
  value: (name) => attributes[name]?.value,
  relation: () =>
    Object.values(attributes).find((each) => each.local === 'id' && each.uri.endsWith('/relationships'))
      ?.value,
});
