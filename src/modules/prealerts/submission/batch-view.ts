import type { DataOf } from '../../../platform/contract/types.js';
import type { LineResult } from './submit-batch.js';

type Batch = Extract<DataOf<'submitPrealert'>, { results: unknown }>;

export function viewBatch(results: LineResult[]): Batch {
  const count = (wanted: LineResult['status']) => results.filter(({ status }) => status === wanted).length;
  return {
    total: results.length,
    created: count('created'),
    duplicate: count('duplicate'),
    unknown_customer: count('unknown_customer'),
    invalid: count('invalid'),
    results: results.map(viewLine),
  };
}

function viewLine(result: LineResult): Batch['results'][number] {
  const { number: line, status } = result;
  if (result.status === 'created') {
    const { prealertId: prealert_id, warnings } = result;
    return { line, status, message: 'Pre-alert created.', prealert_id, ...(warnings ? { warnings } : {}) };
  }
  const { code, message, detail } = result.error;
  return {
    line,
    status,
    message,
    code,
    ...(detail.errors ? { errors: detail.errors } : {}),
    ...(detail.existing ? { existing: detail.existing } : {}),
  };
}

export const describeBatch = ({ created, duplicate, unknown_customer, invalid }: Batch): string =>
  `Pre-alerts created: ${created}. Duplicate: ${duplicate}, unknown customer: ${unknown_customer}, invalid: ${invalid}.`;
