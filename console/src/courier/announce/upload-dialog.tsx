import { useState } from 'preact/hooks';
import { FileField } from '../../office/pages/import-parts.js';
import { FormDialog } from '../../office/ui/dialogs.js';
import { t } from '../../texts/texts.js';
import { CheckButtons, CheckResult, useCheck } from './check.js';

type Props = { onClose: () => void; onDone: () => void };

/** Announces the parcels of a CSV file or a workbook. */
export function UploadDialog({ onClose, onDone }: Props) {
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
        <FileField
          onFile={(chosen) => {
            setFile(chosen);
            check.forget();
          }}
        />
        <CheckResult of={check} />
        <CheckButtons of={check} isReady={file !== undefined} onClose={onClose} />
      </form>
    </FormDialog>
  );
}
