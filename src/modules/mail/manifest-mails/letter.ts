import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { ManifestStatusChange } from './queue-manifest-mail.js';
import { oneLine } from '../../../platform/mail/plain-text.js';
import type { CargoRow, MailDataRow, TotalsRow } from './queries.js';

/** The content of a mail about a manifest. Each text is one line. */
export type Letter = {
  /** What happened, as a sentence without a full stop. */
  headline: string;
  /** The courier's name. */
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

export type LetterPackage = { trackingNumber: string; houseNumber: string; customer: string; weight: string };

/** The listed packages, and the totals of all the courier's packages on the manifest. */
export type Cargo = { cargo: CargoRow[]; totals: TotalsRow };

const STATUS_PHRASES = {
  ready: 'is ready to ship',
  shipped: 'has shipped',
  completed: 'is completed',
} satisfies Record<ManifestStatusChange['status'], string>;

const UNKNOWN = 'not known yet';

export function toLetter(
  news: MailDataRow & { manifest_id: string },
  { cargo, totals }: Cargo,
  now: Date,
): Letter {
  const shown = (text: string | null) => oneLine(text ?? '') || UNKNOWN;
  const tenantName = oneLine(news.tenant_name);
  return {
    headline: `Manifest ${oneLine(news.manifest_number)} ${STATUS_PHRASES[news.manifest_status]}`,
    greeting: oneLine(news.courier_name ?? ''),
    tenantName,
    reason: `${tenantName} writes to the e-mail address of your profile when a manifest with packages of yours moves on.`,
    houseColor: /^#[0-9a-f]{6}$/i.test(news.house_color ?? '') ? (news.house_color ?? undefined) : undefined,
    facts: [
      ['Warehouse', shown(news.warehouse_name)],
      ['Since', `${formatDateTime(news.created_at)} UTC`],
      ['Air waybill', shown(news.awb_number)],
      ['Flight', shown(news.flight_number)],
      ['Flight date', shown(news.flight_date)],
      ['Your packages', String(totals.count)],
      ['Their weight', `${Number(totals.weight_lb)} lb (${Number(totals.weight_kg)} kg)`],
    ],
    packages: cargo.map(toLetterPackage),
    notes: notesOf(news.manifest_id, { cargo, totals }, now),
    packageCount: totals.count,
  };
}

function toLetterPackage(row: CargoRow): LetterPackage {
  const { tracking_number, house_number, user_code, first_name, last_name, weight_lb } = row;
  return {
    trackingNumber: oneLine(user_code === null ? maskTrackingNumber(tracking_number) : tracking_number),
    houseNumber: oneLine(house_number),
    customer: oneLine([user_code, first_name, last_name].filter(Boolean).join(' ')) || UNKNOWN,
    weight: `${Number(weight_lb)} lb`,
  };
}

function notesOf(manifestId: string, { cargo, totals: { count } }: Cargo, now: Date): string[] {
  const more = count - cargo.length;
  const notes = [`These are your packages aboard as of ${formatDateTime(now)} UTC.`];
  if (more > 0)
    notes.unshift(
      `And ${more} more. GET /api/GetManifest.php?id=${manifestId} answers all ${count} of them.`,
    );
  if (cargo.some(({ user_code }) => user_code === null))
    notes.push('A tracking number is shown in full once its customer is known: UpdatePackage names one.');
  return notes;
}
