import { useState } from 'preact/hooks';
import type { CourierRecord, PrealertImport } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { number, t } from '../../../texts/texts.js';
import { Choice, Problem } from '../../../ui/parts.js';
import { courierChoices } from '../../list/courier-options.js';
import { FormDialog } from '../../ui/dialogs.js';
import { FactList } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { ErrorCells, FileField, sheetFacts, useCheckedFile, Warnings } from '../import-parts.js';

type Props = { couriers: CourierRecord[]; onClose: () => void; onDone: () => void };

/** Announces the parcels of a CSV file or a workbook. The service checks the file first and stores nothing; then a person confirms the counts. */
export function UploadDialog({ couriers, onClose, onDone }: Props) {
  const [courierId, setCourierId] = useState('');
  const [file, setFile] = useState<File>();
  const check = useCheckedFile<PrealertImport>(
    async (isDryRun) => {
      if (!file) throw new Error(t('import.chooseFile'));
      return api().prealerts.upload({ file, target_courier_id: courierId, dry_run: isDryRun });
    },
    (data) => {
      toast(t('announcements.uploaded', { created: data.created, duplicate: data.duplicate }));
      onDone();
    },
  );
  const { result } = check;
  return (
    <FormDialog title={t('announcements.upload')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          check.submit();
        }}
      >
        <p>{t('announcements.uploadHint')}</p>
        <Choice
          label={t('common.courier')}
          value={courierId}
          onValue={(value) => {
            setCourierId(value);
            check.forget();
          }}
          options={courierChoices(couriers)}
        />
        <FileField
          onFile={(chosen) => {
            setFile(chosen);
            check.forget();
          }}
        />
        <Problem text={check.error} />
        {result && <Result of={result} />}
        {check.errors && <ErrorCells errors={check.errors} />}
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={
              !file || courierId === '' || check.isBusy || (result !== undefined && result.created === 0)
            }
          >
            {result ? t('announcements.store', { count: result.created }) : t('import.check')}
          </button>
        </div>
      </form>
    </FormDialog>
  );
}

const SHOWN = 5;

function Result({ of }: { of: PrealertImport }) {
  const others = (of.existing ?? []).filter(({ differs }) => differs);
  return (
    <div class="success" role="status" data-testid="import-result">
      <p>{t(of.created > 0 ? 'import.checked' : 'announcements.nothingNew')}</p>
      <FactList
        facts={[
          ...sheetFacts(of.file),
          [t('import.created'), number(of.created)],
          [t('announcements.duplicate'), number(of.duplicate)],
          [t('import.repeated'), number(of.repeated)],
          [t('import.skipped'), number(of.skipped)],
          ...of.file.columns.map(({ column, header }): [string, string] => [column, header]),
        ]}
      />
      {others.length > 0 && (
        <>
          <p>{t('announcements.differ', { count: others.length })}</p>
          <ul>
            {others.slice(0, SHOWN).map(({ row, user_code }) => (
              <li key={row}>{t('announcements.differRow', { row: String(row), customer: user_code })}</li>
            ))}
          </ul>
        </>
      )}
      <Warnings of={of.warnings} />
    </div>
  );
}
