import { useId, useRef, useState } from 'preact/hooks';
import {
  ApiError,
  type FieldError,
  type PrealertImport,
  type UploadWarning,
} from '../../../../sdk/typescript/src/index.js';
import { t, textOf } from '../../texts/texts.js';
import { useAction } from '../../ui/load.js';
import { csvFile } from '../list/csv.js';
import { saveFile } from '../list/export.js';

/** What the service says about a file before anything of it is stored. */
type Checked<Result> = { result: Result } | { errors: FieldError[] };

/** Checks a file. Failures that are about the file as a whole, and not about its cells, are thrown. */
async function checkFile<Result>(run: () => Promise<Result>): Promise<Checked<Result>> {
  try {
    return { result: await run() };
  } catch (error) {
    if (error instanceof ApiError && error.errors.some(({ row }) => row !== undefined))
      return { errors: error.errors };
    throw error;
  }
}

/**
 * A file that is checked first: the service reads it and stores nothing. Then a person confirms what was found.
 *
 * @param send sends the file, as a dry run or to store it
 */
export function useCheckedFile<Result>(
  send: (isDryRun: boolean) => Promise<{ data: Result }>,
  onStored: (result: Result) => void,
) {
  const [checked, setChecked] = useState<Checked<Result>>();
  const version = useRef(0);
  const check = useAction(async () => {
    const own = version.current;
    setChecked(undefined);
    const found = await checkFile(async () => (await send(true)).data);
    // Otherwise a person would confirm what another file contains.
    if (own === version.current) setChecked(found);
  });
  const store = useAction(async () => onStored((await send(false)).data));
  const result = checked && 'result' in checked ? checked.result : undefined;
  return {
    result,
    errors: checked && 'errors' in checked ? checked.errors : undefined,
    error: check.error ?? store.error,
    isBusy: check.isBusy || store.isBusy,
    /** What was checked has changed. */
    forget: () => {
      version.current += 1;
      setChecked(undefined);
    },
    submit: () => (result === undefined ? check.run() : store.run()),
  };
}

export function FileField({ onFile }: { onFile: (file: File | undefined) => void }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{t('import.file')}</label>
      <input
        id={id}
        type="file"
        accept=".xlsx,.csv,.txt,text/csv,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])}
      />
    </div>
  );
}

/** The sheet that was read, if the file is a workbook. */
export const sheetFacts = ({ sheet }: PrealertImport['file']): [string, string][] =>
  sheet === undefined ? [] : [[t('import.sheet'), sheet]];

type WarningsProps = { of: UploadWarning[]; offset?: number };

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
