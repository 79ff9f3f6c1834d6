import type { Party } from '../../detail/queries.js';
import type { Invoice } from './invoice.js';
import {
  INK,
  LEFT,
  put,
  putLines,
  putRule,
  putText,
  RIGHT,
  STYLES,
  type Sheet,
  type Style,
} from '../../../../platform/pdf/sheet.js';
import { putFacts, type Fact } from '../../../../platform/pdf/facts.js';
import { currencyName, day } from './format.js';

/** An image that pdfkit has opened. pdfkit draws it, but its types accept only bytes in its place. */
export type Picture = Buffer & { width: number; height: number };

const LOGO_BOX = { width: 150, height: 54 };
const MIDDLE = LEFT + 300;

/** Adds the parties and the facts of the bill. */
export function putHead(sheet: Sheet, invoice: Invoice, logo: Picture | undefined): void {
  const { bill } = invoice;
  const top = sheet.y;
  const fromEnd = putParty(sheet, bill.billFrom, top, STYLES.name);
  putText(sheet, titleOf(invoice), { x: RIGHT, y: top - 3, isRight: true }, STYLES.title);
  putText(
    sheet,
    numberOf(invoice),
    { x: RIGHT, y: top + 27, isRight: true, maxWidth: RIGHT - MIDDLE },
    STYLES.due,
  );
  sheet.y = Math.max(fromEnd, top + 48) + 8;
  putRule(sheet, sheet.y, LEFT, RIGHT - LEFT, INK.strong, 1.2);
  sheet.y += 12;
  const below = sheet.y;
  putText(sheet, 'Bill to', { x: LEFT, y: below }, STYLES.heading);
  const toEnd = putParty(sheet, bill.billTo, below + 13 + putLogo(sheet, logo, below + 13), {
    ...STYLES.name,
    size: 10.5,
  });
  sheet.y = Math.max(toEnd, putFacts(sheet, factsOf(invoice), { x: MIDDLE, y: below, right: RIGHT })) + 14;
}

export const titleOf = ({ bill }: Invoice): string => (bill.status === 'draft' ? 'Draft invoice' : 'Invoice');

/** Returns the bill's number. A draft has none yet. */
export const numberOf = ({ bill }: Invoice): string =>
  bill.status === 'draft' ? 'Not issued' : bill.invoiceNumber;

/** Returns the position of its end. */
function putParty(sheet: Sheet, party: Party, y: number, style: Style): number {
  const from = (top: number) => ({ x: LEFT, y: top, width: MIDDLE - LEFT - 20 });
  const code = party.code ? ` (${party.code})` : '';
  let end = putLines(sheet, `${party.name}${code}`, from(y), style) + 1;
  const { company_name: company } = party;
  if (company && company !== party.name) end = putLines(sheet, company, from(end), STYLES.body);
  for (const line of [...party.address, party.phone, party.email]) {
    if (line?.trim()) end = putLines(sheet, line, from(end), STYLES.quiet);
  }
  return end;
}

/** Adds the courier's logo above its name. Returns the height that it takes. */
function putLogo(sheet: Sheet, logo: Picture | undefined, y: number): number {
  if (!logo) return 0;
  const scale = Math.min(LOGO_BOX.width / logo.width, LOGO_BOX.height / logo.height);
  // A picture needs a height of at least one.
  const width = Math.max(1, logo.width * scale);
  const height = Math.max(1, logo.height * scale);
  put(sheet, (doc) => doc.image(logo, LEFT, y, { width, height }));
  return height + 7;
}

const factsOf = ({ bill }: Invoice): Fact[] => [
  ['Issued', bill.publishedAt ? day(bill.publishedAt) : 'Not issued'],
  // A bill that was published without a due date keeps its text.
  ['Due', bill.status === 'draft' ? 'Not issued' : bill.storedDueDate],
  ['Period', `${bill.startDate} to ${bill.endDate}`],
  ['Service', bill.serviceType],
  ['Packages', String(bill.totalPackages)],
  ['Currency', currencyName(bill.currency)],
];
