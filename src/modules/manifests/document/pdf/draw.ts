import { finishDocument, openDocument } from '../../../../platform/pdf/document.js';
import { putFacts, type Fact } from '../../../../platform/pdf/facts.js';
import {
  INK,
  LEFT,
  putLines,
  putRule,
  putText,
  RIGHT,
  STYLES,
  type Sheet,
} from '../../../../platform/pdf/sheet.js';
import { decimal, putCourierTable, putLineTable } from './tables.js';
import type { Line, ManifestDocument } from './manifest.js';

const MIDDLE = LEFT + 280;

/** Returns the cargo manifest as a PDF. */
export async function drawManifest(manifest: ManifestDocument): Promise<Buffer> {
  const { number, isDraft, origin, printedAt } = manifest;
  const document = openDocument({
    title: `Cargo manifest ${number}`,
    author: origin.name,
    subject: manifest.awb ? `Air waybill ${manifest.awb}` : `Manifest ${number}`,
    date: new Date(`${printedAt.replace(' ', 'T')}Z`),
  });
  const { sheet } = document;
  // toDocument serialised exactly such lines.
  const lines = manifest.lines.flatMap((part) => JSON.parse(part) as Line[]);
  putHead(sheet, manifest);
  putCourierTable(sheet, manifest);
  putLineTable(sheet, lines, manifest.total);
  const mark = isDraft ? 'DRAFT · ' : '';
  return finishDocument(document, {
    foot: `${mark}Cargo manifest ${number} · printed ${printedAt} UTC`,
    isDraft,
  });
}

function putHead(sheet: Sheet, manifest: ManifestDocument): void {
  const { number, isDraft, origin, notes } = manifest;
  const top = sheet.y;
  let end = putLines(sheet, origin.name, { x: LEFT, y: top, width: MIDDLE - LEFT - 20 }, STYLES.name) + 1;
  for (const line of origin.address)
    end = putLines(sheet, line, { x: LEFT, y: end, width: MIDDLE - LEFT - 20 }, STYLES.quiet);
  putText(sheet, 'Cargo manifest', { x: RIGHT, y: top - 3, isRight: true }, STYLES.title);
  const title = isDraft ? `${number} · DRAFT` : number;
  putText(sheet, title, { x: RIGHT, y: top + 27, isRight: true, maxWidth: RIGHT - MIDDLE }, STYLES.due);
  sheet.y = Math.max(end, top + 48) + 8;
  putRule(sheet, sheet.y, LEFT, RIGHT - LEFT, INK.strong, 1.2);
  sheet.y += 12;
  const left = putFacts(sheet, flightOf(manifest), { x: LEFT, y: sheet.y, right: MIDDLE - 20 });
  const right = putFacts(sheet, cargoOf(manifest), { x: MIDDLE, y: sheet.y, right: RIGHT });
  sheet.y = Math.max(left, right);
  if (notes?.trim()) sheet.y = putFacts(sheet, [['Notes', notes]], { x: LEFT, y: sheet.y, right: RIGHT });
  sheet.y += 10;
}

/** A fact that is not known yet has a line on which it is written. */
const TO_WRITE = '_'.repeat(24);

const flightOf = ({ awb, airline, flight, flightDate, origin }: ManifestDocument): Fact[] => [
  ['Air waybill', awb ?? TO_WRITE],
  ['Airline', airline],
  ['Flight', flight ?? TO_WRITE],
  ['Flight date', flightDate ?? TO_WRITE],
  ['Origin', origin.name],
  // Manifests store no destination.
  ['Destination', TO_WRITE],
];

const cargoOf = ({ status, createdAt, printedAt, total }: ManifestDocument): Fact[] => [
  ['Status', status.toUpperCase()],
  ['Pieces', String(total.pieces)],
  ['Weight', `${decimal(total.weightLb, 3)} lb`],
  ['', `${decimal(total.weightKg, 3)} kg`],
  ['Created', `${createdAt} UTC`],
  ['Printed', `${printedAt} UTC`],
];
