import Papa from 'papaparse';
import type { Body } from '../service/contract.js';
import { readWorkbook } from './workbook.js';

/** The fields of the JSON list whose columns have another name. */
const FIELDS: Record<string, string> = { Courier: 'courier_name', Carrier: 'carrier_name' };

/** Returns the rows of an export as the records of the list, with every value but the weight as text, and null for an empty cell. */
export function readExportedPackages(bytes: Buffer): Body[] {
  const isWorkbook = bytes.subarray(0, 2).toString() === 'PK';
  const [headings = [], ...lines] = isWorkbook ? linesOfWorkbook(bytes) : linesOfCsv(bytes);
  const names = headings.map((heading) => FIELDS[heading] ?? heading.toLowerCase().replaceAll(' ', '_'));
  const valueOf = (name: string, text: string | undefined) =>
    name === 'weight' ? Number(text) : text || null;
  return lines.map((line) => Object.fromEntries(names.map((name, n) => [name, valueOf(name, line[n])])));
}

const linesOfWorkbook = (bytes: Buffer) =>
  readWorkbook(bytes).map((row) => Array.from(row, (cell) => cell?.value ?? ''));

const linesOfCsv = (bytes: Buffer) => Papa.parse<string[]>(bytes.toString().trimEnd()).data;
