import { useState } from 'preact/hooks';
import { api } from '../../session/session.js';
import { date, t, textOf } from '../../texts/texts.js';
import { Tag } from '../../ui/parts.js';
import { officeLink } from '../../ui/router.js';
import { saveFile } from '../list/export.js';
import { toastFailure } from '../ui/toasts.js';

export const BillTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'paid' ? 'good' : status === 'published' ? 'warn' : 'plain'}>
    {textOf('officeBill', status)}
  </Tag>
);

type FilesProps = {
  bill: { bill_id: string; invoice_number: string };
  /** Beside other buttons of the same size. In a table they are links. */
  isButton?: boolean;
};

/** The files of a bill. The session is a cookie that a link does not send, so the client fetches them. */
export function BillFiles({ bill: { bill_id, invoice_number }, isButton = false }: FilesProps) {
  const [busy, setBusy] = useState<string>();
  const download = (format: 'pdf' | 'csv') => {
    setBusy(format);
    void api()
      .billing.downloadBill({ bill_id, format })
      .then(async (file) => saveFile(await file.blob(), file.filename ?? `bill.${format}`), toastFailure)
      .finally(() => setBusy(undefined));
  };
  return (
    <span class="actions">
      {(['pdf', 'csv'] as const).map((format) => (
        <button
          key={format}
          type="button"
          class={isButton ? undefined : 'quiet'}
          disabled={busy === format}
          onClick={() => download(format)}
        >
          {format.toUpperCase()}
          <span class="unseen"> {invoice_number}</span>
        </button>
      ))}
    </span>
  );
}

/** A courier and a period, whose days are in UTC. */
export type Month = { courier_id: string; from: string; to: string };

export const period = ({ start_date, end_date }: { start_date: string; end_date: string }): string =>
  `${date(start_date)} – ${date(end_date)}`;

/** The house number of a package, which leads to its page. */
export const ParcelLink = ({ house }: { house: string }) => (
  <a class="mono" href={officeLink(['parcels', house])}>
    {house}
  </a>
);

/**
 * Returns the amount that a person typed, in US dollars. Signs between thousands are refused, because `1,500` is a different amount in
 * English and in Spanish.
 */
export function readAmount(typed: string): number {
  const text = typed.trim().replace('−', '-');
  if (!/^[+-]?\d{1,10}(?:[.,]\d{1,2})?$/.test(text)) throw new Error(t('billPage.amountForm'));
  return Number(text.replace(',', '.'));
}
