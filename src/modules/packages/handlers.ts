import type { Handlers } from '../../../generated/handlers.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { pageBeforeReply } from '../../platform/contract/page-reply.js';
import { reply } from '../../platform/contract/reply.js';
import { ignoredNames, nothingToChange } from '../../platform/contract/sent-names.js';
import { jsonRows } from '../../platform/contract/json-text.js';
import type { BodyOf, DataOf, QueryOf, ReplyOf } from '../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import type { Deps } from '../dependencies.js';
import type { DispatchRow } from './dispatch/queries.js';
import { messageOfDispatch, type PackageSelection } from './dispatch/message.js';
import { queueDispatch, type Dispatch, listDispatches } from './dispatch/queue-dispatch.js';
import { exportPage, type ExportQuery } from './export/export.js';
import type { ExportFormat } from '../../platform/files/exports.js';
import { receivePackage, type ExecuteWaitingScans } from './intake/intake.js';
import { isPackageStatus } from './events/transitions.js';
import { searchesText, type PackageQuery } from './list/filters.js';
import { findPackages } from './list/find-packages.js';
import { updatePackage } from './update/update.js';
import { voidReceipt } from './void/void-receipt.js';
import { viewMeta, viewPackage, viewReceipt } from './view.js';
import { countOf } from '../../platform/values/count-of.js';
import { formatDateTime } from '../../platform/values/time.js';

export function packageHandlers({ bulk, writeWorkbooks }: Deps, executeWaitingScans: ExecuteWaitingScans) {
  const writeWorkbook = writeWorkbooks('Packages');
  const exportFile = <Format extends ExportFormat>(ctx: UserContext, query: ExportQuery, format: Format) =>
    bulk.limitReport(ctx.caller, () => exportPage(ctx, query, { format, now: new Date(), writeWorkbook }));

  return {
    async receivePackage({ ctx, body }) {
      const receipt = await receivePackage(ctx, body, executeWaitingScans);
      const data = viewReceipt(receipt);
      if (receipt.isDuplicate) {
        const warning = receipt.isFlagged ? ' A pre-alert of this number is flagged: review it.' : '';
        return reply(`This package was already received.${warning}`, data);
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
      if (body.action) {
        // The scope of this operation only reads.
        if (ctx.caller.kind === 'token') throw new ApiError('token_not_accepted', { variant: 'dispatch' });
        return viewQueued('listPackages', body, await queueDispatch(ctx, body));
      }
      if (body.export) return { statusCode: 200, file: await exportFile(ctx, body, body.export_format) };
      const read = () => bulk.limitSearch(ctx.caller, searchesText(body), () => readPage(ctx, body));
      return body.limit > LARGE_PAGE ? bulk.limitReport(ctx.caller, read) : read();
    },

    exportPackagesCsv: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await exportFile(ctx, withStatuses(query), 'csv'),
    }),

    exportPackagesXlsx: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await exportFile(ctx, withStatuses(query), 'xlsx'),
    }),

    queueDispatch: async ({ ctx, body }) => viewQueued('queueDispatch', body, await queueDispatch(ctx, body)),

    listDispatches: async ({ ctx, query }) =>
      pageBeforeReply(await listDispatches(ctx, query), ['dispatch', 'dispatches'], viewDispatch),

    async updatePackage({ ctx, body }) {
      const fields = await updatePackage(ctx, body, executeWaitingScans);
      const message =
        fields === 0 ? `No changes. ${nothingUpdated(body)}` : `${countOf(fields, 'field')} updated.`;
      return reply(message, { fields_updated: fields, package_id: body.package_id });
    },

    async voidReceipt({ ctx, body }) {
      const { trackingNumber, reopened } = await voidReceipt(ctx, body);
      const verb = reopened === 1 ? 'is' : 'are';
      const again = reopened === 0 ? '' : ` ${countOf(reopened, 'pre-alert')} ${verb} pending again.`;
      return reply(`The receipt of ${trackingNumber} is void.${again}`, {
        package_id: body.package_id,
        tracking_number: trackingNumber,
        reopened_prealerts: reopened,
      });
    },
  } satisfies Partial<Handlers>;
}

/** A page of more packages waits like a report: with long descriptions, one of 10,000 takes 64 MB. */
const LARGE_PAGE = 500;

async function readPage(ctx: UserContext, body: BodyOf<'listPackages'>): Promise<ReplyOf<'listPackages'>> {
  const found = await findPackages(ctx, body);
  const data = await jsonRows(found.rows, (row) => viewPackage(ctx.caller, row));
  const counted = countOf(found.totals.totalCount, 'package');
  const message = found.isExact ? `${counted} found.` : `More than ${counted} found.`;
  return { ...reply(message + ignoredNames('listPackages', body), data), meta: viewMeta(found) };
}

/** A query has the statuses as one text, a body as a list. */
const withStatuses = ({ status, ...query }: QueryOf<'exportPackagesCsv'>): ExportQuery => ({
  ...query,
  // The pattern of the contract allows nothing else.
  ...(status && { status: status.split(',').filter(isPackageStatus) }),
});

/** A queued dispatch and a file of the selection are two different responses; a request has only one. */
function assertNotCombined({ action, export: wantsFile }: PackageQuery): void {
  if (action && wantsFile) throw invalidFieldError('export', 'excluded', { other: action });
}

const nothingUpdated = (body: BodyOf<'updatePackage'>): string =>
  nothingToChange('updatePackage', body, {
    selectors: ['package_id'],
    already: 'The package already has these values.',
  });

const viewQueued = (
  id: 'listPackages' | 'queueDispatch',
  body: PackageSelection,
  { dispatchId, selected, queued }: Dispatch,
): ReplyOf<'queueDispatch'> =>
  reply(messageOfDispatch({ selected, queued }, body) + ignoredNames(id, body), {
    dispatch_id: dispatchId,
    total_selected: selected,
    total_queued: queued,
  });

function viewDispatch(row: DispatchRow): DataOf<'listDispatches'>[number] {
  const { queued = 0, sending = 0, sent = 0, failed = 0 } = row.counts;
  return {
    dispatch_id: row.id,
    courier_id: row.courierId,
    requested_at: formatDateTime(row.requestedAt),
    requested_by: row.requestedBy,
    total_selected: row.selected,
    total_queued: row.queued,
    // A package counts for the latest dispatch that queued it; an earlier dispatch reports it as superseded.
    progress: { queued, sending, sent, failed, superseded: row.queued - queued - sending - sent - failed },
  };
}
