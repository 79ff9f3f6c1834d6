import { useState } from 'preact/hooks';
import {
  ApiError,
  type CourierRecord,
  type CustomerImport,
  type FieldError,
} from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { number, t, textOf } from '../../../texts/texts.js';
import { useAction } from '../../../ui/load.js';
import { Choice, Problem } from '../../../ui/parts.js';
import { courierChoices } from '../../list/courier-options.js';
import { csvFile, saveFile } from '../../list/export.js';
import { FormDialog } from '../../ui/dialogs.js';
import { FactList } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';

type Props = {
  /** Of whom the person chooses one. Without them, `courierId` is known. */
  couriers?: CourierRecord[];
  courierId?: string;
  onClose: () => void;
  onDone: () => void;
};

type Checked = { result: CustomerImport } | { errors: FieldError[] };

/** Imports customers from a CSV file. The service checks the file first and stores nothing; then a person confirms the counts. */
export function ImportDialog({ couriers, courierId: known = '', onClose, onDone }: Props) {
  const [courierId, setCourierId] = useState(known);
  const [file, setFile] = useState<File>();
  const [checked, setChecked] = useState<Checked>();
  const send = (dryRun: boolean) => {
    if (!file) throw new Error(t('import.chooseFile'));
    return api().customers.upload({ file, target_courier_id: courierId, dry_run: dryRun });
  };
  const check = useAction(async () => {
    try {
      setChecked({ result: (await send(true)).data });
    } catch (error) {
      // The cells of the file. Other failures are about the file as a whole.
      if (error instanceof ApiError && error.errors.some(({ row }) => row !== undefined))
        setChecked({ errors: error.errors });
      else throw error;
    }
  });
  const store = useAction(async () => {
    const { data } = await send(false);
    toast(t('import.done', { created: data.created, updated: data.updated }));
    onDone();
  });
  const again = () => setChecked(undefined);
  return (
    <FormDialog title={t('customers.import')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (checked && 'result' in checked) store.run();
          else check.run();
        }}
      >
        <p>{t('import.hint')}</p>
        {couriers && (
          <Choice
            label={t('common.courier')}
            value={courierId}
            onValue={(value) => {
              setCourierId(value);
              again();
            }}
            options={courierChoices(couriers)}
          />
        )}
        <div class="field">
          <label for="import-file">{t('import.file')}</label>
          <input
            id="import-file"
            type="file"
            accept=".csv,.txt,text/csv"
            onChange={({ currentTarget }) => {
              setFile(currentTarget.files?.[0]);
              again();
            }}
          />
        </div>
        <Problem text={check.error ?? store.error} />
        {checked && 'result' in checked && <Result of={checked.result} />}
        {checked && 'errors' in checked && <ErrorCells errors={checked.errors} />}
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={!file || courierId === '' || check.isBusy || store.isBusy}
          >
            {checked && 'result' in checked
              ? t('import.store', { count: checked.result.created + checked.result.updated })
              : t('import.check')}
          </button>
        </div>
      </form>
    </FormDialog>
  );
}

const Result = ({ of }: { of: CustomerImport }) => (
  <div class="success" role="status" data-testid="import-result">
    <p>{t('import.checked')}</p>
    <FactList
      facts={[
        [t('import.created'), number(of.created)],
        [t('import.updated'), number(of.updated)],
        [t('import.unchanged'), number(of.unchanged)],
        [t('import.repeated'), number(of.repeated)],
        [t('import.skipped'), number(of.skipped)],
      ]}
    />
    <Warnings of={of.warnings} />
  </div>
);

type WarningsProps = { of: CustomerImport['warnings']; offset?: number };

/** What was read although it may be wrong. `offset`: so many rows are above the first that the person sees. */
export const Warnings = ({ of, offset = 0 }: WarningsProps) => (
  <>
    {of.map(({ code, rows }) => (
      <p key={code}>
        {textOf('importWarning', code)}{' '}
        {rows.length > 0 && t('import.rows', { rows: rows.map((row) => row - offset).join(', ') })}
      </p>
    ))}
  </>
);

const SHOWN = 5;

/** The cells that the service refuses: the first of them here, all in a file. */
export function ErrorCells({ errors, offset = 0 }: { errors: FieldError[]; offset?: number }) {
  const lines = errors.map(({ row, field, code }): [string, string, string] => [
    row === undefined ? '' : String(row - offset),
    field,
    textOf('problem', code, t('problem.other')),
  ]);
  const save = () =>
    saveFile(
      csvFile([[t('import.row'), t('import.column'), t('import.problem')], ...lines]),
      'import-errors.csv',
    );
  return (
    <div class="problem" role="alert">
      <p>{t('import.refused', { count: errors.length })}</p>
      <ul>
        {lines.slice(0, SHOWN).map(([row, field, text]) => (
          <li key={`${row} ${field} ${text}`}>{t('import.cell', { row, field, text })}</li>
        ))}
      </ul>
      <button type="button" onClick={save}>
        {t('import.saveErrors')}
      </button>
    </div>
  );
}
