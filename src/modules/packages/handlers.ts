import type { Handlers } from '../../../generated/handlers.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { jsonRows } from '../../platform/contract/json-text.js';
import type { ReplyOf } from '../../platform/contract/types.js';
import { invalidFieldError } from '../../platform/errors/errors.js';
import type { Deps } from '../dependencies.js';
import { listDispatches } from './dispatch/list-dispatches.js';
import { queueDispatch } from './dispatch/queue-dispatch.js';
import { viewDispatches, viewQueued } from './dispatch/view.js';
import { exportPage, type ExportFormat, type ExportQuery } from './export/export.js';
import { makeWorkbookWriter } from './export/spreadsheet.js';
import { receivePackage, type ExecuteWaitingScans } from './intake/intake.js';
import type { PackageQuery } from './list/filters.js';
import { findPackages } from './list/find-packages.js';
import { updatePackage } from './update/update.js';
import { viewMeta, viewPackage, viewReceipt } from './view.js';
import { countOf } from '../../platform/values/count-of.js';

export function packageHandlers({ bulk }: Deps, executeWaitingScans: ExecuteWaitingScans) {
  const writeWorkbook = makeWorkbookWriter();
  const exportFile = <Format extends ExportFormat>(ctx: UserContext, query: ExportQuery, format: Format) =>
    bulk.limitReport(ctx.caller, () => exportPage(ctx, query, { format, now: new Date(), writeWorkbook }));

  return {
    async receivePackage({ ctx, body }) {
      const receipt = await receivePackage(ctx, body, executeWaitingScans);
      const data = viewReceipt(receipt);
      if (receipt.isDuplicate) {
        const warning = receipt.isFlagged ? ' A pre-alert of this number is flagged: review it.' : '';
        return { statusCode: 200, message: `This package was already received.${warning}`, data };
      }
      const owner = data.user_code
        ? ''
        : data.courier_id
          ? ' Its customer is unknown.'
          : ' Its owner is unknown.';
      return { statusCode: 201, message: `Package received.${owner}`, data };
    },

    async listPackages({ ctx, body }): Promise<ReplyOf<'listPackages'>> {
      assertNotCombined(body);
      if (body.action) return viewQueued(await queueDispatch(ctx, body));
      if (body.export) return { statusCode: 200, file: await exportFile(ctx, body, body.export_format) };
      const found = await findPackages(ctx, body);
      return {
        statusCode: 200,
        message: `${countOf(found.totals.totalCount, 'package')} found.`,
        data: await jsonRows(found.rows, (row) => viewPackage(ctx.caller, row)),
        meta: viewMeta(found),
      };
    },

    exportPackagesCsv: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await exportFile(ctx, query, 'csv'),
    }),

    exportPackagesXlsx: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await exportFile(ctx, query, 'xlsx'),
    }),

    queueDispatch: async ({ ctx, body }) => viewQueued(await queueDispatch(ctx, body)),

    listDispatches: async ({ ctx, query }) => viewDispatches(await listDispatches(ctx, query)),

    async updatePackage({ ctx, body }) {
      const fields = await updatePackage(ctx, body, executeWaitingScans);
      const changed = `${countOf(fields, 'field')} updated.`;
      return {
        statusCode: 200,
        message: fields === 0 ? 'No changes. The package already has these values.' : changed,
        data: { fields_updated: fields, package_id: body.package_id },
      };
    },
  } satisfies Partial<Handlers>;
}

/** A queued dispatch and a file of the selection are two different responses; a request has only one. */
function assertNotCombined({ action, export: wantsFile }: PackageQuery): void {
  if (action && wantsFile) throw invalidFieldError('export', 'excluded', { other: action });
}
