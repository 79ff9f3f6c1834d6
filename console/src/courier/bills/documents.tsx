import { useState } from 'preact/hooks';
import { toastFailure } from '../../office/ui/toasts.js';
import { api } from '../../session/session.js';
import { saveFile } from '../../staff/label.js';

type Props = { of: { bill_id: string; invoice_number: string } };

/** The files of a bill. */
export function Documents({ of: { bill_id, invoice_number } }: Props) {
  const [isBusy, setIsBusy] = useState(false);
  const download = (format: 'pdf' | 'csv') => {
    setIsBusy(true);
    api()
      .billing.downloadBill({ bill_id, format })
      .then((file) => saveFile(file, `${invoice_number}.${format}`))
      .catch(toastFailure)
      .finally(() => setIsBusy(false));
  };
  return (
    <span class="actions">
      {(['pdf', 'csv'] as const).map((format) => (
        <button key={format} type="button" class="quiet" disabled={isBusy} onClick={() => download(format)}>
          {format.toUpperCase()}
          <span class="unseen"> {invoice_number}</span>
        </button>
      ))}
    </span>
  );
}
