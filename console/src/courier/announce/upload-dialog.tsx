import { useId, useState } from 'preact/hooks';
import { FormDialog } from '../../office/ui/dialogs.js';
import { t } from '../../texts/texts.js';
import { CheckButtons, CheckResult, useCheck } from './check.js';

type Props = { onClose: () => void; onDone: () => void };

/** Announces the parcels of a CSV file. */
export function UploadDialog({ onClose, onDone }: Props) {
  const id = useId();
  const [file, setFile] = useState<File>();
  const check = useCheck(() => {
    if (!file) throw new Error(t('import.chooseFile'));
    return file;
  }, onDone);
  return (
    <FormDialog title={t('myAnnounce.file')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          check.submit();
        }}
      >
        <p>{t('myAnnounce.fileHint')}</p>
        <div class="field">
          <label for={id}>{t('import.file')}</label>
          <input
            id={id}
            type="file"
            accept=".csv,.txt,text/csv"
            onChange={({ currentTarget }) => {
              setFile(currentTarget.files?.[0]);
              check.forget();
            }}
          />
        </div>
        <CheckResult of={check} />
        <CheckButtons of={check} isReady={file !== undefined} onClose={onClose} />
      </form>
    </FormDialog>
  );
}
