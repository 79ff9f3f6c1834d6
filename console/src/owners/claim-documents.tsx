import { useId } from 'preact/hooks';
import type { ClaimDocument } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { saveFile } from '../staff/label.js';
import { number, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Problem } from '../ui/parts.js';

const KINDS: Record<ClaimDocument['media_type'], string> = {
  'application/pdf': 'PDF',
  'image/jpeg': 'JPG',
  'image/png': 'PNG',
};

export const MAX_DOCUMENTS = 5;

/** What proves a claim, to download. It is never opened in the page, because somebody else wrote it. */
export function ClaimDocuments({ of: documents }: { of: ClaimDocument[] }) {
  const download = useAction(async ({ document_id }: ClaimDocument) => {
    await saveFile(await api().claims.document({ document_id }), document_id);
  });
  if (documents.length === 0) return <span class="muted">{t('proof.none')}</span>;
  return (
    <>
      <span class="actions">
        {documents.map((each, index) => (
          <button
            key={each.document_id}
            type="button"
            class="quiet"
            disabled={download.isBusy}
            onClick={() => download.run(each)}
          >
            {t('proof.one', { number: String(index + 1) })} ({KINDS[each.media_type]}, {sizeOf(each.bytes)})
          </button>
        ))}
      </span>
      <Problem text={download.error} />
    </>
  );
}

const sizeOf = (bytes: number): string => `${number(Math.max(1, Math.round(bytes / 1000)))} kB`;

type FieldProps = { isBusy?: boolean; onFile: (file: File | undefined) => void };

/** Chooses a document. */
export function DocumentField({ isBusy = false, onFile }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{t('proof.add')}</label>
      <input
        id={id}
        type="file"
        accept=".pdf,.png,.jpg,.jpeg,application/pdf,image/png,image/jpeg"
        aria-describedby={`${id}-hint`}
        disabled={isBusy}
        onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])}
      />
      <span id={`${id}-hint`} class="field-hint">
        {t('proof.hint')}
      </span>
    </div>
  );
}
