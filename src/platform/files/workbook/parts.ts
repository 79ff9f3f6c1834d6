import { posix } from 'node:path';
import type { Archive } from './archive.js';
import { MAX_PARTS, MAX_SHEETS } from './bounds.js';
import { damaged, tooLarge, WorkbookError } from './problem.js';
import { isTrue, readXml } from './xml.js';

export type Sheet = { name: string; path: string };

export type WorkbookParts = {
  /** In the order of their tabs, without hidden ones and charts. Several tabs of one part are one sheet. */
  sheets: Sheet[];
  sharedTexts: string | undefined;
  styles: string | undefined;
  /** Whether day 0 is 1904-01-01. */
  is1904: boolean;
  /** Whether the results of formulas are no results: a program that computes none has written the file. */
  isUncomputed: boolean;
};

/** A spreadsheet program allows 31 characters. */
const MAX_NAME_CHARS = 255;

type Relation = { type: string; path: string };

/** Finds the parts of a workbook by their relations, because programs name them differently. @throws WorkbookError */
export async function findParts(archive: Archive): Promise<WorkbookParts> {
  const root = '_rels/.rels';
  if (!archive.has(root)) throw new WorkbookError('workbook_missing');
  const workbook = firstOf(await readRelations(archive, root, ''), 'officeDocument');
  // A binary workbook (.xlsb), and documents of other programs.
  if (!workbook?.endsWith('.xml') || !archive.has(workbook)) throw new WorkbookError('workbook_missing');
  const { listed, ...facts } = await readWorkbook(archive, workbook);
  const folder = posix.dirname(workbook);
  const relations = await readRelations(
    archive,
    posix.join(folder, '_rels', `${posix.basename(workbook)}.rels`),
    folder,
  );
  const sheets = new Map<string, Sheet>();
  for (const { name, id } of listed) {
    const relation = relations.get(id);
    if (!relation) throw damaged();
    const { path } = relation;
    if (isOfType(relation, 'worksheet') && !sheets.has(path)) sheets.set(path, { name, path });
  }
  const pathOf = (type: string) => firstOf(relations, type);
  return {
    sheets: [...sheets.values()],
    sharedTexts: pathOf('sharedStrings'),
    styles: pathOf('styles'),
    ...facts,
  };
}

/** Types are URIs, which differ between the transitional and the strict form before the last word. */
const isOfType = ({ type }: Relation, name: string): boolean => type.endsWith(`/${name}`);

const firstOf = (relations: Map<string, Relation>, type: string): string | undefined =>
  [...relations.values()].find((relation) => isOfType(relation, type))?.path;

/** Returns the relations to other parts by their identifier. `folder` is the one of the part that has them. */
async function readRelations(archive: Archive, path: string, folder: string): Promise<Map<string, Relation>> {
  const relations = new Map<string, Relation>();
  await readXml(archive, path, {
    open({ name, value }) {
      if (name !== 'Relationship' || value('TargetMode') === 'External') return;
      if (relations.size === MAX_PARTS) throw tooLarge('parts');
      const target = value('Target') ?? '';
      // A path from the root of the archive, or from the part.
      const resolved = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
      relations.set(value('Id') ?? '', { type: value('Type') ?? '', path: resolved });
    },
  });
  return relations;
}

type Listed = { name: string; id: string };

type Facts = Pick<WorkbookParts, 'is1904' | 'isUncomputed'>;

async function readWorkbook(archive: Archive, path: string): Promise<{ listed: Listed[] } & Facts> {
  const listed: Listed[] = [];
  const found = { isWorkbook: false, is1904: false, isUncomputed: false };
  await readXml(archive, path, {
    open({ name, value, relation }) {
      if (name === 'workbook') found.isWorkbook = true;
      if (name === 'workbookPr') found.is1904 = isTrue(value('date1904'));
      if (name === 'calcPr') found.isUncomputed = isTrue(value('fullCalcOnLoad'));
      const isHidden = ['hidden', 'veryHidden'].includes(value('state') ?? '');
      if (name !== 'sheet' || isHidden) return;
      if (listed.length === MAX_SHEETS) throw tooLarge('sheets');
      listed.push({ name: (value('name') ?? '').slice(0, MAX_NAME_CHARS), id: relation() ?? '' });
    },
  });
  if (!found.isWorkbook) throw new WorkbookError('workbook_missing');
  return { listed, is1904: found.is1904, isUncomputed: found.isUncomputed };
}
