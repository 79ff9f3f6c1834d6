import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import { formatLocalTime } from '../../../platform/values/time.js';
import { oneLine, shorten, shortName, withoutLinks } from '../../../platform/mail/plain-text.js';
import type { CargoRow, MailDataRow, ManifestStatusChange, TotalsRow } from './queries.js';

/** The content of a mail about a manifest. Each text is one line. */
export type Letter = {
  /** What happened, as a sentence without a full stop. */
  headline: string;
  /** The courier's code, which the warehouse has chosen. The courier writes its name itself, and its address is not confirmed. */
  greeting: string;
  tenantName: string;
  /** Why the courier receives the mail. */
  reason: string;
  /** `#RRGGBB`, or undefined. */
  houseColor: string | undefined;
  /** Pairs of label and text: the manifest, its flight, and the totals. */
  facts: [label: string, text: string][];
  packages: LetterPackage[];
  /** Notes on the list, one or two sentences each. */
  notes: string[];
  packageCount: number;
};

export type LetterPackage = { trackingNumber: string; houseNumber: string; userCode: string; weight: string };

/** The listed packages, and the totals of all the courier's packages on the manifest. */
export type Cargo = { cargo: CargoRow[]; totals: TotalsRow };

const STATUS_PHRASES = {
  ready: 'is ready to ship',
  shipped: 'has shipped',
  completed: 'is completed',
} satisfies Record<ManifestStatusChange['status'], string>;

const UNKNOWN = 'not known yet';

export function toLetter(
  mail: MailDataRow & { manifestId: string },
  { cargo, totals }: Cargo,
  now: Date,
): Letter {
  const shown = (text: string | null) => withoutLinks(oneLine(text ?? '')) || UNKNOWN;
  const tenantName = oneLine(mail.tenantName);
  return {
    headline: `Manifest ${oneLine(mail.manifestNumber)} ${STATUS_PHRASES[mail.manifestStatus]}`,
    greeting: oneLine(mail.courierCode ?? ''),
    tenantName,
    reason: `${tenantName} sends this mail to the e-mail address of your profile when the status of a manifest with your packages changes.`,
    houseColor: /^#[0-9a-f]{6}$/i.test(mail.houseColor ?? '') ? (mail.houseColor ?? undefined) : undefined,
    facts: [
      ['Warehouse', shown(mail.warehouseName)],
      ['Since', formatLocalTime(mail.createdAt, mail.timeZone)],
      ['Air waybill', shown(mail.awbNumber)],
      ['Flight', shown(mail.flightNumber)],
      ['Flight date', shown(mail.flightDate)],
      ['Your packages', String(totals.count)],
      ['Their weight', `${Number(totals.weightLb)} lb (${Number(totals.weightKg)} kg)`],
    ],
    packages: cargo.map(toLetterPackage),
    notes: notesOf(mail, { cargo, totals }, now),
    packageCount: totals.count,
  };
}

/** Digits of one number in a user code. With more, it could be a telephone number. */
const MAX_DIGITS = 8;

/** Longer than the numbers of all carriers. */
const MAX_NUMBER = 40;

/** Without the customer's name, which the courier writes: it finds the customer by the user code. */
function toLetterPackage({ trackingNumber, houseNumber, userCode, weightLb }: CargoRow): LetterPackage {
  return {
    trackingNumber: numberOf(userCode === null ? maskTrackingNumber(trackingNumber) : trackingNumber),
    houseNumber: numberOf(houseNumber),
    userCode: userCode === null ? UNKNOWN : shortName(userCode, MAX_DIGITS),
    weight: `${Number(weightLb)} lb`,
  };
}

const numberOf = (text: string): string => withoutLinks(shorten(oneLine(text), MAX_NUMBER));

function notesOf(
  { manifestId, timeZone }: MailDataRow,
  { cargo, totals: { count } }: Cargo,
  now: Date,
): string[] {
  const more = count - cargo.length;
  const notes = [`These are your packages aboard as of ${formatLocalTime(now, timeZone)}.`];
  if (more > 0)
    notes.unshift(
      `And ${more} more. GET /api/GetManifest.php?id=${manifestId} returns all ${count} of them.`,
    );
  if (cargo.some(({ userCode }) => userCode === null))
    notes.push(
      'A tracking number is shown in full once its customer is known. Set the customer with UpdatePackage.',
    );
  return notes;
}
