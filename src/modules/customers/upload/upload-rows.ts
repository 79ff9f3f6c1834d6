import {
  readUploadedFile,
  type ReadFile,
  type TableSource,
} from '../../../platform/files/uploads/read-uploaded-file.js';
import type { InvalidCell } from '../../../platform/files/invalid-cells.js';
import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import { readField } from '../../../platform/values/validate-text.js';
import { likeNumberWarning, MAX_NAMED_ROWS } from '../../../platform/files/upload-report.js';
import { warnOfLikeNumber } from '../../tracking-numbers/public.js';
import { completeNames } from '../shared/full-name.js';
import { CUSTOMER_CODE_NAMES, type ColumnTable } from '../../../platform/files/columns.js';

export type UploadedCustomer = {
  userCode: string;
  firstName: string;
  lastName: string;
  /** Null clears the stored branch, undefined leaves it unchanged. */
  branch: string | null | undefined;
  /** The last row of the file with the user code. */
  row: number;
};

export type Upload = ReadFile & {
  /** By user code. The last row of a repeated code counts. */
  customers: Map<string, UploadedCustomer>;
  /** The number of accepted rows, including rows with a repeated user code. */
  processed: number;
};

const MAX_ROWS = 100_000;

type Column = 'user_code' | 'first_name' | 'last_name' | 'branch' | 'full_name';

// In the order of the columns of a file without known names. The maximum lengths are those of the schema CustomerCreation.
const COLUMNS: ColumnTable<Column> = {
  user_code: {
    kind: 'code',
    maxChars: 100,
    isRequired: true,
    names: CUSTOMER_CODE_NAMES,
  },
  first_name: {
    kind: 'line',
    maxChars: 100,
    isRequired: true,
    names: ['firstname', 'givenname', 'forename', 'nombre', 'nombres', 'primernombre', 'first'],
  },
  last_name: {
    kind: 'line',
    maxChars: 100,
    isRequired: true,
    names: ['lastname', 'surname', 'familyname', 'apellido', 'apellidos', 'last'],
  },
  branch: {
    kind: 'line',
    maxChars: 100,
    isRequired: false,
    names: ['branch', 'location', 'pickuplocation', 'sucursal', 'oficina', 'sede'],
  },
  full_name: {
    kind: 'line',
    maxChars: 201,
    isRequired: false,
    replaces: ['first_name', 'last_name'],
    partial: ['name'],
    names: [
      'fullname',
      'name',
      'customername',
      'nombrecompleto',
      'nombreyapellido',
      'nombreyapellidos',
      'nombresyapellidos',
      'nombredelcliente',
    ],
  },
};

const REQUIRED_CELLS = 3;

/**
 * Reads and validates a whole file of customers.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUpload(source: TableSource): Promise<Upload> {
  const customers = new Map<string, UploadedCustomer>();
  const codes: SentCode[] = [];
  let processed = 0;
  const file = await readUploadedFile(source, {
    columns: COLUMNS,
    maxRows: MAX_ROWS,
    minCells: REQUIRED_CELLS,
    inOrder: true,
    takeRow(row, { user_code: userCode = '', first_name, last_name, branch, full_name = '' }) {
      const [given, family] = completeNames(full_name, first_name, last_name);
      const names = { first_name: given, last_name: family };
      const problems = problemsOfNames(names);
      if (problems.length > 0) return problems;
      processed += 1;
      codes.push({ row, userCode });
      customers.set(userCode, {
        row,
        userCode,
        firstName: names.first_name,
        lastName: names.last_name,
        branch: branch === '' ? null : branch,
      });
      return [];
    },
  });
  const likeNumbers = likeNumberWarning(await findLikeNumbers(codes));
  return { ...file, warnings: [...file.warnings, ...likeNumbers], customers, processed };
}

type SentCode = { row: number; userCode: string };

/** After the file, and as many as the warning names: reading a code as a scan takes longer than the rest of its row. */
async function findLikeNumbers(codes: SentCode[]): Promise<number[]> {
  const rows: number[] = [];
  for (const { row, userCode } of codes) {
    if (rows.length === MAX_NAMED_ROWS) break;
    await pauseWhenDue();
    if (warnOfLikeNumber(userCode)) rows.push(row);
  }
  return rows;
}

/** Both parts of a full name are checked like names in columns of their own. */
function problemsOfNames(names: Record<'first_name' | 'last_name', string>): InvalidCell[] {
  const columns = ['first_name', 'last_name'] as const;
  return columns.flatMap((column): InvalidCell[] => {
    const { problem } = readField(names[column], COLUMNS[column]);
    return problem ? [{ column, problem }] : [];
  });
}
