import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import type { DataOf, QueryOf } from '../../platform/contract/types.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { ExportFormat } from '../../platform/files/exports.js';
import { quotaOf } from '../../platform/limits/stored/quotas.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { warnOfLikeNumber } from '../tracking-numbers/public.js';
import {
  createCustomer,
  deleteCustomer,
  listBranches,
  listCustomers,
  updateCustomer,
} from './crud/customer.js';
import { exportCustomers } from './crud/export.js';
import type { CustomerRow } from './crud/queries.js';
import type { MatchRow } from './search/queries.js';
import { searchCustomers } from './search/search.js';
import { sheetOf } from '../../platform/files/upload-report.js';
import { describeLikeCode, type LikeCode } from './shared/leading-zeros.js';
import type { RunRow } from './sync/run-queries.js';
import { listSyncs, requestSync } from './sync/sync-run.js';
import { uploadCustomers } from './upload/upload.js';

export function customerHandlers({ customerChangesPerDay, bulk, readWorkbook, writeWorkbooks }: Deps) {
  const writeWorkbook = writeWorkbooks('Customers');
  const exportFile = <Format extends ExportFormat>(ctx: UserContext, query: ExportQuery, format: Format) =>
    bulk.limitReport(ctx.caller, () =>
      exportCustomers(ctx, query, { format, now: new Date(), writeWorkbook }),
    );
  const quota = quotaOf('customer_changes', customerChangesPerDay);
  return {
    async listCustomers({ ctx, query }) {
      if (query.action === 'branches') {
        const names = await listBranches(ctx, query.courier_id);
        return reply(`${countOf(names.length, 'branch', 'branches')} found.`, names);
      }
      const { rows, total } = await bulk.limitSearch(ctx.caller, Boolean(query.search), () =>
        listCustomers(ctx, query),
      );
      return { ...reply(`${countOf(total, 'customer')} found.`, rows.map(viewCustomer)), total };
    },

    exportCustomersCsv: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await exportFile(ctx, query, 'csv'),
    }),

    exportCustomersXlsx: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await exportFile(ctx, query, 'xlsx'),
    }),

    async searchCustomers({ ctx, query }) {
      const rows = await searchCustomers(ctx, query);
      const message =
        rows.length === 0 ? 'No customers found.' : `${countOf(rows.length, 'customer')} found.`;
      return { ...reply(message, rows.map(viewMatch)), count: rows.length };
    },

    async createCustomer({ ctx, body }) {
      const { id, likeCodes } = await createCustomer(ctx, quota, body);
      return reply('Customer created.', { id, ...warningsOf(body.user_code, likeCodes) });
    },

    async updateCustomer({ ctx, body }) {
      const { row, isChanged, likeCodes } = await updateCustomer(ctx, quota, body);
      const message = outcomeOf(
        isChanged,
        'Customer updated.',
        nothingToChange('updateCustomer', body, {
          selectors: ['courier_customer_id'],
          already: 'The customer already has these values.',
        }),
      );
      return reply(message, { ...viewCustomer(row), ...warningsOf(body.user_code, likeCodes) });
    },

    async deleteCustomer({ ctx, query, body }) {
      const ids = { inQuery: query.id, inBody: body.courier_customer_id };
      return reply('Customer deleted.', { courier_customer_id: await deleteCustomer(ctx, quota, ids) });
    },

    async uploadCustomers({ ctx, body }) {
      const data = await uploadCustomers(ctx, { bulk, readWorkbook, quota }, body);
      return reply(describeUpload(data), data);
    },

    async syncCustomers({ ctx, body }) {
      const { row, isNew } = await requestSync(ctx, body.courier_id);
      const message = isNew
        ? 'Synchronisation queued.'
        : 'A synchronisation of these customers is already queued or running.';
      return reply(message, viewSync(row));
    },

    async listCustomerSyncs({ ctx, query }) {
      const { rows, meta } = await listSyncs(ctx, query);
      return { ...reply(`${countOf(rows.length, 'synchronisation')}.`, rows.map(viewSync)), meta };
    },
  } satisfies Partial<Handlers>;
}

type ExportQuery = QueryOf<'exportCustomersCsv'>;

type Warning = components['schemas']['CustomerWarning'];

/** @param userCode undefined if the request does not set it */
function warningsOf(userCode: string | undefined, likeCodes: LikeCode[]): { warnings?: Warning[] } {
  if (userCode === undefined) return {};
  const likeNumber = warnOfLikeNumber(userCode);
  const warnings: Warning[] = likeNumber ? [likeNumber] : [];
  for (const found of likeCodes) warnings.push({ code: 'leading_zeros', message: describeLikeCode(found) });
  return warnings.length > 0 ? { warnings } : {};
}

const viewCustomer = ({ id, ...row }: CustomerRow): components['schemas']['Customer'] => ({
  courier_customer_id: id,
  ...recordOf(row),
  is_active: row.isActive ? 1 : 0,
});

const viewMatch = ({ id, ...row }: MatchRow): DataOf<'searchCustomers'>[number] => ({
  courier_customer_id: id,
  ...recordOf(row),
});

function describeUpload(data: DataOf<'uploadCustomers'>): string {
  const { processed, created, updated, unchanged, dry_run, file } = data;
  const counts = `Customers created: ${created}, updated: ${updated}, unchanged: ${unchanged}.`;
  return `${dry_run ? 'Nothing was stored. ' : ''}${sheetOf(file)}Rows processed: ${processed}. ${counts}`;
}

const viewSync = ({ id, ...row }: RunRow): DataOf<'syncCustomers'> => ({
  run_id: id,
  ...recordOf(row),
  problems: row.problems ?? [],
});
